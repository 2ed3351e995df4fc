"""A window of one subscription partition. In: its minutes of ``signals``. Out: NULL-aware aggregates of a column.

A value that is missing, NaN or infinite is None and is never taken for zero: every aggregate works on the minutes
that have a value, and is None where there is none.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.results import SIGNALS
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS

_NAMES = frozenset(column.name for column in SIGNALS.columns)


def span_column(name: str) -> str:
    """The column with the time that a counter's differences cover: what is counted apart may be missing apart."""
    if name.startswith("in_"):
        return "in_span_ms"
    return "events_span_ms" if name.startswith("throttled_") else "delta_span_ms"


class SubscriptionKey(NamedTuple):
    """One subscription of one topic partition (-1: the topic is not partitioned)."""

    cluster: str
    namespace: str
    topic: str
    partition: int
    subscription: str


class Point(NamedTuple):
    """A value and the end of the minute that it belongs to."""

    at_ms: int
    value: float


class MinuteColumns(Mapping[str, Sequence[Any]]):
    """Columns of one subscription's minutes, sorted by time, turned into Python values when first read."""

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows
        self._columns: dict[str, list[Any]] = {}
        self._arrays: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> list[Any]:
        values = self._columns.get(name)
        if values is None:
            column = self._rows.column(name)
            if pa.types.is_floating(column.type):
                numbers = self.array(name)
                values = numbers.tolist()
                for i in np.flatnonzero(np.isnan(numbers)).tolist():
                    values[i] = None
            else:
                values = column.to_pylist()
            self._columns[name] = values
        return values

    def array(self, name: str) -> np.ndarray:
        """A column of numbers as float64, NaN where NULL."""
        values = self._arrays.get(name)
        if values is None:
            column = self._rows.column(name)
            if pa.types.is_floating(column.type):
                values = column.to_numpy()
                values = np.where(np.isfinite(values), values, np.nan)
            else:
                values = _numbers(self[name])
            self._arrays[name] = values
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows.column_names)

    def __len__(self) -> int:
        return self._rows.num_columns


@dataclass(frozen=True, slots=True)
class Window:
    """The minutes of one subscription partition in [start_ms, end_ms).

    Attributes
    ----------
    columns : mapping of str to sequence
        Columns of ``signals``; rows ``low`` to ``high`` are this window's, in time order.
    """

    key: SubscriptionKey
    start_ms: int
    end_ms: int
    columns: Mapping[str, Sequence[Any]]
    low: int
    high: int

    @classmethod
    def of_rows(cls, key: SubscriptionKey, start_ms: int, end_ms: int, rows: Iterable[Mapping[str, Any]]):
        """Build a window from rows of ``signals`` in any order; columns that a row lacks are NULL.

        Raises
        ------
        InputError
            A row has a column that ``signals`` has not, or lies outside the window.
        """
        ordered = sorted(rows, key=lambda row: row["minute_ms"])
        strange = {name for row in ordered for name in row} - _NAMES
        if strange:
            raise InputError("No such column of signals", got=sorted(strange))
        if ordered and not (
            start_ms <= ordered[0]["minute_ms"] and ordered[-1]["minute_ms"] + MINUTE_MS <= end_ms
        ):
            raise InputError("A minute lies outside its window", got=ordered[0]["minute_ms"])
        columns = {name: [_clean(row.get(name)) for row in ordered] for name in _NAMES}
        return cls(key, start_ms, end_ms, columns, 0, len(ordered))

    @property
    def minutes(self) -> int:
        """Minutes that the window should have."""
        return max(1, (self.end_ms - self.start_ms) // MINUTE_MS)

    @property
    def length_ms(self) -> int:
        return self.end_ms - self.start_ms

    @property
    def length_s(self) -> float:
        return self.length_ms / SECOND_MS

    def before(self, length_ms: int, *, also_within: bool = False) -> Window:
        """The minutes before this window that are known, at most so far back; with this window's own if requested."""
        start_ms = self.start_ms - length_ms
        low = bisect_left(self.columns["minute_ms"], start_ms, 0, self.low)
        end_ms, high = (self.end_ms, self.high) if also_within else (self.start_ms, self.low)
        return Window(self.key, start_ms, end_ms, self.columns, low, high)

    def column(self, name: str) -> Sequence[Any]:
        """All values of a column, None included."""
        return self.columns[name][self.low : self.high]

    def array(self, name: str) -> np.ndarray:
        """A column of numbers as float64, NaN where it is not known."""
        whole = self.columns.array(name) if isinstance(self.columns, MinuteColumns) else None
        return _numbers(self.column(name)) if whole is None else whole[self.low : self.high]

    def points(self, name: str) -> list[Point]:
        """Known values of a column with the ends of their minutes."""
        return [
            Point(minute_ms + MINUTE_MS, value)
            for minute_ms, value in zip(self.column("minute_ms"), self.column(name), strict=True)
            if value is not None
        ]

    def known(self, name: str) -> list[Any]:
        return [value for value in self.column(name) if value is not None]

    def first(self, name: str) -> Any:
        return next((value for value in self.column(name) if value is not None), None)

    def last(self, name: str) -> Any:
        return next((value for value in reversed(self.column(name)) if value is not None), None)

    def mean(self, name: str) -> float | None:
        values = self.known(name)
        return _sum(values) / len(values) if values else None

    def total(self, name: str) -> float | None:
        values = self.known(name)
        return _sum(values) if values else None

    def highest(self, name: str) -> Point | None:
        return max(self.points(name), key=lambda point: point.value, default=None)

    def lowest(self, name: str) -> Point | None:
        return min(self.points(name), key=lambda point: point.value, default=None)

    def share(self, name: str, holds: Callable[[Any], bool]) -> float | None:
        """Share of the known minutes in which ``holds`` is true."""
        values = self.known(name)
        return sum(1 for value in values if holds(value)) / len(values) if values else None

    def any(self, name: str) -> bool:
        return any(self.known(name))

    def spans_s(self, name: str) -> list[tuple[float, float]]:
        """Differences of a counter whose time is known, each with the seconds that it covers."""
        return [
            (delta, span / SECOND_MS)
            for delta, span in zip(self.column(name), self.column(span_column(name)), strict=True)
            if delta is not None and span is not None and span > 0
        ]

    def rate(self, name: str) -> float | None:
        """Mean rate per second of a counter's differences over the time that they cover."""
        spans = self.spans_s(name)
        covered_s = _sum(span_s for _, span_s in spans)
        return _sum(delta for delta, _ in spans) / covered_s if covered_s > 0 else None

    def growth(self, name: str) -> float | None:
        """Change of a gauge over the window by the median of all pairwise slopes (Theil-Sen); None under two points.

        One stray sample, such as the moment of a restart, does not tilt it.
        """
        points = self.points(name)
        slopes = [
            (later.value - earlier.value) / (later.at_ms - earlier.at_ms)
            for i, earlier in enumerate(points)
            for later in points[i + 1 :]
            if later.at_ms > earlier.at_ms
        ]
        return median(slopes) * self.length_ms if slopes else None


def windows(
    key: SubscriptionKey,
    columns: Mapping[str, Sequence[Any]],
    *,
    window_ms: int,
    every_ms: int,
    first_start_ms: int,
    end_ms: int,
) -> Iterator[Window]:
    """Cut one subscription's minutes into windows that start on the epoch grid of ``every_ms``.

    Parameters
    ----------
    columns : mapping
        Columns of ``signals``, sorted by ``minute_ms``.
    first_start_ms, end_ms : int
        Windows start at or after the first and end at or before the second. Windows without a minute are left out.
    """
    minutes_ms = columns["minute_ms"]
    if not minutes_ms:
        return
    # Windows before the first minute are empty; the grid is entered where one can hold it.
    start_ms = max(first_start_ms, minutes_ms[0] - window_ms + MINUTE_MS)
    start_ms += -start_ms % every_ms
    last_ms = min(end_ms, minutes_ms[-1] + window_ms)
    while start_ms + window_ms <= end_ms and start_ms < last_ms:
        low = bisect_left(minutes_ms, start_ms)
        high = bisect_left(minutes_ms, start_ms + window_ms, low)
        if low < high:
            yield Window(key, start_ms, start_ms + window_ms, columns, low, high)
        start_ms += every_ms


def by_subscription(
    rows: pa.Table, time_column: str = "minute_ms"
) -> Iterator[tuple[SubscriptionKey, pa.Table]]:
    """Rows in any order, subscription partition by subscription partition in the order of the key, sorted by time."""
    names = list(SUBSCRIPTION_KEY_NAMES)
    ordered = rows.sort_by([(name, "ascending") for name in [*names, time_column]]).combine_chunks()
    if not ordered.num_rows:
        return
    codes = [ordered.column(name).dictionary_encode().combine_chunks().indices.to_numpy() for name in names]
    changes = np.any([np.diff(code) != 0 for code in codes], axis=0)
    for low, high in pairwise([0, *(np.flatnonzero(changes) + 1).tolist(), ordered.num_rows]):
        part = ordered.slice(low, high - low)
        yield SubscriptionKey(*(part.column(name)[0].as_py() for name in names)), part


def check_grid(window_ms: int, every_ms: int) -> None:
    """Refuse windows that minutes cannot fill."""
    for name, value in (("window", window_ms), ("every", every_ms)):
        if value <= 0 or value % MINUTE_MS:
            raise InputError(
                f"--{name} is not a number of whole minutes", got=f"{value} ms", expected="such as 5m"
            )


def _sum(values: Iterable[float]) -> float:
    """Added one by one, in order: Python's own ``sum`` rounds otherwise from 3.12 on, and :mod:`screen` adds like this."""
    total = 0
    for value in values:
        total += value
    return total


def _numbers(values: Sequence[Any]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _clean(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value
