"""The broker's limit on reads in flight holds dispatch back. In: symptoms. Out: whether consumers wait for the broker's memory."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.causes.limiters import consumers_have_spare_capacity
from throttlescope.models.diagnosis.symptoms import Symptoms

READ_LIMIT = Cause(
    "read_limit",
    side="neither",
    family="storage",
    mark="▽",
    pattern="/",
    decisive=("reads_wait", "consumer_queue_empty"),
    rests_on_limits=True,
    is_of_broker=True,
    side_is_fixed=False,
    reasons=("memory_used_up",),
)


def read_limit(s: Symptoms) -> Standing | None:
    """Consumers have spare capacity, and reads wait for the broker's memory."""
    if not s.has_backlog or not s.holds("reads_wait") or not consumers_have_spare_capacity(s):
        return None
    return READ_LIMIT.because("memory_used_up", "B")
