"""Numbers rounded for reading. In: a number and its unit. Out: text such as ``12,480 entries`` or ``2 h 14 min``."""

from __future__ import annotations

_YEAR_S = 365 * 24 * 3600


def number(value: float) -> str:
    """At most three digits after the first, thousands marked; exact where it is whole and short."""
    if abs(value) >= 100 or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.3g}"


def entries(value: float) -> str:
    """A count of entries: always whole, also where messages per entry made a fraction of it."""
    return f"{value:,.0f}"


def share(value: float) -> str:
    """Per cent without decimals, except where they are all there is."""
    percent = 100 * value
    if 0 < percent < 1:
        return "less than 1 %"
    if 99 < percent < 100:
        return "more than 99 %"
    return f"{percent:.0f} %"


def duration(seconds: float) -> str:
    """The two largest units: ``45 s``, ``14 min``, ``2 h 14 min``, ``3 d 4 h``."""
    if seconds > _YEAR_S:
        return "more than a year"
    seconds = round(seconds)
    if seconds < 120:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def per_period(limit: float, period_s: float, unit: str) -> str:
    """A limit with its period: ``50 msg/s``, ``10,000 msg per 60 s``."""
    word = "B" if unit == "bytes" else unit
    return (
        f"{number(limit)} {word}/s" if period_s == 1 else f"{number(limit)} {word} per {number(period_s)} s"
    )
