"""The messages are not due yet. In: symptoms. Out: whether what waits is scheduled for later."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

DELAYED_DELIVERY = Cause(
    "delayed_delivery",
    side="neither",
    family="fine",
    mark="◷",
    pattern="/",
    decisive=("backlog_delayed",),
    reasons=("not_due",),
)


def delayed_delivery(s: Symptoms) -> Standing | None:
    """What waits is not due yet."""
    if s.has_backlog or not s.holds("backlog_delayed"):
        return None
    return DELAYED_DELIVERY.because("not_due", "A")
