"""Numbers, times and names as a person reads them.

In: values in the units that their names end with. Out: short text with its unit. Rates are SI
(1 k = 1000), bytes are IEC (1 KiB = 1024), times say their zone, UTC where the reader chose no other, durations read ``2 h 14 m``.
A missing value reads "not measured", never 0.
"""

from __future__ import annotations

import math
import unicodedata

from throttlescope.app.presentation import time_zone
from throttlescope.ingest.core.topic_name import part_word
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import words

_THIN_SPACE = "\N{NARROW NO-BREAK SPACE}"
_SPACE = "\N{NO-BREAK SPACE}"
_MINUS = "\N{MINUS SIGN}"
_SI = ("", "k", "M", "G", "T", "P")
_IEC = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def is_missing(value: object) -> bool:
    """True for None and NaN: the two ways in which absence reaches this room."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def missing() -> str:
    """In the place of a value that there is not: ``not measured``."""
    return words().not_measured


def exact(value: float | None) -> str:
    """Every digit, in groups of three: ``12 345``."""
    if is_missing(value):
        return missing()
    if math.isinf(value) or abs(value) >= 1e15:
        return short(value)
    text = f"{value:,.3f}".rstrip("0").rstrip(".")
    return text.replace(",", _THIN_SPACE).replace("-", _MINUS)


def short(value: float | None) -> str:
    """Three significant digits with an SI prefix: ``12.3 k``."""
    if is_missing(value):
        return missing()
    return _scaled(value, 1000, _SI)


def count(value: float | None, noun: str) -> str:
    """``12.3 k entries``; the noun is a plural such as ``entries`` or ``msg``."""
    return missing() if is_missing(value) else f"{short(value)}{_SPACE}{words().nouns.get(noun, noun)}"


def signed(value: float | None) -> str:
    """A change with its sign: ``+1.2 k``, ``0``."""
    if is_missing(value):
        return missing()
    return f"+{short(value)}" if value > 0 else short(value)


def msg_rate(value: float | None) -> str:
    """Messages per second, SI."""
    return missing() if is_missing(value) else f"{short(value)}{_SPACE}msg/s"


def size(value_bytes: float | None) -> str:
    """Bytes, IEC: ``5 MiB``."""
    return missing() if is_missing(value_bytes) else _scaled(value_bytes, 1024, _IEC)


def size_rate(value_bytes: float | None) -> str:
    """Bytes per second, IEC."""
    return missing() if is_missing(value_bytes) else f"{size(value_bytes)}/s"


def percent(share: float | None) -> str:
    """A share of 1 as whole percent; never 0 % or 100 % for what is only close to it."""
    if is_missing(share):
        return missing()
    if 0 < share < 0.01:
        return f"<{_SPACE}1{_SPACE}%"
    if 0.99 < share < 1:
        return f">{_SPACE}99{_SPACE}%"
    return f"{share * 100:.0f}{_SPACE}%"


def duration(length_ms: float | None) -> str:
    """The two largest units: ``2 h 14 m``, ``3 m``, ``45 s``."""
    if is_missing(length_ms):
        return missing()
    if length_ms < 0:
        return _MINUS + duration(-length_ms)
    if length_ms < 1000:
        return f"{length_ms:.0f}{_SPACE}{words().ms}"
    seconds = int(length_ms // 1000)
    unit = words()
    units = ((unit.d, 86_400), (unit.h, 3_600), (unit.short_min, 60), (unit.s, 1))
    first = next(i for i, (_, length) in enumerate(units) if seconds >= length)
    parts = []
    for name, length in units[first : first + 2]:
        whole, seconds = divmod(seconds, length)
        if whole:
            parts.append(f"{whole}{_SPACE}{name}")
    return " ".join(parts)


def moment(time_ms: int | None) -> str:
    """``2026-11-20 02:58:30 UTC``; the zone is the reader's."""
    if is_missing(time_ms):
        return missing()
    return f"{time_zone.local(time_ms):%Y-%m-%d %H:%M:%S} {time_zone.label(time_ms)}"


def clock(time_ms: int | None) -> str:
    """``02:58:30 UTC``; for times whose day is said nearby."""
    return (
        missing()
        if is_missing(time_ms)
        else f"{time_zone.local(time_ms):%H:%M:%S} {time_zone.label(time_ms)}"
    )


def short_clock(time_ms: int | None) -> str:
    """``02:58 UTC``, where seconds say nothing."""
    return (
        missing() if is_missing(time_ms) else f"{time_zone.local(time_ms):%H:%M} {time_zone.label(time_ms)}"
    )


def between(start_ms: int, end_ms: int, *, day: bool = True) -> str:
    """``2026-11-20 02:10:00 to 02:58:30 UTC``: a range, its zone said once, the second day only if it is another."""
    start, end = time_zone.local(start_ms), time_zone.local(end_ms)
    first = f"{start:%Y-%m-%d %H:%M:%S}" if day else f"{start:%H:%M:%S}"
    last = f"{end:%Y-%m-%d %H:%M:%S}" if day and start.date() != end.date() else f"{end:%H:%M:%S}"
    return f"{first} {words().until} {last} {time_zone.label(end_ms)}"


def day_clock(time_ms: int | None) -> str:
    """``11-20 02:58``, for narrow columns whose head says the zone."""
    return missing() if is_missing(time_ms) else f"{time_zone.local(time_ms):%m-%d %H:%M}"


def zone_of(time_ms: int | None) -> str:
    """The zone's label, for the head of a column or an axis."""
    return time_zone.label(time_ms or 0)


def quantity(value: float | None, unit: str | None) -> str:
    """A value of evidence in its unit; an unknown unit is printed as it is."""
    if is_missing(value):
        return missing()
    if unit == "bytes":
        return size(value)
    if unit == "bytes/s":
        return size_rate(value)
    if unit in ("share", "ratio"):
        return percent(value)
    if unit == "s":
        return duration(value * 1000)
    if unit == "ms":
        return duration(value)
    return f"{short(value)}{_SPACE}{words().nouns.get(unit) or name(unit)}" if unit else short(value)


def name(text: str, limit: int = 200) -> str:
    """A name from the cluster, fit for one line: hostile text is made visible, not obeyed.

    Control and format characters (newlines, direction marks) are shown as code points; very
    long names are cut. Quotes and tags stay: what renders this escapes them.
    """
    shown = "".join(_visible(character) for character in text[: limit + 1])
    return shown if len(text) <= limit else shown[: limit - 1] + "…"


def topic_name(topic: str, partition: int) -> str:
    """A topic without its usual scheme, with its partition in words."""
    plain = name(topic.removeprefix("persistent://"))
    return (
        plain
        if partition < 0
        else sentence("label.topic_part", topic=plain, part=part_name(topic, partition))
    )


def part_name(topic: str, partition: int) -> str:
    """``partition 3``, ``segment 3`` or ``not partitioned``."""
    if partition < 0:
        return sentence("label.not_partitioned")
    return sentence(f"label.part_number.{part_word(topic)}", number=partition)


def _visible(character: str) -> str:
    # Code points, not the pictures of U+2400: few fonts have those.
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    return f"⟨U+{ord(character):04X}⟩" if hidden else character


def _scaled(value: float, base: int, prefixes: tuple[str, ...]) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    sign, value, step = _MINUS if value < 0 else "", abs(value), 0
    # 999.5 would be printed as 1000: the prefix is chosen after rounding.
    while step < len(prefixes) - 1 and (value >= base or float(f"{value:.3g}") >= base):
        value, step = value / base, step + 1
    digits = f"{value:.0f}" if value >= 100 else f"{value:.3g}"
    return f"{sign}{digits}{_SPACE}{prefixes[step]}" if prefixes[step] else sign + digits
