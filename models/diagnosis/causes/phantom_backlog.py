"""The backlog figure is not real. In: symptoms. Out: whether a backlog stays although the consumers take all that is published."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.causes.limiters import consumers_have_spare_capacity
from throttlescope.models.diagnosis.symptoms import Symptoms

PHANTOM_BACKLOG = Cause(
    "phantom_backlog",
    side="neither",
    family="open",
    mark="◌",
    pattern="/",
    rests_on_limits=True,
    side_is_fixed=False,
    reasons=("stays",),
)


def phantom_backlog(s: Symptoms) -> Standing | None:
    """As much is dispatched as published, the consumers have spare capacity, and still the backlog stays as it is."""
    if not s.has_backlog or s.holds("backlog_growing") or s.holds("backlog_draining"):
        return None
    if s.holds("backlog_old"):
        # The broker knows the age of the oldest message, so there is one.
        return None
    if (
        s.holds("dispatch_stopped") is not False
        or s.holds("acks_behind") is not False
        or not consumers_have_spare_capacity(s)
    ):
        return None
    if s.holds("cold_reads") or s.holds("counters_restarted") or s.holds("redelivering"):
        return None
    return PHANTOM_BACKLOG.because("stays", "C")
