"""Names of limits and of what limits the drain of a backlog."""

from __future__ import annotations

SENTENCES = {
    "limiting.limiter": "{level} {kind} limit",
    "limiting.level.broker": "broker",
    "limiting.level.topic": "topic",
    "limiting.level.subscription": "subscription",
    "limiting.level.replicator": "replicator",
    "limiting.kind.msg": "message",
    "limiting.kind.bytes": "byte",
    # What limits the drain of a backlog.
    "limiting.factor.limiter": "the {limiter}",
    "limiting.factor.consumers": "the consumers",
    "limiting.factor.reads": "the read speed of the broker",
    "limiting.factor.arrivals": "the publish rate",
}
