"""The broker stopped dispatching because too many messages are unacknowledged. In: symptoms. Out: whether, and by which limit."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

BLOCKED_ON_UNACKED = Cause(
    "blocked_on_unacked",
    side="consumer_capacity",
    family="consumer",
    mark="■",
    pattern="\\",
    decisive=("blocked_on_unacked", "consumers_blocked"),
    lever="consumers",
    reasons=("subscription_limit", "consumer_limit"),
)


def blocked_on_unacked(s: Symptoms) -> Standing | None:
    """Pulsar itself says that it stopped dispatching, to the subscription or to every one of its consumers."""
    if not s.has_backlog:
        return None
    if s.holds("blocked_on_unacked"):
        return BLOCKED_ON_UNACKED.because("subscription_limit", "A", variant="subscription_limit")
    if s.holds("consumers_blocked"):
        return BLOCKED_ON_UNACKED.because("consumer_limit", "A", variant="consumer_limit")
    return None
