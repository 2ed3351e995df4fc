"""The broker pauses the consumers' connection because of what is published through it. In: symptoms. Out: whether that is so.

A publish limit (of a topic, a namespace, a resource group or the broker) is enforced by not reading from the producer's connection.
Everything else that the client sends over it waits too: its consumers' acknowledgements and requests for messages, although no dispatch
limit binds and the consumers may be fast. How fast they are cannot be seen while that lasts.
"""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.causes.limiters import limiters_say
from throttlescope.models.diagnosis.symptoms import Symptoms

CONNECTION_PAUSED = Cause(
    "connection_paused",
    side="neither",
    family="limit",
    mark="‖",
    pattern="|",
    decisive=("connection_paused", "consumer_queue_full", "limits_far", "backlog_growing"),
    rests_on_limits=True,
    reasons=("waits", "takes_less"),
)


def connection_paused(s: Symptoms) -> Standing | None:
    """Most consumers are on a connection that the broker pauses, they have no permits left, and no dispatch limiter binds."""
    if not s.has_backlog or not s.holds("connection_paused") or s.holds("no_consumers"):
        return None
    limited = limiters_say(s)
    if limited.cause in ("throttled", "both"):
        return None
    if s.queue.queue == "full":
        return CONNECTION_PAUSED.because("waits", "B")
    # Consumers with permits do not wait for their own requests.
    if s.queue.queue == "empty" or limited.cause != "slow_consumers":
        return None
    return CONNECTION_PAUSED.because("takes_less", "C")
