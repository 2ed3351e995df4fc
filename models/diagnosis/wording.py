"""Numbers as people read them. In: a number and its unit. Out: text such as ``12,480 entries`` or ``2 h 14 min``."""

from __future__ import annotations

from throttlescope.models.messages.units import duration, number, per_period

__all__ = ["duration", "entries", "number", "per_period", "share"]


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
