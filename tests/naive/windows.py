"""Range functions the slow way: one window, in plain Python. In: (ms, value) pairs. Out: a float, or None.

Written from the rules in prose; the compiled kernels carry things from window to window, this does not.
"""

from __future__ import annotations

import math
from itertools import pairwise

from tests.naive.promql import compensated, exact_mean, exact_sum, extrapolated

Samples = list[tuple[int, float]]


def of_window(
    name: str, samples: Samples, start: int, end: int, step: int, numbers: tuple[float, ...] = ()
) -> float | None:
    """The function ``name`` of the samples in (start, end] at the step ``step``."""
    window = [(t, v) for t, v in samples if start < t <= end]
    values = [v for _, v in window]
    if not window:
        return None
    if name in ("rate", "increase", "delta"):
        return extrapolated(name, window, start, end)
    if name in ("irate", "idelta"):
        return of_last_two(name, window)
    if name in ("deriv", "predict_linear"):
        return of_line(name, window, step, *numbers)
    if name == "double_exponential_smoothing":
        return smoothed(values, *numbers) if len(values) > 1 else None
    pairs = list(pairwise(values))
    return {
        "count_over_time": lambda: float(len(values)),
        "present_over_time": lambda: 1.0,
        "last_over_time": lambda: values[-1],
        "ts_of_last_over_time": lambda: window[-1][0] / 1000,
        "changes": lambda: float(sum(a != b and not (math.isnan(a) and math.isnan(b)) for a, b in pairs)),
        "resets": lambda: float(sum(b < a for a, b in pairs)),
        "sum_over_time": lambda: exact_sum(values),
        "avg_over_time": lambda: exact_mean(values),
        "min_over_time": lambda: extreme(window, min)[1],
        "max_over_time": lambda: extreme(window, max)[1],
        "ts_of_min_over_time": lambda: extreme(window[::-1], min)[0] / 1000,
        "ts_of_max_over_time": lambda: extreme(window[::-1], max)[0] / 1000,
        "stdvar_over_time": lambda: variance(values),
        "stddev_over_time": lambda: math.sqrt(variance(values)),
        "quantile_over_time": lambda: quantile(numbers[0], values),
        "mad_over_time": lambda: deviation(values),
    }[name]()


def extreme(window: Samples, best) -> tuple[int, float]:
    """The first of the best samples; NaN only where there is nothing else."""
    numbers = [sample for sample in window if not math.isnan(sample[1])]
    return best(numbers, key=lambda sample: sample[1]) if numbers else window[0]


def of_last_two(name: str, window: Samples) -> float | None:
    if len(window) < 2:
        return None
    (t1, v1), (t2, v2) = window[-2:]
    step = v2 if name == "irate" and v2 < v1 else v2 - v1
    return step / ((t2 - t1) / 1000) if name == "irate" else step


def variance(values: list[float]) -> float:
    """Welford's way: a running mean, and the squares around it, each with what its additions lost."""
    mean, mean_lost, squares, squares_lost = 0.0, 0.0, 0.0, 0.0
    for i, value in enumerate(values, start=1):
        delta = value - (mean + mean_lost)
        mean, lost = compensated([mean, delta / i])
        mean_lost = 0.0 if math.isinf(mean) else mean_lost + lost
        squares, lost = compensated([squares, delta * (value - (mean + mean_lost))])
        squares_lost = 0.0 if math.isinf(squares) else squares_lost + lost
    return (squares + squares_lost) / len(values)


def quantile(q: float, values: list[float]) -> float:
    if math.isnan(q):
        return math.nan
    if not 0 <= q <= 1:
        return -math.inf if q < 0 else math.inf
    ordered = sorted(values, key=lambda v: (not math.isnan(v), 0.0 if math.isnan(v) else v))
    rank = q * (len(values) - 1)
    lower = math.floor(rank)
    upper = min(lower + 1, len(values) - 1)
    return ordered[lower] * (1 - (rank - lower)) + ordered[upper] * (rank - lower)


def deviation(values: list[float]) -> float:
    median = quantile(0.5, values)
    return quantile(0.5, [abs(value - median) for value in values])


def of_line(name: str, window: Samples, step: int, ahead: float = 0.0) -> float | None:
    """Least squares; time counts from the first sample, or from the step."""
    if len(window) < 2:
        return None
    origin = window[0][0] if name == "deriv" else step
    xs, ys = [(t - origin) / 1000 for t, _ in window], [v for _, v in window]
    if all(y == ys[0] for y in ys[1:]):
        slope, at_origin = (math.nan, math.nan) if math.isinf(ys[0]) else (0.0, ys[0])
    else:
        n = len(xs)
        sum_x, sum_y, sum_xy, sum_xx = (
            sum(compensated([0.0, *terms]))
            for terms in (xs, ys, [x * y for x, y in zip(xs, ys, strict=True)], [x * x for x in xs])
        )
        slope = (sum_xy - sum_x * sum_y / n) / (sum_xx - sum_x * sum_x / n)
        at_origin = sum_y / n - slope * sum_x / n
    return slope if name == "deriv" else slope * ahead + at_origin


def smoothed(values: list[float], smoothing: float, trend: float) -> float:
    level, slope = values[0], values[1] - values[0]
    before = level
    for i, value in enumerate(values[1:]):
        if i:
            slope = trend * (level - before) + (1 - trend) * slope
        before, level = level, smoothing * value + (1 - smoothing) * (level + slope)
    return level
