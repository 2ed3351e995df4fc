"""Thresholds of the anomaly detection, in one frozen value with a version. In: nothing. Out: ``RULES``.

The numbers were chosen on generated traffic of seeds that no published figure uses (docs/accuracy/anomalies.md).
"""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.ingest.core.times import DAY_MS

METHOD = "hour_of_week_cusum"


@dataclass(frozen=True)
class AnomalyRules:
    """Numbers of the method; sigma is the spread of one minute, measured per series and hour of the week.

    Attributes
    ----------
    weeks : int
        Weeks before the judged day that make its baseline.
    learning_ms : int
        History that a series needs before it is judged, from its first sustained day.
    aside_sigmas : float
        An hour whose median strays further, in spreads of hourly medians, is set aside from later baselines.
    adopt_sigmas, adopt_share : float
        A UTC day is a new level when its median deviation is beyond so many spreads of hourly medians and this share of
        its known hours lies on one side.
    former_days : int
        So long after an adoption the former level is usual too.
    wander_hours, wander_sigmas
        A day may be off by the median deviation of so many hours just before, up to so many spreads of hourly medians.
    habit_days : int
        Odd hours widen the spread where their time of day was odd on so many days; else they are left out of it.
    floor_sigma : float
        Least spread, in units of the transform: at large counts 0.5 is 5 % of the value.
    tail_share, tail_sigmas : float
        This quantile of past deviations is so many sigmas at least, each side for itself: counts that are mostly zero have a
        median deviation of zero.
    least_share : float
        Least spread of an hour of the week as a share of the whole series' spread.
    cap_sigmas : float
        More than this in one minute adds no more: one minute alone is never an anomaly.
    slacks, alarms : tuple of float
        Deviation per minute that is forgiven, and the sum that raises an alarm; an entry for each sum that is kept.
    history_factor : float
        The alarm level is at least this much above the largest but one of the past days' sums.
    most_factor : float
        It is never raised above so many times its usual value.
    end_sigmas, end_sum : float
        An anomaly ends when deviations below ``end_sigmas`` have added up to ``end_sum``.
    most_minutes : int
        An anomaly that has neither ended nor become a new level by then is reported again.
    join_minutes : int
        Alarms of one series and direction that are no further apart are one anomaly.
    mark_minutes : int
        Minutes after a restart or a move that are not judged.
    silent_minutes : int
        Least length of a silence, and of a stop.
    least_missed : float
        A stop is no shorter than the time in which so many messages usually come.
    band_sigmas : float
        Half width of the band that a row shows.
    """

    version: str = "2"
    weeks: int = 4
    learning_ms: int = 14 * DAY_MS
    aside_sigmas: float = 5.0
    adopt_sigmas: float = 3.0
    adopt_share: float = 0.9
    former_days: int = 7
    wander_hours: int = 4
    wander_sigmas: float = 2.0
    habit_days: int = 3
    floor_sigma: float = 0.5
    tail_share: float = 0.99
    tail_sigmas: float = 2.0
    least_share: float = 0.5
    cap_sigmas: float = 8.0
    slacks: tuple[float, ...] = (3.5,)
    alarms: tuple[float, ...] = (9.0,)
    history_factor: float = 1.3
    most_factor: float = 8.0
    end_sigmas: float = 1.0
    end_sum: float = 10.0
    most_minutes: int = 2880
    join_minutes: int = 30
    mark_minutes: int = 5
    silent_minutes: int = 5
    least_missed: float = 10.0
    band_sigmas: float = 3.0


RULES = AnomalyRules()
