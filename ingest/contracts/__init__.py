"""The tables' contracts. ``TABLES[name]`` is the one declaration of each."""

from throttlescope.ingest.contracts.anomalies import ANOMALIES
from throttlescope.ingest.contracts.episodes import EPISODES, INCIDENTS
from throttlescope.ingest.contracts.forecasts import FORECASTS
from throttlescope.ingest.contracts.raw import LIMITS, POLICIES, SAMPLES, SERIES, TOPIC_STATS, TRUTH
from throttlescope.ingest.contracts.results import SIGNALS, VERDICTS
from throttlescope.ingest.contracts.runs import INGEST_RUNS, QUALITY, QUARANTINE
from throttlescope.ingest.contracts.table import Column, Table

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        SERIES,
        SAMPLES,
        POLICIES,
        LIMITS,
        TOPIC_STATS,
        SIGNALS,
        VERDICTS,
        EPISODES,
        INCIDENTS,
        FORECASTS,
        ANOMALIES,
        INGEST_RUNS,
        QUALITY,
        QUARANTINE,
        TRUTH,
    )
}

__all__ = ["TABLES", "Column", "Table"]
