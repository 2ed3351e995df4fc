"""A backlog in other units than entries. In: entries, the minute of ``signals`` that they were seen in, its age. Out: sentences.

The broker counts entries. Messages and bytes are estimates: as many messages in an entry, and as many bytes in a message, as in what
is published now. The age is that of ``models/backlog_age.py``: the broker's own, or an estimate with its interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from throttlescope.app.presentation import format as fmt
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.backlog_age import BacklogAge
from throttlescope.models.messages.catalogue import sentence

#: Columns of ``signals`` that are read.
COLUMNS = ("messages_per_entry", "in_msg_rate_5m", "in_bytes_rate_5m")


def in_other_units(
    entries: float | None, minute: Mapping[str, Any], age: BacklogAge | None = None
) -> list[str]:
    """How many messages and bytes a backlog is about, and how long its oldest entry has waited; what is not known is left out."""
    if fmt.is_missing(entries) or entries < 1:
        return []
    found = []
    per_entry = _known(minute, "messages_per_entry")
    published, published_bytes = _known(minute, "in_msg_rate_5m"), _known(minute, "in_bytes_rate_5m")
    if per_entry is not None and per_entry > 0:
        messages = fmt.count(entries * per_entry, "messages")
        if published and published_bytes:
            size = fmt.size(entries * per_entry * published_bytes / published)
            found.append(sentence("answer.messages_and_bytes", messages=messages, bytes=size))
        else:
            found.append(sentence("answer.messages", messages=messages))
    return found if age is None else [*found, *age_sentence(age)]


def age_sentence(age: BacklogAge) -> list[str]:
    """How long the oldest entry has waited, or why that is not known; nothing without a backlog."""
    if age.unknown in ("no_backlog", "not_measured"):
        return []
    if age.source == "publish_history":
        low, high = _duration(age.low_s), _duration(age.high_s)
        return [sentence("backlog_age.publish_history", age=_duration(age.age_s), low=low, high=high)]
    if age.source is not None:
        return [sentence("backlog_age.reported", age=_duration(age.age_s))]
    if age.unknown == "history_short" and age.low_s:
        return [sentence("backlog_age.at_least", low=_duration(age.low_s))]
    return [sentence(f"backlog_age.unknown.{age.unknown}")]


def _duration(age_s: float) -> str:
    return fmt.duration(age_s * SECOND_MS)


def _known(minute: Mapping[str, Any], name: str) -> float | None:
    value = minute.get(name)
    return None if fmt.is_missing(value) else float(value)
