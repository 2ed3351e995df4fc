"""Hypotheses: each asks the symptoms whether its cause stands. In: symptoms. Out: the standings, most urgent first.

Several may stand at once. A hypothesis is a small function from symptoms to a :class:`Standing`, or None where its cause
does not stand; :data:`HYPOTHESES` is the order in which standing causes are preferred.
"""

from __future__ import annotations

from collections.abc import Callable

from throttlescope.models.diagnosis.hypotheses.broker import (
    cold_reads,
    filter_rejects,
    phantom_backlog,
    read_limit,
    room_unused,
)
from throttlescope.models.diagnosis.hypotheses.limiter_or_consumers import (
    acks_behind,
    limiters_say,
    micro_burst_throttled,
    slow_consumers,
    throttled,
)
from throttlescope.models.diagnosis.hypotheses.passing import (
    NO_BACKLOG,
    SYSTEM_BACKLOG,
    delayed_delivery,
    draining,
    healed_by_loss,
    healthy,
    publish_burst,
    topic_moved,
)
from throttlescope.models.diagnosis.hypotheses.standing import GRADES, SIDE_OF, Standing
from throttlescope.models.diagnosis.hypotheses.stopped import (
    blocked_on_unacked,
    dispatch_stopped,
    hung_consumers,
    key_shared_blocked,
    no_consumers,
    redelivery,
    replication_markers,
)
from throttlescope.models.diagnosis.symptoms import Symptoms


def not_enough_seen(s: Symptoms) -> Standing | None:
    """Without samples of the backlog nothing is claimed."""
    if not s.holds("coverage"):
        return Standing("unknown", "", "too little of the window was seen")
    if s.holds("served_twice"):
        return Standing("unknown", "", "several brokers show the subscription at the same time")
    if s.backlog_held is None:
        return Standing("unknown", "", "the backlog was not measured")
    return None


def nobody_can_say(s: Symptoms) -> Standing | None:
    """There is a backlog, and no cause stands."""
    if not s.backlog_held:
        return None
    limited = limiters_say(s)
    if room_unused(s):
        why = "the consumers have room and no limiter is near: the broker lost count of permits, or its reads are slow"
        return Standing("unknown", "", why)
    return Standing("unknown", "", limited.why if limited.cause == "unknown" else "no cause stands")


#: In the order of preference: the first that stands is the primary cause, the others contribute.
HYPOTHESES: tuple[Callable[[Symptoms], Standing | None], ...] = (
    not_enough_seen,
    healed_by_loss,
    no_consumers,
    blocked_on_unacked,
    replication_markers,
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
    nobody_can_say,
    delayed_delivery,
    micro_burst_throttled,
    healthy,
)


def standings(s: Symptoms) -> tuple[Standing, ...]:
    """All causes that stand, most urgent first; at least one always does.

    What waits on a subscription of Pulsar itself is no incident, whichever cause would stand otherwise and however little was seen:
    its readers come and go with every restart.
    """
    found = tuple(standing for ask in HYPOTHESES if (standing := ask(s)) is not None)
    if s.is_system and found != (NO_BACKLOG,):
        return (SYSTEM_BACKLOG,)
    return found or (Standing("unknown", "", "no cause stands"),)


__all__ = ["GRADES", "HYPOTHESES", "SIDE_OF", "SYSTEM_BACKLOG", "Standing", "standings"]
