"""A replicator has stopped reading. In: symptoms. Out: whether it is connected, sends nothing, and waits for nothing."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

REPLICATOR_STUCK = Cause(
    "replicator_stuck",
    side="neither",
    family="storage",
    mark="⊙",
    pattern="x",
    decisive=("sends_nothing", "sends_wait", "backlog_growing"),
    rests_on_limits=True,
    reasons=("reads_nothing",),
)


def replicator_stuck(s: Symptoms) -> Standing | None:
    """Something waits, the remote is connected, nothing is sent, and no send is without an answer."""
    if not s.has_backlog or s.holds("replicator_disconnected") is not False:
        return None
    if not s.holds("sends_nothing") or s.holds("sends_wait") is not False:
        return None
    return REPLICATOR_STUCK.because("reads_nothing", "B")
