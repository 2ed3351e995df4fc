"""Which symptom speaks for or against which cause, as one table. In: the causes. Out: :data:`BEARING`.

A symptom that does not bear on a cause is left out of its evidence.
"""

from __future__ import annotations

from typing import NamedTuple

from throttlescope.models.diagnosis.causes import (
    BLOCKED_ON_UNACKED,
    BOTH,
    COLD_READS,
    CONNECTION_PAUSED,
    DELAYED_DELIVERY,
    DISPATCH_CONTENTION,
    FILTER_REJECTS,
    HEALED_BY_LOSS,
    HEALTHY,
    HUNG_CONSUMERS,
    KEY_SHARED_BLOCKED,
    MICRO_BURST_THROTTLED,
    NO_CONSUMERS,
    PERMIT_DRIFT,
    PHANTOM_BACKLOG,
    PUBLISH_BURST,
    READ_LIMIT,
    REDELIVERY,
    REMOTE_DISCONNECTED,
    REMOTE_PUBLISH_LIMIT,
    REMOTE_QUOTA,
    REMOTE_SLOW,
    REPLICATOR_STUCK,
    SCHEMA_REFUSED,
    SEGMENT_BLOCKED,
    SLOW_CONSUMERS,
    SNAPSHOT_MARKERS,
    THROTTLED,
    TOPIC_MOVED,
    UNKNOWN,
    Cause,
)

#: Causes that hold a backlog: while one applies there is something to explain.
HOLDING = (
    THROTTLED, BOTH, SLOW_CONSUMERS, NO_CONSUMERS, BLOCKED_ON_UNACKED, HUNG_CONSUMERS,
    REDELIVERY, TOPIC_MOVED, KEY_SHARED_BLOCKED, FILTER_REJECTS, PUBLISH_BURST, COLD_READS, READ_LIMIT, PHANTOM_BACKLOG, CONNECTION_PAUSED,
    REMOTE_PUBLISH_LIMIT, REMOTE_SLOW, REMOTE_QUOTA, REMOTE_DISCONNECTED, SCHEMA_REFUSED, REPLICATOR_STUCK, SEGMENT_BLOCKED,
    PERMIT_DRIFT, DISPATCH_CONTENTION, SNAPSHOT_MARKERS,
)  # fmt: skip
ANY = "*"


class Bearing(NamedTuple):
    """What a symptom's answer says about causes."""

    symptom: str
    holds: bool
    speaks_for: str = ""
    speaks_against: str = ""
    neutral: str = ""


def of(*causes: Cause) -> str:
    """Their names as one cell of the table."""
    return " ".join(cause.name for cause in causes)


#: In the order in which evidence is listed. Words are causes; ``*`` means all.
BEARING: tuple[Bearing, ...] = (
    Bearing("coverage", False, of(UNKNOWN)),
    Bearing("served_twice", True, of(UNKNOWN)),
    Bearing("no_consumers", True, of(NO_CONSUMERS, SEGMENT_BLOCKED), of(HUNG_CONSUMERS, SLOW_CONSUMERS)),
    Bearing("parent_segments", True, of(SEGMENT_BLOCKED), of(NO_CONSUMERS)),
    Bearing("parent_segments", False, of(SEGMENT_BLOCKED), "", of(NO_CONSUMERS)),
    Bearing("successors_read", True, of(UNKNOWN), of(NO_CONSUMERS)),
    Bearing("successors_read", False, of(NO_CONSUMERS), "", of(UNKNOWN)),
    Bearing("abandoned", True, of(NO_CONSUMERS)),
    Bearing("blocked_on_unacked", True, of(BLOCKED_ON_UNACKED), of(THROTTLED), of(BOTH, SLOW_CONSUMERS)),
    Bearing("consumers_blocked", True, of(BLOCKED_ON_UNACKED), of(THROTTLED), of(BOTH, SLOW_CONSUMERS)),
    Bearing("backlog_present", True, of(*HOLDING), of(HEALTHY, MICRO_BURST_THROTTLED), of(UNKNOWN, HEALED_BY_LOSS)),
    Bearing("backlog_present", False, of(HEALTHY, MICRO_BURST_THROTTLED, DELAYED_DELIVERY), "", of(UNKNOWN, HEALED_BY_LOSS)),
    Bearing("backlog_old", True, of(*HOLDING), of(HEALTHY), of(UNKNOWN, HEALED_BY_LOSS)),
    Bearing("backlog_growing", True, of(*HOLDING), of(HEALTHY), of(UNKNOWN)),
    Bearing("backlog_growing", False, of(HEALTHY), "", of(THROTTLED, BOTH, SLOW_CONSUMERS, UNKNOWN)),
    Bearing("backlog_draining", True, of(HEALTHY), "", of(*HOLDING, HEALED_BY_LOSS, UNKNOWN)),
    Bearing("backlog_sawtooth", True, of(MICRO_BURST_THROTTLED), "", of(HEALTHY)),
    Bearing("backlog_delayed", True, of(DELAYED_DELIVERY), "", of(HEALTHY, UNKNOWN)),
    Bearing("expiring", True, of(HEALED_BY_LOSS), of(HEALTHY), of(*HOLDING, UNKNOWN)),
    Bearing("evicting", True, of(HEALED_BY_LOSS), of(HEALTHY), of(*HOLDING, UNKNOWN)),
    Bearing("publishing_burst", True, of(PUBLISH_BURST, MICRO_BURST_THROTTLED), "", ANY),
    Bearing("limiter_at_limit", True, of(THROTTLED, BOTH), of(SLOW_CONSUMERS, REDELIVERY), of(HEALTHY, UNKNOWN)),
    Bearing("limiter_at_limit", False, "", "", of(HEALTHY, THROTTLED, MICRO_BURST_THROTTLED, UNKNOWN)),
    Bearing("limits_far", True, of(SLOW_CONSUMERS, HUNG_CONSUMERS, REDELIVERY, KEY_SHARED_BLOCKED, PUBLISH_BURST, COLD_READS, READ_LIMIT, PHANTOM_BACKLOG, FILTER_REJECTS, CONNECTION_PAUSED),
            of(THROTTLED, BOTH),
            of(UNKNOWN)),
    Bearing("capacity_short", True, of(BOTH, SLOW_CONSUMERS), of(PUBLISH_BURST), of(THROTTLED)),
    Bearing("capacity_short", False, of(PUBLISH_BURST), of(SLOW_CONSUMERS, BOTH), of(THROTTLED, UNKNOWN)),
    Bearing("limit_not_in_force", True, "", of(THROTTLED, BOTH), ANY),
    Bearing("consumer_queue_full", True, of(SLOW_CONSUMERS, BOTH, HUNG_CONSUMERS, CONNECTION_PAUSED),
            of(THROTTLED),
            of(HEALTHY, REDELIVERY, PUBLISH_BURST, UNKNOWN)),
    Bearing("consumer_queue_full", False, "", "", of(UNKNOWN)),
    Bearing("consumer_queue_empty", True, of(THROTTLED, MICRO_BURST_THROTTLED, COLD_READS, READ_LIMIT, PHANTOM_BACKLOG, DISPATCH_CONTENTION),
            of(SLOW_CONSUMERS, CONNECTION_PAUSED),
            of(BOTH, REDELIVERY, UNKNOWN)),
    Bearing("consumers_busy", True, of(SLOW_CONSUMERS), "", of(THROTTLED, BOTH, UNKNOWN)),
    Bearing("unacked_steady", True, of(SLOW_CONSUMERS, BOTH), "", of(THROTTLED, UNKNOWN)),
    Bearing("connection_paused", True, of(CONNECTION_PAUSED), of(SLOW_CONSUMERS, HUNG_CONSUMERS), of(THROTTLED, BOTH, UNKNOWN)),
    Bearing("consumers_uneven", True, of(KEY_SHARED_BLOCKED), "", of(SLOW_CONSUMERS, BOTH, HUNG_CONSUMERS, BLOCKED_ON_UNACKED, UNKNOWN)),
    Bearing("hash_blocked", True, of(KEY_SHARED_BLOCKED), "", of(SLOW_CONSUMERS, UNKNOWN)),
    Bearing("dispatch_stopped", True, of(HUNG_CONSUMERS, NO_CONSUMERS, BLOCKED_ON_UNACKED), "", of(UNKNOWN, THROTTLED)),
    Bearing("acks_stopped", True, of(HUNG_CONSUMERS, BLOCKED_ON_UNACKED), "", of(UNKNOWN)),
    Bearing("flow_stopped", True, of(HUNG_CONSUMERS), "", of(UNKNOWN)),
    Bearing("acks_behind", True, of(SLOW_CONSUMERS, BLOCKED_ON_UNACKED), of(THROTTLED), of(UNKNOWN)),
    Bearing("redelivering", True, of(REDELIVERY), "", of(THROTTLED, BOTH, SLOW_CONSUMERS, BLOCKED_ON_UNACKED, UNKNOWN)),
    Bearing("dispatch_flat", True, of(THROTTLED)),
    Bearing("cold_reads", True, of(COLD_READS), "", of(SLOW_CONSUMERS, UNKNOWN)),
    Bearing("storage_faster", True, of(SLOW_CONSUMERS), of(COLD_READS), of(UNKNOWN)),
    Bearing("storage_faster", False, "", "", of(COLD_READS, UNKNOWN)),
    Bearing("replication_markers", True, of(SNAPSHOT_MARKERS), "", of(NO_CONSUMERS, HUNG_CONSUMERS, UNKNOWN)),
    Bearing("unacked_negative", True, of(PERMIT_DRIFT), "", of(UNKNOWN)),
    Bearing("permits_lost", True, of(PERMIT_DRIFT), "", of(UNKNOWN)),
    Bearing("dispatch_below_before", True, of(PERMIT_DRIFT), "", of(UNKNOWN)),
    Bearing("dispatch_contention", True, of(DISPATCH_CONTENTION), "", of(UNKNOWN)),
    Bearing("filtering", True, of(FILTER_REJECTS), "", of(SLOW_CONSUMERS, UNKNOWN)),
    Bearing("reads_wait", True, of(READ_LIMIT), "", of(COLD_READS, UNKNOWN)),
    Bearing("remote_quota_full", True, of(REMOTE_QUOTA), "", of(REMOTE_DISCONNECTED, UNKNOWN)),
    Bearing("remote_quota_full", False, "", "", of(REMOTE_DISCONNECTED)),
    Bearing("replicator_disconnected", True, of(REMOTE_DISCONNECTED, REMOTE_QUOTA), of(THROTTLED), of(UNKNOWN)),
    Bearing("replicator_disconnected", False, of(REPLICATOR_STUCK, SCHEMA_REFUSED)),
    Bearing("sends_nothing", True, of(REPLICATOR_STUCK, REMOTE_QUOTA, REMOTE_DISCONNECTED, SCHEMA_REFUSED), of(THROTTLED), of(UNKNOWN)),
    Bearing("sends_nothing", False, "", "", of(REMOTE_SLOW, REMOTE_PUBLISH_LIMIT, SCHEMA_REFUSED)),
    Bearing("sends_wait", True, of(REMOTE_PUBLISH_LIMIT, REMOTE_SLOW, SCHEMA_REFUSED), of(THROTTLED), of(UNKNOWN, REMOTE_DISCONNECTED)),
    Bearing("sends_wait", False, of(REPLICATOR_STUCK), "", of(THROTTLED)),
    Bearing("remote_pauses", True, of(REMOTE_PUBLISH_LIMIT), "", of(UNKNOWN)),
    Bearing("remote_pauses", False, of(REMOTE_SLOW)),
    Bearing("unanswered", True, of(SCHEMA_REFUSED, REMOTE_QUOTA), of(REMOTE_SLOW), of(UNKNOWN, REMOTE_DISCONNECTED, REMOTE_PUBLISH_LIMIT)),
    Bearing("unanswered", False, of(REMOTE_SLOW), of(SCHEMA_REFUSED)),
    Bearing("counters_restarted", True, of(TOPIC_MOVED), "", ANY),
    Bearing("limit_changed", True, "", "", ANY),
    Bearing("limit_observed_later", True, "", "", of(THROTTLED, BOTH, SLOW_CONSUMERS, UNKNOWN)),
    Bearing("limits_old", True, "", "", of(THROTTLED, BOTH, SLOW_CONSUMERS, UNKNOWN)),
)  # fmt: skip
