"""What a symptom is, and the closed list of their names."""

from __future__ import annotations

from dataclasses import dataclass

#: The closed list of symptoms that evidence may name.
SYMPTOMS = (
    "coverage",
    "served_twice",
    "backlog_present",
    "backlog_old",
    "backlog_growing",
    "backlog_draining",
    "backlog_sawtooth",
    "backlog_delayed",
    "no_consumers",
    "abandoned",
    "blocked_on_unacked",
    "consumers_blocked",
    "consumers_uneven",
    "hash_blocked",
    "consumer_queue_full",
    "consumer_queue_empty",
    "consumers_busy",
    "unacked_steady",
    "limiter_at_limit",
    "limits_far",
    "throttle_events",
    "dispatch_flat",
    "dispatch_stopped",
    "acks_stopped",
    "flow_stopped",
    "acks_behind",
    "redelivering",
    "expiring",
    "evicting",
    "publishing_burst",
    "capacity_short",
    "filtering",
    "reads_wait",
    "cold_reads",
    "storage_faster",
    "replication_markers",
    "counters_restarted",
    "limit_changed",
    "limit_observed_later",
    "limits_old",
    "limit_not_in_force",
    # Not measured: the rule by which no cause is named, or a backlog is no incident.
    "rule",
)


@dataclass(frozen=True, slots=True)
class Symptom:
    """The answer to one question about a window.

    Attributes
    ----------
    name : str
        One of :data:`SYMPTOMS`.
    holds : bool or None
        None where the window cannot tell.
    text : str
        One sentence in words, with units.
    at_ms : int or None
        When it was strongest.
    limiter : str or None
        The limiter that it is about.
    """

    name: str
    holds: bool | None
    text: str
    value: float | None = None
    threshold: float | None = None
    unit: str | None = None
    at_ms: int | None = None
    promql: str | None = None
    limiter: str | None = None
