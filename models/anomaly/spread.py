"""How far a series strays when nothing is wrong. In: past deviations from levels that did not know them. Out: sigma per hour of
the week and side, and alarm levels that the past would not have passed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from throttlescope.models.anomaly.calendar import WEEK_HOURS, Calendar
from throttlescope.models.anomaly.cusum import one_sided
from throttlescope.models.anomaly.levels import DAY_HOURS, SIGMA_PER_MAD
from throttlescope.models.anomaly.rules import AnomalyRules
from throttlescope.models.anomaly.sorted_rows import quantile_of_sorted

HOUR_MINUTES = 60
DAY_MINUTES = DAY_HOURS * HOUR_MINUTES


@dataclass(frozen=True)
class Spread:
    """Sigma of a minute, shape (168,), for deviations upwards and downwards."""

    up: np.ndarray
    down: np.ndarray

    def of(self, side: int) -> np.ndarray:
        return self.up if side > 0 else self.down


def spread_of(
    residual: np.ndarray, calendar: Calendar, low: int, high: int, rules: AnomalyRules
) -> Spread | None:
    """Spread of the hours [low, high) of a calendar.

    Parameters
    ----------
    residual : ndarray of float64, shape (minutes of the calendar,)
        Deviations on the scale of :mod:`transform`; NaN where unknown, masked or odd.

    Returns
    -------
    Spread or None
        None where nothing is known.
    """
    by_hour = residual.reshape(-1, HOUR_MINUTES)
    members = _members(calendar, low, high)
    values = np.where((members >= 0)[:, :, None], by_hour[members], np.nan).reshape(WEEK_HOURS, -1)
    count = values.shape[1] - np.isnan(values).sum(axis=1)
    if not count.any():
        return None
    size = np.abs(values)
    mad = SIGMA_PER_MAD * quantile_of_sorted(np.sort(size, axis=1), count, 0.5)
    ordered = np.sort(values, axis=1)
    high_tail = quantile_of_sorted(ordered, count, rules.tail_share) / rules.tail_sigmas
    low_tail = -quantile_of_sorted(ordered, count, 1 - rules.tail_share) / rules.tail_sigmas
    usual = SIGMA_PER_MAD * float(np.median(size[~np.isnan(size)]))
    least = max(rules.floor_sigma, rules.least_share * usual)
    sides = (np.fmax(np.fmax(_widest(tail), _widest(mad)), least) for tail in (high_tail, low_tail))
    return Spread(*sides)


def rare(odd: np.ndarray, calendar: Calendar, low: int, high: int, rules: AnomalyRules) -> np.ndarray:
    """Odd hours that say nothing about what is usual: all but those whose time of day was odd on several days.

    A job that begins a few minutes before or after the full hour makes odd hours day after day; that is its spread.

    Parameters
    ----------
    odd : ndarray of bool, shape (hours of the calendar,)
    low, high : int
        Hours that count.
    """
    at = np.arange(low, high)[odd[low:high]]
    days = np.zeros((24, len(odd) // DAY_HOURS + 2), bool)
    for near in (-1, 0, 1):
        days[(calendar.hour_of_week[at] + near) % 24, at // DAY_HOURS] = True
    habit = days.sum(axis=1) >= rules.habit_days
    return odd & ~habit[calendar.hour_of_week % 24]


def alarm_level(z: np.ndarray, slack: float, alarm: float, rules: AnomalyRules) -> float:
    """The sum that raises an alarm, given past deviations to one side.

    Parameters
    ----------
    z : ndarray of float64, shape (days x 1440,)
        Past deviations in sigmas.
    """
    daily = np.sort(one_sided(z, slack, rules.cap_sigmas).reshape(-1, DAY_MINUTES).max(axis=1))
    past = float(daily[-2]) if len(daily) > 1 else 0.0
    return float(np.clip(rules.history_factor * past, alarm, rules.most_factor * alarm))


def _members(calendar: Calendar, low: int, high: int) -> np.ndarray:
    """Hours of [low, high) by hour of the week, shape (168, most of one name), -1 where there are fewer."""
    labels = calendar.hour_of_week[low:high]
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(WEEK_HOURS + 1))
    counts = np.diff(starts)
    members = np.full((WEEK_HOURS, max(1, counts.max())), -1, dtype=np.int64)
    column = np.arange(len(order)) - np.repeat(starts[:-1], counts)
    members[labels[order], column] = order + low
    return members


def _widest(values: np.ndarray) -> np.ndarray:
    """The widest of each hour and its neighbours: what begins a little early is no anomaly."""
    return np.fmax(np.fmax(values, np.roll(values, 1)), np.roll(values, -1))
