"""What happens then, in words. In: the kind of a forecast and the records that decide. Out: one or two sentences."""

from __future__ import annotations

from throttlescope.models.forecast.loss import MessageLoss
from throttlescope.transforms.deadlines import Retention

_QUOTA = {
    "producer_request_hold": "The broker disconnects the producers of the topic partition and holds back those that connect "
    "again: sending blocks or times out until the backlog is below the quota. Nothing of the backlog is lost.",
    "producer_exception": "The broker disconnects the producers of the topic partition and refuses those that connect again: "
    "sending fails until the backlog is below the quota. Nothing of the backlog is lost.",
    "consumer_backlog_eviction": "The broker skips the oldest messages of the slowest subscription until the backlog is at 90 % "
    "of the quota. Its consumers never get them.",
}
_UNKNOWN_POLICY = "The quota is exceeded; what the broker does then was not recorded."
_LEDGERS = (
    "The broker moves the slowest subscription past every ledger that was closed longer ago than the quota. Its consumers never "
    "get what is in them."
)


def drained(state: str) -> str:
    """Of a drain."""
    return {
        "expected": "The ready backlog is gone.",
        "never": "The backlog does not go away at this rate.",
        "unknown": "What held the backlog has just changed, it goes up and down, or its newest sample is old.",
    }[state]


def lost(loss: MessageLoss, retention: Retention | None, *, precise_age: bool) -> str:
    """Of a deadline, with what retention keeps of it."""
    if loss.kind == "ttl":
        gone = f"The broker drops every message older than {_duration(loss.limit.value)}. The consumers never get them."
        return f"{gone} {kept(retention)}"
    policy = loss.limit.policy or ""
    if policy == "consumer_backlog_eviction":
        gone = _LEDGERS if loss.kind == "quota_age" and not precise_age else _QUOTA[policy]
        return f"{gone} {kept(retention)}"
    return _QUOTA.get(policy, _UNKNOWN_POLICY)


def kept(retention: Retention | None) -> str:
    """What retention does for dropped messages. It keeps what no subscription needs any more; it drops no backlog."""
    if retention is None:
        return "Whether retention keeps them on disk is not known."
    if retention.time_min == 0 or retention.size_mb == 0:
        return "No retention keeps them: they are gone once no subscription needs their ledger."
    if retention.time_min < 0 and retention.size_mb < 0:
        return "Retention keeps them on disk without end: resetting the cursor brings them back."
    bounds = []
    if retention.time_min > 0:
        bounds.append(f"for {_duration(retention.time_min * 60)}")
    if retention.size_mb > 0:
        bounds.append(f"as long as the topic partition keeps less than {retention.size_mb:,} MB")
    return f"Retention keeps them on disk {' and '.join(bounds)}: until then resetting the cursor brings them back."


def _duration(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds / length:g} {unit}"
    return f"{seconds:g} s"
