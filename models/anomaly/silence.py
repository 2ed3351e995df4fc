"""When samples stop. In: which minutes of a subscription have samples, and in which its cluster has any. Out: silences.

A minute in which nothing of the cluster was scraped says nothing of one subscription: it is a gap in the data, not a silence.
"""

from __future__ import annotations

import numpy as np

from throttlescope.models.anomaly.calendar import WEEK_HOURS, Calendar
from throttlescope.models.anomaly.rules import AnomalyRules
from throttlescope.models.anomaly.series import SeriesAnomaly, learning_minutes
from throttlescope.models.anomaly.sorted_rows import median_of_rows
from throttlescope.models.anomaly.spread import DAY_MINUTES, HOUR_MINUTES

#: Share of an hour's minutes that had samples in the weeks before, for it to be missed.
_USUAL_SHARE = 0.9


def silences(
    present: np.ndarray,
    covered: np.ndarray,
    calendar: Calendar,
    first_day: int,
    rules: AnomalyRules,
    *,
    masked: np.ndarray | None = None,
    unjudged: np.ndarray | None = None,
) -> tuple[list[SeriesAnomaly], np.ndarray]:
    """Silences of the days from ``first_day`` on, and the minutes in which that is still being learned.

    Parameters
    ----------
    present, covered : ndarray of bool, shape (minutes of the calendar,)
        The subscription has a sample in the minute; its cluster has any.
    masked, unjudged : ndarray of bool, optional
        Incidents, whose gaps do not lengthen the least silence; minutes after a restart or a move, in which a gap may begin.

    Notes
    -----
    A silence is as long as ``silent_minutes`` and twice the longest but one of the days' gaps in the weeks before. A subscription
    without a sample for a whole UTC day is not missed any longer: the silence ends there, adopted.
    """
    none = np.zeros(len(present), bool)
    masked, unjudged = none if masked is None else masked, none if unjudged is None else unjudged
    present = present & covered
    usual = np.repeat(_usual(present, covered, calendar), HOUR_MINUTES)
    days = len(present) // DAY_MINUTES
    seen_by_day = present.reshape(days, DAY_MINUTES).any(axis=1)
    covered_by_day = covered.reshape(days, DAY_MINUTES).sum(axis=1) * 2 >= DAY_MINUTES
    missed = np.concatenate([[True], seen_by_day[:-1] | ~covered_by_day[:-1]])
    # A day without a sample after which nothing came back is still not missed.
    for day in range(1, days):
        missed[day] &= missed[day - 1] or seen_by_day[day - 1]
    gone = usual & covered & ~present & np.repeat(missed, DAY_MINUTES)
    gaps = [
        gap
        for gap in _gaps(gone, covered)
        if not unjudged[gap[0]] or gap[1] - gap[0] > 3 * rules.mark_minutes
    ]
    learning = learning_minutes(present, first_day, rules)
    found: list[SeriesAnomaly] = []
    for day in range(first_day, days):
        low, high = day * DAY_MINUTES, (day + 1) * DAY_MINUTES
        if learning[low]:
            continue
        past = max(0, low - rules.weeks * WEEK_HOURS * HOUR_MINUTES)
        least = max(rules.silent_minutes, 2 * _longest_but_one(gaps, masked, past, low))
        for start, end in gaps:
            # Counted are minutes of the cluster that had samples, whatever lies between them.
            minutes = np.flatnonzero(covered[start:end])
            if low <= start < high and len(minutes) >= least:
                adopted = end < len(present) and not present[end] and end % DAY_MINUTES == 0
                points = int(present[past:low].sum())
                found.append(
                    SeriesAnomaly(
                        -1, start, start + int(minutes[least - 1]), end, end == _last(covered), len(minutes) / least,
                        start, None, None, None, None, points, 0.0, adopted,
                    )
                )  # fmt: skip
    return found, learning


def _usual(present: np.ndarray, covered: np.ndarray, calendar: Calendar) -> np.ndarray:
    """Hours whose likes in the weeks before were seen nearly whole."""
    there, expected = (one.reshape(-1, HOUR_MINUTES).sum(axis=1) for one in (present, covered))
    share = np.where(expected > 0, there / np.maximum(expected, 1), np.nan)
    likes = np.where(calendar.earlier >= 0, share[calendar.earlier], np.nan)
    return np.nan_to_num(median_of_rows(likes)) >= _USUAL_SHARE


def _gaps(gone: np.ndarray, covered: np.ndarray) -> list[tuple[int, int]]:
    """Runs of missing minutes [start, end); minutes in which nothing was scraped neither end nor lengthen one."""
    at = np.flatnonzero(covered)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], gone[at], [False]]).astype(np.int8)))
    return [(int(at[low]), int(at[high - 1]) + 1) for low, high in zip(edges[::2], edges[1::2], strict=True)]


def _longest_but_one(gaps: list[tuple[int, int]], masked: np.ndarray, low: int, high: int) -> int:
    """Of the longest gap of each day in [low, high), the longest but one: one silence is no habit."""
    by_day: dict[int, int] = {}
    for start, end in gaps:
        if low <= start < high and not masked[start]:
            by_day[start // DAY_MINUTES] = max(by_day.get(start // DAY_MINUTES, 0), end - start)
    return sorted(by_day.values())[-2] if len(by_day) > 1 else 0


def _last(covered: np.ndarray) -> int:
    """The minute behind the last one in which anything was scraped."""
    at = np.flatnonzero(covered)
    return int(at[-1]) + 1 if len(at) else 0
