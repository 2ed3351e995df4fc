"""The arithmetic of PromQL, compiled. In: samples of many series end to end, and the steps. Out: series x steps.

Samples come as ``times_ms`` and ``values`` of all series one behind the other; ``bounds[i]:bounds[i + 1]`` are those of
series i, times rising. Results are float64, NaN where ``present`` is False. Each rule of numbers is written once here,
with Prometheus' order of operations, which decides the last digit; the slow twin is ``tests/naive/promql.py``.

All kernels are in this file because Numba's cache forgets a compiled function when its own file changes, not when
a file changes whose functions it calls.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

IRATE, CHANGES, RESETS, AVG, MIN, MAX, SUM, COUNT, LAST, GROUP = range(10)

_compiled = njit(cache=True, nogil=True)


# -- rules of numbers -----------------------------------------------------------------------


@_compiled
def _add(total, lost, value):
    """One step of Neumaier's compensated sum (util/kahansum). ``lost`` is given up when the sum overflows."""
    new = total + value
    if math.isinf(new):
        lost = 0.0
    elif abs(total) >= abs(value):
        lost += (total - new) + value
    else:
        lost += (value - new) + total
    return new, lost


@_compiled
def _less_or_nan(kept, value):
    """Whether a minimum takes ``value``: NaN yields to every number."""
    return value < kept or math.isnan(kept)


@_compiled
def _more_or_nan(kept, value):
    return value > kept or math.isnan(kept)


@_compiled
def _mean_step(total, lost, incremental, count, value):
    """One step of a mean: a compensated sum that turns into a running mean where it would overflow.

    promql/engine.go and promql/functions.go at 3.5: ``total`` is the sum, or the mean once ``incremental``.
    ``count`` includes ``value``.
    """
    if not incremental:
        new, new_lost = _add(total, lost, value)
        if not math.isinf(new):
            return new, new_lost, False
        total, lost = total / (count - 1), lost / (count - 1)
    share = (count - 1) / count
    total, lost = _add(share * total, share * lost, value / count)
    return total, lost, True


@_compiled
def _mean(total, lost, incremental, count):
    return total + lost if incremental else total / count + lost / count


@_compiled
def _behind(times_ms, position, stop, edge_ms):
    """First index from ``position`` whose time is later than ``edge_ms``."""
    while position < stop and times_ms[position] <= edge_ms:
        position += 1
    return position


# -- selectors ------------------------------------------------------------------------------


@_compiled
def newest(times_ms, bounds, stale_ms, stale_bounds, ends_ms, lookback_ms):
    """Index of the newest sample in (end - lookback, end] of each series and step; -1 where there is none.

    Left-open since Prometheus 3. A staleness marker newer than the newest sample ends the series.
    """
    series = len(bounds) - 1
    out = np.full((series, len(ends_ms)), -1, np.int64)
    for i in range(series):
        at, marker = bounds[i], stale_bounds[i]
        for j in range(len(ends_ms)):
            at = _behind(times_ms, at, bounds[i + 1], ends_ms[j])
            marker = _behind(stale_ms, marker, stale_bounds[i + 1], ends_ms[j])
            if at == bounds[i] or times_ms[at - 1] <= ends_ms[j] - lookback_ms:
                continue
            if marker > stale_bounds[i] and stale_ms[marker - 1] > times_ms[at - 1]:
                continue
            out[i, j] = at - 1
    return out


# -- range functions --------------------------------------------------------------------------


@_compiled
def extrapolated(times_ms, values, bounds, ends_ms, range_ms, is_counter, is_rate):
    """``rate``, ``increase`` (counter) and ``delta`` over the windows (end - range, end].

    promql/functions.go, ``extrapolatedRate`` of 3.5: the difference of the last and the first sample, with what resets
    lost added back, is stretched to the window's edges where these are nearer than 1.1 mean distances, by half a
    distance otherwise, and never below the counter's zero.
    """
    series, steps = len(bounds) - 1, len(ends_ms)
    out = np.full((series, steps), np.nan)
    present = np.zeros((series, steps), np.bool_)
    range_s = range_ms / 1000.0
    for i in range(series):
        first = after = bounds[i]
        for j in range(steps):
            end_ms = ends_ms[j]
            after = _behind(times_ms, after, bounds[i + 1], end_ms)
            first = _behind(times_ms, first, after, end_ms - range_ms)
            if after - first < 2:
                continue
            last = after - 1
            result = values[last] - values[first]
            if is_counter:
                for k in range(first + 1, after):
                    if values[k] < values[k - 1]:
                        result += values[k - 1]
            to_start_s = (times_ms[first] - (end_ms - range_ms)) / 1000.0
            to_end_s = (end_ms - times_ms[last]) / 1000.0
            sampled_s = (times_ms[last] - times_ms[first]) / 1000.0
            mean_s = sampled_s / (last - first)
            threshold_s = mean_s * 1.1
            if to_start_s >= threshold_s:
                to_start_s = mean_s / 2
            if is_counter:
                to_zero_s = to_start_s
                if result > 0 and values[first] >= 0:
                    to_zero_s = sampled_s * (values[first] / result)
                if to_zero_s < to_start_s:
                    to_start_s = to_zero_s
            if to_end_s >= threshold_s:
                to_end_s = mean_s / 2
            factor = (sampled_s + to_start_s + to_end_s) / sampled_s
            if is_rate:
                factor /= range_s
            out[i, j] = result * factor
            present[i, j] = True
    return out, present


@_compiled
def over_window(function, times_ms, values, bounds, ends_ms, range_ms):
    """The other range functions over the windows (end - range, end]; ``function`` is one of the names above."""
    series, steps = len(bounds) - 1, len(ends_ms)
    out = np.full((series, steps), np.nan)
    present = np.zeros((series, steps), np.bool_)
    for i in range(series):
        first = after = bounds[i]
        for j in range(steps):
            after = _behind(times_ms, after, bounds[i + 1], ends_ms[j])
            first = _behind(times_ms, first, after, ends_ms[j] - range_ms)
            if after == first:
                continue
            if function == IRATE:
                if after - first < 2 or times_ms[after - 1] == times_ms[after - 2]:
                    continue
                step = values[after - 1]
                # After a reset the counter began at zero.
                if not values[after - 1] < values[after - 2]:
                    step = values[after - 1] - values[after - 2]
                out[i, j] = step / ((times_ms[after - 1] - times_ms[after - 2]) / 1000.0)
            elif function == COUNT:
                out[i, j] = after - first
            elif function == LAST:
                out[i, j] = values[after - 1]
            elif function == SUM:
                total = lost = 0.0
                for k in range(first, after):
                    total, lost = _add(total, lost, values[k])
                out[i, j] = total if math.isinf(total) else total + lost
            elif function == AVG:
                total, lost, incremental = values[first], 0.0, False
                for k in range(first + 1, after):
                    total, lost, incremental = _mean_step(
                        total, lost, incremental, k - first + 1.0, values[k]
                    )
                out[i, j] = _mean(total, lost, incremental, float(after - first))
            elif function == MIN:
                kept = values[first]
                for k in range(first + 1, after):
                    if _less_or_nan(kept, values[k]):
                        kept = values[k]
                out[i, j] = kept
            elif function == MAX:
                kept = values[first]
                for k in range(first + 1, after):
                    if _more_or_nan(kept, values[k]):
                        kept = values[k]
                out[i, j] = kept
            else:
                count = 0
                for k in range(first + 1, after):
                    now, before = values[k], values[k - 1]
                    if function == RESETS:
                        count += now < before
                    else:
                        count += now != before and not (math.isnan(now) and math.isnan(before))
                out[i, j] = count
            present[i, j] = True
    return out, present


# -- across series ----------------------------------------------------------------------------


@_compiled
def aggregate(function, values, present, group_of, groups):
    """Series x steps to groups x steps, series taken in their order."""
    steps = values.shape[1]
    out = np.full((groups, steps), np.nan)
    lost = np.zeros((groups, steps))
    count = np.zeros((groups, steps), np.int64)
    incremental = np.zeros((groups, steps), np.bool_)
    for i in range(values.shape[0]):
        g = group_of[i]
        for j in range(steps):
            if not present[i, j]:
                continue
            value = values[i, j]
            count[g, j] += 1
            if count[g, j] == 1:
                out[g, j] = value
            elif function == SUM:
                out[g, j], lost[g, j] = _add(out[g, j], lost[g, j], value)
            elif function == AVG:
                out[g, j], lost[g, j], incremental[g, j] = _mean_step(
                    out[g, j], lost[g, j], incremental[g, j], float(count[g, j]), value
                )
            elif function == MIN:
                if _less_or_nan(out[g, j], value):
                    out[g, j] = value
            elif function == MAX and _more_or_nan(out[g, j], value):
                out[g, j] = value
    for g in range(groups):
        for j in range(steps):
            if count[g, j] == 0:
                continue
            if function == SUM:
                out[g, j] += lost[g, j]
            elif function == AVG:
                out[g, j] = _mean(out[g, j], lost[g, j], incremental[g, j], float(count[g, j]))
            elif function == COUNT:
                out[g, j] = count[g, j]
            elif function == GROUP:
                out[g, j] = 1.0
    return out, count > 0


# -- element by element -------------------------------------------------------------------------


@_compiled
def _power(base, exponent):
    """Go's ``math.Pow``: whole powers by squaring, so that their last digit is Prometheus'."""
    if exponent == 0 or base == 1:
        return 1.0
    if exponent == 1:
        return base
    if math.isnan(base) or math.isnan(exponent):
        return np.nan
    if base == 0 or math.isinf(base) or math.isinf(exponent):
        # Here C's pow is exact and agrees with Go's.
        return base**exponent
    if exponent == 0.5:
        return math.sqrt(base) if base >= 0 else np.nan
    if exponent == -0.5:
        return 1 / math.sqrt(base) if base >= 0 else np.nan
    whole = math.floor(abs(exponent))
    part = abs(exponent) - whole
    if part != 0 and base < 0:
        return np.nan
    if whole >= 2.0**63:
        if base == -1:
            return 1.0
        return 0.0 if (abs(base) < 1) == (exponent > 0) else np.inf
    mantissa, twos = 1.0, 0
    if part != 0:
        if part > 0.5:
            part -= 1
            whole += 1
        mantissa = math.exp(part * math.log(base))
    square, square_twos = math.frexp(base)
    left = np.int64(whole)
    while left != 0:
        if square_twos < -(1 << 12) or square_twos > 1 << 12:
            twos += square_twos
            break
        if left & 1:
            mantissa *= square
            twos += square_twos
        square *= square
        square_twos <<= 1
        if square < 0.5:
            square += square
            square_twos -= 1
        left >>= 1
    if exponent < 0:
        mantissa = 1 / mantissa
        twos = -twos
    return math.ldexp(mantissa, twos)


@_compiled
def power(bases, exponents):
    """``^`` of two flat arrays."""
    out = np.empty(len(bases))
    for i in range(len(bases)):
        out[i] = _power(bases[i], exponents[i])
    return out
