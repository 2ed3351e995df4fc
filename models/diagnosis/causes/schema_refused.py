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
    decisive=("sends_nothing", "sends_wait", "resending", "backlog_growing"),
    reasons=("takes_nothing",),
)


def schema_refused(s: Symptoms) -> Standing | None:
    """The remote cluster is connected and pauses nobody, and takes nothing: sends wait, until no more are made, or are made again."""
    if not s.has_backlog or s.holds("replicator_disconnected") is not False or s.holds("remote_pauses"):
        return None
    stopped = s.holds("sends_wait") and s.holds("sends_nothing")
    if not stopped and not s.holds("resending"):
        return None
    return SCHEMA_REFUSED.because("takes_nothing", "B")
