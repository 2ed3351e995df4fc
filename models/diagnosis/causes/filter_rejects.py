"""An entry filter on the broker rejects or reschedules entries. In: symptoms. Out: whether it does so with most of them."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

FILTER_REJECTS = Cause(
    "filter_rejects",
    side="neither",
    family="storage",
    mark="▤",
    pattern="-",
    decisive=("filtering",),
    side_is_fixed=False,
    reasons=("mostly_rejected",),
)


def filter_rejects(s: Symptoms) -> Standing | None:
    """What is read does not reach the consumers, because entry filters reject it."""
    if not s.has_backlog or not s.holds("filtering"):
        return None
    return FILTER_REJECTS.because("mostly_rejected", "B")
