"""The remote cluster takes nothing because a backlog there has reached its quota. In: symptoms. Out: whether that is so."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

REMOTE_QUOTA = Cause(
    "remote_quota",
    side="neither",
    family="storage",
    mark="◫",
    pattern="+",
    decisive=("remote_quota_full", "sends_nothing", "unanswered", "replicator_disconnected"),
    reasons=("full",),
)


def remote_quota(s: Symptoms) -> Standing | None:
    """The remote backlog has reached its quota, and nothing is sent or nothing is answered."""
    if not s.has_backlog or not s.holds("remote_quota_full"):
        return None
    if not any(s.holds(name) for name in ("sends_nothing", "replicator_disconnected", "unanswered")):
        return None
    return REMOTE_QUOTA.because("full", "A")
