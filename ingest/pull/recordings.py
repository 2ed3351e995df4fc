"""Recordings into the lake. In: their folders. Out: ``series`` and ``samples`` through the same ingest validation as a pull, and
rows of ``policies``, ``topic_stats`` and ``truth``.

Every recording is checked whole before anything is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.metrics import METRICS
from throttlescope.ingest.core.selector import metric_selector
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.plan import PullItem
from throttlescope.ingest.pull.pull import Progress, PullResult, run_items, staging_of
from throttlescope.ingest.sources.recording import Recording, read_recording
from throttlescope.ingest.spark.task_executor import TaskExecutor


def ingest_recordings(
    executor: TaskExecutor,
    lake: Lake,
    recordings: Iterable[str | Path],
    run_id: str,
    *,
    tasks: int | None = None,
    progress: Progress | None = None,
) -> PullResult:
    """Bring recordings into the lake.

    Parameters
    ----------
    recordings : iterable of path
        Folders; :func:`throttlescope.ingest.sources.recording.list_shipped` names those that are installed.
    tasks : int, optional
        Tasks at once; as many as the executor runs by default.

    Raises
    ------
    InputError
        A recording is missing, not whole, altered, or given twice.
    """
    found = [read_recording(folder) for folder in recordings]
    if not found:
        raise InputError("No recording is given", fix="name at least one folder")
    by_name: dict[str, Recording] = {}
    for recording in found:
        if recording.name in by_name:
            raise InputError(
                "Two recordings have the same name", got=recording.name, fix="give each one once"
            )
        by_name[recording.name] = recording
    clusters = [cluster for recording in found for cluster in recording.clusters]
    if shared := sorted({cluster for cluster in clusters if clusters.count(cluster) > 1}):
        raise InputError(
            "Two recordings have the same cluster", got=shared[0], fix="bring them into different lakes"
        )
    items = [
        PullItem(name, metric, (metric_selector(metric),), recording.start_ms, recording.end_ms)
        for name, recording in by_name.items()
        for metric in recording.metric_names
        # A recording holds all that was scraped, so that later rules can be tried on it; the lake takes what a pull takes.
        if metric in METRICS
    ]
    start_ms = min(recording.start_ms for recording in found)
    end_ms = max(recording.end_ms for recording in found)
    result = PullResult(run_id, "recording " + " ".join(sorted(by_name)), start_ms, end_ms)
    result.metrics = tuple(sorted({item.metric_name for item in items}))
    request = ["recording", sorted(recording.checksum for recording in found)]
    sources = {name: recording.source for name, recording in by_name.items()}
    tasks = tasks or executor.parallelism
    with staging_of(lake, request) as staging:
        run_items(
            executor, lake, sources, LabelMapping(), staging, items, result, tasks=tasks, progress=progress
        )
    for table in ("policies", "topic_stats", "truth"):
        rows = pa.concat_tables([getattr(recording, table) for recording in found])
        lake.upsert(table, rows, run_id=run_id)
    return result
