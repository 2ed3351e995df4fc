"""A backlog in other units than entries. In: entries, and the minute of ``signals`` that they were seen in. Out: sentences.

The broker counts entries. Messages and bytes are estimates: as many messages in an entry, and as many bytes in a message, as in what
is published now. The age is the subscription's own, as its broker exposes it or the admin API answers; a topic's age is that of its
slowest subscription and is not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from throttlescope.app.presentation import format as fmt
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.messages.catalogue import sentence

#: Columns of ``signals`` that are read.
COLUMNS = (
    "messages_per_entry", "in_msg_rate_5m", "in_bytes_rate_5m", "subscription_backlog_age_s", "stats_backlog_age_s",
)  # fmt: skip


def in_other_units(entries: float | None, minute: Mapping[str, Any]) -> list[str]:
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
    age_s = own_age_s(minute)
    if age_s is not None:
        found.append(sentence("answer.oldest", age=fmt.duration(age_s * SECOND_MS)))
    return found


def own_age_s(minute: Mapping[str, Any]) -> float | None:
    """Age of a subscription's oldest entry; None where it is not known."""
    exposed = _known(minute, "subscription_backlog_age_s")
    return _known(minute, "stats_backlog_age_s") if exposed is None else exposed


def _known(minute: Mapping[str, Any], name: str) -> float | None:
    value = minute.get(name)
    return None if fmt.is_missing(value) else float(value)
