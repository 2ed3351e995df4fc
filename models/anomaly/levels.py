"""What a series shows at each hour. In: its hourly medians. Out: the level expected of each hour, from the weeks before it.

Three rules, applied day by day so that nothing after an hour has a say in it:

- The expected level of an hour is the median of the same hour of the week in the weeks before.
- An hour that strays far is set aside from later baselines, unless most of its likes are set aside too: then it is a habit.
- A whole UTC day on one side of its baseline is a new level from the next midnight on. Hours before the change are moved by the
  day's median deviation, so that the shape of the week is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from throttlescope.models.anomaly.calendar import Calendar
from throttlescope.models.anomaly.rules import AnomalyRules
from throttlescope.models.anomaly.sorted_rows import median_of_rows

DAY_HOURS = 24
#: Hours of a UTC day that have to be known before it can be a new level.
_LEAST_KNOWN = 12
#: A normal distribution's standard deviation over its median absolute deviation.
SIGMA_PER_MAD = 1.4826


@dataclass(frozen=True)
class Adoption:
    """A change that became the level: it began at hour ``began``, counts from hour ``adopted`` on, and moved by ``step``."""

    began: int
    adopted: int
    step: float


@dataclass(frozen=True)
class Levels:
    """Levels of all hours of a calendar, on the scale of :mod:`transform`.

    Attributes
    ----------
    expected : ndarray of float64, shape (hours,)
        NaN where no week before has this hour.
    odd : ndarray of bool, shape (hours,)
        Hours that strayed far when they came; those of a change that became the level are in :meth:`odd_before`.
    moved : ndarray of float64, shape (hours,)
        Sum of the steps that were adopted up to the hour.
    sigma : ndarray of float64, shape (hours,)
        Spread of the hourly medians around their levels, known before the hour's day.
    former : ndarray of float64, shape (hours,)
        How far below the expected level the former one lies; 0 where there is none that still counts.
    """

    expected: np.ndarray
    odd: np.ndarray
    moved: np.ndarray
    sigma: np.ndarray
    former: np.ndarray
    adoptions: tuple[Adoption, ...]

    def odd_before(self, hour: int) -> np.ndarray:
        """Odd hours as they were known then: a change is only known when its day has passed."""
        odd = self.odd.copy()
        for one in self.adoptions:
            if one.adopted <= hour:
                odd[one.began : one.adopted] = True
        return odd


def follow(hourly: np.ndarray, calendar: Calendar, rules: AnomalyRules) -> Levels:
    """Follow hourly medians through the weeks.

    Parameters
    ----------
    hourly : ndarray of float64, shape (hours,)
        Median of each hour on the scale of :mod:`transform`; NaN where it is unknown or masked.
    """
    hours = len(hourly)
    today = hourly.copy()
    expected, residual = np.full(hours, np.nan), np.full(hours, np.nan)
    far, odd, aside = (np.zeros(hours, bool) for _ in range(3))
    moved, former, sigma = np.zeros(hours), np.zeros(hours), np.zeros(hours)
    adoptions: list[Adoption] = []
    for low in range(0, hours, DAY_HOURS):
        day = slice(low, low + DAY_HOURS)
        expected[day] = _expected(today, aside, calendar.earlier[day])
        residual[day] = hourly[day] - expected[day]
        spread = _sigma(residual[:low][~odd[:low]], rules)
        sigma[day] = spread
        far[day] = odd[day] = aside[day] = np.abs(np.nan_to_num(residual[day])) > rules.aside_sigmas * spread
        step = new_level(residual[day], spread, rules)
        if step:
            began = _began(residual, low, step)
            # Minutes before the change are reported as if they had been at the new level.
            today[:began] += step
            after = low + DAY_HOURS
            aside[began:after] = False
            odd[began:after] = True
            moved[after:] += step
            former[after:] = 0.0
            former[after : after + rules.former_days * DAY_HOURS] = step
            adoptions.append(Adoption(began, after, step))
    return Levels(expected, far, moved, sigma, former, tuple(adoptions))


def _expected(today: np.ndarray, aside: np.ndarray, earlier: np.ndarray) -> np.ndarray:
    there = earlier >= 0
    values = np.where(there, today[earlier], np.nan)
    known = ~np.isnan(values)
    out = known & aside[earlier]
    habit = 2 * out.sum(axis=1) > known.sum(axis=1)
    values[out & ~habit[:, None]] = np.nan
    return median_of_rows(values)


def _sigma(residuals: np.ndarray, rules: AnomalyRules) -> float:
    known = np.abs(residuals[~np.isnan(residuals)])
    return (
        max(rules.floor_sigma, SIGMA_PER_MAD * float(np.median(known))) if len(known) else rules.floor_sigma
    )


def new_level(residuals: np.ndarray, sigma: float, rules: AnomalyRules) -> float:
    """Median deviation of a day that is a new level, else 0."""
    known = residuals[~np.isnan(residuals)]
    if len(known) < _LEAST_KNOWN:
        return 0.0
    step = float(np.median(known))
    one_side = np.mean(known * np.sign(step) > 0)
    return step if abs(step) > rules.adopt_sigmas * sigma and one_side >= rules.adopt_share else 0.0


def _began(residual: np.ndarray, low: int, step: float) -> int:
    """First hour of the unbroken run before a day that had gone at least half the step."""
    while low > 0 and residual[low - 1] / step > 0.5:
        low -= 1
    return low


def wander(residual: np.ndarray, sigma: np.ndarray, rules: AnomalyRules) -> np.ndarray:
    """How far a day is off as days are: of each hour, the median deviation of the hours just before it.

    It forgives ``wander_sigmas`` spreads of hourly medians and no more, so that nothing large hides in it.

    Parameters
    ----------
    residual : ndarray of float64, shape (hours,)
        Deviations of hourly medians.
    """
    before = np.arange(len(residual))[:, None] - np.arange(1, rules.wander_hours + 1)
    offset = np.nan_to_num(median_of_rows(np.where(before >= 0, residual[before], np.nan)))
    most = rules.wander_sigmas * sigma
    return np.clip(offset, -most, most)
