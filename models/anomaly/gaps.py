"""When what usually comes stays away. In: minutes in which it came, and how much of it is usual in each. Out: gaps that are too long to be usual.

A gap is as long as what would usually have come in it: a night without messages is short where nights have few, and so is a minute in which
nothing was scraped, of which nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from throttlescope.models.anomaly.rules import AnomalyRules
from throttlescope.models.anomaly.spread import DAY_MINUTES


@dataclass(frozen=True)
class LongGap:
    """Minutes [start, end) in which nothing came. The alarm is at ``alarm``; ``score``: its length over the least that raises one.

    ``adopted``: a whole day had passed without anything, after which nothing is missed any longer.
    """

    start: int
    alarm: int
    end: int
    score: float
    open: bool
    adopted: bool


def long_gaps(
    came: np.ndarray,
    known: np.ndarray,
    usual: np.ndarray,
    judged: np.ndarray,
    least: float,
    rules: AnomalyRules,
    *,
    masked: np.ndarray,
    unjudged: np.ndarray,
) -> list[LongGap]:
    """Gaps that are as long as ``least`` and twice the longest but one of the days' gaps in the weeks before.

    Parameters
    ----------
    came, known : ndarray of bool, shape (minutes,)
        Something came in the minute; whether anything came is known.
    usual : ndarray of float64, shape (minutes,)
        How much of it usually comes in the minute, 0 where nothing is missed.
    judged : ndarray of bool, shape (days,)
    masked, unjudged : ndarray of bool, shape (minutes,)
        Incidents, whose gaps are not usual; minutes after a restart or a move, in which a short gap may begin.
    """
    days = len(came) // DAY_MINUTES
    missed = _missed(came, known)
    gone = known & ~came & (usual > 0) & np.repeat(missed, DAY_MINUTES)
    passed = np.concatenate([[0.0], np.cumsum(np.where(gone, usual, 0.0))])
    starts, ends = _runs(gone, known)
    counts = ~unjudged[starts] | (ends - starts > 3 * rules.mark_minutes)
    starts, ends = starts[counts], ends[counts]
    day, length = starts // DAY_MINUTES, passed[ends] - passed[starts]
    longest = np.zeros(days)
    np.maximum.at(longest, day[~masked[starts]], length[~masked[starts]])
    past = 7 * rules.weeks
    # One is no habit.
    habit = np.array([np.sort(longest[max(0, at - past) : at])[-2] if at > 1 else 0.0 for at in range(days)])
    enough = np.maximum(least, 2 * habit)[day]
    last = np.flatnonzero(known)[-1] + 1 if known.any() else 0
    found = []
    for at in np.flatnonzero(judged[day] & (length >= enough) & (ends - starts >= rules.silent_minutes)):
        start, end = int(starts[at]), int(ends[at])
        alarm = int(np.searchsorted(passed, passed[start] + enough[at])) - 1
        alarm = min(max(alarm, start + rules.silent_minutes - 1), end - 1)
        midnight = -(-end // DAY_MINUTES)
        adopted = midnight < days and not missed[midnight] and not came[end : midnight * DAY_MINUTES].any()
        found.append(LongGap(start, alarm, end, float(length[at] / enough[at]), end == last, bool(adopted)))
    return found


def _missed(came: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Days on which something is missed: not those after a whole day without anything, until something comes again."""
    days = len(came) // DAY_MINUTES
    seen = came.reshape(days, DAY_MINUTES).any(axis=1)
    mostly_known = known.reshape(days, DAY_MINUTES).sum(axis=1) * 2 >= DAY_MINUTES
    missed = np.concatenate([[True], seen[:-1] | ~mostly_known[:-1]])
    for day in range(1, days):
        missed[day] &= missed[day - 1] or seen[day - 1]
    return missed


def _runs(gone: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends of runs of minutes; minutes of which nothing is known neither end nor lengthen one."""
    at = np.flatnonzero(known)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], gone[at], [False]]).astype(np.int8)))
    return at[edges[::2]], at[edges[1::2] - 1] + 1
