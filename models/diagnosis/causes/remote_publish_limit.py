"""A publish limit of the remote cluster holds a replicator back. In: symptoms. Out: whether its sends wait while the remote pauses publishing."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

REMOTE_PUBLISH_LIMIT = Cause(
    "remote_publish_limit",
    side="throttle",
    family="limit",
    mark="⇥",
    pattern="x",
    decisive=("remote_pauses", "sends_wait"),
    reasons=("paused",),
)


def remote_publish_limit(s: Symptoms) -> Standing | None:
    """What was sent waits, and the remote cluster pauses those that publish to the topic."""
    if not s.has_backlog or not s.holds("sends_wait") or not s.holds("remote_pauses"):
        return None
    return REMOTE_PUBLISH_LIMIT.because("paused", "A")
