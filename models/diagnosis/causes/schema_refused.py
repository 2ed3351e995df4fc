"""The remote cluster refuses what a replicator sends. In: symptoms. Out: whether it answers nothing although it is there."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

SCHEMA_REFUSED = Cause(
    "schema_refused",
    side="neither",
    family="storage",
    mark="⊗",
    pattern=".",
    decisive=("unanswered", "sends_wait", "sends_nothing", "backlog_growing"),
    reasons=("takes_nothing",),
)


def schema_refused(s: Symptoms) -> Standing | None:
    """The remote cluster is connected, was seen to pause no producer, and answers nothing."""
    if (
        not s.has_backlog
        or s.holds("replicator_disconnected") is not False
        or s.holds("remote_pauses") is not False
    ):
        return None
    if not s.holds("sends_wait") or not s.holds("unanswered"):
        return None
    return SCHEMA_REFUSED.because("takes_nothing", "B")
