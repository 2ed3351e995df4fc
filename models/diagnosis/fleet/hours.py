"""Which windows begin in which hour, and which files have their minutes. In: files of ``signals``. Out: hours, and tasks of them.

A task gets its files by name and reads them itself, so no row of ``signals`` goes through a shuffle to be screened.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.ingest.lake import DataFile, read_files
from throttlescope.models.diagnosis.healthy_fast_path import WindowGrid

#: Rows of ``signals`` of a part of an hour at most, unless a single file has more.
_PART_ROWS = 500_000


@dataclass(frozen=True)
class Hour:
    """Windows of one cluster that begin in one UTC hour: of all its subscriptions, or of some.

    Attributes
    ----------
    grid : WindowGrid
        Where they begin.
    files : tuple of DataFile
        All files that may hold minutes of these subscriptions.
    """

    cluster: str
    grid: WindowGrid
    files: tuple[DataFile, ...]

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)


def bounds(files: Iterable[DataFile], start_ms: int, end_ms: int) -> dict[str, tuple[int, int]]:
    """From when to when each cluster has signals, within [start_ms, end_ms).

    A window that reaches out of it would be judged by a part of its minutes only because the rest was never ingested.
    """
    spans: dict[str, tuple[int, int]] = {}
    for file in files:
        cluster = file.partition["cluster"]
        first_ms, last_ms = spans.get(cluster, (end_ms, start_ms))
        spans[cluster] = (
            max(start_ms, min(first_ms, file.minimum["minute_ms"])),
            min(end_ms, max(last_ms, file.maximum["minute_ms"] + MINUTE_MS)),
        )
    return spans


def hours(
    files: Iterable[DataFile], spans: dict[str, tuple[int, int]], window_ms: int, every_ms: int
) -> list[Hour]:
    """Every hour of every cluster in which a window begins that lies inside the cluster's span.

    An hour of many rows is several: a task that writes an hour writes each subscription into one file of it.
    """
    files = list(files)
    found = []
    for cluster, (first_ms, last_ms) in sorted(spans.items()):
        own = [file for file in files if file.partition["cluster"] == cluster]
        for hour_ms in range(first_ms - first_ms % BLOCK_MS, last_ms, BLOCK_MS):
            start_ms = max(hour_ms, first_ms)
            end_ms = min(hour_ms + BLOCK_MS, last_ms - window_ms + 1)
            grid = WindowGrid.of(start_ms, end_ms, window_ms, every_ms)
            read = tuple(file for file in own if touches(file, grid.start_ms, grid.end_ms))
            if grid.count and read:
                # Windows that reach into the next hour have their subscriptions in files of both.
                apart = _apart(read) if grid.end_ms <= hour_ms + BLOCK_MS else [read]
                found += [Hour(cluster, grid, some) for some in apart]
    return found


def _apart(files: tuple[DataFile, ...]) -> list[tuple[DataFile, ...]]:
    """Files of one hour in shares that a task holds; the same ones however the lake lists them."""
    shares, share, rows = [], [], 0
    for file in sorted(files, key=lambda file: file.relative_path):
        if share and rows + file.rows > _PART_ROWS:
            shares.append(tuple(share))
            share, rows = [], 0
        share.append(file)
        rows += file.rows
    return [*shares, tuple(share)]


def touches(file: DataFile, start_ms: int, end_ms: int) -> bool:
    return file.minimum["minute_ms"] < end_ms and file.maximum["minute_ms"] >= start_ms


def read_minutes(file: DataFile, start_ms: int, end_ms: int, columns: list[str]) -> pa.Table:
    """The rows of a file in [start_ms, end_ms)."""
    whole = start_ms <= file.minimum["minute_ms"] and file.maximum["minute_ms"] < end_ms
    minute_ms = pc.field("minute_ms")
    where = None if whole else (minute_ms >= start_ms) & (minute_ms < end_ms)
    return read_files("signals", [file], columns=columns, where=where)
