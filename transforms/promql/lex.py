"""The small words of PromQL. In: a text and an offset. Out: a number, a duration or an operator, and where it ends.

Tokens are read on demand: selectors and strings are read by the selector parser from the same offsets.
"""

from __future__ import annotations

import math
import re

from throttlescope.transforms.promql.errors import PromQLSyntaxError, syntax_error

WORD = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_DURATION = re.compile(r"(?:\d+(?:ms|[smhdwy]))+(?![a-zA-Z0-9_.])", re.ASCII)
_DURATION_PART = re.compile(r"(\d+)(ms|[smhdwy])", re.ASCII)
_NUMBER = re.compile(
    r"0[xX](?:_?[0-9a-fA-F])+"
    r"|(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?",
    # Digits of other scripts are none.
    re.ASCII,
)
_NAMED_NUMBER = re.compile(r"(?:inf|nan)(?![a-zA-Z0-9_:])", re.IGNORECASE)
_UNITS_MS = {
    "y": 365 * 86_400_000, "w": 7 * 86_400_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1,
}  # fmt: skip
_UNIT_ORDER = {unit: rank for rank, unit in enumerate(_UNITS_MS)}

#: Prometheus keeps durations in nanoseconds of 63 bits.
MAX_DURATION_MS = (2**63 - 1) // 1_000_000
_MOST_DIGITS = len(str(MAX_DURATION_MS))


def number_at(text: str, position: int) -> tuple[float, int] | None:
    """The number that begins at ``position`` and its end; a duration counts in seconds. None where none begins."""
    if named := _NAMED_NUMBER.match(text, position):
        return (math.inf if named.group().lower() == "inf" else math.nan), named.end()
    if _DURATION.match(text, position):
        duration_ms, end = duration_at(text, position)
        return duration_ms / 1000, end
    found = _NUMBER.match(text, position)
    if not found:
        return None
    end = found.end()
    if end < len(text) and (text[end].isalnum() or text[end] in "_."):
        raise syntax_error(text, position, "a number such as 1e3, 0x1F or 5m")
    return _value(text, position, found.group()), end


def _value(text: str, position: int, word: str) -> float:
    plain = word.replace("_", "")
    if plain[:2] in ("0x", "0X"):
        whole = int(plain, 16)
    elif re.fullmatch(r"0[0-7]+", plain):
        # Go reads a leading zero as octal.
        whole = int(plain, 8)
    else:
        value = float(plain)
        if math.isinf(value):
            raise syntax_error(text, position, "a number within the range of a double")
        return value
    if whole >= 2**63:
        raise syntax_error(text, position, "a whole number below 2^63")
    return float(whole)


def duration_at(text: str, position: int) -> tuple[int, int]:
    """Milliseconds of the duration that begins at ``position`` (``1h30m``, or a number of seconds), and its end."""
    found = _DURATION.match(text, position)
    if not found:
        number = None if _NAMED_NUMBER.match(text, position) else number_at(text, position)
        if number is None:
            raise syntax_error(text, position, "a duration such as 5m")
        seconds, end = number
        if not abs(seconds) * 1000 <= MAX_DURATION_MS:
            raise _too_long(text, position)
        # Prometheus keeps whole nanoseconds here and cuts to milliseconds when it reads.
        nanoseconds = int(abs(seconds) * 1e9 + 0.5)
        return int(math.copysign(nanoseconds // 1_000_000, seconds)), end
    total, rank = 0, -1
    for count, unit in _DURATION_PART.findall(found.group()):
        if _UNIT_ORDER[unit] <= rank:
            raise syntax_error(text, position, "a duration whose units fall, each once, such as 1h30m")
        rank = _UNIT_ORDER[unit]
        if len(count.lstrip("0")) > _MOST_DIGITS:
            raise _too_long(text, position)
        total += int(count.lstrip("0") or "0") * _UNITS_MS[unit]
    if total > MAX_DURATION_MS:
        raise _too_long(text, position)
    return total, found.end()


def _too_long(text: str, position: int) -> PromQLSyntaxError:
    return syntax_error(text, position, "a duration below 292 years")
