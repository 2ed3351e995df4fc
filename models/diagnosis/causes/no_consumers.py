"""No consumer is connected and something waits. In: symptoms. Out: whether that is so, and whether it has been for a day."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.causes.unknown import UNKNOWN
from throttlescope.models.diagnosis.symptoms import Symptoms

NO_CONSUMERS = Cause(
    "no_consumers",
    side="consumer_capacity",
    family="consumer",
    mark="○",
    pattern="/",
    decisive=("no_consumers", "abandoned"),
    lever="consumers",
    more_consumers_help=True,
    reasons=("not_connected", "abandoned"),
)


def no_consumers(s: Symptoms) -> Standing | None:
    """No consumer is connected and at least one entry waits; of a sealed segment whose successors are read, the cause is not known."""
    waiting = s.by_name["backlog_present"].value
    if not s.holds("no_consumers") or not waiting or waiting <= 0:
        return None
    if s.holds("backlog_delayed") and not s.has_backlog:
        return None
    if s.holds("successors_read"):
        # The subscription has consumers, on what the segment was divided into: its own last entries were left, or are just being read.
        return UNKNOWN.because("segment_left")
    if s.holds("abandoned"):
        return NO_CONSUMERS.because("abandoned", "A", variant="abandoned")
    return NO_CONSUMERS.because("not_connected", "A")
