"""The backlog fell, or stays as it is, because messages are lost unread. In: symptoms. Out: whether by expiry or by a quota."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

HEALED_BY_LOSS = Cause(
    "healed_by_loss",
    side="neither",
    family="mixed",
    mark="✖",
    pattern="x",
    decisive=("expiring", "evicting"),
    reasons=("quota_evicted", "expired"),
)


def healed_by_loss(s: Symptoms) -> Standing | None:
    """The backlog falls, or stays as it is, because messages are lost unread."""
    if s.holds("evicting"):
        return HEALED_BY_LOSS.because("quota_evicted", "B", variant="quota_evicted")
    if s.holds("expiring"):
        return HEALED_BY_LOSS.because("expired", "B", variant="expired")
    return None
