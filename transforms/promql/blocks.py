"""Data files of ``samples`` in memory. In: paths of one metric's files. Out: its samples, series by series.

A file holds one hour of many series; an evaluation wants one series after the other. Files are immutable and named by
their content, so what was joined once may be kept (:class:`BlockCache`).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from throttlescope.ingest.core.compilation import compiled
from throttlescope.ingest.lake import DataFile
from throttlescope.ingest.lake.parquet import read_parquet
from throttlescope.transforms.promql.source import bounds_of

_COLUMNS = ["series_id", "timestamps_ms", "values", "stale_ms"]
#: A series id is 32 hex digits.
_ID = "S32"


#: Times, values, where each series begins; markers, where each series' begin.
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Block:
    """Samples of several series end to end.

    Attributes
    ----------
    row_of : dict
        The row of each series id.
    times_ms, values, bounds, stale_ms, stale_bounds : ndarray
        As in :class:`source.Samples`.
    """

    row_of: dict[str, int]
    times_ms: np.ndarray
    values: np.ndarray
    bounds: np.ndarray
    stale_ms: np.ndarray
    stale_bounds: np.ndarray

    @property
    def size_bytes(self) -> int:
        """Bytes of its arrays."""
        return sum(array.nbytes for array in (self.times_ms, self.values, self.bounds, self.stale_ms))

    def cut(
        self, ids: Sequence[str], start_ms: int, end_ms: int, *, loosely: bool = False
    ) -> tuple[Arrays, np.ndarray]:
        """Some series within [start, end), and which of ``ids`` have a sample or a marker there.

        ``loosely``: all series together may come with what they have before and behind, which saves a copy.
        """
        rows = np.fromiter((self.row_of.get(one, -1) for one in ids), np.int64, len(ids))
        first, after = _range(self.times_ms, self.bounds, rows, start_ms, end_ms)
        stale_first, stale_after = _range(self.stale_ms, self.stale_bounds, rows, start_ms, end_ms)
        here = (after > first) | (stale_after > stale_first)
        # Kernels pass over what lies before; that is cheap as long as it is less than what is looked at.
        everyone = here.all() and np.array_equal(rows, np.arange(len(self.bounds) - 1))
        if loosely and everyone and 2 * int((after - first).sum()) >= len(self.times_ms):
            return (self.times_ms, self.values, self.bounds, self.stale_ms, self.stale_bounds), here
        first, after = first[here], after[here]
        stale_first, stale_after = stale_first[here], stale_after[here]
        bounds, stale_bounds = bounds_of(after - first), bounds_of(stale_after - stale_first)
        return (
            _taken(self.times_ms, first, bounds),
            _taken(self.values, first, bounds),
            bounds,
            _taken(self.stale_ms, stale_first, stale_bounds),
            stale_bounds,
        ), here


def load(files: Sequence[DataFile], order: Sequence[str]) -> Block:
    """Read the files of a metric and lay each series' samples end to end, in time order.

    Parameters
    ----------
    files : sequence of DataFile
    order : sequence of str
        Series ids in the order of their samples in the block; a series that is not listed is left out.
    """
    # In the order of time, so that a stable sort by series leaves each series in time order.
    files = sorted(files, key=lambda file: file.minimum["block_start_ms"])
    parts = [part for part in (_read(file.path) for file in files) if len(part.ids)]
    if not parts:
        none = np.empty(0, np.int64)
        return Block({}, none, np.empty(0), np.zeros(1, np.int64), none, np.zeros(1, np.int64))
    ids, series_of = _numbered([part.ids for part in parts])
    rank_of = {series_id: rank for rank, series_id in enumerate(order)}
    ranks = np.array([rank_of.get(one.decode(), len(order)) for one in ids], np.int64)
    row_of_id = np.empty(len(ids), np.int64)
    row_of_id[np.argsort(ranks, kind="stable")] = np.arange(len(ids))
    series_of = row_of_id[series_of]
    known = int((ranks < len(order)).sum())
    by_series = np.argsort(series_of, kind="stable")
    lists = {}
    for name in ("samples", "stale"):
        counts = np.concatenate([np.diff(getattr(part, f"{name}_offsets")) for part in parts])
        ends = np.cumsum(counts[by_series])
        target = np.empty(len(counts), np.int64)
        target[by_series] = ends - counts[by_series]
        lists[name] = (
            bounds_of(np.bincount(series_of, counts, len(ids)).astype(np.int64)),
            target,
            int(ends[-1]),
        )
    bounds, target, total = lists["samples"]
    stale_bounds, stale_target, stale_total = lists["stale"]
    times_ms, values = np.empty(total, np.int64), np.empty(total, np.float64)
    stale_ms = np.empty(stale_total, np.int64)
    row = 0
    for part in parts:
        rows = slice(row, row + len(part.ids))
        _put(part.times_ms, part.samples_offsets, target[rows], times_ms)
        _put(part.values, part.samples_offsets, target[rows], values)
        if stale_total:
            _put(part.stale_ms, part.stale_offsets, stale_target[rows], stale_ms)
        row += len(part.ids)
    # Series that are not listed come after the others.
    bounds, stale_bounds = bounds[: known + 1], stale_bounds[: known + 1]
    rows = {one.decode(): int(at) for one, at in zip(ids, row_of_id, strict=True) if at < known}
    return Block(
        rows, times_ms[: bounds[-1]], values[: bounds[-1]], bounds, stale_ms[: stale_bounds[-1]], stale_bounds
    )


def _numbered(parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Each id once, and for all ids in a row which of these it is."""
    # Mostly the hours of a metric hold the same series.
    if all(np.array_equal(part, parts[0]) for part in parts[1:]):
        return parts[0], np.tile(np.arange(len(parts[0])), len(parts))
    return np.unique(np.concatenate(parts), return_inverse=True)


class BlockCache:
    """Joined files, the least recently used given up first. Threads may share it.

    Parameters
    ----------
    max_bytes : int
        What its arrays may take together.
    on_look : callable, optional
        Called with ``found`` at every look.
    """

    def __init__(self, max_bytes: int, on_look: Callable[..., None] | None = None) -> None:
        self.max_bytes, self._on_look = max_bytes, on_look
        self._blocks: OrderedDict[tuple[str, ...], Block] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, files: Sequence[DataFile], order: Callable[[], Sequence[str]]) -> Block:
        """The block of some files, read when it is not cached; ``order`` is called only then."""
        key = tuple(file.path for file in files)
        with self._lock:
            if (known := self._blocks.get(key)) is not None:
                self._blocks.move_to_end(key)
        if self._on_look is not None:
            self._on_look(found=known is not None)
        if known is not None:
            return known
        block = load(files, order())
        with self._lock:
            if key not in self._blocks and block.size_bytes <= self.max_bytes:
                self._blocks[key] = block
                self._bytes += block.size_bytes
                while self._bytes > self.max_bytes:
                    _, gone = self._blocks.popitem(last=False)
                    self._bytes -= gone.size_bytes
        return block


@dataclass(frozen=True, eq=False)
class _SeriesPart:
    """One file."""

    ids: np.ndarray
    times_ms: np.ndarray
    values: np.ndarray
    samples_offsets: np.ndarray
    stale_ms: np.ndarray
    stale_offsets: np.ndarray


def _read(path: str) -> _SeriesPart:
    # One file after the other: many are small, and a dataset's threads, or a mapped file's page faults, cost more.
    table = read_parquet(path, _COLUMNS, use_threads=False).combine_chunks()
    if table.num_rows == 0:
        none = np.empty(0, np.int64)
        return _SeriesPart(
            np.empty(0, _ID), none, np.empty(0), np.zeros(1, np.int64), none, np.zeros(1, np.int64)
        )
    times_ms, offsets = _flat(table, "timestamps_ms")
    values, _ = _flat(table, "values")
    stale_ms, stale_offsets = _flat(table, "stale_ms")
    return _SeriesPart(
        _ids(table.column("series_id").chunk(0)), times_ms, values, offsets, stale_ms, stale_offsets
    )


def _ids(column: pa.StringArray) -> np.ndarray:
    """Ids as fixed-width bytes, without a copy: they all have the same length and none is missing."""
    return np.frombuffer(column.buffers()[2], _ID, count=len(column), offset=column.offset * 32)


def _flat(table: pa.Table, name: str) -> tuple[np.ndarray, np.ndarray]:
    column = table.column(name).chunk(0)
    return column.values.to_numpy(zero_copy_only=False), column.offsets.to_numpy()


@compiled()
def _range(times_ms, bounds, rows, start_ms, end_ms):
    """First and one past the last index within [start, end) of some series; a row of -1 has none."""
    first, after = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    for i in range(len(rows)):
        if rows[i] < 0:
            continue
        low, high = bounds[rows[i]], bounds[rows[i] + 1]
        first[i] = low + np.searchsorted(times_ms[low:high], start_ms)
        after[i] = low + np.searchsorted(times_ms[low:high], end_ms)
    return first, after


@compiled()
def _taken(column, first, bounds):
    out = np.empty(bounds[-1], column.dtype)
    for i in range(len(first)):
        count = bounds[i + 1] - bounds[i]
        out[bounds[i] : bounds[i + 1]] = column[first[i] : first[i] + count]
    return out


@compiled()
def _put(column, offsets, target, out):
    for i in range(len(target)):
        count = offsets[i + 1] - offsets[i]
        out[target[i] : target[i] + count] = column[offsets[i] : offsets[i + 1]]


#: What reading blocks calls of compiled functions.
KERNELS = (_range, _taken, _put)
