"""When samples stop. In: which minutes of a subscription have samples, and in which its cluster has any. Out: silences.

A minute in which nothing of the cluster was scraped says nothing of one subscription: it is a gap in the data, not a silence.
"""

from __future__ import annotations

import numpy as np

from throttlescope.models.anomaly.calendar import WEEK_HOURS, Calendar
from throttlescope.models.anomaly.gaps import LongGap, long_gaps
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
) -> list[SeriesAnomaly]:
    """Silences of the days from ``first_day`` on.

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
    learning = learning_minutes(present, first_day, rules)
    days = np.arange(len(present) // DAY_MINUTES)
    gaps = long_gaps(
        present,
        covered,
        np.repeat(_usual(present, covered, calendar), HOUR_MINUTES).astype(float),
        (days >= first_day) & ~learning[::DAY_MINUTES],
        rules.silent_minutes,
        rules,
        masked=masked,
        unjudged=unjudged,
    )
    return [_described(gap, present, rules) for gap in gaps]


def _described(gap: LongGap, present: np.ndarray, rules: AnomalyRules) -> SeriesAnomaly:
    day = gap.start // DAY_MINUTES * DAY_MINUTES
    points = int(present[max(0, day - rules.weeks * WEEK_HOURS * HOUR_MINUTES) : day].sum())
    return SeriesAnomaly(
        -1, gap.start, gap.alarm, gap.end, gap.open, gap.score, gap.start, None, None, None, None, points, 0.0, gap.adopted,
    )  # fmt: skip


def _usual(present: np.ndarray, covered: np.ndarray, calendar: Calendar) -> np.ndarray:
    """Hours whose likes in the weeks before were seen nearly whole."""
    there, expected = (one.reshape(-1, HOUR_MINUTES).sum(axis=1) for one in (present, covered))
    share = np.where(expected > 0, there / np.maximum(expected, 1), np.nan)
    likes = np.where(calendar.earlier >= 0, share[calendar.earlier], np.nan)
    return np.nan_to_num(median_of_rows(likes)) >= _USUAL_SHARE
