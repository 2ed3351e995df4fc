"""Short bursts meet a dispatch limit although its mean use is below it. In: symptoms. Out: whether they do."""

from __future__ import annotations

from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.causes.unknown import UNKNOWN
from throttlescope.models.diagnosis.symptoms import Symptoms

MICRO_BURST_THROTTLED = Cause(
    "micro_burst_throttled",
    side="throttle",
    family="limit",
    mark="△",
    pattern="/",
    decisive=("throttle_events", "backlog_sawtooth"),
    rests_on_limits=True,
    lever="limiter",
    reasons=("bursts",),
)


def micro_burst_throttled(s: Symptoms) -> Standing | None:
    """Bursts meet a limit although its mean use is below it. Needs events that mean something."""
    if s.has_backlog or not s.holds("backlog_sawtooth") or s.holds("counters_restarted"):
        return None
    if s.queue.queue == "full" or s.holds("blocked_on_unacked"):
        return None
    # To drain the peak, the limiter must have been used up this many times.
    peak = s.by_name["backlog_sawtooth"].value
    proven = [
        limiter
        for limiter in s.limiters
        if limiter.informative
        and limiter.unit == "msg"
        and limiter.zone in ("near", "possible", "far")
        and limiter.events
        and limiter.limit is not None
        and limiter.events >= t.EVENTS_PER_PERIOD * peak / limiter.limit
    ]
    if not proven and any(limiter.events and not limiter.observed for limiter in s.limiters):
        return UNKNOWN.because("bursts_under_unread_limit")
    if not proven:
        return None
    top = max(proven, key=lambda limiter: limiter.events)
    return MICRO_BURST_THROTTLED.because("bursts", "C", limiter=top.name)
