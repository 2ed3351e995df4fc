"""Results of rules as series. In: vectors at several times. Out: series with samples, and staleness markers where one ended."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from throttlescope.ingest.core.selector import Selector
from throttlescope.transforms.promql.semantics import Labels
from throttlescope.transforms.promql.source import Series


@dataclass(frozen=True)
class Vectors:
    """Instant vectors at rising times: a row per series, a column per time.

    Attributes
    ----------
    labels : tuple of Labels
        One label set per row, none twice.
    values : ndarray of float64
    present : ndarray of bool
    """

    labels: tuple[Labels, ...]
    values: np.ndarray
    present: np.ndarray

    def at(self, columns: np.ndarray) -> Vectors:
        """Some of the columns."""
        return Vectors(self.labels, self.values[:, columns], self.present[:, columns])


def by_labels(
    labels: Iterable[Labels], values: np.ndarray, present: np.ndarray
) -> tuple[Vectors, np.ndarray]:
    """Make rows of equal labels one; and the columns in which two of them met, where the result means nothing."""
    row_of: dict[Labels, int] = {}
    rows = np.fromiter((row_of.setdefault(one, len(row_of)) for one in labels), np.int64)
    if len(rows) == len(row_of):
        return Vectors(tuple(row_of), values, present), np.zeros(present.shape[1], bool)
    count = np.zeros((len(row_of), present.shape[1]), np.int64)
    np.add.at(count, rows, present)
    joined = np.full(count.shape, np.nan)
    for source, target in enumerate(rows.tolist()):
        joined[target, present[source]] = values[source, present[source]]
    return Vectors(tuple(row_of), joined, count > 0), (count > 1).any(axis=0)


@dataclass
class ResultSeries:
    """Samples and markers of one series, in growing arrays."""

    times_ms: array = field(default_factory=lambda: array("q"))
    values: array = field(default_factory=lambda: array("d"))
    stale_ms: array = field(default_factory=lambda: array("q"))

    def add(self, times_ms: np.ndarray, values: np.ndarray, stale_ms: np.ndarray) -> None:
        """Append samples and markers that come after all there are."""
        self.times_ms.frombytes(times_ms.astype(np.int64).tobytes())
        self.values.frombytes(values.astype(np.float64).tobytes())
        self.stale_ms.frombytes(stale_ms.astype(np.int64).tobytes())

    def cut(self, labels: Mapping[str, str], start_ms: int, end_ms: int) -> Series | None:
        """What lies in [start, end)."""
        first, after = bisect_left(self.times_ms, start_ms), bisect_left(self.times_ms, end_ms)
        stale_first, stale_after = bisect_left(self.stale_ms, start_ms), bisect_left(self.stale_ms, end_ms)
        if first >= after and stale_first >= stale_after:
            return None
        return Series(
            labels,
            np.array(self.times_ms[first:after], np.int64),
            np.array(self.values[first:after], np.float64),
            np.array(self.stale_ms[stale_first:stale_after], np.int64),
        )


class RuleSeries:
    """The series of one rule over a span of time, and which of them were there the last time.

    Attributes
    ----------
    current : set of Labels
        Series of the last evaluation that succeeded. What of them the next one lacks gets a staleness marker.
    """

    def __init__(self, current: Iterable[Labels] = ()) -> None:
        self.current = set(current)
        self.series: dict[Labels, ResultSeries] = {}
        self.samples = self.markers = 0

    def add(self, vectors: Vectors, times_ms: np.ndarray) -> None:
        """Write the vectors of evaluations that succeeded, at these times."""
        if not len(times_ms):
            return
        gone = self.current.difference(vectors.labels)
        for labels in gone:
            self._of(labels).add(times_ms[:0], np.empty(0), times_ms[:1])
        self.markers += len(gone)
        before = np.fromiter((labels in self.current for labels in vectors.labels), bool)
        present = vectors.present
        ends = np.column_stack([before, present[:, :-1]]) & ~present
        for row, labels in enumerate(vectors.labels):
            here, stale = present[row], ends[row]
            if here.any() or stale.any():
                self._of(labels).add(times_ms[here], vectors.values[row, here], times_ms[stale])
        self.samples += int(present.sum())
        self.markers += int(ends.sum())
        self.current = {
            labels for labels, here in zip(vectors.labels, present[:, -1].tolist(), strict=True) if here
        }

    def select(self, selector: Selector, start_ms: int, end_ms: int) -> Iterator[tuple[Labels, Series]]:
        """Series that fit, with what they have in [start, end)."""
        for labels, series in self.series.items():
            named = dict(labels)
            if selector.matches(named):
                found = series.cut(named, start_ms, end_ms)
                if found is not None:
                    yield labels, found

    def _of(self, labels: Labels) -> ResultSeries:
        found = self.series.get(labels)
        if found is None:
            found = self.series[labels] = ResultSeries()
        return found


def first_wins(pieces: list[Series]) -> Series:
    """One series from what several rules wrote of it: of two entries at one time the first rule's stays."""
    if len(pieces) == 1:
        return pieces[0]
    times = np.concatenate([array for one in pieces for array in (one.timestamps_ms, one.stale_ms)])
    values = np.concatenate([array for one in pieces for array in (one.values, np.zeros(len(one.stale_ms)))])
    stale = np.concatenate(
        [np.repeat([False, True], [len(one.timestamps_ms), len(one.stale_ms)]) for one in pieces]
    )
    times, first = np.unique(times, return_index=True)
    values, stale = values[first], stale[first]
    return Series(pieces[0].labels, times[~stale], values[~stale], times[stale])
