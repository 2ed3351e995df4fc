"""Moved to :mod:`throttlescope.models.messages.units`."""

from throttlescope.models.messages.units import duration, entries, number, per_period, share

__all__ = ["duration", "entries", "number", "per_period", "share"]
