"""A dispatch limit throttles the subscription. In: symptoms. Out: whether a limiter does, alone or with the consumers.

The truth table of limiters and queues decides (:mod:`~throttlescope.models.diagnosis.truth_table`); what the consumers did before the
limit bound decides about *both*.
"""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.both import BOTH, consumers_short_too
from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.causes.limiters import limiters_say
from throttlescope.models.diagnosis.symptoms import Symptoms

THROTTLED = Cause(
    "throttled",
    side="throttle",
    family="limit",
    mark="▲",
    decisive=("limiter_at_limit", "throttle_events", "consumer_queue_empty", "backlog_growing"),
    rests_on_limits=True,
    lever="limiter",
)


def replicator_throttled(s: Symptoms) -> Standing | None:
    """A replicator's own limit holds its backlog; it has no queues that would speak against it."""
    if not s.has_backlog:
        return None
    limited = limiters_say(s)
    return limited if limited.cause == THROTTLED.name else None


def throttled(s: Symptoms) -> Standing | None:
    """A limiter causes the backlog, alone or together with the consumers."""
    if not s.has_backlog:
        return None
    limited = limiters_say(s)
    if limited.cause not in (THROTTLED.name, BOTH.name):
        return None
    # A backlog that is being worked off needs no weak suspicion to explain it.
    if s.holds("backlog_draining") and limited.grade not in ("A", "B"):
        return None
    return (limited.cause == THROTTLED.name and consumers_short_too(s, limited)) or limited
