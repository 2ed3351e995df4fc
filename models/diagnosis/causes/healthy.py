"""No problem is found with the subscription. In: symptoms. Out: whether there is no backlog, or one that is being worked off."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

HEALTHY = Cause(
    "healthy",
    side="neither",
    family="fine",
    mark="✓",
    is_incident=False,
    survives_restart=True,
    more_consumers_help=True,
    reasons=("no_backlog", "of_pulsar_itself", "draining"),
)
NO_BACKLOG = HEALTHY.because("no_backlog", "A")
#: For a subscription that is Pulsar's own (:mod:`throttlescope.ingest.core.system_names`), whatever else would apply.
SYSTEM_BACKLOG = HEALTHY.because("of_pulsar_itself", "A")


def draining(s: Symptoms) -> Standing | None:
    """The backlog falls, and will be gone soon."""
    if not s.has_backlog or not s.holds("backlog_draining") or s.holds("expiring"):
        return None
    return HEALTHY.because("draining", "B")


def healthy(s: Symptoms) -> Standing | None:
    """There is no backlog to explain, whatever the counters do."""
    if s.has_backlog is not False:
        return None
    return NO_BACKLOG
