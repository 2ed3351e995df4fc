"""Numbers out of many numbers, in Prometheus' order of operations. In: lists of floats. Out: a float.

The order of operations decides the last digit, so it is written out, and nothing of Python's own sums is used.
"""

from __future__ import annotations

import math


def divide(a: float, b: float) -> float:
    """``a / b`` as processors do it: by 0 it is infinite, 0 / 0 is NaN."""
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b)


def root(value: float) -> float:
    return math.nan if value < 0 else math.sqrt(value)


def add(value: float, total: float, lost: float) -> tuple[float, float]:
    """One step of Neumaier's sum: the new total, and what rounding has lost so far."""
    new = total + value
    if math.isinf(new):
        return new, 0.0
    if abs(total) >= abs(value):
        return new, lost + ((total - new) + value)
    return new, lost + ((value - new) + total)


def sum_over_time(values: list[float]) -> float:
    total = lost = 0.0
    for value in values:
        total, lost = add(value, total, lost)
    return total if math.isinf(total) else total + lost


def sum_of_series(values: list[float]) -> float:
    """As :func:`sum_over_time`, but it begins with the first value and always adds what was lost."""
    total, lost = values[0], 0.0
    for value in values[1:]:
        total, lost = add(value, total, lost)
    return total + lost


def mean(values: list[float]) -> float:
    """The sum over the count; from where the sum would overflow a running mean."""
    total, lost = values[0], 0.0
    for i in range(1, len(values)):
        new, new_lost = add(values[i], total, lost)
        if math.isinf(new):
            return _running_mean(values[i:], i, total / i, lost / i)
        total, lost = new, new_lost
    return total / len(values) + lost / len(values)


def _running_mean(rest: list[float], seen: int, so_far: float, lost: float) -> float:
    for value in rest:
        seen += 1
        share = (seen - 1) / seen
        so_far, lost = add(value / seen, share * so_far, share * lost)
    return so_far + lost


def variance_over_time(values: list[float]) -> float:
    middle = middle_lost = squares = squares_lost = 0.0
    for i, value in enumerate(values, start=1):
        away = value - (middle + middle_lost)
        middle, middle_lost = add(away / i, middle, middle_lost)
        squares, squares_lost = add(away * (value - (middle + middle_lost)), squares, squares_lost)
    return (squares + squares_lost) / len(values)


def variance_of_series(values: list[float]) -> float:
    """Without compensation; what is not finite in the first place makes NaN of the whole."""
    middle = values[0]
    squares = 0.0 if math.isfinite(middle) else math.nan
    for i, value in enumerate(values[1:], start=2):
        away = value - middle
        middle += away / i
        squares += away * (value - middle)
    return squares / len(values)


def smallest(values: list[float]) -> float:
    """The first of the smallest; NaN only where there is nothing else."""
    best = values[0]
    for value in values:
        if value < best or math.isnan(best):
            best = value
    return best


def largest(values: list[float]) -> float:
    best = values[0]
    for value in values:
        if value > best or math.isnan(best):
            best = value
    return best


def quantile(q: float, values: list[float]) -> float:
    """Between two neighbours in proportion. NaN counts as smaller than all, and an infinite neighbour of weight 0 counts too."""
    if math.isnan(q):
        return math.nan
    if q < 0:
        return -math.inf
    if q > 1:
        return math.inf
    ranked = [v for v in values if math.isnan(v)] + sorted(v for v in values if not math.isnan(v))
    rank = q * (len(ranked) - 1)
    lower = math.floor(rank)
    upper = min(len(ranked) - 1, lower + 1)
    weight = rank - lower
    return ranked[lower] * (1 - weight) + ranked[upper] * weight


def median_deviation(values: list[float]) -> float:
    median = quantile(0.5, values)
    return quantile(0.5, [abs(value - median) for value in values])


def line_through(samples: list[tuple[int, float]], origin_ms: int) -> tuple[float, float]:
    """Least squares: the slope per second, and the value at ``origin_ms``."""
    first = samples[0][1]
    if all(value == first for _, value in samples[1:]):
        return (math.nan, math.nan) if math.isinf(first) else (0.0, first)
    x_sum = x_lost = y_sum = y_lost = xy_sum = xy_lost = xx_sum = xx_lost = 0.0
    for t, y in samples:
        x = (t - origin_ms) / 1000
        x_sum, x_lost = add(x, x_sum, x_lost)
        y_sum, y_lost = add(y, y_sum, y_lost)
        xy_sum, xy_lost = add(x * y, xy_sum, xy_lost)
        xx_sum, xx_lost = add(x * x, xx_sum, xx_lost)
    n = len(samples)
    x_sum, y_sum, xy_sum, xx_sum = x_sum + x_lost, y_sum + y_lost, xy_sum + xy_lost, xx_sum + xx_lost
    slope = divide(xy_sum - x_sum * y_sum / n, xx_sum - x_sum * x_sum / n)
    return slope, y_sum / n - slope * x_sum / n
