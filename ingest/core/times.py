"""Times: UTC epoch milliseconds everywhere, ranges are [start, end).

In: RFC 3339 text, epoch seconds or a relative time such as ``-6h``. Out: integer milliseconds.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from throttlescope.ingest.core.errors import InputError

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
BLOCK_MS = 60 * MINUTE_MS
DAY_MS = 24 * BLOCK_MS

_UNITS_MS = {
    "ms": 1, "s": SECOND_MS, "m": MINUTE_MS, "h": BLOCK_MS, "d": DAY_MS, "w": 7 * DAY_MS,
}  # fmt: skip
_DURATION = re.compile(r"([0-9]{1,15})(ms|s|m|h|d|w)")
#: The years 1 to 9999, which is what a date can say.
_FIRST_MS, _AFTER_MS = -62_135_596_800_000, 253_402_300_800_000
_LONGEST_TEXT = 80


def parse_duration(text: str) -> int:
    """Milliseconds of a duration such as ``90s``, ``5m`` or ``1h30m``."""
    if len(text) > _LONGEST_TEXT or not re.fullmatch(rf"(?:{_DURATION.pattern})+", text):
        raise InputError("A duration cannot be read", got=repr(text), expected="such as 90s, 5m or 1h30m")
    duration_ms = sum(int(count) * _UNITS_MS[unit] for count, unit in _DURATION.findall(text))
    if duration_ms >= _AFTER_MS:
        raise InputError("A duration is too long", got=repr(text), expected="less than 8,000 years")
    return duration_ms


def parse_time(text: str, *, now_ms: int) -> int:
    """Epoch milliseconds of a time that a user typed.

    Parameters
    ----------
    text : str
        RFC 3339 (a missing zone means UTC), epoch seconds, ``now``, or relative (``-6h``).
    now_ms : int
        The moment that relative times count from.
    """
    text = text.strip()
    if text == "now":
        return now_ms
    if text.startswith("-") and not re.fullmatch(r"-\d+(\.\d+)?", text):
        return _between_years(now_ms - parse_duration(text[1:]), text)
    try:
        if len(text) > _LONGEST_TEXT:
            raise ValueError
        if re.fullmatch(r"\d+(\.\d+)?", text):
            return _between_years(round(float(text) * SECOND_MS), text)
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            "A time cannot be read",
            got=repr(text),
            expected="RFC 3339 (2026-11-20T10:00:00Z), epoch seconds, now, or relative such as -6h",
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return _between_years(round(moment.timestamp() * SECOND_MS), text)


def _between_years(time_ms: int, text: str) -> int:
    if not _FIRST_MS <= time_ms < _AFTER_MS:
        raise InputError("A time is out of range", got=repr(text), expected="a time of the years 1 to 9999")
    return time_ms


def check_range(start_ms: int, end_ms: int) -> None:
    """Refuse a range that is empty or runs backwards."""
    if start_ms >= end_ms:
        raise InputError(
            "The start is not before the end",
            got=f"start {format_time(start_ms)}, end {format_time(end_ms)}",
            expected="start < end",
            fix="swap --start and --end, or widen the range",
        )


def format_time(time_ms: int) -> str:
    """RFC 3339 in UTC, milliseconds only where there are any."""
    moment = datetime.fromtimestamp(time_ms / SECOND_MS, UTC)
    spec = "milliseconds" if time_ms % SECOND_MS else "seconds"
    return moment.isoformat(timespec=spec).replace("+00:00", "Z")


def block_start(time_ms: int) -> int:
    """Start of the UTC hour that holds ``time_ms``."""
    return time_ms - time_ms % BLOCK_MS


def date_of(time_ms: int) -> str:
    """UTC date, ``YYYY-MM-DD``: the partition that a time belongs to."""
    return datetime.fromtimestamp(time_ms / SECOND_MS, UTC).date().isoformat()


def dates_of(start_ms: int, end_ms: int) -> set[str]:
    """UTC dates that [start_ms, end_ms) touches."""
    return {date_of(time_ms) for time_ms in range(block_start(start_ms), end_ms, BLOCK_MS)}
