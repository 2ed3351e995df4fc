"""Dates of the calendar of today, carried on into past and future without end. In: epoch seconds. Out: parts of a date in UTC."""

from __future__ import annotations

import math
from collections.abc import Callable

_DAY_S = 86_400
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
#: What is before this year is out of the reach of Go's clock, which then counts from the other end.
_FIRST_YEAR = -292_277_022_399
#: Days from 1 January of the year 0 to 1 January 1970.
_EPOCH_DAY = 719_528
_DAYS_IN_400_YEARS = 146_097


def part_of_date(name: str, value: float) -> float:
    """What ``hour``, ``day_of_month`` and the others say of a number of seconds."""
    return float(_part_of(name, _whole_seconds(value)))


def _part_of(name: str, seconds: int) -> int:
    days, second = divmod(seconds, _DAY_S)
    year, day_of_year = _year_and_day(days + _EPOCH_DAY)
    if year < _FIRST_YEAR:
        return _part_of(name, seconds + 2**64)
    month, day = _month_and_day(year, day_of_year)
    parts: dict[str, Callable[[], int]] = {
        "year": lambda: year,
        "month": lambda: month,
        "day_of_month": lambda: day,
        "day_of_year": lambda: day_of_year + 1,
        "day_of_week": lambda: (days + 4) % 7,
        "days_in_month": lambda: _length(year, month),
        "hour": lambda: second // 3600,
        "minute": lambda: second % 3600 // 60,
    }
    return parts[name]()


def _whole_seconds(value: float) -> int:
    """Without the fraction; what 64 bits do not hold is the smallest number that they do, on amd64."""
    if not -(2.0**63) <= value < 2.0**63:
        return -(2**63)
    return math.trunc(value)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _year_and_day(day: int) -> tuple[int, int]:
    cycles, day = divmod(day, _DAYS_IN_400_YEARS)
    year = cycles * 400
    while day >= 365 + _is_leap(year):
        day -= 365 + _is_leap(year)
        year += 1
    return year, day


def _length(year: int, month: int) -> int:
    return _LENGTHS[month - 1] + (month == 2 and _is_leap(year))


def _month_and_day(year: int, day: int) -> tuple[int, int]:
    month = 1
    while day >= _length(year, month):
        day -= _length(year, month)
        month += 1
    return month, day + 1
