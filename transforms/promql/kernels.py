"""The arithmetic of PromQL, compiled. In: samples of many series end to end, and the steps. Out: series x steps.

Samples come as ``times_ms`` and ``values`` of all series one behind the other; ``bounds[i]:bounds[i + 1]`` are those of
series i, times rising. Results are float64, NaN where ``present`` is False. Each rule of numbers is written once here,
with Prometheus' order of operations, which decides the last digit; the slow twin is ``tests/naive/promql/``.

Windows only move forward, so each series is scanned once: counts, extremes, resets and sorted values are updated from one window to the
next; sums that depend on the order of additions are recomputed in each window.

All kernels that share a rule are in this file because Numba's cache forgets a compiled function when its own file
changes, not when a file changes whose functions it calls.
"""

from __future__ import annotations

import math

import numpy as np

from throttlescope.ingest.core.compilation import compiled

# Range functions that follow from the ends of a window and from what happens between neighbours.
COUNT, PRESENT, LAST, TIME_OF_LAST, IRATE, IDELTA, CHANGES, RESETS = range(8)
# Functions that add up; those of a range and those across series.
SUM, AVG, STDDEV, STDVAR, MIN, MAX, SERIES_COUNT, GROUP = range(8)

# IEEE division: by zero there is Inf or NaN, and no error.
_compiled = compiled(error_model="numpy")


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


@_compiled
def _variance_step(mean, mean_lost, sum_of_squares, squares_lost, count, value):
    """One step of a variance over time: Welford's, with both sums compensated. ``count`` includes ``value``."""
    delta = value - (mean + mean_lost)
    mean, mean_lost = _add(mean, mean_lost, delta / count)
    sum_of_squares, squares_lost = _add(sum_of_squares, squares_lost, delta * (value - (mean + mean_lost)))
    return mean, mean_lost, sum_of_squares, squares_lost


@_compiled
def _quantile(q, ordered, count):
    """Between the two neighbours of rank q, both always counted in: an infinite one of weight 0 gives NaN.

    ``ordered`` rises, NaN first (promql/quantile.go).
    """
    if count == 0 or math.isnan(q):
        return np.nan
    if q < 0:
        return -np.inf
    if q > 1:
        return np.inf
    rank = q * (count - 1)
    lower = max(0, math.floor(rank))
    upper = min(count - 1, lower + 1)
    weight = rank - math.floor(rank)
    return ordered[lower] * (1 - weight) + ordered[upper] * weight


@_compiled
def _order(values, ordered):
    """Put ``values`` into ``ordered``: NaN first, then rising, equals in their order."""
    missing = 0
    for value in values:
        if math.isnan(value):
            ordered[missing] = value
            missing += 1
    rest = values if missing == 0 else values[~np.isnan(values)]
    order = np.argsort(rest, kind="mergesort")
    for k in range(len(order)):
        ordered[missing + k] = rest[order[k]]


@_compiled
def _place(ordered, count, value):
    """Index behind everything in ``ordered`` that is not larger than ``value``; NaN is the smallest."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        other = ordered[middle]
        if math.isnan(other) or (not math.isnan(value) and other <= value):
            low = middle + 1
        else:
            high = middle
    return low


@_compiled
def _longest(bounds):
    longest = 0
    for i in range(len(bounds) - 1):
        longest = max(longest, bounds[i + 1] - bounds[i])
    return longest


# -- selectors ------------------------------------------------------------------------------


@_compiled
def newest(times_ms, column, bounds, stale_ms, stale_bounds, ends_ms, lookbacks_ms):
    """What ``column`` holds for the newest sample in (end - lookback, end] of each series and step.

    Left-open since Prometheus 3. A staleness marker newer than the newest sample ends the series.
    """
    series, steps = len(bounds) - 1, len(ends_ms)
    out = np.full((series, steps), np.nan)
    present = np.zeros((series, steps), np.bool_)
    for i in range(series):
        at, marker = bounds[i], stale_bounds[i]
        for j in range(steps):
            at = _behind(times_ms, at, bounds[i + 1], ends_ms[j])
            marker = _behind(stale_ms, marker, stale_bounds[i + 1], ends_ms[j])
            if at == bounds[i] or times_ms[at - 1] <= ends_ms[j] - lookbacks_ms[j]:
                continue
            if marker > stale_bounds[i] and stale_ms[marker - 1] > times_ms[at - 1]:
                continue
            out[i, j] = column[at - 1]
            present[i, j] = True
    return out, present


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
    # As Go turns a duration into seconds: the broken part is divided on its own.
    range_s = range_ms // 1000 + (range_ms % 1000) * 1e6 / 1e9
    resets = np.empty(_longest(bounds), np.int64)
    for i in range(series):
        first = after = bounds[i]
        first_reset = after_reset = 0
        for j in range(steps):
            end_ms = ends_ms[j]
            before, after = after, _behind(times_ms, after, bounds[i + 1], end_ms)
            first = _behind(times_ms, first, after, end_ms - range_ms)
            if is_counter:
                for k in range(max(before, bounds[i] + 1), after):
                    if values[k] < values[k - 1]:
                        resets[after_reset] = k
                        after_reset += 1
                while first_reset < after_reset and resets[first_reset] <= first:
                    first_reset += 1
            if after - first < 2:
                continue
            last = after - 1
            result = values[last] - values[first]
            for k in range(first_reset, after_reset):
                result += values[resets[k] - 1]
            to_start_s = (times_ms[first] - (end_ms - range_ms)) / 1000.0
            to_end_s = (end_ms - times_ms[last]) / 1000.0
            sampled_s = (times_ms[last] - times_ms[first]) / 1000.0
            mean_s = sampled_s / (last - first)
            threshold_s = mean_s * 1.1
            if to_start_s >= threshold_s:
                to_start_s = mean_s / 2
            if is_counter and result > 0 and values[first] >= 0:
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
    """What follows from the ends of a window and from neighbours in it; ``function`` is ``COUNT`` to ``RESETS``."""
    series, steps = len(bounds) - 1, len(ends_ms)
    out = np.full((series, steps), np.nan)
    present = np.zeros((series, steps), np.bool_)
    # Samples that differ from the one before in the way that is counted.
    events = np.empty(_longest(bounds) if function in (CHANGES, RESETS) else 0, np.int64)
    for i in range(series):
        first = after = bounds[i]
        first_event = after_event = 0
        for j in range(steps):
            before, after = after, _behind(times_ms, after, bounds[i + 1], ends_ms[j])
            first = _behind(times_ms, first, after, ends_ms[j] - range_ms)
            if function in (CHANGES, RESETS):
                for k in range(max(before, bounds[i] + 1), after):
                    now, was = values[k], values[k - 1]
                    if function == RESETS:
                        counts = now < was
                    else:
                        counts = now != was and not (math.isnan(now) and math.isnan(was))
                    if counts:
                        events[after_event] = k
                        after_event += 1
                while first_event < after_event and events[first_event] <= first:
                    first_event += 1
            if after == first:
                continue
            if function == COUNT:
                out[i, j] = after - first
            elif function == PRESENT:
                out[i, j] = 1.0
            elif function == LAST:
                out[i, j] = values[after - 1]
            elif function == TIME_OF_LAST:
                out[i, j] = times_ms[after - 1] / 1000.0
            elif function in (CHANGES, RESETS):
                out[i, j] = after_event - first_event
            else:
                if after - first < 2 or times_ms[after - 1] == times_ms[after - 2]:
                    continue
                step = values[after - 1]
                # After a reset the counter began at zero.
                if function == IDELTA or not values[after - 1] < values[after - 2]:
                    step = values[after - 1] - values[after - 2]
                if function == IRATE:
                    step /= (times_ms[after - 1] - times_ms[after - 2]) / 1000.0
                out[i, j] = step
            present[i, j] = True
    return out, present


@_compiled
def added_over_window(function, times_ms, values, bounds, ends_ms, range_ms):
    """``sum``, ``avg``, ``stddev`` and ``stdvar`` over time: recomputed in each window, in the order of time."""
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
            total = lost = 0.0
            if function == SUM:
                for k in range(first, after):
                    total, lost = _add(total, lost, values[k])
                out[i, j] = total if math.isinf(total) else total + lost
            elif function == AVG:
                total, incremental = values[first], False
                for k in range(first + 1, after):
                    total, lost, incremental = _mean_step(
                        total, lost, incremental, k - first + 1.0, values[k]
                    )
                out[i, j] = _mean(total, lost, incremental, float(after - first))
            else:
                squares = squares_lost = 0.0
                for k in range(first, after):
                    total, lost, squares, squares_lost = _variance_step(
                        total, lost, squares, squares_lost, k - first + 1.0, values[k]
                    )
                variance = (squares + squares_lost) / (after - first)
                out[i, j] = variance if function == STDVAR else math.sqrt(variance)
            present[i, j] = True
    return out, present


@_compiled
def extreme_over_window(times_ms, values, bounds, ends_ms, range_ms, largest, gives_time):
    """``min`` and ``max`` over time, the first of equal ones; or the time of the last of equal ones, in seconds.

    NaN comes out only where a window holds nothing else.
    """
    series, steps = len(bounds) - 1, len(ends_ms)
    out = np.full((series, steps), np.nan)
    present = np.zeros((series, steps), np.bool_)
    # Candidates: each is better than all that follow it.
    queue = np.empty(_longest(bounds), np.int64)
    for i in range(series):
        first = after = bounds[i]
        head = tail = 0
        for j in range(steps):
            before, after = after, _behind(times_ms, after, bounds[i + 1], ends_ms[j])
            first = _behind(times_ms, first, after, ends_ms[j] - range_ms)
            for k in range(before, after):
                value = values[k]
                if math.isnan(value):
                    continue
                while tail > head:
                    kept = values[queue[tail - 1]]
                    better = value > kept if largest else value < kept
                    if not (better or (gives_time and value == kept)):
                        break
                    tail -= 1
                queue[tail] = k
                tail += 1
            while head < tail and queue[head] < first:
                head += 1
            if after == first:
                continue
            best = queue[head] if head < tail else after - 1
            out[i, j] = times_ms[best] / 1000.0 if gives_time else values[best]
            present[i, j] = True
    return out, present


@_compiled
def regression(times_ms, values, bounds, ends_ms, range_ms, origins_ms, ahead_s, predicts):
    """``deriv``, or ``predict_linear``: least squares with compensated sums.

    ``deriv`` counts time from the window's first sample, ``predict_linear`` from ``origins_ms`` (the step itself, whatever
    the offset) and looks ``ahead_s`` from there.
    """
    series, steps = len(bounds) - 1, len(ends_ms)
    out = np.full((series, steps), np.nan)
    present = np.zeros((series, steps), np.bool_)
    for i in range(series):
        first = after = bounds[i]
        for j in range(steps):
            after = _behind(times_ms, after, bounds[i + 1], ends_ms[j])
            first = _behind(times_ms, first, after, ends_ms[j] - range_ms)
            if after - first < 2:
                continue
            origin_ms = origins_ms[j] if predicts else times_ms[first]
            sum_x = lost_x = sum_y = lost_y = sum_xy = lost_xy = sum_xx = lost_xx = 0.0
            level = True
            for k in range(first, after):
                y = values[k]
                if y != values[first]:
                    level = False
                x = (times_ms[k] - origin_ms) / 1e3
                sum_x, lost_x = _add(sum_x, lost_x, x)
                sum_y, lost_y = _add(sum_y, lost_y, y)
                sum_xy, lost_xy = _add(sum_xy, lost_xy, x * y)
                sum_xx, lost_xx = _add(sum_xx, lost_xx, x * x)
            if level:
                slope, intercept = 0.0, values[first]
                if math.isinf(values[first]):
                    slope = intercept = np.nan
            else:
                count = float(after - first)
                sum_x += lost_x
                sum_y += lost_y
                sum_xy += lost_xy
                sum_xx += lost_xx
                slope = (sum_xy - sum_x * sum_y / count) / (sum_xx - sum_x * sum_x / count)
                intercept = sum_y / count - slope * sum_x / count
            out[i, j] = slope * ahead_s[j] + intercept if predicts else slope
            present[i, j] = True
    return out, present


@_compiled
def quantile_over_window(times_ms, values, bounds, ends_ms, range_ms, q, deviates):
    """``quantile_over_time``, or ``mad_over_time``: the median of the distances from the median.

    The window's values are kept sorted from one window to the next.
    """
    series, steps = len(bounds) - 1, len(ends_ms)
    out = np.full((series, steps), np.nan)
    present = np.zeros((series, steps), np.bool_)
    longest = _longest(bounds)
    ordered, distances, others = np.empty(longest), np.empty(longest), np.empty(longest)
    for i in range(series):
        first = after = bounds[i]
        count = 0
        for j in range(steps):
            was_first, before, after = first, after, _behind(times_ms, after, bounds[i + 1], ends_ms[j])
            first = _behind(times_ms, first, after, ends_ms[j] - range_ms)
            # Each value that comes or goes moves half the window; sorting it again costs a few moves for each doubling.
            if after - before + first - was_first > 32:
                count = after - first
                _order(values[first:after], ordered)
            else:
                for k in range(before, after):
                    place = _place(ordered, count, values[k])
                    for m in range(count, place, -1):
                        ordered[m] = ordered[m - 1]
                    ordered[place] = values[k]
                    count += 1
                for k in range(was_first, first):
                    # Among equal values the oldest comes first.
                    place = 0
                    if not math.isnan(values[k]):
                        low, high = 0, count
                        while low < high:
                            middle = (low + high) // 2
                            if math.isnan(ordered[middle]) or ordered[middle] < values[k]:
                                low = middle + 1
                            else:
                                high = middle
                        place = low
                    count -= 1
                    for m in range(place, count):
                        ordered[m] = ordered[m + 1]
            if count == 0:
                continue
            if deviates:
                median = _quantile(0.5, ordered, count)
                for k in range(count):
                    distances[k] = abs(ordered[k] - median)
                _order(distances[:count], others)
                out[i, j] = _quantile(0.5, others, count)
            else:
                out[i, j] = _quantile(q[j], ordered, count)
            present[i, j] = True
    return out, present


@_compiled
def smoothed(times_ms, values, bounds, ends_ms, range_ms, smoothing, trend):
    """``double_exponential_smoothing``; besides values and presence, the steps at which some window holds a sample."""
    series, steps = len(bounds) - 1, len(ends_ms)
    out = np.full((series, steps), np.nan)
    present = np.zeros((series, steps), np.bool_)
    seen = np.zeros(steps, np.bool_)
    for i in range(series):
        first = after = bounds[i]
        for j in range(steps):
            after = _behind(times_ms, after, bounds[i + 1], ends_ms[j])
            first = _behind(times_ms, first, after, ends_ms[j] - range_ms)
            if after > first:
                seen[j] = True
            if after - first < 2:
                continue
            before, now = 0.0, values[first]
            slope = values[first + 1] - values[first]
            for k in range(first + 1, after):
                if k > first + 1:
                    slope = trend[j] * (now - before) + (1 - trend[j]) * slope
                before, now = now, smoothing[j] * values[k] + (1 - smoothing[j]) * (now + slope)
            out[i, j] = now
            present[i, j] = True
    return out, present, seen


# -- across series ----------------------------------------------------------------------------


@_compiled
def aggregate(function, values, present, rows, group_bounds):
    """Series x steps to groups x steps; ``function`` is ``SUM`` to ``GROUP``.

    ``rows[group_bounds[g]:group_bounds[g + 1]]`` are the series of group g, taken in this order. One group after the
    other, so that the intermediate state is one row long and stays in the processor's cache.
    """
    groups, steps = len(group_bounds) - 1, values.shape[1]
    out = np.empty((groups, steps))
    seen = np.empty((groups, steps), np.bool_)
    # What a sum's additions lost, or the mean of a variance.
    auxiliary = np.empty(steps)
    count = np.empty(steps, np.int64)
    incremental = np.empty(steps, np.bool_)
    varies = function in (STDDEV, STDVAR)
    for g in range(groups):
        auxiliary[:] = 0.0
        count[:] = 0
        incremental[:] = False
        for k in range(group_bounds[g], group_bounds[g + 1]):
            i = rows[k]
            for j in range(steps):
                if not present[i, j]:
                    continue
                value = values[i, j]
                count[j] += 1
                if count[j] == 1:
                    out[g, j] = value
                    if varies:
                        # A group that begins with NaN or Inf stays NaN.
                        out[g, j] = 0.0 if math.isfinite(value) else np.nan
                        auxiliary[j] = value
                elif function == SUM:
                    out[g, j], auxiliary[j] = _add(out[g, j], auxiliary[j], value)
                elif function == AVG:
                    out[g, j], auxiliary[j], incremental[j] = _mean_step(
                        out[g, j], auxiliary[j], incremental[j], float(count[j]), value
                    )
                elif function == MIN:
                    if _less_or_nan(out[g, j], value):
                        out[g, j] = value
                elif function == MAX:
                    if _more_or_nan(out[g, j], value):
                        out[g, j] = value
                elif varies:
                    delta = value - auxiliary[j]
                    auxiliary[j] += delta / count[j]
                    out[g, j] += delta * (value - auxiliary[j])
        for j in range(steps):
            seen[g, j] = count[j] > 0
            if count[j] == 0:
                out[g, j] = np.nan
            elif function == SUM:
                out[g, j] += auxiliary[j]
            elif function == AVG:
                out[g, j] = _mean(out[g, j], auxiliary[j], incremental[j], float(count[j]))
            elif function == STDVAR:
                out[g, j] /= count[j]
            elif function == STDDEV:
                out[g, j] = math.sqrt(out[g, j] / count[j])
            elif function == SERIES_COUNT:
                out[g, j] = count[j]
            elif function == GROUP:
                out[g, j] = 1.0
    return out, seen


@_compiled
def quantile_across(values, present, rows, group_bounds, q):
    """``quantile``: ``rows[group_bounds[g]:group_bounds[g + 1]]`` are the series of group g."""
    groups, steps = len(group_bounds) - 1, values.shape[1]
    out = np.full((groups, steps), np.nan)
    seen = np.zeros((groups, steps), np.bool_)
    longest = _longest(group_bounds)
    found, ordered = np.empty(longest), np.empty(longest)
    for g in range(groups):
        for j in range(steps):
            count = 0
            for k in range(group_bounds[g], group_bounds[g + 1]):
                if present[rows[k], j]:
                    found[count] = values[rows[k], j]
                    count += 1
            if count > 0:
                _order(found[:count], ordered)
                out[g, j] = _quantile(q[j], ordered, count)
                seen[g, j] = True
    return out, seen


@_compiled
def _weaker(value, row, other, other_row, largest):
    """Whether an element is given up before another: by value, NaN first, then the later series."""
    if math.isnan(value) or math.isnan(other):
        if math.isnan(value) and math.isnan(other):
            return row > other_row
        return math.isnan(value)
    if value == other:
        return row > other_row
    return value < other if largest else value > other


@_compiled
def strongest(values, present, rows, group_bounds, counts, largest):
    """``topk`` and ``bottomk``: which elements are kept. Of equal ones the series that come first are.

    ``counts`` is k at each step.
    """
    groups, steps = len(group_bounds) - 1, values.shape[1]
    kept = np.zeros(values.shape, np.bool_)
    heap = np.empty(_longest(group_bounds), np.int64)
    for g in range(groups):
        for j in range(steps):
            size = 0
            for k in range(group_bounds[g], group_bounds[g + 1]):
                row = rows[k]
                if not present[row, j] or counts[j] < 1:
                    continue
                if size < counts[j]:
                    # Sift up: the weakest element is on top.
                    at = size
                    size += 1
                    while at > 0:
                        parent = (at - 1) // 2
                        if not _weaker(values[row, j], row, values[heap[parent], j], heap[parent], largest):
                            break
                        heap[at] = heap[parent]
                        at = parent
                    heap[at] = row
                elif _weaker(values[heap[0], j], heap[0], values[row, j], row, largest):
                    at = 0
                    while 2 * at + 1 < size:
                        child = 2 * at + 1
                        if child + 1 < size and _weaker(
                            values[heap[child + 1], j],
                            heap[child + 1],
                            values[heap[child], j],
                            heap[child],
                            largest,
                        ):
                            child += 1
                        if not _weaker(values[heap[child], j], heap[child], values[row, j], row, largest):
                            break
                        heap[at] = heap[child]
                        at = child
                    heap[at] = row
            for k in range(size):
                kept[heap[k], j] = True
    return kept


@_compiled
def first_of_groups(present, group_of, groups, counts):
    """``limitk``: the first ``counts[j]`` elements of each group at step j, in the order of the series."""
    kept = np.zeros(present.shape, np.bool_)
    taken = np.zeros((groups, present.shape[1]), np.int64)
    for i in range(present.shape[0]):
        g = group_of[i]
        for j in range(present.shape[1]):
            if present[i, j] and taken[g, j] < counts[j]:
                taken[g, j] += 1
                kept[i, j] = True
    return kept


@_compiled
def sums(values, present, group_of, groups):
    """Sum, what its additions lost, and count of each group and step: a sum that other shards go on with."""
    steps = values.shape[1]
    total, lost = np.zeros((groups, steps)), np.zeros((groups, steps))
    count = np.zeros((groups, steps), np.int64)
    for i in range(values.shape[0]):
        g = group_of[i]
        for j in range(steps):
            if not present[i, j]:
                continue
            count[g, j] += 1
            if count[g, j] == 1:
                total[g, j] = values[i, j]
            else:
                total[g, j], lost[g, j] = _add(total[g, j], lost[g, j], values[i, j])
    return total, lost, count


@_compiled
def add_sums(total, lost, count, rows, more_total, more_lost, more_count):
    """Add the sums of one shard, in place; ``rows[i]`` is the row that its row i belongs to."""
    for i in range(len(rows)):
        r = rows[i]
        for j in range(total.shape[1]):
            if more_count[i, j] == 0:
                continue
            if count[r, j] == 0:
                total[r, j], lost[r, j] = more_total[i, j], more_lost[i, j]
            else:
                total[r, j], lost[r, j] = _add(total[r, j], lost[r, j], more_total[i, j])
                lost[r, j] += more_lost[i, j]
            count[r, j] += more_count[i, j]
