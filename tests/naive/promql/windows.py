"""Functions of a range, one window of one series at a time. In: the samples of a window, numbers. Out: a number, or None."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from tests.naive.promql import sums
from tests.naive.promql.data import NaiveError

Sample = tuple[int, float]


@dataclass(frozen=True)
class Window:
    """Samples after ``start_ms`` and up to ``end_ms``, seen from ``now_ms``."""

    samples: list[Sample]
    start_ms: int
    end_ms: int
    now_ms: int

    @classmethod
    def of(cls, samples: list[Sample], start_ms: int, end_ms: int, now_ms: int) -> Window:
        """The part of some samples that is inside."""
        return cls([(t, v) for t, v in samples if start_ms < t <= end_ms], start_ms, end_ms, now_ms)

    @property
    def values(self) -> list[float]:
        return [value for _, value in self.samples]


def of_window(name: str, window: Window, numbers: list[float]) -> float | None:
    """The value of a range function; ``numbers`` are its other arguments. None: the series has no value here."""
    if not window.samples:
        return None
    if name == "double_exponential_smoothing":
        return _smoothed(window, *numbers)
    if len(window.samples) < 2 and name in _OF_TWO:
        return None
    value = _FUNCTIONS[name](window, *numbers)
    return None if value is None else float(value)


def _extrapolated(window: Window, *, counter: bool, per_second: bool) -> float:
    (t1, v1), (tn, vn) = window.samples[0], window.samples[-1]
    difference = vn - v1
    if counter:
        for before, after in pairwise(window.values):
            if after < before:
                difference += before
    sampled = (tn - t1) / 1000
    between = sampled / (len(window.samples) - 1)
    to_start, to_end = (t1 - window.start_ms) / 1000, (window.end_ms - tn) / 1000
    far = between * 1.1
    if to_start >= far:
        to_start = between / 2
    if counter and difference > 0 and v1 >= 0:
        # A counter does not go below 0: it began no earlier than where its line meets 0.
        to_zero = sampled * (v1 / difference)
        if to_zero < to_start:
            to_start = to_zero
    if to_end >= far:
        to_end = between / 2
    factor = (sampled + to_start + to_end) / sampled
    if per_second:
        factor /= _seconds(window.end_ms - window.start_ms)
    return difference * factor


def _seconds(length_ms: int) -> float:
    """A length in seconds: whole ones, and the rest as nanoseconds of one."""
    return float(length_ms // 1000) + (length_ms % 1000 * 1_000_000) / 1e9


def _last_two(window: Window) -> tuple[Sample, Sample]:
    return window.samples[-2], window.samples[-1]


def _irate(window: Window) -> float:
    (t1, v1), (t2, v2) = _last_two(window)
    return (v2 if v2 < v1 else v2 - v1) / ((t2 - t1) / 1000)


def _idelta(window: Window) -> float:
    (_, v1), (_, v2) = _last_two(window)
    return v2 - v1


def _changes(window: Window) -> int:
    return sum(1 for a, b in pairwise(window.values) if a != b and not (math.isnan(a) and math.isnan(b)))


def _predicted(window: Window, after_s: float) -> float:
    slope, now = sums.line_through(window.samples, window.now_ms)
    return slope * after_s + now


def _smoothed(window: Window, smoothing: float, trending: float) -> float | None:
    if smoothing <= 0 or smoothing >= 1 or trending <= 0 or trending >= 1:
        raise NaiveError("a factor of smoothing is not between 0 and 1")
    values = window.values
    if len(values) < 2:
        return None
    before, level = 0.0, values[0]
    trend = values[1] - values[0]
    for i, value in enumerate(values[1:]):
        if i > 0:
            trend = trending * (level - before) + (1 - trending) * trend
        before, level = level, smoothing * value + (1 - smoothing) * (level + trend)
    return level


def _time_of(window: Window, better: Callable[[float, float], bool]) -> float:
    """When the extreme was, the latest of equal ones."""
    best_t, best = window.samples[0]
    for t, value in window.samples:
        if better(value, best) or math.isnan(best):
            best_t, best = t, value
    return best_t / 1000


_OF_TWO = ("rate", "increase", "delta", "irate", "idelta", "deriv", "predict_linear")
_FUNCTIONS: dict[str, Callable[..., float | None]] = {
    "rate": lambda w: _extrapolated(w, counter=True, per_second=True),
    "increase": lambda w: _extrapolated(w, counter=True, per_second=False),
    "delta": lambda w: _extrapolated(w, counter=False, per_second=False),
    "irate": _irate,
    "idelta": _idelta,
    "changes": _changes,
    "resets": lambda w: sum(1 for a, b in pairwise(w.values) if b < a),
    "deriv": lambda w: sums.line_through(w.samples, w.samples[0][0])[0],
    "predict_linear": _predicted,
    "avg_over_time": lambda w: sums.mean(w.values),
    "sum_over_time": lambda w: sums.sum_over_time(w.values),
    "min_over_time": lambda w: sums.smallest(w.values),
    "max_over_time": lambda w: sums.largest(w.values),
    "count_over_time": lambda w: len(w.samples),
    "present_over_time": lambda w: 1.0,
    "absent_over_time": lambda w: 1.0,
    "last_over_time": lambda w: w.values[-1],
    "stdvar_over_time": lambda w: sums.variance_over_time(w.values),
    "stddev_over_time": lambda w: sums.root(sums.variance_over_time(w.values)),
    "quantile_over_time": lambda w, q: sums.quantile(q, w.values),
    "mad_over_time": lambda w: sums.median_deviation(w.values),
    "ts_of_last_over_time": lambda w: w.samples[-1][0] / 1000,
    "ts_of_min_over_time": lambda w: _time_of(w, lambda value, best: value <= best),
    "ts_of_max_over_time": lambda w: _time_of(w, lambda value, best: value >= best),
}
