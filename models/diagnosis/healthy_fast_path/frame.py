"""Minutes of many subscriptions side by side. In: rows of ``signals``. Out: matrices, and aggregates over all their windows.

The twin of :class:`~throttlescope.models.diagnosis.window.Window`: the same aggregates, of every window at once. They are
made of the same additions in the same order, so the numbers are the same to the last bit. NaN means: not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS
from throttlescope.models.diagnosis.window import SubscriptionKey, span_column

#: Subscriptions that are looked at together: their matrices stay in the processor's cache.
AT_ONCE = 1_000


@dataclass(frozen=True)
class WindowGrid:
    """Where windows start: ``count`` of them, ``every`` minutes apart from ``first`` on, each ``length`` minutes long.

    Attributes
    ----------
    start_ms : int
        Start of minute 0.
    """

    start_ms: int
    first: int
    every: int
    count: int
    length: int

    @classmethod
    def of(cls, start_ms: int, end_ms: int, window_ms: int, every_ms: int) -> WindowGrid:
        """Windows that start in [start_ms, end_ms), on the epoch grid of ``every_ms``."""
        first_ms = start_ms + -start_ms % every_ms
        count = max(0, -(-(end_ms - first_ms) // every_ms))
        return cls(
            start_ms, (first_ms - start_ms) // MINUTE_MS, every_ms // MINUTE_MS, count, window_ms // MINUTE_MS
        )

    @property
    def minutes(self) -> int:
        """Minutes that are looked at."""
        return self.first + max(0, self.count - 1) * self.every + self.length

    @property
    def end_ms(self) -> int:
        return self.start_ms + self.minutes * MINUTE_MS

    @cached_property
    def starts_ms(self) -> np.ndarray:
        return self.start_ms + (self.first + np.arange(self.count) * self.every) * MINUTE_MS

    @property
    def length_ms(self) -> int:
        return self.length * MINUTE_MS

    @property
    def length_s(self) -> float:
        return self.length_ms / SECOND_MS

    def at(self, matrix: np.ndarray, minute: int) -> np.ndarray:
        """Of every window the value of one of its minutes."""
        first = self.first + minute
        return matrix[:, first : first + (self.count - 1) * self.every + 1 : self.every]


@dataclass
class Frame:
    """Some subscriptions, their minutes on a grid.

    Attributes
    ----------
    keys : list of SubscriptionKey
        Sorted.
    rows : pyarrow.Table
        Their rows of ``signals``.
    row_at : array of int, subscriptions x minutes
        Which row it is; the number of rows where there is none.
    odd : array of bool, per subscription
        Two rows for one minute, or a row that is not on a minute.
    """

    keys: list[SubscriptionKey]
    grid: WindowGrid
    rows: pa.Table
    row_at: np.ndarray
    odd: np.ndarray
    _numbers: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.keys), self.grid.count

    @cached_property
    def rows_in(self) -> np.ndarray:
        """Rows that each window has."""
        there = self.row_at < self.rows.num_rows
        found = np.zeros(self.shape, np.int64)
        for minute in range(self.grid.length):
            found += self.grid.at(there, minute)
        return found

    def unknown(self, name: str) -> bool:
        """No row has a value."""
        return self.rows.column(name).null_count == self.rows.num_rows

    def numbers(self, name: str) -> np.ndarray:
        """A column as float64, subscriptions x minutes; flags are 0 and 1, texts 1 where there is one."""
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = self._spread(_numbers(self.rows.column(name)))
        return found

    def words(self, name: str) -> tuple[np.ndarray, list[str | None]]:
        """A column of texts: the number of its word, subscriptions x minutes, and the words."""
        encoded = self.rows.column(name).combine_chunks().dictionary_encode()
        codes = _numbers(encoded.indices)
        return self._spread(codes), encoded.dictionary.to_pylist()

    def _spread(self, values: np.ndarray) -> np.ndarray:
        return np.append(values, np.nan)[self.row_at]

    # -- aggregates over windows ----------------------------------------------------------------

    def each(self, matrix: np.ndarray | str) -> Iterator[np.ndarray]:
        """Minute by minute, oldest first, of every window."""
        matrix = self.numbers(matrix) if isinstance(matrix, str) else matrix
        return (self.grid.at(matrix, minute) for minute in range(self.grid.length))

    def nothing(self) -> np.ndarray:
        return np.full(self.shape, np.nan)

    def last(self, matrix: np.ndarray | str) -> np.ndarray:
        if isinstance(matrix, str) and self.unknown(matrix):
            return self.nothing()
        found = self.nothing()
        for values in self.each(matrix):
            np.copyto(found, values, where=~np.isnan(values))
        return found

    def total(self, matrix: np.ndarray | str) -> np.ndarray:
        found, known = self._sum(matrix)
        found[known == 0] = np.nan
        return found

    def mean(self, matrix: np.ndarray | str) -> np.ndarray:
        found, known = self._sum(matrix)
        with np.errstate(invalid="ignore"):
            return found / known

    def share(self, holds: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Share of the known minutes in which something holds."""
        return self.mean(np.where(known, holds.astype(np.float64), np.nan))

    def any(self, name: str) -> np.ndarray:
        """Some minute has a value other than zero."""
        found = np.zeros(self.shape, bool)
        if not self.unknown(name):
            for values in self.each(name):
                found |= ~np.isnan(values) & (values != 0)
        return found

    def highest(self, matrix: np.ndarray | str) -> tuple[np.ndarray, np.ndarray]:
        """The highest value, and the end of the first minute that has it (epoch ms)."""
        found = self.nothing()
        at_ms = np.zeros(self.shape, np.int64)
        for minute, values in enumerate(self.each(matrix)):
            higher = ~np.isnan(values) & ~(values <= found)
            np.copyto(found, values, where=higher)
            np.copyto(at_ms, self.grid.starts_ms + (minute + 1) * MINUTE_MS, where=higher)
        return found, at_ms

    def rate(self, name: str) -> np.ndarray:
        """Per second, of a counter's differences over the time that they cover."""
        if self.unknown(name):
            return self.nothing()
        total, covered_s = np.zeros(self.shape), np.zeros(self.shape)
        spans = self.numbers(span_column(name)) / SECOND_MS
        for deltas, spans_s in zip(self.each(name), self.each(spans), strict=True):
            counts = ~np.isnan(deltas) & (spans_s > 0)
            total += np.where(counts, deltas, 0.0)
            covered_s += np.where(counts, spans_s, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(covered_s > 0, total / covered_s, np.nan)

    def growth(self, name: str) -> np.ndarray:
        """Change over the window by the median of all pairwise slopes."""
        length = self.grid.length
        if length < 2:
            return self.nothing()
        values = [self.grid.at(self.numbers(name), minute) for minute in range(length)]
        slopes = np.stack(
            [
                (values[later] - values[earlier]) / ((later - earlier) * MINUTE_MS)
                for earlier in range(length)
                for later in range(earlier + 1, length)
            ],
            axis=-1,
        )
        slopes.sort(axis=-1)
        count = (~np.isnan(slopes)).sum(axis=-1)
        # NaN are sorted behind the numbers.
        low = np.take_along_axis(slopes, np.maximum(0, (count - 1) // 2)[..., None], -1)[..., 0]
        high = np.take_along_axis(
            slopes, np.maximum(0, np.minimum(count // 2, slopes.shape[-1] - 1))[..., None], -1
        )
        middle = np.where(count % 2 == 1, low, (low + high[..., 0]) / 2)
        return np.where(count > 0, middle * self.grid.length_ms, np.nan)

    def _sum(self, matrix: np.ndarray | str) -> tuple[np.ndarray, np.ndarray]:
        total, known = np.zeros(self.shape), np.zeros(self.shape, np.int64)
        if not (isinstance(matrix, str) and self.unknown(matrix)):
            for values in self.each(matrix):
                there = ~np.isnan(values)
                total += np.where(there, values, 0.0)
                known += there
        return total, known


def frames(rows: pa.Table, grid: WindowGrid, at_once: int = AT_ONCE) -> Iterator[Frame]:
    """Lay rows of ``signals`` on a grid, some subscriptions at a time, in the order of their keys.

    Parameters
    ----------
    rows : pyarrow.Table
        In any order; rows outside of the grid's minutes are left out. Sorted rows are read where they are.
    """
    if rows.num_rows == 0 or grid.count == 0:
        return
    minute_ms = _numbers(rows.column("minute_ms")).astype(np.int64)
    run_of, runs = _runs(rows)
    keys = sorted(set(runs))
    place = {key: i for i, key in enumerate(keys)}
    subscription = np.array([place[key] for key in runs], np.int64)[run_of]
    within = (minute_ms >= grid.start_ms) & (minute_ms < grid.end_ms)
    sorted_already = bool((np.diff(subscription) >= 0).all())
    # One subscription's pairs of minutes times windows decide how much a matrix of slopes takes.
    at_once = max(1, min(at_once, 40_000_000 // max(1, grid.count * grid.length * grid.length)))
    order = np.arange(rows.num_rows)
    if not sorted_already:
        order = np.argsort(subscription, kind="stable")
        rows = rows.combine_chunks()
    bounds = np.searchsorted(subscription[order], np.arange(0, len(keys) + at_once, at_once))
    for number, low in enumerate(range(0, len(keys), at_once)):
        some = order[bounds[number] : bounds[number + 1]]
        some = some[within[some]]
        if not len(some):
            continue
        together = some[-1] - some[0] + 1 == len(some)
        part = (
            rows.slice(int(some[0]), len(some)) if together and sorted_already else rows.take(pa.array(some))
        )
        yield _frame(keys[low : low + at_once], grid, part, subscription[some] - low, minute_ms[some])


def _frame(
    keys: list[SubscriptionKey],
    grid: WindowGrid,
    rows: pa.Table,
    subscription: np.ndarray,
    minute_ms: np.ndarray,
) -> Frame:
    since_ms = minute_ms - grid.start_ms
    place = subscription * grid.minutes + since_ms // MINUTE_MS
    row_at = np.full(len(keys) * grid.minutes, rows.num_rows)
    row_at[place] = np.arange(rows.num_rows)
    odd = np.zeros(len(keys), bool)
    odd[subscription[since_ms % MINUTE_MS != 0]] = True
    twice = np.bincount(place, minlength=len(row_at)) > 1
    odd |= twice.reshape(len(keys), -1).any(axis=1)
    return Frame(keys, grid, rows, row_at.reshape(len(keys), -1), odd)


def _runs(rows: pa.Table) -> tuple[np.ndarray, list[SubscriptionKey]]:
    """Rows of one subscription that follow each other: the run of each row, and the runs' keys."""
    changes = np.zeros(rows.num_rows, bool)
    changes[0] = True
    for name in SUBSCRIPTION_KEY_NAMES:
        column = rows.column(name).combine_chunks()
        codes = column if pa.types.is_integer(column.type) else column.dictionary_encode().indices
        changes[1:] |= np.diff(codes.to_numpy(zero_copy_only=False)) != 0
    first = np.flatnonzero(changes)
    heads = rows.select(list(SUBSCRIPTION_KEY_NAMES)).take(pa.array(first))
    keys = [SubscriptionKey(*key) for key in zip(*(c.to_pylist() for c in heads.columns), strict=True)]
    return np.cumsum(changes) - 1, keys


def _numbers(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Numbers as float64; NaN where there is none, or none that is finite."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_string(column.type):
        return np.where(column.is_valid().to_numpy(zero_copy_only=False), 1.0, np.nan)
    if not pa.types.is_floating(column.type):
        column = column.cast(pa.int64()) if pa.types.is_boolean(column.type) else column
        column = pc.cast(column, pa.float64(), safe=False)
    values = column.to_numpy(zero_copy_only=False)
    finite = np.isfinite(values)
    return values if finite.all() else np.where(finite, values, np.nan)
