"""The same messages are delivered again and again. In: symptoms. Out: whether most of the dispatching is spent on them."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

REDELIVERY = Cause(
    "redelivery",
    side="consumer_capacity",
    family="consumer",
    mark="↻",
    pattern="-",
    decisive=("redelivering",),
    lever="consumers",
    reasons=("mostly_again",),
)


def redelivery(s: Symptoms) -> Standing | None:
    """What is dispatched is mostly dispatched again."""
    if not s.has_backlog or not s.holds("redelivering"):
        return None
    return REDELIVERY.because("mostly_again", "B")
