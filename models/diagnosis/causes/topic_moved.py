"""The topic moved or its broker restarted. In: symptoms. Out: whether nothing else explains what is left of it."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

TOPIC_MOVED = Cause(
    "topic_moved",
    side="neither",
    family="storage",
    mark="⇄",
    pattern="\\",
    decisive=("counters_restarted",),
    is_incident=False,
    survives_restart=True,
    is_of_broker=True,
    reasons=("unloaded",),
)


def topic_moved(s: Symptoms) -> Standing | None:
    """The topic was away for a moment, and nothing else explains what is left of it."""
    if not s.has_backlog or not s.holds("counters_restarted") or s.holds("backlog_growing"):
        return None
    # Around a move little of the use is measured: a limit that is not excluded may be what throttles.
    if any(limiter.limit is not None and limiter.believed_zone != "far" for limiter in s.limiters):
        return None
    return TOPIC_MOVED.because("unloaded", "C")
