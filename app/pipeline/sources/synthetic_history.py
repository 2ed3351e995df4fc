"""Weeks of history for the demo, made by the simulator. In: the file that ships, a lake. Out: ``signals`` of one cluster, and what follows from them.

Nothing of it was measured: its cluster is called ``synthetic-history`` and its tenant ``synthetic``, so every row and every page says so. It is there for
what needs two weeks to learn from (anomalies) and for ranges longer than a recording. Made by
``python -m tests.lab.simulated.history``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import DAY_MS, date_of, parse_time
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.pull.manifest import RunManifest

if TYPE_CHECKING:
    from throttlescope.app.config import Settings
    from throttlescope.app.pipeline.events import Progress
    from throttlescope.app.pipeline.spark_session import SparkIfNeeded

CLUSTER = "synthetic-history"
FILE = Path(__file__).with_name("synthetic_history.parquet")
START_MS = parse_time("2026-11-04T00:00:00Z", now_ms=0)
DAYS = 16
END_MS = START_MS + DAYS * DAY_MS
#: Only the last day is diagnosed: what comes before is there to learn from.
JUDGED_MS = END_MS - DAY_MS
#: Steps that are announced.
STEPS = 6


def read_history() -> pa.Table:
    """Rows of ``signals``, as their contract wants them; columns that the simulator says nothing of are NULL."""
    shipped = pq.read_table(FILE)
    dates = [date_of(at_ms) for at_ms in shipped.column("minute_ms").to_pylist()]
    schema = TABLES["signals"].schema
    given = {name: shipped.column(name) for name in shipped.column_names if name in schema.names}
    given["date"] = pa.array(dates)
    return pa.table(
        [
            given[field.name].cast(field.type)
            if field.name in given
            else pa.nulls(shipped.num_rows, field.type)
            for field in schema
        ],
        schema=schema,
    )


def bring_history(spark: SparkIfNeeded, lake: Lake, settings: Settings, progress: Progress) -> None:
    """Put the history into a lake and diagnose its last days; a second time changes nothing."""
    from throttlescope.app.pipeline.results import Results
    from throttlescope.app.pipeline.stages import Stages
    from throttlescope.models.messages.catalogue import sentence
    from throttlescope.models.messages.units import count

    manifest = RunManifest("demo", "the simulator", START_MS, END_MS)
    with progress.step(sentence("pipeline.step.history")):
        if not lake.files("signals", partition={"cluster": {CLUSTER}}):
            rows = read_history()
            _write(lake, rows, manifest.run_id)
            progress.note(f"{count(rows.num_rows)} subscription minutes of {DAYS} days")
    stages = Stages(spark, lake, settings, [((CLUSTER,), JUDGED_MS, END_MS)], manifest.run_id, progress)
    stages.build_verdicts()
    results = Results()
    stages.build_forecasts(results)
    stages.build_results(results)
    if stages.computed:
        lake.upsert("ingest_runs", manifest.row("done"), run_id=manifest.run_id)


def _write(lake: Lake, rows: pa.Table, run_id: str) -> None:
    """One file a day, in one commit."""
    dates = rows.column("date").to_pylist()
    files = []
    for date in sorted(set(dates)):
        mine = [at for at, one in enumerate(dates) if one == date]
        files.append(write_data_file(lake.root, "signals", rows.take(pa.array(mine))))
    lake.commit("signals", files, run_id=run_id)
