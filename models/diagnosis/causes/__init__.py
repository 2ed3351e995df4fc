"""The causes of a backlog, one module each. In: symptoms. Out: the causes that apply, most urgent first, and what is known of each.

A module states everything about its cause: its record, its rule and, in the docstring, what it means. A rule is a function from
symptoms to a :class:`Standing`, or None where its cause does not apply; several may apply at once. What compares causes stays here, as
tables: :data:`CAUSES`, :data:`RULES` and :data:`INCLUDES`.
"""

from __future__ import annotations

from collections.abc import Callable

from throttlescope.models.diagnosis.causes.blocked_on_unacked import BLOCKED_ON_UNACKED, blocked_on_unacked
from throttlescope.models.diagnosis.causes.both import BOTH
from throttlescope.models.diagnosis.causes.cause import GRADES, Cause, Standing
from throttlescope.models.diagnosis.causes.cold_reads import COLD_READS, cold_reads
from throttlescope.models.diagnosis.causes.delayed_delivery import DELAYED_DELIVERY, delayed_delivery
from throttlescope.models.diagnosis.causes.dispatch_contention import (
    DISPATCH_CONTENTION,
    dispatch_contention,
)
from throttlescope.models.diagnosis.causes.filter_rejects import FILTER_REJECTS, filter_rejects
from throttlescope.models.diagnosis.causes.healed_by_loss import HEALED_BY_LOSS, healed_by_loss
from throttlescope.models.diagnosis.causes.healthy import (
    HEALTHY,
    NO_BACKLOG,
    SYSTEM_BACKLOG,
    draining,
    healthy,
)
from throttlescope.models.diagnosis.causes.hung_consumers import HUNG_CONSUMERS, hung_consumers
from throttlescope.models.diagnosis.causes.key_shared_blocked import KEY_SHARED_BLOCKED, key_shared_blocked
from throttlescope.models.diagnosis.causes.micro_burst_throttled import (
    MICRO_BURST_THROTTLED,
    micro_burst_throttled,
)
from throttlescope.models.diagnosis.causes.no_consumers import NO_CONSUMERS, no_consumers
from throttlescope.models.diagnosis.causes.permit_drift import (
    PERMIT_DRIFT,
    permits_drifted,
    slower_after_reconnects,
)
from throttlescope.models.diagnosis.causes.phantom_backlog import PHANTOM_BACKLOG, phantom_backlog
from throttlescope.models.diagnosis.causes.publish_burst import PUBLISH_BURST, publish_burst
from throttlescope.models.diagnosis.causes.read_limit import READ_LIMIT, read_limit
from throttlescope.models.diagnosis.causes.redelivery import REDELIVERY, redelivery
from throttlescope.models.diagnosis.causes.remote_disconnected import REMOTE_DISCONNECTED, remote_disconnected
from throttlescope.models.diagnosis.causes.remote_publish_limit import (
    REMOTE_PUBLISH_LIMIT,
    remote_publish_limit,
)
from throttlescope.models.diagnosis.causes.remote_quota import REMOTE_QUOTA, remote_quota
from throttlescope.models.diagnosis.causes.remote_slow import REMOTE_SLOW, remote_slow
from throttlescope.models.diagnosis.causes.replicator_stuck import REPLICATOR_STUCK, replicator_stuck
from throttlescope.models.diagnosis.causes.schema_refused import SCHEMA_REFUSED, schema_refused
from throttlescope.models.diagnosis.causes.slow_consumers import (
    SLOW_CONSUMERS,
    acks_behind,
    dispatch_stopped,
    slow_consumers,
)
from throttlescope.models.diagnosis.causes.snapshot_markers import SNAPSHOT_MARKERS, snapshot_markers
from throttlescope.models.diagnosis.causes.throttled import THROTTLED, replicator_throttled, throttled
from throttlescope.models.diagnosis.causes.topic_moved import TOPIC_MOVED, topic_moved
from throttlescope.models.diagnosis.causes.undecided import no_cause_found
from throttlescope.models.diagnosis.causes.unknown import (
    UNKNOWN,
    not_enough_seen,
    remote_not_seen,
)
from throttlescope.models.diagnosis.symptoms import Symptoms

#: Every cause, in the order in which a person wants to see them: worst first.
CAUSES: tuple[Cause, ...] = (
    THROTTLED,
    MICRO_BURST_THROTTLED,
    BOTH,
    SLOW_CONSUMERS,
    HUNG_CONSUMERS,
    NO_CONSUMERS,
    BLOCKED_ON_UNACKED,
    REDELIVERY,
    KEY_SHARED_BLOCKED,
    DELAYED_DELIVERY,
    PUBLISH_BURST,
    COLD_READS,
    READ_LIMIT,
    PERMIT_DRIFT,
    DISPATCH_CONTENTION,
    SNAPSHOT_MARKERS,
    REMOTE_PUBLISH_LIMIT,
    REMOTE_SLOW,
    REMOTE_QUOTA,
    REMOTE_DISCONNECTED,
    SCHEMA_REFUSED,
    REPLICATOR_STUCK,
    TOPIC_MOVED,
    FILTER_REJECTS,
    HEALED_BY_LOSS,
    PHANTOM_BACKLOG,
    UNKNOWN,
    HEALTHY,
)

#: The same by name.
CAUSE_OF: dict[str, Cause] = {cause.name: cause for cause in CAUSES}

#: In the order of preference: the first rule that answers names the primary cause, the others contribute.
RULES: tuple[Callable[[Symptoms], Standing | None], ...] = (
    not_enough_seen,
    healed_by_loss,
    snapshot_markers,
    no_consumers,
    permits_drifted,
    blocked_on_unacked,
    throttled,
    key_shared_blocked,
    hung_consumers,
    dispatch_stopped,
    filter_rejects,
    redelivery,
    publish_burst,
    draining,
    acks_behind,
    read_limit,
    cold_reads,
    phantom_backlog,
    slow_consumers,
    topic_moved,
    slower_after_reconnects,
    dispatch_contention,
    no_cause_found,
    delayed_delivery,
    micro_burst_throttled,
    healthy,
)

#: The same for a replicator, which has no consumers: a producer of the remote cluster takes what it reads.
REPLICATOR_RULES: tuple[Callable[[Symptoms], Standing | None], ...] = (
    not_enough_seen,
    remote_quota,
    remote_disconnected,
    replicator_throttled,
    draining,
    remote_publish_limit,
    schema_refused,
    remote_slow,
    remote_not_seen,
    replicator_stuck,
    healthy,
)

#: What a cause says of others: consumers that are blocked, hung or busy with a burst are slow as well.
INCLUDES: dict[Cause, tuple[Cause, ...]] = {
    BOTH: (THROTTLED, SLOW_CONSUMERS),
    BLOCKED_ON_UNACKED: (SLOW_CONSUMERS, HUNG_CONSUMERS),
    HUNG_CONSUMERS: (SLOW_CONSUMERS,),
    PUBLISH_BURST: (SLOW_CONSUMERS,),
    NO_CONSUMERS: (SLOW_CONSUMERS,),
    KEY_SHARED_BLOCKED: (SLOW_CONSUMERS,),
}


def standings(s: Symptoms) -> tuple[Standing, ...]:
    """All causes that apply, most urgent first; at least one always does.

    What waits on a subscription of Pulsar itself is no incident, whichever cause would apply otherwise and however little was seen:
    its readers come and go with every restart.
    """
    rules = REPLICATOR_RULES if s.is_replicator else RULES
    found = tuple(standing for rule in rules if (standing := rule(s)) is not None)
    if s.is_system and found != (NO_BACKLOG,):
        return (SYSTEM_BACKLOG,)
    return found or (UNKNOWN.because("no_cause"),)


__all__ = [
    "BLOCKED_ON_UNACKED",
    "BOTH",
    "CAUSES",
    "CAUSE_OF",
    "COLD_READS",
    "DELAYED_DELIVERY",
    "DISPATCH_CONTENTION",
    "FILTER_REJECTS",
    "GRADES",
    "HEALED_BY_LOSS",
    "HEALTHY",
    "HUNG_CONSUMERS",
    "INCLUDES",
    "KEY_SHARED_BLOCKED",
    "MICRO_BURST_THROTTLED",
    "NO_BACKLOG",
    "NO_CONSUMERS",
    "PERMIT_DRIFT",
    "PHANTOM_BACKLOG",
    "PUBLISH_BURST",
    "READ_LIMIT",
    "REDELIVERY",
    "REMOTE_DISCONNECTED",
    "REMOTE_PUBLISH_LIMIT",
    "REMOTE_QUOTA",
    "REMOTE_SLOW",
    "REPLICATOR_RULES",
    "REPLICATOR_STUCK",
    "RULES",
    "SCHEMA_REFUSED",
    "SLOW_CONSUMERS",
    "SNAPSHOT_MARKERS",
    "SYSTEM_BACKLOG",
    "THROTTLED",
    "TOPIC_MOVED",
    "UNKNOWN",
    "Cause",
    "Standing",
    "standings",
]
