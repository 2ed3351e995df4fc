"""The hour before the first one. In: a lake and an hour. Out: its samples in memory, as far as the lake has them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.selector import NAME_LABEL
from throttlescope.ingest.core.times import BLOCK_MS, date_of
from throttlescope.ingest.lake import Lake, read_files
from throttlescope.transforms.minutes import metrics_read
from throttlescope.transforms.sample_window import SampleWindow, joined_hours


def load_hour(lake: Lake, recent: SampleWindow, clusters: Sequence[str], hour_ms: int) -> None:
    """Put an hour of some clusters before what is in memory of their series."""
    if not clusters or lake.version("samples") is None:
        return
    files = [
        file
        for file in lake.files(
            "samples",
            partition={"metric_name": metrics_read(), "date": [date_of(hour_ms)]},
            between={"block_start_ms": (hour_ms, hour_ms + BLOCK_MS - 1)},
        )
        if file.minimum["cluster"] in clusters
    ]
    if not files:
        return
    rows = lake.read(
        "series",
        columns=["series_id", "metric_name", "labels"],
        where=pc.field("cluster").isin(list(clusters)),
    ).to_pylist()
    labels_of = {row["series_id"]: dict(row["labels"]) | {NAME_LABEL: row["metric_name"]} for row in rows}
    by_metric: dict[str, list[pa.Table]] = {}
    for file in files:
        columns = ["series_id", "timestamps_ms", "values", "stale_ms"]
        by_metric.setdefault(file.partition["metric_name"], []).append(
            read_files("samples", [file], columns=columns)
        )
    for metric_name, tables in by_metric.items():
        blocks = [(hour_ms, table) for table in tables]
        recent.put_before(metric_name, dict(joined_hours(blocks, labels_of)), hour_ms + BLOCK_MS)
