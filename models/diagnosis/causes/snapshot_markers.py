"""Snapshots of replicated subscriptions fill a backlog. In: symptoms. Out: whether it grows although nothing is published.

A replicated subscription has its position copied to other clusters by marker entries in the topic. They are not consumed: a subscription
that is not read collects them, which is a backlog without traffic (apache/pulsar#6437, #22926). ``throttlescope analyze-backlog`` counts
the markers. The signature follows reports, no recording.
"""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

SNAPSHOT_MARKERS = Cause(
    "snapshot_markers",
    side="neither",
    family="fine",
    mark="◈",
    pattern="|",
    decisive=("replication_markers", "backlog_growing"),
    side_is_fixed=False,
    reasons=("nothing_published",),
)


def snapshot_markers(s: Symptoms) -> Standing | None:
    """Nothing is published, and the backlog of a replicated subscription grows."""
    if not s.has_backlog or not s.holds("replication_markers"):
        return None
    return SNAPSHOT_MARKERS.because("nothing_published", "C")
