"""Values as plain text. In: numbers, times and names, in the units that their names end with. Out: short text.

For terminals, logs and stored text: times are UTC, durations read ``2 h 14 min``. Pages of the web app have no-break spaces and the
reader's time zone: see ``app/presentation/format.py``.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def visible(text: str) -> str:
    """``text`` with every control character written as an escape, so that it cannot steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def count(value: float | None) -> str:
    """A whole number in groups of three, or a dash where there is none."""
    return "-" if value is None or not math.isfinite(value) else f"{value:,.0f}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: ``1 episode``, ``1,200 episodes``."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def share(value: float | None) -> str:
    """A share as a percentage."""
    return "-" if value is None or not math.isfinite(value) else f"{100 * value:.0f} %"


def minute_text(time_ms: int | None) -> str:
    """``YYYY-MM-DD HH:MM`` in UTC."""
    if time_ms is None:
        return "-"
    return f"{(_EPOCH + timedelta(milliseconds=time_ms)).isoformat(sep=' ')[:16]}"


def duration_text(duration_ms: int) -> str:
    """A duration in its two largest units, such as ``2 h 14 min``."""
    seconds = max(0, duration_ms) // 1000
    parts = [
        (seconds // 86_400, "d"), (seconds // 3600 % 24, "h"), (seconds // 60 % 60, "min"), (seconds % 60, "s"),
    ]  # fmt: skip
    shown = [f"{value} {unit}" for value, unit in parts if value]
    return " ".join(shown[:2]) or "0 s"


def rate(value: float) -> str:
    """A rate without its unit, with fewer digits the larger it is: ``1,250``, ``12.5``, ``0.25``."""
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}" if value >= 1 else f"{value:,.2g}"


def exact_duration(seconds: float) -> str:
    """A configured duration in the largest unit that needs no rounding: ``14 d``, ``90 min``, ``5 s``."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds / length:g} {unit}"
    return f"{seconds:g} s"
