"""What happens at a deadline. In: the kind of a forecast and the policies that decide. Out: messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from throttlescope.models.forecast.loss import MessageLoss
from throttlescope.models.messages.catalogue import Message, message
from throttlescope.models.messages.stored import MESSAGES, packed
from throttlescope.transforms.deadlines import Retention

_DRAINS = {
    "expected": message("forecast.drain.expected"),
    "never": message("forecast.drain.never"),
    "unknown": message("forecast.drain.unknown"),
}
_QUOTA = {
    "producer_request_hold": message("forecast.quota.producer_request_hold"),
    "producer_exception": message("forecast.quota.producer_exception"),
    "consumer_backlog_eviction": message("forecast.quota.consumer_backlog_eviction"),
}


def in_words(consequence: Iterable[Message], basis: Iterable[Message]) -> dict[str, Any]:
    """What happens and what the forecast rests on, as columns of ``forecasts``: text, and what renders it in other languages."""
    said = {"consequence": list(consequence), "basis": list(basis)}
    texts = {name: " ".join(one.stored for one in messages) for name, messages in said.items()}
    return texts | {MESSAGES: {name: [packed(one) for one in messages] for name, messages in said.items()}}


def drained(state: str) -> Message:
    """Of a drain."""
    return _DRAINS[state]


def lost(loss: MessageLoss, retention: Retention | None, *, precise_age: bool) -> tuple[Message, ...]:
    """Of a deadline, with what retention keeps of the messages."""
    if loss.kind == "ttl":
        return message("forecast.ttl", limit_s=loss.limit.value), retained(retention)
    policy = loss.limit.policy or ""
    if policy != "consumer_backlog_eviction":
        return (_QUOTA.get(policy, message("forecast.quota.policy_unknown")),)
    if loss.kind == "quota_age" and not precise_age:
        return message("forecast.quota.eviction_by_ledger"), retained(retention)
    return _QUOTA[policy], retained(retention)


def retained(retention: Retention | None) -> Message:
    """What retention keeps of dropped messages: those that no subscription needs any more, never a backlog."""
    if retention is None:
        return message("forecast.retention.unknown")
    if retention.time_min == 0 or retention.size_mb == 0:
        return message("forecast.retention.none")
    keep_s, keep_mb = retention.time_min * 60, retention.size_mb
    if keep_s < 0 and keep_mb < 0:
        return message("forecast.retention.endless")
    if keep_mb < 0:
        return message("forecast.retention.time", keep_s=keep_s)
    if keep_s < 0:
        return message("forecast.retention.size", keep_mb=keep_mb)
    return message("forecast.retention.time_and_size", keep_s=keep_s, keep_mb=keep_mb)
