"""The newest straight stretch of a series. In: times and values. Out: a :class:`TrendLine`, the trend since its last change.

A backlog goes in straight stretches: it grows while something limits it, and falls from the moment that this ends. Only
the newest stretch says how it goes on. It is found by cutting: where two lines explain the points so much better than
one that the gain is beyond what a free cut brings by itself (Bayesian information criterion), what lies before the
cut is dropped, and the rest is examined again. The slope is then the median of all pairwise slopes (Theil-Sen), which one
stray sample does not tilt.

The slow twin is ``tests/naive/forecast_line.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Points that are looked back at, at most. Older stretches do not say how the newest one goes on.
MOST_POINTS = 40
#: Points of a stretch before a cut, and of the newest one: two show that something changed, three how it goes on.
LEAST_BEFORE, LEAST_NEWEST = 3, 2
#: A cut adds a slope, a height and its place. Twice their weight: a false cut costs more than a late one.
_CUT_PARAMETERS, _CAUTION = 3, 2.0
#: Scatter below this share of the greatest value is no news: counters and scrapes are not that exact.
_SCATTER_SHARE = 0.002


@dataclass(frozen=True, slots=True)
class TrendLine:
    """The newest stretch.

    Attributes
    ----------
    first : int
        Index of its first point.
    points : int
    span_s : float
        Time from its first point to the last.
    slope_per_s : float
        Change of the value per second.
    scatter : float
        Root mean square distance of the points from the line.
    """

    first: int
    points: int
    span_s: float
    slope_per_s: float
    scatter: float

    @property
    def is_steady(self) -> bool:
        """The change over the stretch drowns in the scatter: nothing says that it goes anywhere."""
        return abs(self.slope_per_s) * self.span_s <= 3 * self.scatter


def newest_line(times_s: np.ndarray, values: np.ndarray) -> TrendLine | None:
    """Find the stretch that the last point belongs to.

    Parameters
    ----------
    times_s : ndarray of float64
        Rising, in seconds.
    values : ndarray of float64
        As many, without NaN.

    Returns
    -------
    Line or None
        None with fewer than two points.
    """
    if len(times_s) < 2:
        return None
    begin = max(0, len(times_s) - MOST_POINTS)
    # From the last point, so that squares stay small.
    times, points = times_s[begin:] - times_s[-1], values[begin:]
    floor = max(1.0, _SCATTER_SHARE * float(np.abs(points).max())) ** 2
    first = 0
    while (cut := _newest_cut(times[first:], points[first:], floor)) is not None:
        first += cut
    times, points = times[first:], points[first:]
    count = len(times)
    error = float(_errors(times, points)[-1])
    return TrendLine(
        begin + first, count, float(-times[0]), _theil_sen(times, points), float(np.sqrt(error / count))
    )


def _newest_cut(times: np.ndarray, values: np.ndarray, floor: float) -> int | None:
    """Number of points before the cut of all points, else of their newer half, else of its newer half, and so on.

    Where a series bent more than once, no single cut explains much of the whole: the newest bend shows in a part of it.
    """
    begin = 0
    while len(times) - begin >= LEAST_BEFORE + LEAST_NEWEST:
        cut = _cut(times[begin:], values[begin:], floor)
        if cut is not None:
            return begin + cut
        begin += max(1, (len(times) - begin) // 2)
    return None


def _cut(times: np.ndarray, values: np.ndarray, floor: float) -> int | None:
    """Number of points before the best cut; None where one line is enough."""
    count = len(times)
    if count < LEAST_BEFORE + LEAST_NEWEST:
        return None
    before = _errors(times, values)
    # The same sums from the other end: errors of the line through the last so many points.
    after = _errors(times[::-1], values[::-1])
    places = np.arange(LEAST_BEFORE, count - LEAST_NEWEST + 1)
    both = before[places - 1] + after[count - places - 1]
    best = int(np.argmin(both))
    # Per degree of freedom: two lines through five points leave one, and would explain anything.
    one, two = before[-1] / (count - 2), both[best] / (count - 4)
    gain = count * np.log((one + floor) / (two + floor))
    return int(places[best]) if gain >= _CAUTION * _CUT_PARAMETERS * np.log(count) else None


def _errors(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sum of squared distances from the least-squares line through the first 1, 2, ... points."""
    # Around the first point: the sums below subtract large from large otherwise.
    x, y = times - times[0], values - values[0]
    n = np.arange(1, len(x) + 1)
    sx, sy = np.cumsum(x), np.cumsum(y)
    sxx, sxy, syy = (
        np.cumsum(x * x) - sx * sx / n,
        np.cumsum(x * y) - sx * sy / n,
        np.cumsum(y * y) - sy * sy / n,
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = np.where(sxx > 0, sxy * sxy / sxx, 0.0)
    return np.maximum(syy - explained, 0.0)


def _theil_sen(times: np.ndarray, values: np.ndarray) -> float:
    earlier, later = np.triu_indices(len(times), 1)
    return float(np.median((values[later] - values[earlier]) / (times[later] - times[earlier])))
