"""The broker's count of permits has drifted: consumers would take more than it dispatches. In: symptoms. Out: whether that shows.

A dispatcher adds up what consumers request. Bugs of brokers subtract too much from that sum, or count acknowledgements twice; dispatching
is slow or does not move then although consumers request messages, until the topic is unloaded. The signature follows reports
(apache/pulsar#26288, #26416, #26422), no recording.
"""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.causes.limiters import consumers_have_spare_capacity
from throttlescope.models.diagnosis.symptoms import Symptoms

PERMIT_DRIFT = Cause(
    "permit_drift",
    side="neither",
    family="open",
    mark="⊟",
    pattern="x",
    decisive=("unacked_negative", "permits_lost", "dispatch_below_before"),
    side_is_fixed=False,
    reasons=("unacked_negative", "permits_lost", "dispatch_below_before"),
)


def permits_drifted(s: Symptoms) -> Standing | None:
    """A count that cannot be: fewer than no unacknowledged messages, or permits that consumers cannot owe."""
    if not s.has_backlog:
        return None
    if s.holds("unacked_negative"):
        return PERMIT_DRIFT.because("unacked_negative", "C")
    if s.holds("permits_lost"):
        return PERMIT_DRIFT.because("permits_lost", "C")
    return None


def slower_after_reconnects(s: Symptoms) -> Standing | None:
    """Consumers have spare capacity, no limiter is in use, and since they reconnected less is dispatched than before."""
    if not s.has_backlog or not s.holds("dispatch_below_before") or not consumers_have_spare_capacity(s):
        return None
    return PERMIT_DRIFT.because("dispatch_below_before", "C")
