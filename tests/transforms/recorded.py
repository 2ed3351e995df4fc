"""Recordings of a real broker for tests. In: a recording's name. Out: its series, moved to a time that is past everywhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.transforms.promql.source import Series

_ROOT = Path(__file__).parents[2]

#: A whole number of hours, so that blocks and minutes stay what they were.
_START_MS = 1_700_000_000_000 // BLOCK_MS * BLOCK_MS


def recording_folder(name: str) -> Path:
    """Folder of a recording: shipped with the package, or kept for the figures."""
    more = _ROOT / "tests" / "recordings"
    folders = (_ROOT / "ingest" / "recordings" / name, more / "default" / name, more / name)
    return next(folder for folder in folders if folder.is_dir())


def recorded_series(name: str, metrics: set[str] | None = None) -> list[Series]:
    """All series of a recording, or those of some metrics; the first block is moved to November 2023."""
    series = unmoved_series(name)
    shift_ms = _START_MS - bounds_ms(series)[0] // BLOCK_MS * BLOCK_MS
    return [
        replace(one, timestamps_ms=one.timestamps_ms + shift_ms, stale_ms=one.stale_ms + shift_ms)
        for one in series
        if metrics is None or one.labels["__name__"] in metrics
    ]


def unmoved_series(name: str) -> list[Series]:
    """All series of a recording at their own times."""
    return [
        Series(
            dict(row["labels"]),
            np.array(row["timestamps_ms"], np.int64),
            np.array(row["values"], np.float64),
            np.array(row["stale_ms"], np.int64),
        )
        for row in pq.read_table(recording_folder(name) / "samples.parquet").to_pylist()
    ]


def bounds_ms(series: list[Series]) -> tuple[int, int]:
    """First and last time of any sample."""
    times = [one.timestamps_ms for one in series if len(one.timestamps_ms)]
    return int(min(t[0] for t in times)), int(max(t[-1] for t in times))
