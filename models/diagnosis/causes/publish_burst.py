"""More is published than usual for a while. In: symptoms. Out: whether the backlog began with it and the consumers keep up otherwise."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

PUBLISH_BURST = Cause(
    "publish_burst",
    side="neither",
    family="mixed",
    mark="▮",
    pattern="/",
    decisive=("publishing_burst", "capacity_short"),
    reasons=("began_with_burst", "keep_up_with_usual"),
)


def publish_burst(s: Symptoms) -> Standing | None:
    """Far more than usual was published for a while; the consumers keep up with the usual rate."""
    burst = s.burst
    if not s.has_backlog or burst is None or not (s.holds("backlog_growing") or s.holds("backlog_draining")):
        return None
    before, threshold = burst.backlog_before_entries, s.by_name["backlog_present"].threshold
    if before is None or threshold is None or before > threshold:
        return None
    if s.capacity is None:
        return PUBLISH_BURST.because("began_with_burst", "C")
    if s.capacity.msg_per_s < burst.usual.msg_per_s:
        return None
    return PUBLISH_BURST.because("keep_up_with_usual", "B")
