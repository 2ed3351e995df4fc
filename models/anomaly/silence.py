"""When samples stop. In: which minutes of a subscription have samples, and in which its cluster has any. Out: silences.

A minute in which nothing of the cluster was scraped says nothing of one subscription: it is a gap in the data, not a silence.
"""

from __future__ import annotations

import numpy as np

from throttlescope.models.anomaly.baseline import Baseline, hour_sums, points_of, ready_days
from throttlescope.models.anomaly.calendar import Calendar
from throttlescope.models.anomaly.gaps import LongGap, gap_history, long_gaps
from throttlescope.models.anomaly.rules import AnomalyRules
from throttlescope.models.anomaly.series import SeriesAnomaly, shifted
from throttlescope.models.anomaly.sorted_rows import median_of_rows
from throttlescope.models.anomaly.spread import DAY_MINUTES

#: Share of an hour's minutes that had samples in the weeks before, for it to be missed.
_USUAL_SHARE = 0.9


def silence_baseline(
    present: np.ndarray,
    covered: np.ndarray,
    calendar: Calendar,
    first_day: int,
    rules: AnomalyRules,
    *,
    masked: np.ndarray,
    unjudged: np.ndarray,
) -> Baseline:
    """Where samples are usual on the days from ``first_day`` on, without a look at the last of them.

    Parameters
    ----------
    present, covered : ndarray of bool, shape (minutes of the calendar,)
        The subscription has a sample in the minute; its cluster has any.
    masked, unjudged : ndarray of bool, shape (minutes of the calendar,)
        Incidents, whose gaps do not lengthen the least silence; minutes after a restart or a move, in which a gap may begin.
    """
    present = present & covered
    present[-DAY_MINUTES:] = False
    of_hour = hour_sums(present)
    ready = ready_days(of_hour, first_day, rules)
    gaps = None
    if ready.any():
        usual = _usual(of_hour, hour_sums(covered), calendar).astype(float)
        gaps = gap_history(present, covered, usual, first_day, rules, masked=masked, unjudged=unjudged)
    return Baseline(of_hour[: 24 * first_day], ready, points_of(present, first_day, rules), None, gaps)


def silences(
    present: np.ndarray,
    covered: np.ndarray,
    baseline: Baseline,
    rules: AnomalyRules,
    *,
    masked: np.ndarray,
    unjudged: np.ndarray,
) -> list[SeriesAnomaly]:
    """Silences of the judged days.

    Parameters
    ----------
    present, covered, masked, unjudged : ndarray of bool, shape (minutes of the judged days,)
        As of :func:`silence_baseline`.

    Notes
    -----
    A silence is as long as ``silent_minutes`` and twice the longest but one of the days' gaps in the weeks before. A subscription
    without a sample for a whole UTC day is not missed any longer: the silence ends there, adopted.
    """
    if baseline.gaps is None:
        return []
    gaps = long_gaps(
        present & covered, covered, baseline.gaps, baseline.ready, rules.silent_minutes, rules, masked=masked, unjudged=unjudged
    )  # fmt: skip
    return [shifted(_described(gap, baseline), baseline.begin) for gap in gaps]


def _described(gap: LongGap, baseline: Baseline) -> SeriesAnomaly:
    points = int(baseline.points[gap.start // DAY_MINUTES])
    return SeriesAnomaly(
        -1, gap.start, gap.alarm, gap.end, gap.open, gap.score, gap.start, None, None, None, None, points, 0.0, gap.adopted,
    )  # fmt: skip


def _usual(there: np.ndarray, expected: np.ndarray, calendar: Calendar) -> np.ndarray:
    """Hours whose likes in the weeks before were seen nearly whole, from the minutes with samples of each hour and of its cluster."""
    share = np.where(expected > 0, there / np.maximum(expected, 1), np.nan)
    likes = np.where(calendar.earlier >= 0, share[calendar.earlier], np.nan)
    return np.nan_to_num(median_of_rows(likes)) >= _USUAL_SHARE
