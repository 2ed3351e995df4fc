"""What the executors of a Spark cluster are. In: settings. Out: one plain dict: how many tasks at once, and a row per executor."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.app.pipeline.spark_session import start_spark
from throttlescope.ingest.spark.executors import ask_executors, parallelism

if TYPE_CHECKING:
    from throttlescope.app.config import Settings


def check_executors(
    settings: Settings, progress: Progress = SILENT, *, debug: bool = False
) -> dict[str, Any]:
    """Start Spark, and read from every executor its Python, package and folder of the lake."""
    began_s = time.monotonic()
    with progress.step("Starting Spark"):
        session = start_spark(settings, debug=debug)
        tasks = parallelism(session)
        executors = {(row["host"], row["pid"]): row for row in ask_executors(session, tasks)}
    return {
        "tasks_at_once": tasks,
        "started_in_s": round(time.monotonic() - began_s, 1),
        "executors": [executors[name] for name in sorted(executors)],
    }
