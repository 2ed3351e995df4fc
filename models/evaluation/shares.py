"""Shares of windows with their intervals. In: settled windows and a question. Out: a :class:`Share`.

Windows of one recording resemble each other, so every share has two intervals: Wilson's, as if they were independent, and a
bootstrap over whole recordings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from throttlescope.models.evaluation.settled import Settled
from throttlescope.models.intervals import clustered, wilson


@dataclass(frozen=True)
class Share:
    """A share with its two intervals.

    Attributes
    ----------
    value : float or None
        None where there was nothing to count.
    wilson, clustered : pair of float or None
        95 % intervals, over windows and over recordings.
    """

    count: int
    of: int
    recordings: int
    value: float | None
    wilson: tuple[float, float] | None
    clustered: tuple[float, float] | None


def share_of(windows: Iterable[Settled], holds: Callable[[Settled], bool]) -> Share:
    """The share of windows of which something holds."""
    counts: Mapping[str, list[int]] = defaultdict(lambda: [0, 0])
    for window in windows:
        counts[window.recording][0] += holds(window)
        counts[window.recording][1] += 1
    names = sorted(counts)
    count, of = (sum(counts[name][i] for name in names) for i in (0, 1))
    return Share(
        count=count,
        of=of,
        recordings=len(names),
        value=count / of if of else None,
        wilson=wilson(count, of),
        clustered=clustered([counts[name][0] for name in names], [counts[name][1] for name in names]),
    )
