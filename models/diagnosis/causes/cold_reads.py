"""The backlog is read from storage, and that is the slow part. In: symptoms. Out: whether consumers wait for such reads."""

from __future__ import annotations

from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.causes.limiters import consumers_have_spare_capacity
from throttlescope.models.diagnosis.symptoms import Symptoms

COLD_READS = Cause(
    "cold_reads",
    side="neither",
    family="storage",
    mark="◇",
    decisive=("cold_reads", "consumer_queue_empty"),
    rests_on_limits=True,
    is_of_broker=True,
    side_is_fixed=False,
    reasons=("from_storage",),
)


def cold_reads(s: Symptoms) -> Standing | None:
    """Consumers have spare capacity, and reads from storage are slow."""
    if not s.has_backlog or not s.holds("cold_reads") or not consumers_have_spare_capacity(s):
        return None
    if (s.by_name["backlog_present"].value or 0.0) < t.INACTIVE_ENTRIES:
        return None
    return COLD_READS.because("from_storage", "C")
