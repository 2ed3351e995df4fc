"""Dates of epoch seconds, UTC. In: arrays of float64. Out: arrays; nothing here knows series or labels.

Days are counted as Go counts them, modulo 2^64 from a first of March long ago, so that seconds far outside any calendar
(and NaN and Inf, which become the smallest whole number) give what Prometheus gives.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_DAY_S = 86_400
_LONG_AGO_YEARS = 292_277_022_400
#: Seconds from the first of March of that year to 1970.
_TO_EPOCH_S = 62_135_596_800 + (_LONG_AGO_YEARS * 146_097 // 400 + 306) * _DAY_S
_CYCLE_DAYS = 146_097
_SMALLEST = -(2**63)


def _seconds(values: np.ndarray) -> np.ndarray:
    """Whole seconds since long ago."""
    fits = np.abs(values) < 2.0**63
    whole = np.where(fits, np.trunc(np.where(fits, values, 0.0)), 0.0).astype(np.int64)
    whole = np.where(fits, whole, np.int64(_SMALLEST))
    return whole.view(np.uint64) + np.uint64(_TO_EPOCH_S % 2**64)


def _days(values: np.ndarray) -> np.ndarray:
    return _seconds(values) // np.uint64(_DAY_S)


def _calendar(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Year, month, day of the month, and day of the year that begins with January."""
    days = _days(values)
    cycle = (days // np.uint64(_CYCLE_DAYS)).astype(np.int64)
    rest = (days % np.uint64(_CYCLE_DAYS)).astype(np.int64)
    # Years from March to February: the day that is sometimes missing is the last one.
    year = (rest - rest // 1460 + rest // 36524 - rest // 146_096) // 365
    day_of_year = rest - (365 * year + year // 4 - year // 100)
    from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * from_march + 2) // 5 + 1
    month = np.where(from_march < 10, from_march + 3, from_march - 9)
    late = from_march >= 10
    calendar_year = cycle * 400 + year - _LONG_AGO_YEARS + late
    in_january_year = np.where(late, day_of_year - 306, day_of_year + 59 + _leap(calendar_year)) + 1
    return calendar_year, month, day, in_january_year


def _leap(year: np.ndarray) -> np.ndarray:
    return ((year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))).astype(np.int64)


def _days_in_month(values: np.ndarray) -> np.ndarray:
    year, month, _, _ = _calendar(values)
    short = (month == 4) | (month == 6) | (month == 9) | (month == 11)
    return np.where(month == 2, 28 + _leap(year), np.where(short, 30, 31)).astype(np.float64)


def _part(index: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: _calendar(values)[index].astype(np.float64)


DATES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "year": _part(0),
    "month": _part(1),
    "day_of_month": _part(2),
    "day_of_year": _part(3),
    "days_in_month": _days_in_month,
    # That first of March was a Wednesday.
    "day_of_week": lambda values: ((_days(values) + np.uint64(3)) % np.uint64(7)).astype(np.float64),
    "hour": lambda values: (_seconds(values) // np.uint64(3600) % np.uint64(24)).astype(np.float64),
    "minute": lambda values: (_seconds(values) // np.uint64(60) % np.uint64(60)).astype(np.float64),
}
