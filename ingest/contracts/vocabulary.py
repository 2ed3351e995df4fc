"""Closed lists of words. In: nothing. Out: the words that columns may have. They are stored, so none is ever renamed."""

from __future__ import annotations

SIDES = ("throttle", "consumer_capacity", "both", "neither", "unknown")

CAUSES = (
    "healthy",
    "throttled",
    "micro_burst_throttled",
    "slow_consumers",
    "both",
    "no_consumers",
    "blocked_on_unacked",
    "redelivery",
    "key_shared_blocked",
    "delayed_delivery",
    "hung_consumers",
    "publish_burst",
    "cold_reads",
    "topic_moved",
    "healed_by_loss",
    "phantom_backlog",
    "filter_rejects",
    "read_limit",
    "permit_drift",
    "dispatch_contention",
    "snapshot_markers",
    "remote_publish_limit",
    "remote_slow",
    "remote_quota",
    "remote_disconnected",
    "schema_refused",
    "replicator_stuck",
    "unknown",
)

#: Forms of a cause that need different actions.
VARIANTS = (
    "abandoned",  # no_consumers: for a day or longer
    "subscription_limit",  # blocked_on_unacked: the subscription's limit of unacked messages
    "consumer_limit",  # blocked_on_unacked: every consumer's own limit
    "expired",  # healed_by_loss: by the message TTL
    "quota_evicted",  # healed_by_loss: by the backlog quota
)

LEVELS = ("broker", "topic", "subscription")
UNITS = ("msg", "bytes")
LIMITERS = tuple(f"{level}.{unit}" for level in LEVELS for unit in UNITS)

SET_BY = (
    "subscription_policy",
    "topic_policy",
    "global_topic_policy",
    "namespace_policy",
    "broker_dynamic",
    "broker_file",
    "none",
)
