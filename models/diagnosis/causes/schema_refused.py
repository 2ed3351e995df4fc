"""The remote cluster refuses what a replicator sends. In: symptoms. Out: whether the same entries are sent again and again."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

SCHEMA_REFUSED = Cause(
    "schema_refused",
    side="neither",
    family="storage",
    mark="⊗",
    pattern=".",
    decisive=("resending", "backlog_growing"),
    reasons=("sent_again",),
)


def schema_refused(s: Symptoms) -> Standing | None:
    """The replicator is connected and sends, and none of it leaves the backlog."""
    if not s.has_backlog or not s.holds("resending") or s.holds("sends_wait"):
        return None
    return SCHEMA_REFUSED.because("sent_again", "B")
