"""How often a verdict changes its mind while nothing changes. In: settled windows. Out: changes of the cause per hour.

Twice: as the verdicts come, and as episodes show them, after the hysteresis of :mod:`throttlescope.models.episodes.steady`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.episodes.steady import spells, steady
from throttlescope.models.evaluation.settled import Settled

_HOUR_MS = 60 * MINUTE_MS


@dataclass(frozen=True)
class Flips:
    """Changes of the named cause inside one state.

    Attributes
    ----------
    hours : float
        Time between the ends of neighbouring windows, summed over subscription partitions.
    per_hour, steady_per_hour : float or None
        None without time.
    """

    states: int
    hours: float
    flips: int
    steady_flips: int
    per_hour: float | None
    steady_per_hour: float | None


def flips_of(windows: Iterable[Settled]) -> Flips:
    """Count changes of the cause between windows of one state that overlap or touch."""
    states: dict[tuple, list[Settled]] = defaultdict(list)
    for window in windows:
        states[window.state].append(window)
    length_ms = flips = steady_flips = 0
    for group in states.values():
        said = [one.judged for one in sorted(group, key=lambda one: one.judged.end_ms)]
        found = spells(
            (
                {
                    "window_start_ms": one.start_ms, "window_end_ms": one.end_ms, "cause": one.cause,
                    "limiter": one.limiter, "confidence": one.confidence,
                }
                for one in said
            ),
            said[0].start_ms,
            said[-1].end_ms,
        )  # fmt: skip
        labels = steady(found)
        for i in range(1, len(found)):
            before, after = found[i - 1], found[i]
            # Over a hole the verdict is not known.
            if after.start_ms != before.end_ms:
                continue
            length_ms += after.end_ms - before.end_ms
            flips += after.blamed.cause != before.blamed.cause
            steady_flips += labels[i].cause != labels[i - 1].cause
    hours = length_ms / _HOUR_MS
    return Flips(
        states=len(states),
        hours=hours,
        flips=flips,
        steady_flips=steady_flips,
        per_hour=flips / hours if hours else None,
        steady_per_hour=steady_flips / hours if hours else None,
    )
