"""A dispatch limit binds, and the consumers could not keep up without it either. In: what holds a window. Out: that it is both.

Lifting one alone changes little: the other takes over. The consumers are at their capacity when their queues are full under the
limit, when what they did before the limit bound is less than what is published, or when they always hold messages.
"""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

BOTH = Cause(
    "both",
    side="both",
    family="mixed",
    mark="◆",
    decisive=(
        "limiter_at_limit", "capacity_short", "consumer_queue_full", "throttle_events", "backlog_growing",
    ),
    rests_on_limits=True,
    lever="both",
    reasons=("capacity_short", "never_idle"),
)  # fmt: skip


def consumers_short_too(s: Symptoms, limited: Standing) -> Standing | None:
    """Under a limit that binds, the consumers have no spare capacity either."""
    if s.holds("capacity_short"):
        return BOTH.because("capacity_short", limited.grade, limiter=limited.limiter, limit=limited.because)
    if s.holds("unacked_steady") and s.queue.queue != "empty":
        grade = max(limited.grade, "C")
        return BOTH.because("never_idle", grade, limiter=limited.limiter, limit=limited.because)
    return None
