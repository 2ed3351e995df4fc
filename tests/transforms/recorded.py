"""Recordings of a real broker for tests. In: a recording's name. Out: its series, moved to a time that is past everywhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from throttlescope.ingest.times import BLOCK_MS
from throttlescope.transforms.promql.source import Series

RECORDINGS = Path(__file__).parents[2] / "ingest" / "recordings"

#: A whole number of hours, so that blocks and minutes stay what they were.
_START_MS = 1_700_000_000_000 // BLOCK_MS * BLOCK_MS


def recorded_series(name: str, metrics: set[str] | None = None) -> list[Series]:
    """All series of a recording, or those of some metrics; the first block is moved to November 2023."""
    rows = pq.read_table(RECORDINGS / name / "samples.parquet").to_pylist()
    first_ms = min(row["timestamps_ms"][0] for row in rows if row["timestamps_ms"])
    shift_ms = _START_MS - first_ms // BLOCK_MS * BLOCK_MS
    series = []
    for row in rows:
        labels = dict(row["labels"])
        if metrics is None or labels["__name__"] in metrics:
            times, stale = (
                np.array(row[column], np.int64) + shift_ms for column in ("timestamps_ms", "stale_ms")
            )
            series.append(Series(labels, times, np.array(row["values"], np.float64), stale))
    return series


def bounds_ms(series: list[Series]) -> tuple[int, int]:
    """First and last time of any sample."""
    times = [one.timestamps_ms for one in series if len(one.timestamps_ms)]
    return int(min(t[0] for t in times)), int(max(t[-1] for t in times))
