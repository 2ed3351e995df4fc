"""Dispatch limits as a metric. In: rows of ``limits``. Out: series of ``throttlescope_dispatch_limit`` and their samples.

Limits are read from time to time, but a series needs regular samples. So the series is the one that a Prometheus would have
which scrapes every minute, on the minute: each sample has the value of the newest snapshot up to it. A snapshot is valid for
seven days (:data:`throttlescope.transforms.as_of.KNOWN_FOR_MS`). Before a subscription's first snapshot the first one is used
for as long, and a label of the series says so. Where a series is missing in the next snapshot, or its snapshot is too old, it
ends with a staleness marker.

The value is per second: rate / period. ``+Inf``: the level was read and sets no limit. No series: the limit is not
known.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.transforms.promql.blocks import Arrays
from throttlescope.transforms.promql.source import bounds_of

LIMIT_METRIC = "throttlescope_dispatch_limit"
LIMIT_HELP = (
    "Dispatch limit in force for one subscription of a topic partition, per second (rate / period); "
    "+Inf: observed, and no limit"
)
#: Distance of the samples: a limit is read as if it were scraped so often.
STEP_MS = MINUTE_MS


@dataclass(frozen=True, eq=False)
class LimitSeries:
    """Series of the limit metric. Picklable.

    Attributes
    ----------
    rows : pyarrow.Table
        One row per series, with columns as in the table ``series``. A ``series_id`` is a name within this object only.
    bounds : ndarray of int64
        Spans of series ``n`` are those from ``bounds[n]`` up to ``bounds[n + 1]``, in time order.
    from_ms, until_ms : ndarray of int64
        Multiples of the step: the first sample of each span, and the first moment behind it.
    values : ndarray of float64
        Of each span, per second.
    """

    rows: pa.Table
    bounds: np.ndarray
    from_ms: np.ndarray
    until_ms: np.ndarray
    values: np.ndarray

    def __len__(self) -> int:
        return self.rows.num_rows

    @functools.cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each series id."""
        return {one: row for row, one in enumerate(self.rows.column("series_id").to_pylist())}

    def of_ids(self, ids: Iterable[str]) -> LimitSeries:
        """Some of the series."""
        rows = np.array([self.row_of[one] for one in ids], np.int64)
        spans, bounds = self._spans_of(rows)
        return LimitSeries(
            self.rows.take(pa.array(rows)), bounds, *(column[spans] for column in self._columns())
        )

    def within(self, start_ms: int, end_ms: int) -> LimitSeries:
        """Those that have a sample or a marker within [start, end), with what they have around it."""
        # A staleness marker ends a span.
        near = (self.from_ms < end_ms) & (self.until_ms >= start_ms)
        counts = (
            np.add.reduceat(near.astype(np.int64), self.bounds[:-1]) if len(self) else np.empty(0, np.int64)
        )
        kept = counts > 0
        return LimitSeries(
            self.rows.filter(pa.array(kept)),
            bounds_of(counts[kept]),
            *(column[near] for column in self._columns()),
        )

    def count(self, start_ms: int, end_ms: int) -> int:
        """Number of samples within [start, end)."""
        first, after = self._cut(slice(None), start_ms, end_ms)
        return int((after - first).sum()) // STEP_MS

    def cut(self, ids: Sequence[str], start_ms: int, end_ms: int) -> tuple[Arrays, np.ndarray]:
        """Samples and markers of some series within [start, end), as :meth:`blocks.Block.cut` gives them."""
        rows = np.array([self.row_of[one] for one in ids], np.int64)
        spans, bounds = self._spans_of(rows)
        first, after = self._cut(spans, start_ms, end_ms)
        counts = (after - first) // STEP_MS
        starts = bounds_of(counts)
        times_ms = np.repeat(first - starts[:-1] * STEP_MS, counts) + np.arange(starts[-1]) * STEP_MS
        values = np.repeat(self.values[spans], counts)
        marked = self._ends[spans] & (self.until_ms[spans] >= start_ms) & (self.until_ms[spans] < end_ms)
        stale_ms, stale_bounds = self.until_ms[spans][marked], bounds_of(marked)[bounds]
        bounds = starts[bounds]
        here = (np.diff(bounds) > 0) | (np.diff(stale_bounds) > 0)
        return (
            times_ms,
            values,
            bounds_of(np.diff(bounds)[here]),
            stale_ms,
            bounds_of(np.diff(stale_bounds)[here]),
        ), here

    def at(self, moment_ms: int) -> tuple[np.ndarray, np.ndarray]:
        """Which series there are at a moment (rows of ``rows``), and their values."""
        now = np.flatnonzero((self.from_ms <= moment_ms) & (moment_ms < self.until_ms))
        return np.searchsorted(self.bounds, now, side="right") - 1, self.values[now]

    @functools.cached_property
    def _ends(self) -> np.ndarray:
        """Whether a series ends with each span: it does not where the next one goes on at once."""
        goes_on = np.zeros(len(self.from_ms), np.bool_)
        goes_on[:-1] = self.until_ms[:-1] == self.from_ms[1:]
        goes_on[self.bounds[1:] - 1] = False
        return ~goes_on

    def _cut(self, spans, start_ms: int, end_ms: int) -> tuple[np.ndarray, np.ndarray]:
        first = np.maximum(self.from_ms[spans], up(start_ms))
        return first, np.maximum(first, np.minimum(self.until_ms[spans], up(end_ms)))

    def _spans_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, counts = self.bounds[rows], self.bounds[rows + 1] - self.bounds[rows]
        bounds = bounds_of(counts)
        return np.repeat(first - bounds[:-1], counts) + np.arange(bounds[-1]), bounds

    def _columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.from_ms, self.until_ms, self.values


def up(time_ms):
    """The next multiple of the step, or the time itself where it is one."""
    return -(-time_ms // STEP_MS) * STEP_MS
