"""Times in a notebook. In: text, a number, or a ``datetime``. Out: UTC epoch milliseconds."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import format_time, parse_time

#: ``2026-11-20T10:00:00Z``, ``-6h``, epoch milliseconds, or a ``datetime`` (without a zone: UTC).
Moment = str | int | datetime


def moment_ms(moment: Moment | None) -> int | None:
    """Epoch milliseconds of a moment; None stays None.

    Raises
    ------
    InputError
        It is not a time.
    """
    if moment is None:
        return None
    if isinstance(moment, datetime):
        at = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return round(at.timestamp() * 1000)
    if isinstance(moment, str):
        return parse_time(moment, now_ms=time.time_ns() // 1_000_000)
    if isinstance(moment, bool) or not hasattr(moment, "__index__"):
        raise InputError(
            "A time cannot be read", got=repr(moment), expected="text, epoch milliseconds or a datetime"
        )
    return int(moment)


def moment_text(moment: Moment | None) -> str | None:
    """The same as text that the command line's functions read."""
    at_ms = moment_ms(moment)
    return None if at_ms is None else format_time(at_ms)


def range_ms(start: Moment | None, end: Moment | None) -> tuple[int | None, int | None]:
    """A range [start, end); None leaves a side open.

    Raises
    ------
    InputError
        One is not a time, or the range runs backwards.
    """
    start_ms, end_ms = moment_ms(start), moment_ms(end)
    if start_ms is not None and end_ms is not None and start_ms >= end_ms:
        raise InputError(
            "The start is not before the end", got=f"{format_time(start_ms)} and {format_time(end_ms)}",
            expected="start < end",
        )  # fmt: skip
    return start_ms, end_ms
