"""The remote cluster, or the network to it, is slower than what is published. In: symptoms. Out: whether sends wait although the remote pauses no producer."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

REMOTE_SLOW = Cause(
    "remote_slow",
    side="consumer_capacity",
    family="consumer",
    mark="⇢",
    pattern="|",
    decisive=("sends_wait", "unanswered", "remote_pauses", "backlog_growing"),
    reasons=("answers_late",),
)


def remote_slow(s: Symptoms) -> Standing | None:
    """What was sent waits for an answer, some of it gets one, and the remote cluster was seen to pause no producer."""
    if not s.has_backlog or not s.holds("sends_wait") or s.holds("remote_pauses") is not False:
        return None
    if s.holds("unanswered") is not False:
        return None
    return REMOTE_SLOW.because("answers_late", "B")
