"""Selectors. In: series with their samples, and the steps. Out: step matrices, or the samples that windows look at."""

from __future__ import annotations

import numpy as np

from throttlescope.transforms.promql import kernels
from throttlescope.transforms.promql.matrix import StepMatrix, empty, merged
from throttlescope.transforms.promql.operators.names import nameless
from throttlescope.transforms.promql.semantics import Labels
from throttlescope.transforms.promql.source import Samples, Series, bounds_of


def instant(
    samples: Samples, ends_ms: np.ndarray, lookback_ms: int, age_ms: np.ndarray | None = None
) -> StepMatrix:
    """The newest sample within the look-back, unless a staleness marker followed it.

    ``age_ms`` shortens the look-back of each step.
    """
    lookbacks_ms = np.full(len(ends_ms), lookback_ms, np.int64)
    if age_ms is not None:
        lookbacks_ms -= age_ms
    return _newest(samples, samples.labels, samples.values, ends_ms, lookbacks_ms)


def sample_time(samples: Samples, ends_ms: np.ndarray, lookback_ms: int) -> StepMatrix:
    """The time of that sample in seconds; the name goes."""
    labels, distinct = nameless(samples.labels)
    lookbacks_ms = np.full(len(ends_ms), lookback_ms, np.int64)
    found = _newest(samples, labels, samples.times_ms / 1000.0, ends_ms, lookbacks_ms)
    return found if distinct else merged(found)


def window_samples(samples: Samples, end_ms: int, range_ms: int) -> list[Series]:
    """What one window (end - range, end] holds, series without a sample in it left out."""
    found = []
    for row, labels in enumerate(samples.labels):
        times_ms = samples.times_ms[samples.bounds[row] : samples.bounds[row + 1]]
        first, after = np.searchsorted(times_ms, (end_ms - range_ms, end_ms), side="right")
        if first < after:
            values = samples.values[samples.bounds[row] : samples.bounds[row + 1]]
            found.append(Series(dict(labels), times_ms[first:after], values[first:after]))
    return found


def as_samples(matrix: StepMatrix, steps_ms: np.ndarray) -> Samples:
    """A step matrix as samples at its steps: what a subquery shows to the window around it."""
    if matrix.present.all():
        times_ms, values = np.tile(steps_ms, len(matrix.labels)), matrix.values.ravel()
    else:
        rows, columns = np.nonzero(matrix.present)
        times_ms, values = steps_ms[columns], matrix.values[rows, columns]
    return Samples(
        matrix.labels,
        times_ms,
        values,
        bounds_of(matrix.present.sum(axis=1)),
        np.empty(0, np.int64),
        np.zeros(len(matrix.labels) + 1, np.int64),
    )


def _newest(
    samples: Samples,
    labels: tuple[Labels, ...],
    column: np.ndarray,
    ends_ms: np.ndarray,
    lookbacks_ms: np.ndarray,
) -> StepMatrix:
    if not labels:
        return empty(len(ends_ms))
    values, present = kernels.newest(
        samples.times_ms,
        column,
        samples.bounds,
        samples.stale_ms,
        samples.stale_bounds,
        ends_ms,
        lookbacks_ms,
    )
    return seen_rows(labels, values, present)


def seen_rows(labels: tuple[Labels, ...], values: np.ndarray, present: np.ndarray) -> StepMatrix:
    """A matrix of a kernel's result, NaN already where nothing is present, without the rows that are never."""
    seen = present.any(axis=1)
    found = StepMatrix(labels, values, present)
    return found if seen.all() else found.take(np.flatnonzero(seen))
