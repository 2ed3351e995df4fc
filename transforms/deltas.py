"""Counters by the minute. In: series of counters and gauges, grouped. Out: per group and minute exact differences and facts.

A group is what one row of ``signals`` adds up: a subscription's counter, seen at one broker instance after the other.
The **difference of a minute** [start, start + 60 s) is the sum, over the samples in it, of what each adds to the sample
before it at its instance:

- the sample before may be up to an hour old; beyond that the two do not bound a difference;
- a smaller value than before is a restart: the counter began at 0, and the whole value is added;
- the first sample of a series continues the group's newest series of the same instance (only other labels changed);
- the first sample at an instance is a takeover if other instances had the group for three samples before, within the
  hour, and their newest value is higher: a broker's counters are in memory, so one that takes a topic over begins at 0.
  With fewer samples before, or a value that may be the old counter's under a new name, it is unknown: nothing is added.

Where the counter moved at other instances since the sample before, the topic was away, and the old value is no reference:

- an unchanged value is left over from an instance that no longer serves the topic: nothing is added;
- a higher one is a takeover if the others had at least two samples meanwhile and none in the interval before, and their
  newest value is higher still;
- if all that the others showed lies between the two values, they show the same counter: the two are compared as ever;
- otherwise it is unknown, and nothing is added.

So differences of neighbouring minutes add up to the difference over both. What a broker counted between its last scrape
and its end is in no sample and is lost. A minute without any bounded sample is NaN, never 0.

A difference is no rate until it is divided by the time that it covers. After a restart or a takeover that time is not
known: the counter began anywhere between two scrapes. Nor does a difference over many minutes speak of the last of them.

The slow twin is ``tests/naive/deltas.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from throttlescope.ingest.core import times
from throttlescope.ingest.core.compilation import compiled
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.transforms.promql.source import Series

#: Samples further apart do not bound a difference. One block, so that the neighbouring block is look-back enough.
LONGEST_GAP_MS = BLOCK_MS
#: How many samples of other instances show that a series is new, and not just seen for the first time.
SAMPLES_BEFORE = 3
#: How many of them since an instance's own sample show that it was away for at least one of its scrapes.
SAMPLES_AWAY = 2
#: A longer span than this is mostly another time's than the minute's in which it ends.
LONGEST_SPAN_MS = 300_000
#: How long an instance counts as the one that serves, after its last sample.
SERVED_MS = 300_000

_compiled = compiled(times)


@dataclass(frozen=True)
class CounterMinutes:
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
    covered_ms : ndarray of int64
        Time between the samples that bound the difference, however many series share it; 0 where there is none.
    """

    delta: np.ndarray
    intervals: np.ndarray
    intervals_with_events: np.ndarray
    restarts: np.ndarray
    covered_ms: np.ndarray

    @property
    def spans_ms(self) -> np.ndarray:
        """Time that the difference covers, float64; NaN where there is none, or where it is not known or not the minute's."""
        known = (self.intervals > 0) & (self.restarts == 0) & (self.covered_ms <= LONGEST_SPAN_MS)
        return np.where(known, self.covered_ms, np.nan)


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


def counter_deltas(counters: Grouped, minutes: CounterMinutes) -> Deltas:
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


def samples_seen(samples: Grouped, minutes: CounterMinutes) -> np.ndarray:
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


def samples_at_or_below_zero(samples: Grouped, minutes: CounterMinutes) -> np.ndarray:
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


def scrape_intervals_ms(samples: Grouped, minutes: CounterMinutes) -> np.ndarray:
    """The usual distance of a group's samples, groups x minutes; 0 where it is not known.

    It is the lower median of the distances to the samples before them, over the samples of the minute's UTC hour. Longer
    distances than an hour are gaps.
    """
    return _intervals(samples.times_ms, samples.bounds, samples.group_bounds, minutes.start_ms, minutes.count)


def serving_instances(samples: Grouped, minutes: CounterMinutes) -> np.ndarray:
    """Number of the instance with the newest sample before each minute's end, at most five minutes old; -1: none."""
    return _serving(
        samples.times_ms,
        samples.bounds,
        samples.group_bounds,
        samples.instance_of,
        minutes.start_ms,
        minutes.count,
    )


def instances_seen(samples: Grouped, minutes: CounterMinutes, seen: np.ndarray) -> np.ndarray:
    """How many instances show each group at the same time in each minute (groups x minutes).

    One that begins after another has ended took over from it: they are not there at the same time.

    Parameters
    ----------
    seen : ndarray
        What :func:`samples_seen` says of the same.
    """
    counts = (seen > 0).astype(np.int64)
    for group in _of_several_instances(samples):
        mine = slice(samples.group_bounds[group], samples.group_bounds[group + 1])
        times_ms = [
            _times_of(
                samples, [n for n in range(mine.start, mine.stop) if samples.instance_of[n] == instance]
            )
            for instance in np.unique(samples.instance_of[mine])
        ]
        # One that a subscription visits now and then has long steps; the shortest usual one is the scrapes'.
        step_ms = min((float(np.median(np.diff(each))) for each in times_ms if len(each) > 1), default=0.0)
        stays = [stay for each in times_ms for stay in _stays(each, step_ms)]
        for minute in np.flatnonzero(counts[group]):
            start_ms = minutes.start_ms + int(minute) * MINUTE_MS
            here = [
                (max(first_ms, start_ms), min(last_ms, start_ms + MINUTE_MS - 1))
                for first_ms, last_ms in stays
                if first_ms < start_ms + MINUTE_MS and last_ms >= start_ms
            ]
            counts[group, minute] = max(
                (sum(first <= at <= last for first, last in here) for at, _ in here), default=1
            )
    return counts


def _times_of(samples: Grouped, series: Sequence[int]) -> np.ndarray:
    """When any of some series has a sample, rising."""
    return np.unique(
        np.concatenate([samples.times_ms[samples.bounds[n] : samples.bounds[n + 1]] for n in series])
    )


def _stays(times_ms: np.ndarray, step_ms: float) -> list[tuple[int, int]]:
    """From when to when an instance had samples again and again: a pause of more than one and a half steps ends a stay."""
    if not len(times_ms):
        return []
    ends = np.flatnonzero(np.diff(times_ms) > 1.5 * step_ms)
    return [
        (int(times_ms[first]), int(times_ms[last]))
        for first, last in zip([0, *(ends + 1)], [*ends, len(times_ms) - 1], strict=True)
    ]


def _of_several_instances(samples: Grouped) -> list[int]:
    """Groups whose series come from more than one instance: few, so these alone are looked at one by one."""
    groups = np.flatnonzero(np.diff(samples.group_bounds) > 1)
    starts = samples.group_bounds[groups]
    if not len(groups):
        return []
    # Changes of instance from one series to the next, counted: none within a group of one instance.
    ends = samples.group_bounds[groups + 1]
    differs = np.r_[False, samples.instance_of[1:] != samples.instance_of[:-1]].cumsum()
    return groups[differs[ends - 1] > differs[starts]].tolist()


# -- kernels ------------------------------------------------------------------------------------


#: What a value means compared with the one before at its instance: an increase, a restart at 0 in between, or nothing.
_GOES_ON, _BEGAN_ANEW, _SAYS_NOTHING = 0, 1, 2


@_compiled
def _deltas(times_ms, values, bounds, group_bounds, instance_of, start_ms, count):
    groups = len(group_bounds) - 1
    end_ms = start_ms + count * MINUTE_MS
    delta = np.full((groups, count), np.nan)
    intervals = np.zeros((groups, count), np.int64)
    with_events = np.zeros((groups, count), np.int64)
    restarts = np.zeros((groups, count), np.int64)
    covered_ms = np.zeros((groups, count), np.int64)
    reached_ms = np.zeros(count, np.int64)
    for g in range(groups):
        first, after = group_bounds[g], group_bounds[g + 1]
        from_ms, to_ms = np.empty((2, bounds[after] - bounds[first]), np.int64)
        found = 0
        for i in range(first, after):
            for k in range(
                bounds[i] + np.searchsorted(times_ms[bounds[i] : bounds[i + 1]], start_ms), bounds[i + 1]
            ):
                at_ms = times_ms[k]
                if at_ms >= end_ms:
                    break
                before = k - 1
                if k == bounds[i] or at_ms - times_ms[before] > LONGEST_GAP_MS:
                    before, _ = _newest(times_ms, bounds, first, after, instance_of, i, at_ms, True)
                if before < 0:
                    # The first at this instance.
                    before, seen = _newest(times_ms, bounds, first, after, instance_of, i, at_ms, False)
                    if seen < SAMPLES_BEFORE or values[k] >= values[before]:
                        continue
                    says = _BEGAN_ANEW
                elif values[k] < values[before]:
                    says = _BEGAN_ANEW
                else:
                    says = _beside_others(times_ms, values, bounds, first, after, instance_of, i, before, k)
                    if says == _SAYS_NOTHING:
                        continue
                added = values[k] if says == _BEGAN_ANEW else values[k] - values[before]
                j = (at_ms - start_ms) // MINUTE_MS
                if intervals[g, j] == 0:
                    delta[g, j] = 0.0
                delta[g, j] += added
                intervals[g, j] += 1
                with_events[g, j] += added > 0
                restarts[g, j] += says == _BEGAN_ANEW
                from_ms[found], to_ms[found] = times_ms[before], at_ms
                found += 1
        reached_ms[:] = 0
        for n in np.argsort(from_ms[:found]) if after - first > 1 else np.arange(found):
            j = (to_ms[n] - start_ms) // MINUTE_MS
            covered_ms[g, j] += max(0, to_ms[n] - max(from_ms[n], reached_ms[j]))
            reached_ms[j] = max(reached_ms[j], to_ms[n])
    return delta, intervals, with_events, restarts, covered_ms


@_compiled
def _newest(times_ms, bounds, first_series, after_series, instance_of, i, at_ms, at_same_instance):
    """The newest sample before a time, within the hour, in the other series of series i's instance or in those of other
    instances (-1: none), and how many there are."""
    newest, seen = -1, 0
    for s in range(first_series, after_series):
        if s == i or (instance_of[s] == instance_of[i]) != at_same_instance:
            continue
        here = times_ms[bounds[s] : bounds[s + 1]]
        after = np.searchsorted(here, at_ms)
        first = np.searchsorted(here, at_ms - LONGEST_GAP_MS)
        if after == first:
            continue
        seen += after - first
        if newest < 0 or here[after - 1] > times_ms[newest]:
            newest = bounds[s] + after - 1
    return newest, seen


@_compiled
def _beside_others(times_ms, values, bounds, first_series, after_series, instance_of, i, before, k):
    """Classify a value that is not lower than the one before, given the values of other instances in between."""
    at_ms, before_ms = times_ms[k], times_ms[before]
    moved, same, seen, newest = False, True, 0, -1
    for s in range(first_series, after_series):
        if instance_of[s] == instance_of[i]:
            continue
        here, shown = times_ms[bounds[s] : bounds[s + 1]], values[bounds[s] : bounds[s + 1]]
        low, high = np.searchsorted(here, before_ms, side="right"), np.searchsorted(here, at_ms)
        if low == high:
            continue
        seen += high - low
        if newest < 0 or here[high - 1] > times_ms[newest]:
            newest = bounds[s] + high - 1
        if low == 0 or here[low - 1] < at_ms - LONGEST_GAP_MS or shown[low - 1] != shown[high - 1]:
            moved = True
            least, most = min(shown[low], shown[high - 1]), max(shown[low], shown[high - 1])
            same = same and values[before] <= least and most <= values[k]
    if not moved:
        return _GOES_ON
    if values[k] == values[before]:
        return _SAYS_NOTHING
    if seen >= SAMPLES_AWAY and values[k] < values[newest]:
        # Instances that are seen all the time take nothing over from each other.
        own = np.searchsorted(bounds, before, side="right") - 1
        since_ms = at_ms - LONGEST_GAP_MS - 1
        if before > bounds[own]:
            since_ms = max(since_ms, times_ms[before - 1])
        alone = True
        for s in range(first_series, after_series):
            here = times_ms[bounds[s] : bounds[s + 1]]
            alone = alone and (
                instance_of[s] == instance_of[i]
                or np.searchsorted(here, since_ms, side="right") == np.searchsorted(here, before_ms)
            )
        if alone:
            return _BEGAN_ANEW
    return _GOES_ON if same else _SAYS_NOTHING


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


#: What the functions above call of compiled functions.
KERNELS = (_deltas, _seen, _intervals, _serving)
