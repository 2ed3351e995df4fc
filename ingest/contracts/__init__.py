"""The table contracts. In: nothing. Out: ``TABLES[name]``, the one declaration of each table."""

from throttlescope.ingest.contracts.anomalies import ANOMALIES
from throttlescope.ingest.contracts.baselines import BASELINES
from throttlescope.ingest.contracts.episodes import EPISODES, INCIDENTS
from throttlescope.ingest.contracts.forecasts import FORECASTS
from throttlescope.ingest.contracts.incremental import COMPUTED, GAPS, WATERMARKS
from throttlescope.ingest.contracts.latest import VERDICT_LATEST
from throttlescope.ingest.contracts.notifications import NOTIFICATIONS
from throttlescope.ingest.contracts.raw import LIMITS, POLICIES, SAMPLES, SERIES, TOPIC_STATS, TRUTH
from throttlescope.ingest.contracts.results import SIGNALS, VERDICTS
from throttlescope.ingest.contracts.runs import INGEST_RUNS, QUALITY, QUARANTINE, READMISSIONS
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
        VERDICT_LATEST,
        EPISODES,
        INCIDENTS,
        FORECASTS,
        BASELINES,
        ANOMALIES,
        NOTIFICATIONS,
        INGEST_RUNS,
        QUALITY,
        QUARANTINE,
        READMISSIONS,
        WATERMARKS,
        GAPS,
        COMPUTED,
        TRUTH,
    )
}

__all__ = ["TABLES", "Column", "Table"]
