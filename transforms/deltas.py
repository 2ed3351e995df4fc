"""Counters by the minute. In: series of counters and gauges, grouped. Out: per group and minute exact differences and facts.

A group is what one row of ``signals`` adds up: a subscription's counter, seen at one broker instance after the other.
The **difference of a minute** [start, start + 60 s) is the sum, over the samples in it, of what each adds to the sample
before it in its series:

- the sample before may be up to an hour old; beyond that the two do not bound a difference;
- a smaller value than before is a restart: the counter began at 0, and the whole value is added;
- the first sample of a series continues another series of the group whose instance is the same (only other labels
  changed), and is compared with that one's last sample;
- the first sample at a new instance counts from 0 if other instances had the group for three samples before, within
  the hour: a broker's counters are in memory, so one that takes a topic over begins at 0. Fewer samples before, or
  none, do not tell whether the series is new or our data is: nothing is added.

So differences of neighbouring minutes add up to the difference over both. What a broker counted between its last scrape
and its end is in no sample and is lost. A minute without any bounded sample is NaN, never 0.

The slow twin is ``tests/naive/deltas.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from throttlescope.ingest.times import BLOCK_MS, MINUTE_MS
from throttlescope.transforms.promql.source import Series

#: Samples further apart do not bound a difference. One block, so that the neighbouring block is look-back enough.
LONGEST_GAP_MS = BLOCK_MS
#: How many samples of other instances show that a series is new, and not just seen for the first time.
SAMPLES_BEFORE = 3
#: How long an instance counts as the one that serves, after its last sample.
SERVED_MS = 300_000

_compiled = njit(cache=True, nogil=True)


@dataclass(frozen=True)
class Minutes:
    """``count`` minutes from ``start_ms`` on."""

    start_ms: int
    count: int

    @property
    def starts_ms(self) -> np.ndarray:
        return self.start_ms + MINUTE_MS * np.arange(self.count, dtype=np.int64)

    @property
    def end_ms(self) -> int:
        return self.start_ms + MINUTE_MS * self.count


@dataclass(frozen=True, eq=False)
class Grouped:
    """Samples of several series end to end, the series of a group one behind the other.

    Attributes
    ----------
    times_ms, values : ndarray
        Samples.
    bounds : ndarray of int64
        ``bounds[i]:bounds[i + 1]`` are the samples of series i.
    group_bounds : ndarray of int64
        ``group_bounds[g]:group_bounds[g + 1]`` are the series of group g.
    instance_of : ndarray of int64
        Number of each series' instance.
    """

    times_ms: np.ndarray
    values: np.ndarray
    bounds: np.ndarray
    group_bounds: np.ndarray
    instance_of: np.ndarray

    @property
    def groups(self) -> int:
        return len(self.group_bounds) - 1


@dataclass(frozen=True, eq=False)
class Deltas:
    """Per group and minute; the arrays are groups x minutes.

    Attributes
    ----------
    delta : ndarray of float64
        What was counted; NaN where no sample was bounded.
    intervals, intervals_with_events : ndarray of int64
        Bounded samples, and those of them that added something.
    restarts : ndarray of int64
        Restarts and takeovers seen.
    span_start_ms, span_end_ms : ndarray of int64
        Times of the samples that bound the difference; 0 where there is none.
    """

    delta: np.ndarray
    intervals: np.ndarray
    intervals_with_events: np.ndarray
    restarts: np.ndarray
    span_start_ms: np.ndarray
    span_end_ms: np.ndarray


def group_series(
    series: Sequence[Series], group_of: Sequence[int], groups: int, instances: dict[str, int]
) -> Grouped:
    """Lay the samples of series end to end, group by group.

    Parameters
    ----------
    group_of : sequence of int
        Group of each series; -1 leaves it out.
    instances : dict
        Numbers of the instances met so far; new ones are added.
    """
    kept = sorted((i for i in range(len(series)) if group_of[i] >= 0), key=lambda i: group_of[i])
    counts = (
        np.bincount([group_of[i] for i in kept], minlength=groups) if kept else np.zeros(groups, np.int64)
    )
    lengths = [len(series[i].timestamps_ms) for i in kept]
    return Grouped(
        np.concatenate([np.empty(0, np.int64), *(series[i].timestamps_ms for i in kept)]),
        np.concatenate([np.empty(0, np.float64), *(series[i].values for i in kept)]),
        np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.array(
            [instances.setdefault(series[i].labels.get("instance", ""), len(instances)) for i in kept],
            np.int64,
        ),
    )


def counter_deltas(counters: Grouped, minutes: Minutes) -> Deltas:
    """Differences of counters by the minute.

    ``counters`` hold the samples from an hour before the first minute on; a longer past changes nothing.
    """
    return Deltas(
        *_deltas(
            counters.times_ms,
            counters.values,
            counters.bounds,
            counters.group_bounds,
            counters.instance_of,
            minutes.start_ms,
            minutes.count,
        )
    )


def samples_seen(samples: Grouped, minutes: Minutes) -> np.ndarray:
    """Number of samples per group and minute."""
    return _seen(
        samples.times_ms,
        samples.bounds,
        samples.group_bounds,
        minutes.start_ms,
        minutes.count,
        np.False_,
        samples.values,
    )


def samples_at_or_below_zero(samples: Grouped, minutes: Minutes) -> np.ndarray:
    """Number of samples per group and minute whose value is <= 0."""
    return _seen(
        samples.times_ms,
        samples.bounds,
        samples.group_bounds,
        minutes.start_ms,
        minutes.count,
        np.True_,
        samples.values,
    )


def scrape_intervals_ms(samples: Grouped, minutes: Minutes) -> np.ndarray:
    """The usual distance of a group's samples, groups x minutes; 0 where it is not known.

    It is the lower median of the distances to the samples before them, over the samples of the minute's UTC hour. Longer
    distances than an hour are gaps.
    """
    return _intervals(samples.times_ms, samples.bounds, samples.group_bounds, minutes.start_ms, minutes.count)


def serving_instances(samples: Grouped, minutes: Minutes) -> np.ndarray:
    """Number of the instance with the newest sample before each minute's end, at most five minutes old; -1: none."""
    return _serving(
        samples.times_ms,
        samples.bounds,
        samples.group_bounds,
        samples.instance_of,
        minutes.start_ms,
        minutes.count,
    )


# -- kernels ------------------------------------------------------------------------------------


@_compiled
def _deltas(times_ms, values, bounds, group_bounds, instance_of, start_ms, count):
    groups = len(group_bounds) - 1
    end_ms = start_ms + count * MINUTE_MS
    delta = np.full((groups, count), np.nan)
    intervals = np.zeros((groups, count), np.int64)
    with_events = np.zeros((groups, count), np.int64)
    restarts = np.zeros((groups, count), np.int64)
    span_start_ms = np.zeros((groups, count), np.int64)
    span_end_ms = np.zeros((groups, count), np.int64)
    for g in range(groups):
        for i in range(group_bounds[g], group_bounds[g + 1]):
            for k in range(
                bounds[i] + np.searchsorted(times_ms[bounds[i] : bounds[i + 1]], start_ms), bounds[i + 1]
            ):
                at_ms = times_ms[k]
                if at_ms >= end_ms:
                    break
                before = k - 1
                restarted = False
                if k == bounds[i] or at_ms - times_ms[before] > LONGEST_GAP_MS:
                    before, restarted = _before_first(
                        times_ms, bounds, group_bounds[g], group_bounds[g + 1], instance_of, i, at_ms
                    )
                    if before < 0:
                        continue
                if values[k] < values[before]:
                    restarted = True
                added = values[k] if restarted else values[k] - values[before]
                j = (at_ms - start_ms) // MINUTE_MS
                if intervals[g, j] == 0:
                    delta[g, j] = 0.0
                    span_start_ms[g, j] = times_ms[before]
                    span_end_ms[g, j] = at_ms
                delta[g, j] += added
                intervals[g, j] += 1
                with_events[g, j] += added > 0
                restarts[g, j] += restarted
                span_start_ms[g, j] = min(span_start_ms[g, j], times_ms[before])
                span_end_ms[g, j] = max(span_end_ms[g, j], at_ms)
    return delta, intervals, with_events, restarts, span_start_ms, span_end_ms


@_compiled
def _before_first(times_ms, bounds, first_series, after_series, instance_of, i, at_ms):
    """What the first sample of series i is compared with: the newest earlier sample of the group, and whether it counts
    from 0 (another instance's); -1 where nothing can be said."""
    newest, newest_series, others = -1, -1, 0
    for s in range(first_series, after_series):
        if s == i:
            continue
        here = times_ms[bounds[s] : bounds[s + 1]]
        after = np.searchsorted(here, at_ms)
        first = np.searchsorted(here, at_ms - LONGEST_GAP_MS)
        if after == first:
            continue
        if instance_of[s] != instance_of[i]:
            others += after - first
        if newest < 0 or here[after - 1] > times_ms[newest]:
            newest, newest_series = bounds[s] + after - 1, s
    if newest < 0:
        return -1, False
    if instance_of[newest_series] == instance_of[i]:
        return newest, False
    if others < SAMPLES_BEFORE:
        return -1, False
    return newest, True


@_compiled
def _seen(times_ms, bounds, group_bounds, start_ms, count, only_exhausted, values):
    groups = len(group_bounds) - 1
    seen = np.zeros((groups, count), np.int64)
    for g in range(groups):
        for k in range(bounds[group_bounds[g]], bounds[group_bounds[g + 1]]):
            if start_ms <= times_ms[k] < start_ms + count * MINUTE_MS and (
                not only_exhausted or values[k] <= 0
            ):
                seen[g, (times_ms[k] - start_ms) // MINUTE_MS] += 1
    return seen


@_compiled
def _intervals(times_ms, bounds, group_bounds, start_ms, count):
    groups = len(group_bounds) - 1
    out = np.zeros((groups, count), np.int64)
    first_hour = start_ms // BLOCK_MS
    hours = (start_ms + count * MINUTE_MS - 1) // BLOCK_MS - first_hour + 1
    for g in range(groups):
        low, high = bounds[group_bounds[g]], bounds[group_bounds[g + 1]]
        distances = np.empty(high - low, np.int64)
        for h in range(hours):
            hour_ms = (first_hour + h) * BLOCK_MS
            found = 0
            for i in range(group_bounds[g], group_bounds[g + 1]):
                for k in range(bounds[i] + 1, bounds[i + 1]):
                    distance_ms = times_ms[k] - times_ms[k - 1]
                    if hour_ms <= times_ms[k] < hour_ms + BLOCK_MS and distance_ms <= LONGEST_GAP_MS:
                        distances[found] = distance_ms
                        found += 1
            if found == 0:
                continue
            median_ms = np.sort(distances[:found])[(found - 1) // 2]
            for j in range(count):
                if hour_ms <= start_ms + j * MINUTE_MS < hour_ms + BLOCK_MS:
                    out[g, j] = median_ms
    return out


@_compiled
def _serving(times_ms, bounds, group_bounds, instance_of, start_ms, count):
    groups = len(group_bounds) - 1
    out = np.full((groups, count), -1, np.int64)
    for g in range(groups):
        newest_ms = np.zeros(count, np.int64)
        for i in range(group_bounds[g], group_bounds[g + 1]):
            at = bounds[i]
            for j in range(count):
                end_ms = start_ms + (j + 1) * MINUTE_MS
                while at < bounds[i + 1] and times_ms[at] < end_ms:
                    at += 1
                if at == bounds[i] or times_ms[at - 1] < end_ms - SERVED_MS:
                    continue
                if times_ms[at - 1] > newest_ms[j]:
                    newest_ms[j] = times_ms[at - 1]
                    out[g, j] = instance_of[i]
    return out
