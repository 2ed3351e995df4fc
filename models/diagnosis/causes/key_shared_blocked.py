"""The order by key holds messages back. In: symptoms. Out: whether entries wait for one consumer while others have spare capacity."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

KEY_SHARED_BLOCKED = Cause(
    "key_shared_blocked",
    side="consumer_capacity",
    family="consumer",
    mark="▣",
    pattern="+",
    decisive=("hash_blocked", "consumers_uneven"),
    lever="consumers",
    side_is_fixed=False,
    reasons=("one_consumer",),
)


def key_shared_blocked(s: Symptoms) -> Standing | None:
    """The entries at the head belong to keys of one consumer that takes no more, while others have spare capacity."""
    if not s.has_backlog or not s.holds("hash_blocked"):
        return None
    if any(limiter.activity == "continuous" for limiter in s.limiters):
        return None
    return KEY_SHARED_BLOCKED.because("one_consumer", "B")
