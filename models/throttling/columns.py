"""Columns of a simulation, per subscription partition and second. In: nothing; out: names and meanings."""

from __future__ import annotations

#: The six throttle counters, as a broker counts them: level and unit.
EVENTS = (
    ("broker", "msg"),
    ("broker", "bytes"),
    ("topic", "msg"),
    ("topic", "bytes"),
    ("subscription", "msg"),
    ("subscription", "bytes"),
)

#: Counted from the start; the table gives what each second added.
COUNTS = (
    "published_entries",
    "out_messages",
    "out_bytes",
    "out_entries",
    "redelivered_entries",
    "acked_entries",
    "expired_entries",
    "dead_letter_entries",
    "dropped_entries",
    "polls",
    *(f"{level}_{unit}_events" for level, unit in EVENTS),
)

#: Values at the second's end.
GAUGES = (
    "backlog_entries",
    "unacked_messages",
    "permits",
    "replay_entries",
    "delayed_entries",
    *(f"{level}_{unit}_tokens" for level, unit in EVENTS),
)

COLUMNS = (*COUNTS, *GAUGES)

#: Written where a limiter has no such meter.
NO_METER = -(1 << 62)
