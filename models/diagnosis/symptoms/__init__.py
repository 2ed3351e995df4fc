"""Symptoms: what can be measured in a window. In: a window. Out: one :class:`Symptom` per question.

Each module has the symptoms about one subject: first their records (:class:`SymptomKind`: name, unit, the situations that
its sentences are written for), then a function for each. It answers one question with yes, no, or None where the window cannot
tell, and with a finding: a situation and its numbers, worded in ``models/messages/en/symptoms.py``. No symptom knows of causes.
"""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.ingest.core.subscription_name import remote_cluster
from throttlescope.ingest.core.system_names import is_system
from throttlescope.models.diagnosis.consumer_queues import QueueReading, read_queue
from throttlescope.models.diagnosis.history import Burst, ObservedCapacity, burst_before, capacity_seen
from throttlescope.models.diagnosis.limiters import LimiterReading, read_limiters
from throttlescope.models.diagnosis.symptoms import (
    backlog,
    backlog_old,
    before,
    broker_faults,
    connections,
    consumers,
    limiters,
    replicators,
    surroundings,
)
from throttlescope.models.diagnosis.symptoms.symptom import Symptom, SymptomKind
from throttlescope.models.diagnosis.window import Window

#: Not measured: the rule by which no cause is named, or a backlog is no incident.
RULE = SymptomKind("rule", ("no_cause", "no_incident"))

#: The closed list of symptoms that evidence may name.
KINDS: tuple[SymptomKind, ...] = (
    backlog.COVERAGE,
    backlog.SERVED_TWICE,
    backlog.BACKLOG_PRESENT,
    backlog_old.BACKLOG_OLD,
    backlog.BACKLOG_GROWING,
    backlog.BACKLOG_DRAINING,
    backlog.BACKLOG_SAWTOOTH,
    backlog.BACKLOG_DELAYED,
    consumers.NO_CONSUMERS,
    consumers.PARENT_SEGMENTS,
    consumers.SUCCESSORS_READ,
    before.ABANDONED,
    consumers.BLOCKED_ON_UNACKED,
    consumers.CONSUMERS_BLOCKED,
    consumers.CONSUMERS_UNEVEN,
    consumers.HASH_BLOCKED,
    consumers.CONSUMER_QUEUE_FULL,
    consumers.CONSUMER_QUEUE_EMPTY,
    consumers.CONSUMERS_BUSY,
    consumers.UNACKED_STEADY,
    connections.CONNECTION_PAUSED,
    limiters.LIMITER_AT_LIMIT,
    limiters.LIMITS_FAR,
    limiters.THROTTLE_EVENTS,
    consumers.DISPATCH_FLAT,
    consumers.DISPATCH_STOPPED,
    consumers.ACKS_STOPPED,
    consumers.FLOW_STOPPED,
    consumers.ACKS_BEHIND,
    consumers.REDELIVERING,
    backlog.EXPIRING,
    backlog.EVICTING,
    before.PUBLISHING_BURST,
    before.CAPACITY_SHORT,
    surroundings.FILTERING,
    surroundings.READS_WAIT,
    surroundings.COLD_READS,
    surroundings.STORAGE_FASTER,
    surroundings.REPLICATION_MARKERS,
    surroundings.COUNTERS_RESTARTED,
    limiters.LIMIT_CHANGED,
    limiters.LIMIT_OBSERVED_LATER,
    limiters.LIMITS_OLD,
    limiters.LIMIT_NOT_IN_FORCE,
    *broker_faults.KINDS,
    *replicators.KINDS,
    RULE,
)
SYMPTOMS: tuple[str, ...] = tuple(kind.name for kind in KINDS)


@dataclass(frozen=True, slots=True)
class Symptoms:
    """All that was measured in one window: every symptom once, the six limiters, and the consumers' queues.

    Capacity and burst come from the hours before it, and are looked for only where there is a backlog to explain.
    ``is_system`` says that the subscription is Pulsar's own, ``is_replicator`` that it is a replicator.
    """

    by_name: dict[str, Symptom]
    limiters: tuple[LimiterReading, ...]
    queue: QueueReading
    capacity: ObservedCapacity | None = None
    burst: Burst | None = None
    is_system: bool = False
    is_replicator: bool = False

    def holds(self, name: str) -> bool | None:
        """The answer to a question; None where the window cannot tell."""
        return self.by_name[name].holds

    @property
    def has_backlog(self) -> bool | None:
        """Whether there is a backlog to explain: it is there, it grows, or the little that waits is old."""
        present, growing = self.holds("backlog_present"), self.holds("backlog_growing")
        if present or growing or self.holds("backlog_old"):
            return True
        return None if present is None else False

    @property
    def only_old(self) -> bool:
        """Whether there is a backlog only because what waits is old: it may all be in the consumers' hands."""
        return bool(self.holds("backlog_old")) and not (
            self.holds("backlog_present") or self.holds("backlog_growing")
        )


def examine(window: Window) -> Symptoms:
    """Answer every question about a window."""
    readings, queue = read_limiters(window), read_queue(window)
    present, growing = backlog.backlog_present(window), backlog.backlog_growing(window)
    old = backlog_old.backlog_old(window)
    has_backlog = present.holds or growing.holds or old.holds
    capacity = capacity_seen(window) if has_backlog else None
    burst = burst_before(window) if has_backlog else None
    is_replicator = remote_cluster(window.key.subscription) is not None
    found = (
        backlog.coverage(window),
        backlog.served_twice(window),
        present,
        old,
        growing,
        backlog.backlog_draining(window),
        backlog.backlog_sawtooth(window, readings),
        backlog.backlog_delayed(window),
        backlog.expiring(window),
        backlog.evicting(window),
        consumers.no_consumers(window),
        consumers.parent_segments(window),
        consumers.successors_read(window),
        before.abandoned(window),
        consumers.blocked_on_unacked(window),
        consumers.consumers_blocked(window),
        consumers.consumers_uneven(window),
        consumers.hash_blocked(window),
        consumers.consumer_queue_full(window, queue),
        consumers.consumer_queue_empty(window, queue),
        consumers.consumers_busy(window, queue),
        consumers.unacked_steady(window),
        connections.connection_paused(window),
        consumers.dispatch_flat(window),
        consumers.dispatch_stopped(window),
        consumers.acks_stopped(window),
        consumers.flow_stopped(window),
        consumers.acks_behind(window),
        consumers.redelivering(window),
        limiters.limiter_at_limit(window, readings),
        limiters.limits_far(window, readings),
        limiters.throttle_events(window, readings),
        limiters.limit_changed(window),
        limiters.limit_observed_later(window, readings),
        limiters.limits_old(window, readings),
        limiters.limit_not_in_force(window, readings),
        before.publishing_burst(window, burst),
        before.capacity_short(window, capacity),
        surroundings.cold_reads(window),
        surroundings.storage_faster(window),
        surroundings.replication_markers(window),
        surroundings.filtering(window),
        surroundings.reads_wait(window),
        surroundings.counters_restarted(window),
        *broker_faults.broker_fault_symptoms(window, capacity),
        *(replicators.replicator_symptoms(window) if is_replicator else replicators.OF_SUBSCRIPTION),
    )
    return Symptoms(
        {symptom.name: symptom for symptom in found},
        readings,
        queue,
        capacity,
        burst,
        is_system(window.key.topic, window.key.subscription),
        is_replicator,
    )


__all__ = ["KINDS", "RULE", "SYMPTOMS", "Symptom", "SymptomKind", "Symptoms", "examine"]
