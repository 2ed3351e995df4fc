"""A replicator is not connected to its remote cluster. In: symptoms. Out: whether that is so."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

REMOTE_DISCONNECTED = Cause(
    "remote_disconnected",
    side="neither",
    family="storage",
    mark="⊘",
    pattern="|",
    decisive=("replicator_disconnected", "sends_nothing"),
    survives_restart=True,
    reasons=("not_connected",),
)


def remote_disconnected(s: Symptoms) -> Standing | None:
    """Something waits, and the producer of the remote cluster is not connected."""
    if not s.has_backlog or not s.holds("replicator_disconnected"):
        return None
    # A quota that is full disconnects producers, too: only a remote that was seen rules it out.
    return REMOTE_DISCONNECTED.because("not_connected", "B" if s.holds("remote_quota_full") is None else "A")
