"""Values as plain text. In: numbers, times and names, in the units that their names end with. Out: short text.

For terminals, logs, stored text and sentences of the catalogue: times are UTC, durations read ``2 h 14 min``, or ``2 小时 14 分钟`` in the
current language (:mod:`~throttlescope.models.messages.language`). Pages of the web app have no-break spaces and the reader's time zone: see
``app/presentation/format.py``.

Two forms of the same value are deliberate. A sentence rounds (:func:`number`, :func:`share`, :func:`duration`); a cell of a table
counts in full or shows a dash where there is no value (:func:`count`, :func:`percent`, :func:`duration_text`).
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from throttlescope.models.messages.language import current
from throttlescope.models.messages.unit_words import WORDS, UnitWords

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: A longer duration is written without its length.
YEAR_S = 365 * 24 * 3600


def words() -> UnitWords:
    """Words of units in the current language."""
    return WORDS[current()]


def visible(text: str) -> str:
    """``text`` with every control character written as an escape, so that it cannot steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


# -- counts and rates ---------------------------------------------------------------------------


def number(value: float) -> str:
    """At most three digits after the first, thousands marked; exact where it is whole and short."""
    if abs(value) >= 100 or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.3g}"


def entries(value: float) -> str:
    """A count of entries: always whole, also where messages per entry made a fraction of it."""
    return f"{value:,.0f}"


def count(value: float | None) -> str:
    """A whole number in groups of three, or a dash where there is none."""
    return "-" if value is None or not math.isfinite(value) else f"{value:,.0f}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: ``1 episode``, ``1,200 episodes``, ``1,200 个积压时段``; the noun is given in English."""
    return counted_of(f"{number:,}", noun, plural, one=number == 1)


def counted_of(number: str, noun: str, plural: str = "", *, one: bool) -> str:
    """The same with a number that is written already; ``one``: it is 1."""
    other = words().nouns.get(noun)
    return f"{number} {other or (noun if one else plural or f'{noun}s')}"


def plural(noun: str, number: int) -> str:
    """What ``number`` things are called, by their English plural; one is written without its "s"."""
    return words().nouns.get(noun) or (noun.removesuffix("s") if number == 1 else noun)


def rate(value: float) -> str:
    """A rate without its unit, with fewer digits the larger it is: ``1,250``, ``12.5``, ``0.25``."""
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}" if value >= 1 else f"{value:,.2g}"


def per_period(limit: float, period_s: float, unit: str) -> str:
    """A limit with its period: ``50 msg/s``, ``10,000 msg per 60 s``."""
    word = "B" if unit == "bytes" else unit
    if period_s == 1:
        return f"{number(limit)} {word}/s"
    return words().rate_per_period.format(limit=f"{number(limit)} {word}", period=number(period_s))


# -- shares -------------------------------------------------------------------------------------


def share(value: float) -> str:
    """Per cent without decimals, except where they are all there is."""
    percent = 100 * value
    if 0 < percent < 1:
        return words().below_1_percent
    if 99 < percent < 100:
        return words().above_99_percent
    return f"{percent:.0f} %"


def percent(share: float | None) -> str:
    """A share as whole per cent, or a dash where there is none."""
    return "-" if share is None or not math.isfinite(share) else f"{100 * share:.0f} %"


# -- times and durations ------------------------------------------------------------------------


def minute_text(time_ms: int | None) -> str:
    """``YYYY-MM-DD HH:MM`` in UTC."""
    if time_ms is None:
        return "-"
    return f"{(_EPOCH + timedelta(milliseconds=time_ms)).isoformat(sep=' ')[:16]}"


def duration(seconds: float) -> str:
    """The two largest units, rounded: ``45 s``, ``14 min``, ``2 h 14 min``, ``3 d 4 h``."""
    if seconds > YEAR_S:
        return words().over_a_year
    seconds, unit = round(seconds), words()
    if seconds < 120:
        return f"{seconds} {unit.s}"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} {unit.min}"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} {unit.h} {minutes} {unit.min}" if minutes else f"{hours} {unit.h}"
    days, hours = divmod(hours, 24)
    return f"{days} {unit.d} {hours} {unit.h}" if hours else f"{days} {unit.d}"


def duration_text(duration_ms: int) -> str:
    """The two largest units of a duration in milliseconds, cut: ``2 h 14 min``, ``3 min 20 s``."""
    seconds, unit = max(0, duration_ms) // 1000, words()
    parts = [
        (seconds // 86_400, unit.d), (seconds // 3600 % 24, unit.h), (seconds // 60 % 60, unit.min), (seconds % 60, unit.s),
    ]  # fmt: skip
    shown = [f"{value} {symbol}" for value, symbol in parts if value]
    return " ".join(shown[:2]) or f"0 {unit.s}"


def exact_duration(seconds: float) -> str:
    """A configured duration in the largest unit that needs no rounding: ``14 d``, ``90 min``, ``5 s``."""
    unit = words()
    for symbol, length in ((unit.d, 86_400), (unit.h, 3_600), (unit.min, 60)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds / length:g} {symbol}"
    return f"{seconds:g} {unit.s}"


def span(seconds: float) -> str:
    """A length of hours or minutes with little detail: ``1.5 h``, ``12 min``."""
    unit = words()
    return f"{seconds / 3600:.1f} {unit.h}" if seconds >= 3600 else f"{seconds / 60:.0f} {unit.min}"
