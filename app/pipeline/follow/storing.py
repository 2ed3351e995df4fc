"""Samples in memory into the lake, through the ingest validation of every pull. In: recent samples and some hours. Out: ``series``, ``samples``, what was refused."""

from __future__ import annotations

import json
import time
from typing import Any

import pyarrow as pa

from throttlescope.app.pipeline.follow.tail import Tail
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.times import date_of
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.plan import PullItem
from throttlescope.ingest.pull.pull import PullResult, run_items, staging_of
from throttlescope.ingest.spark.task_executor import InProcessExecutor
from throttlescope.transforms.sample_window import SampleWindow, SampleWindowReader


def store_samples(
    lake: Lake, recent: SampleWindow, tail: Tail, start_ms: int, end_ms: int, run_id: str
) -> int:
    """Write what is in memory of [start_ms, end_ms), merged with what the lake holds of these hours.

    Returns
    -------
    int
        Samples in files that were committed; 0 where there is nothing new.
    """
    source = tail.source.samples
    reader = SampleWindowReader(recent, source.name, source.address, source.stale_is_inferred)
    metrics = [
        name
        for name in recent.metrics
        if any(_inside(one, start_ms, end_ms) for one in recent.of_metric(name))
    ]
    if not metrics:
        return 0
    # The first selector says whether the answer was narrowed, and so whether what it lacks is gone.
    items = [
        PullItem(reader.name, name, tail.selectors_of[name][:1], start_ms, end_ms)
        for name in metrics
        if name in tail.selectors_of
    ]
    result = PullResult(run_id, f"{reader.name} {reader.address}", start_ms, end_ms)
    with staging_of(lake, ["follow", reader.name, reader.address]) as staging:
        # Notes of a run that was killed are of fewer samples.
        staging.forget_all()
        # What is in memory has been normalised.
        executor, sources = InProcessExecutor(), {reader.name: reader}
        run_items(executor, lake, sources, LabelMapping(), staging, items, result, tasks=1)
    return result.samples_written


def store_refused(lake: Lake, refused: list[dict[str, Any]], run_id: str) -> int:
    """Write what ingest validation refused of an hour; the samples concerned."""
    if not refused:
        return 0
    now_ms = time.time_ns() // 1_000_000
    common = {"run_id": run_id, "observed_ms": now_ms, "date": date_of(now_ms)}
    rows = {}
    for row in refused:
        cluster = (json.loads(row["row"]).get("labels") or {}).get("cluster")
        rows[row["reason"], row["row"]] = row | common | {"cluster": cluster}
    schema = TABLES["quarantine"].loose_schema
    lake.upsert("quarantine", pa.Table.from_pylist(list(rows.values()), schema=schema), run_id=run_id)
    return sum(row["rows"] for row in rows.values())


def _inside(series: Any, start_ms: int, end_ms: int) -> bool:
    return any(
        len(times) and times[0] < end_ms and times[-1] >= start_ms
        for times in (series.timestamps_ms, series.stale_ms)
    )
