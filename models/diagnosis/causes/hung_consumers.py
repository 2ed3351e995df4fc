"""Consumers are connected but neither request, take nor acknowledge messages. In: symptoms. Out: whether that is so."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

HUNG_CONSUMERS = Cause(
    "hung_consumers",
    side="consumer_capacity",
    family="consumer",
    mark="◉",
    pattern="x",
    decisive=("dispatch_stopped", "acks_stopped", "flow_stopped", "consumer_queue_full"),
    lever="consumers",
    reasons=("queues_full", "nothing_moves"),
)


def hung_consumers(s: Symptoms) -> Standing | None:
    """Consumers are connected, nothing moves, and no limiter is in use: they took what they could hold and stopped."""
    if not s.has_backlog or s.holds("no_consumers") is not False:
        return None
    if not (s.holds("dispatch_stopped") and s.holds("acks_stopped") and s.holds("flow_stopped")):
        return None
    if any(limiter.activity in ("continuous", "ticking") for limiter in s.limiters):
        return None
    if s.queue.queue == "full":
        return HUNG_CONSUMERS.because("queues_full", "A")
    if s.queue.queue == "unknown" and not s.only_old:
        return HUNG_CONSUMERS.because("nothing_moves", "C")
    # Permits are there and nothing is dispatched: that is the broker, or a backlog that does not exist.
    return None
