"""When what usually comes stays away. In: minutes in which it came, and how much of it is usual in each. Out: gaps that are too long to be usual.

A gap is as long as what would usually have come in it: a night without messages is short where nights have few, and so is a minute in which
nothing was scraped, of which nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from throttlescope.models.anomaly.rules import AnomalyRules
from throttlescope.models.anomaly.spread import DAY_MINUTES, HOUR_MINUTES


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


@dataclass(frozen=True)
class OpenGap:
    """A gap that had not ended at the first judged midnight, from which its minutes count: ``start`` is negative.

    Attributes
    ----------
    length : float
        What had been missed until then.
    after_mark, masked : bool
        It began after a restart or a move; in an incident.
    """

    start: int
    end: int
    length: float
    after_mark: bool
    masked: bool


@dataclass(frozen=True)
class GapHistory:
    """What the days before the first judged one say about gaps.

    Attributes
    ----------
    usual : ndarray of float64, shape (judged hours,)
        How much usually comes in a minute of the hour, 0 where nothing is missed.
    longest : ndarray of float64, shape (days before,)
        The longest gap that began on each day and ended before the first judged one.
    missed : bool
        Something is missed on the first judged day.
    open_gap : OpenGap or None
    """

    usual: np.ndarray
    longest: np.ndarray
    missed: bool
    open_gap: OpenGap | None


def gap_history(
    came: np.ndarray,
    known: np.ndarray,
    usual: np.ndarray,
    first_day: int,
    rules: AnomalyRules,
    *,
    masked: np.ndarray,
    unjudged: np.ndarray,
) -> GapHistory:
    """The days before ``first_day``; parameters as of :func:`long_gaps`, of all days, with ``usual`` by hour."""
    begin = first_day * DAY_MINUTES
    missed = _missed(came[: begin + DAY_MINUTES], known[: begin + DAY_MINUTES], True)
    came, known = came[:begin], known[:begin]
    gone = known & ~came & np.repeat((usual > 0)[: begin // HOUR_MINUTES], HOUR_MINUTES)
    gone &= np.repeat(missed[:-1], DAY_MINUTES)
    passed = _passed(gone, usual)
    starts, ends = _runs(gone, known)
    open_gap = None
    if len(ends) and not known[ends[-1] :].any():
        start, end = int(starts[-1]), int(ends[-1])
        open_gap = OpenGap(
            start - begin, end - begin, float(passed[end] - passed[start]), bool(unjudged[start]), bool(masked[start])
        )  # fmt: skip
        starts, ends = starts[:-1], ends[:-1]
    counts = _is_counted(unjudged[starts], ends - starts, rules) & ~masked[starts]
    starts, ends = starts[counts], ends[counts]
    longest = np.zeros(first_day)
    np.maximum.at(longest, starts // DAY_MINUTES, passed[ends] - passed[starts])
    return GapHistory(usual[begin // HOUR_MINUTES :], longest, bool(missed[-1]), open_gap)


def long_gaps(
    came: np.ndarray,
    known: np.ndarray,
    history: GapHistory,
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
    came, known : ndarray of bool, shape (minutes of the judged days,)
        Something came in the minute; whether anything came is known.
    judged : ndarray of bool, shape (judged days,)
    masked, unjudged : ndarray of bool, shape (minutes of the judged days,)
        Incidents, whose gaps are not usual; minutes after a restart or a move, in which a short gap may begin.
    """
    days, before = len(came) // DAY_MINUTES, len(history.longest)
    missed = _missed(came, known, history.missed)
    gone = known & ~came & np.repeat(history.usual > 0, HOUR_MINUTES) & np.repeat(missed, DAY_MINUTES)
    passed = _passed(gone, history.usual)
    starts, ends = _runs(gone, known)
    longest = np.concatenate([history.longest, np.zeros(days)])
    if (carried := history.open_gap) is not None:
        end, length = carried.end, carried.length
        if len(starts) and not known[: starts[0]].any():
            end, length = int(ends[0]), length + float(passed[ends[0]])
            starts, ends = starts[1:], ends[1:]
        if not carried.masked and _is_counted(carried.after_mark, end - carried.start, rules):
            day = before + carried.start // DAY_MINUTES
            longest[day] = max(longest[day], length)
    counts = _is_counted(unjudged[starts], ends - starts, rules)
    starts, ends = starts[counts], ends[counts]
    day, length = starts // DAY_MINUTES, passed[ends] - passed[starts]
    np.maximum.at(longest, before + day[~masked[starts]], length[~masked[starts]])
    past = 7 * rules.weeks
    # One is no habit.
    habit = np.array(
        [
            np.sort(longest[max(0, at - past) : at])[-2] if at > 1 else 0.0
            for at in range(before, before + days)
        ]
    )
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


def _missed(came: np.ndarray, known: np.ndarray, first: bool) -> np.ndarray:
    """Days on which something is missed: not those after a whole day without anything, until something comes again."""
    days = len(came) // DAY_MINUTES
    seen = came.reshape(days, DAY_MINUTES).any(axis=1)
    mostly_known = known.reshape(days, DAY_MINUTES).sum(axis=1) * 2 >= DAY_MINUTES
    missed = np.concatenate([[first], seen[:-1] | ~mostly_known[:-1]])
    for day in range(1, days):
        missed[day] &= missed[day - 1] or seen[day - 1]
    return missed


def _passed(gone: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """What had been missed before each minute, shape (minutes + 1,); ``usual`` by hour, of these or more hours."""
    by_minute = np.repeat(usual[: len(gone) // HOUR_MINUTES], HOUR_MINUTES)
    return np.concatenate([[0.0], np.cumsum(np.where(gone, by_minute, 0.0))])


def _is_counted(after_mark: np.ndarray | bool, minutes: np.ndarray | int, rules: AnomalyRules):
    """Whether a gap counts at all: after a restart or a move a short one is part of it."""
    return ~np.asarray(after_mark) | (minutes > 3 * rules.mark_minutes)


def _runs(gone: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends of runs of minutes; minutes of which nothing is known neither end nor lengthen one."""
    at = np.flatnonzero(known)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], gone[at], [False]]).astype(np.int8)))
    return at[edges[::2]], at[edges[1::2] - 1] + 1
