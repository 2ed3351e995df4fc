"""Counter differences the slow way: one sample after the other, from the rules in ``transforms/deltas.py``'s docstring.

In: a group's series as lists. Out: per minute what was counted, restarts, intervals, and the time covered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

HOUR_MS = 3_600_000
MINUTE_MS = 60_000


@dataclass
class NaiveCounter:
    """One series; ``samples`` are (ms, value), rising."""

    instance: str
    samples: list[tuple[int, float]]


@dataclass
class NaiveMinute:
    """What one minute adds up to; ``delta`` None: nothing is known."""

    delta: float | None = None
    intervals: int = 0
    with_events: int = 0
    restarts: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)


def minutes_of(group: list[NaiveCounter], start_ms: int, count: int) -> list[NaiveMinute]:
    out = [NaiveMinute() for _ in range(count)]
    for one in group:
        for k, (at, value) in enumerate(one.samples):
            if not start_ms <= at < start_ms + count * MINUTE_MS:
                continue
            found = before(group, one, k)
            if found is None:
                continue
            (before_ms, before_value), from_zero = found
            restarted = from_zero or value < before_value
            added = value if restarted else value - before_value
            minute = out[(at - start_ms) // MINUTE_MS]
            minute.delta = (minute.delta or 0.0) + added
            minute.intervals += 1
            minute.with_events += added > 0
            minute.restarts += restarted
            minute.spans.append((before_ms, at))
    return out


def span_ms(minute: NaiveMinute) -> int | None:
    """The time that a minute's difference covers; None where it is not known, or mostly another minute's."""
    covered = covered_ms(minute)
    return covered if minute.spans and not minute.restarts and covered <= 5 * MINUTE_MS else None


def covered_ms(minute: NaiveMinute) -> int:
    """Milliseconds that lie between the samples of any of its differences."""
    edges = sorted({edge for span in minute.spans for edge in span})
    return sum(
        high - low
        for low, high in pairwise(edges)
        if any(start <= low and high <= end for start, end in minute.spans)
    )


def before(group: list[NaiveCounter], one: NaiveCounter, k: int):
    """The sample that sample k is compared with, and whether it counts from 0; None where it says nothing."""
    at, value = one.samples[k]
    mine = last_of(one, k)
    if mine is None:
        own = [
            (other, n)
            for other in group
            if other is not one and other.instance == one.instance
            for n in earlier(other, at)
        ]
        mine = max(own, key=lambda found: found[0].samples[found[1]][0], default=None)
    elsewhere = [other for other in group if other.instance != one.instance]
    if mine is None:
        seen = [other.samples[n] for other in elsewhere for n in earlier(other, at)]
        if len(seen) < 3:
            return None
        newest = max(seen, key=lambda sample: sample[0])
        return (newest, True) if value < newest[1] else None
    series, n = mine
    before_ms, before_value = series.samples[n]
    if value < before_value:
        return series.samples[n], True
    # What the other instances showed since.
    between = {
        number: [m for m in earlier(other, at) if other.samples[m][0] > before_ms]
        for number, other in enumerate(elsewhere)
    }
    moved = [
        [elsewhere[number].samples[m][1] for m in (seen[0], seen[-1])]
        for number, seen in between.items()
        if seen and has_moved(elsewhere[number], seen, at)
    ]
    if not moved:
        return series.samples[n], False
    if value == before_value:
        return None
    samples = [elsewhere[number].samples[m] for number, seen in between.items() for m in seen]
    newest = max(samples, key=lambda sample: sample[0])
    if len(samples) >= 2 and value < newest[1]:
        since_ms = series.samples[n - 1][0] if n > 0 and series.samples[n - 1][0] >= at - HOUR_MS else 0
        if not any(
            since_ms < other.samples[m][0] < before_ms for other in elsewhere for m in earlier(other, at)
        ):
            return series.samples[n], True
    if all(before_value <= shown <= value for pair in moved for shown in pair):
        return series.samples[n], False
    return None


def last_of(one: NaiveCounter, k: int):
    """The sample before sample k in its own series, if it is not too old."""
    return (one, k - 1) if k > 0 and one.samples[k][0] - one.samples[k - 1][0] <= HOUR_MS else None


def earlier(other: NaiveCounter, at: int) -> list[int]:
    """Numbers of another series' samples in the hour before a time."""
    return [n for n, sample in enumerate(other.samples) if at - HOUR_MS <= sample[0] < at]


def has_moved(other: NaiveCounter, seen: list[int], at: int) -> bool:
    """Whether it began within these samples, or shows another value after them than before them."""
    base = seen[0] - 1
    began = base < 0 or other.samples[base][0] < at - HOUR_MS
    return began or other.samples[base][1] != other.samples[seen[-1]][1]
