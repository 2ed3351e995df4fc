"""The consumers cannot keep up. In: symptoms. Out: whether every limiter is excluded and the consumers take less than is published.

Three rules name this cause: the truth table excludes every limiter (:func:`slow_consumers`), messages are delivered as fast as they are
published and acknowledged slower (:func:`acks_behind`), or nothing is dispatched while consumers acknowledge (:func:`dispatch_stopped`).
"""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.causes.limiters import limiters_say
from throttlescope.models.diagnosis.causes.unknown import UNKNOWN
from throttlescope.models.diagnosis.symptoms import Symptoms

SLOW_CONSUMERS = Cause(
    "slow_consumers",
    side="consumer_capacity",
    family="consumer",
    mark="●",
    decisive=(
        "consumer_queue_full", "consumers_busy", "acks_behind", "limits_far", "throttle_events", "unacked_steady", "storage_faster",
        "capacity_short", "backlog_growing",
    ),
    rests_on_limits=True,
    lever="consumers",
    more_consumers_help=True,
    reasons=("acks_behind", "acknowledge_only", "never_idle", "storage_faster"),
)  # fmt: skip


def acks_behind(s: Symptoms) -> Standing | None:
    """Messages are delivered as fast as published, and the backlog still grows: the consumers do not acknowledge them."""
    if not s.holds("backlog_growing") or not s.holds("acks_behind"):
        return None
    return SLOW_CONSUMERS.because("acks_behind", "B")


def slow_consumers(s: Symptoms) -> Standing | None:
    """Every limiter is excluded, and the consumers take less than is published."""
    if not s.has_backlog or s.holds("no_consumers"):
        return None
    limited = limiters_say(s)
    if limited.cause != SLOW_CONSUMERS.name:
        return None
    if s.holds("cold_reads") and s.queue.queue != "full":
        # Nothing shows the consumers' queues: storage is excluded, not they proven.
        grade = max(limited.grade, "C")
        if s.holds("unacked_steady"):
            return SLOW_CONSUMERS.because("never_idle", grade, limit=limited.because)
        if s.holds("storage_faster"):
            return SLOW_CONSUMERS.because("storage_faster", grade, limit=limited.because)
        return UNKNOWN.because("consumers_or_storage")
    if s.holds("counters_restarted") and s.queue.queue != "full" and not s.holds("backlog_growing"):
        return None
    return limited


def dispatch_stopped(s: Symptoms) -> Standing | None:
    """Nothing is dispatched and no limiter is in use: counters at zero prove nothing when the broker does not read."""
    if not s.has_backlog or not s.holds("dispatch_stopped") or s.queue.queue == "full":
        return None
    if any(limiter.activity in ("continuous", "ticking") for limiter in s.limiters):
        return None
    if s.holds("acks_stopped") is False and s.queue.queue == "unknown":
        return SLOW_CONSUMERS.because("acknowledge_only", "B")
    if s.queue.queue == "empty":
        return UNKNOWN.because("dispatch_stuck")
    if s.queue.queue == "unknown" and s.only_old:
        return UNKNOWN.because("hang_or_stuck")
    return UNKNOWN.because("dispatch_stopped")
