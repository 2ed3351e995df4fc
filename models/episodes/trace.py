"""A backlog over time in at most 64 points. In: minutes, or an earlier trace. Out: the largest backlog of each step.

A step is a power of two of minutes on the epoch grid. A coarser step holds finer ones whole and a largest value does not mind to
be taken twice: a trace that is continued is the same as one that was made at once.
"""

from __future__ import annotations

from collections.abc import Iterable

from throttlescope.ingest.core.times import MINUTE_MS

MOST_STEPS = 64


def step_ms(start_ms: int, end_ms: int) -> int:
    """The shortest step of which at most :data:`MOST_STEPS` cover [start_ms, end_ms)."""
    step = MINUTE_MS
    while (end_ms - 1) // step - start_ms // step >= MOST_STEPS:
        step *= 2
    return step


def trace(points: Iterable[tuple[int, float]], step: int) -> list[dict[str, float]]:
    """Largest value of each step that has one, oldest first; values of ``backlog``.

    Parameters
    ----------
    points : iterable of (int, float)
        Moments within a step (starts of minutes, or of finer steps), and backlogs in entries.
    """
    largest: dict[int, float] = {}
    for at_ms, entries in points:
        at_ms -= at_ms % step
        largest[at_ms] = max(entries, largest.get(at_ms, entries))
    return [{"at_ms": at_ms, "entries": entries} for at_ms, entries in sorted(largest.items())]
