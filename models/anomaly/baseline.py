"""What is usual for one series. In: counts per minute of whole UTC days, and what may not be learned. Out: the baseline of the judged days.

Every UTC day has its own, of what lies before its midnight: levels, spread and alarm levels are those of the weeks before, so that a day is
never in its own baseline. So minutes of the last day have no say in any of them, and a baseline holds for as long as that day lasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.models.anomaly.calendar import WEEK_HOURS, Calendar
from throttlescope.models.anomaly.gaps import GapHistory, gap_history
from throttlescope.models.anomaly.levels import DAY_HOURS, Adoption, follow, wander
from throttlescope.models.anomaly.rules import AnomalyRules
from throttlescope.models.anomaly.sorted_rows import median_of_rows
from throttlescope.models.anomaly.spread import DAY_MINUTES, HOUR_MINUTES, alarm_level, rare, spread_of
from throttlescope.models.anomaly.transform import stabilised

#: Minutes of an hour that have to be known before it has a median.
_LEAST_MINUTES = 15


@dataclass(frozen=True)
class UsualLevels:
    """Levels and spread of the judged days, on the scale of :mod:`transform`; hours count from the first of them.

    Attributes
    ----------
    masks_hold : bool
        What is masked is left out; else it is the habit.
    masked_share : ndarray of float64, shape (days,)
        Share of the known minutes that were masked.
    expected, moved, former, hourly_sigma : ndarray of float64, shape (lead + hours,)
        As of :class:`~levels.Levels`, from ``wander_hours`` before the first hour on.
    strayed : ndarray of float64, shape (lead,)
        Deviations of the hourly medians before the first hour.
    sigma : dict of int to ndarray of float64, shape (hours,)
        By side; NaN where nothing is known.
    alarm : dict of int to ndarray of float64, shape (days, sums)
        By side, the sum that raises an alarm; infinite where nothing is known.
    adopted : dict of int to ndarray of int64
        By side, the hours from which on a change was the level.
    """

    masks_hold: bool
    masked_share: np.ndarray
    expected: np.ndarray
    moved: np.ndarray
    former: np.ndarray
    hourly_sigma: np.ndarray
    strayed: np.ndarray
    sigma: dict[int, np.ndarray]
    alarm: dict[int, np.ndarray]
    adopted: dict[int, np.ndarray]


@dataclass(frozen=True)
class Baseline:
    """What is known of one series at the midnights of the judged days.

    Attributes
    ----------
    known_minutes : ndarray of int64, shape (hours before,)
        Minutes of each hour before the first judged one that are known.
    ready : ndarray of bool, shape (days,)
        There is enough history to judge the day.
    points : ndarray of int64, shape (days,)
        Minutes of the weeks before that are known and not masked.
    levels : UsualLevels or None
        None where no day is ready, and for samples.
    gaps : GapHistory or None
        None where no day is ready, and for a series that is judged upwards only.
    """

    known_minutes: np.ndarray
    ready: np.ndarray
    points: np.ndarray
    levels: UsualLevels | None
    gaps: GapHistory | None

    @property
    def begin(self) -> int:
        """The first judged minute, counted from the beginning of the calendar."""
        return HOUR_MINUTES * len(self.known_minutes)

    @classmethod
    def of_nothing(cls, first_day: int, days: int) -> Baseline:
        """Of a series of which nothing was known before the last of these judged days."""
        return cls(
            np.zeros(DAY_HOURS * first_day, np.int64), np.zeros(days, bool), np.zeros(days, np.int64), None, None
        )  # fmt: skip


def baseline_of(
    counts: np.ndarray,
    calendar: Calendar,
    first_day: int,
    rules: AnomalyRules,
    sides: Sequence[int],
    *,
    masked: np.ndarray,
    unjudged: np.ndarray,
) -> Baseline:
    """What was usual on each day from ``first_day`` on.

    Parameters
    ----------
    counts : ndarray of float64, shape (minutes of the calendar,)
        Counts per minute, or a gauge; NaN where unknown. Those of the last day are not looked at.
    first_day : int
        First UTC day of the calendar that is judged, not below 1; those before it are history.
    sides : sequence of int
        1 upwards, -1 downwards.
    masked, unjudged : ndarray of bool, shape (minutes of the calendar,)
        Incidents, which are not learned; minutes after a restart or a move, which are neither learned nor judged.
    """
    counts = counts.copy()
    counts[-DAY_MINUTES:] = np.nan
    steady = np.where(unjudged, np.nan, stabilised(counts))
    seen = ~np.isnan(steady)
    masks_hold = _hold(masked, seen, first_day * DAY_MINUTES)
    learned = np.where(masked, np.nan, steady) if masks_hold else steady
    known = ~np.isnan(learned)
    ready = ready_days(hour_sums(known), first_day, rules)
    points, seen_points = (points_of(one, first_day, rules) for one in (known, seen))
    levels = gaps = None
    # A series that is only learned from needs no levels yet.
    if ready.any():
        masked_share = np.where(seen_points > 0, 1 - points / np.maximum(seen_points, 1), 0.0)
        levels = _levels(steady, learned, calendar, first_day, rules, sides, ready, masks_hold, masked_share)
        if -1 in sides:
            usual = usual_counts(np.where(unjudged | masked, np.nan, counts), calendar)
            gaps = gap_history(
                counts > 0, ~np.isnan(counts), usual, first_day, rules, masked=masked, unjudged=unjudged
            )
    return Baseline(hour_sums(~np.isnan(counts))[: DAY_HOURS * first_day], ready, points, levels, gaps)


def _levels(
    steady: np.ndarray,
    learned: np.ndarray,
    calendar: Calendar,
    first_day: int,
    rules: AnomalyRules,
    sides: Sequence[int],
    ready: np.ndarray,
    masks_hold: bool,
    masked_share: np.ndarray,
) -> UsualLevels:
    levels = follow(hourly(learned), calendar, rules)
    residual, strayed = residual_of(steady, levels.expected, levels.moved, levels.former)
    offset = np.repeat(wander(strayed, levels.sigma, rules), HOUR_MINUTES)
    calm = np.where(np.isnan(learned), np.nan, residual - offset)
    days, begin = len(ready), DAY_HOURS * first_day
    sigma = {side: np.full(DAY_HOURS * days, np.nan) for side in sides}
    alarm = {side: np.full((days, len(rules.slacks)), np.inf) for side in sides}
    for day in np.flatnonzero(ready):
        here = begin + DAY_HOURS * day
        first = max(0, here - rules.weeks * WEEK_HOURS)
        odd = np.repeat(rare(levels.odd_before(here), calendar, first, here, rules), HOUR_MINUTES)
        past = np.where(odd, np.nan, calm)
        spread = spread_of(past, calendar, first, here, rules)
        # Nothing is known of these weeks: nothing can be said of the day.
        if spread is None:
            continue
        labels, before = (calendar.hour_of_week[here : here + DAY_HOURS], calendar.hour_of_week[first:here])
        for side in sides:
            by_label = spread.of(side)
            sigma[side][DAY_HOURS * day : DAY_HOURS * (day + 1)] = by_label[labels]
            z = (
                side
                * past[first * HOUR_MINUTES : here * HOUR_MINUTES]
                / np.repeat(by_label[before], HOUR_MINUTES)
            )
            alarm[side][day] = [
                alarm_level(z, slack, level, rules)
                for slack, level in zip(rules.slacks, rules.alarms, strict=True)
            ]
    # Hours before the first judged one in which its deviation began.
    lead = slice(begin - rules.wander_hours, None)
    return UsualLevels(
        masks_hold, masked_share, levels.expected[lead], levels.moved[lead], levels.former[lead], levels.sigma[lead],
        strayed[lead][: rules.wander_hours], sigma, alarm,
        {side: _adopted(levels.adoptions, side, begin) for side in sides},
    )  # fmt: skip


def _adopted(adoptions: Sequence[Adoption], side: int, begin: int) -> np.ndarray:
    hours = [one.adopted - begin for one in adoptions if one.step * side > 0]
    return np.array([hour for hour in hours if hour >= 0], np.int64)


def residual_of(
    steady: np.ndarray, expected: np.ndarray, moved: np.ndarray, former: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Deviations of some minutes from the levels of their hours, and the medians of each hour's.

    Parameters
    ----------
    steady : ndarray of float64, shape (minutes,)
        Ends with the last hour of the levels, which may begin earlier.
    expected, moved, former : ndarray of float64, shape (hours,)
        As of :class:`~levels.Levels`.
    """
    hours = len(steady) // HOUR_MINUTES
    residual = steady - per_minute(expected, moved)[-len(steady) :]
    residual = _nearer(residual, np.repeat(former[-hours:], HOUR_MINUTES))
    return residual, hourly(residual)


def usual_counts(learned: np.ndarray, calendar: Calendar) -> np.ndarray:
    """Mean counts per minute that are usual at each hour, shape (hours,): the lower of the medians of the same hour of the week in the weeks before
    and of the same hour on the seven days before, which follows a new level sooner. 0 where it is unknown."""
    by_hour = learned.reshape(-1, HOUR_MINUTES)
    known = ~np.isnan(by_hour)
    enough = known.sum(axis=1) >= _LEAST_MINUTES
    mean = np.where(enough, np.nansum(by_hour, axis=1) / np.maximum(known.sum(axis=1), 1), np.nan)
    days_before = np.arange(len(mean))[:, None] - DAY_HOURS * np.arange(1, 8)
    medians = [
        median_of_rows(np.where(likes >= 0, mean[np.maximum(likes, 0)], np.nan))
        for likes in (calendar.earlier, days_before)
    ]
    return np.nan_to_num(np.fmin(*medians))


def _hold(masked: np.ndarray, known: np.ndarray, until: int) -> bool:
    """Whether masked values are left out: where more than half of those before ``until`` would go, they are the habit."""
    return bool(2 * (known & masked)[:until].sum() <= known[:until].sum())


def hour_sums(minutes: np.ndarray) -> np.ndarray:
    """How many minutes of each hour are True."""
    return minutes.reshape(-1, HOUR_MINUTES).sum(axis=1)


def points_of(known: np.ndarray, first_day: int, rules: AnomalyRules) -> np.ndarray:
    """Minutes that are known in the weeks before each day from ``first_day`` on, shape (days,)."""
    by_day = np.concatenate([[0], np.cumsum(known.reshape(-1, DAY_MINUTES).sum(axis=1))])
    days = np.arange(first_day, len(by_day) - 1)
    return by_day[days] - by_day[np.maximum(0, days - 7 * rules.weeks)]


def ready_days(known_minutes: np.ndarray, first_day: int, rules: AnomalyRules) -> np.ndarray:
    """Days from ``first_day`` on at whose midnight there was enough history, shape (days,); from the known minutes of each hour."""
    since = learned_since(known_minutes)
    days = np.arange(first_day, len(known_minutes) // DAY_HOURS)
    if since is None:
        return np.zeros(len(days), bool)
    return (days * DAY_HOURS - since) * BLOCK_MS >= rules.learning_ms


def learned_since(known_minutes: np.ndarray) -> int | None:
    """First hour from which on a whole day is at least half known; a stray early row is no beginning."""
    hours = (known_minutes > 0).astype(int)
    ahead = np.convolve(hours, np.ones(DAY_HOURS, int))[DAY_HOURS - 1 :]
    begins = np.flatnonzero((hours > 0) & (2 * ahead >= DAY_HOURS))
    return int(begins[0]) if len(begins) else None


def hourly(steady: np.ndarray) -> np.ndarray:
    """Median of each hour of which enough is known, else NaN."""
    by_hour = steady.reshape(-1, HOUR_MINUTES)
    enough = (~np.isnan(by_hour)).sum(axis=1) >= _LEAST_MINUTES
    return np.where(enough, median_of_rows(by_hour), np.nan)


def per_minute(expected: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Lines between the middles of hours. A new level is a step, not a line, so it is taken out and put back."""
    shape = expected - moved
    before = np.concatenate([shape[:1], shape[:-1]])
    after = np.concatenate([shape[1:], shape[-1:]])
    before, after = np.where(np.isnan(before), shape, before), np.where(np.isnan(after), shape, after)
    at = (np.arange(HOUR_MINUTES) + 0.5) / HOUR_MINUTES
    weight = np.abs(at - 0.5)
    first, second = at < 0.5, at >= 0.5
    lines = (1 - weight) * shape[:, None] + weight * np.where(first, before[:, None], 0.0)
    lines += weight * np.where(second, after[:, None], 0.0)
    return (lines + moved[:, None]).ravel()


def _nearer(residual: np.ndarray, former: np.ndarray) -> np.ndarray:
    """Deviation from the nearer of two levels, so that the way back to the former one is no anomaly."""
    other = residual + former
    return np.where((former != 0.0) & (np.abs(other) < np.abs(residual)), other, residual)
