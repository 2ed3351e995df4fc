"""Counter differences the slow way: one sample after the other, from the rules in ``transforms/deltas.py``'s docstring.

In: a group's series as lists. Out: per minute what was counted, restarts, intervals, and the bounding times.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    span: tuple[int, int] | None = None


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
            low, high = minute.span or (before_ms, at)
            minute.span = (min(low, before_ms), max(high, at))
    return out


def before(group: list[NaiveCounter], one: NaiveCounter, k: int):
    """The sample that sample k is compared with, and whether it counts from 0 all the same."""
    at = one.samples[k][0]
    if k > 0 and at - one.samples[k - 1][0] <= HOUR_MS:
        return one.samples[k - 1], False
    earlier = [
        (sample, other.instance)
        for other in group
        if other is not one
        for sample in other.samples
        if at - HOUR_MS <= sample[0] < at
    ]
    if not earlier:
        return None
    sample, instance = max(earlier, key=lambda found: found[0][0])
    if instance == one.instance:
        return sample, False
    elsewhere = [found for found in earlier if found[1] != one.instance]
    return (sample, True) if len(elsewhere) >= 3 else None
