"""Publishing and dispatching wait for the same thread. In: symptoms. Out: whether a hot topic shows that.

A topic's ledger has one ordered thread. With very many publishes their completions fill it, and reads from the cache queue behind them:
consumers with permits get little, no limiter is in use and no read goes to storage. The signature follows reports
(apache/pulsar#26620, #24695), no recording.
"""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.causes.limiters import consumers_have_spare_capacity
from throttlescope.models.diagnosis.symptoms import Symptoms

DISPATCH_CONTENTION = Cause(
    "dispatch_contention",
    side="neither",
    family="open",
    mark="◬",
    pattern="-",
    decisive=("dispatch_contention", "consumer_queue_empty", "throttle_events"),
    rests_on_limits=True,
    side_is_fixed=False,
    reasons=("hot_topic",),
)


def dispatch_contention(s: Symptoms) -> Standing | None:
    """Consumers have spare capacity, no limiter is in use, and little of very much publishing is dispatched, from the cache."""
    if not s.has_backlog or not s.holds("dispatch_contention") or not consumers_have_spare_capacity(s):
        return None
    if any(limiter.activity in ("continuous", "ticking") for limiter in s.limiters):
        return None
    return DISPATCH_CONTENTION.because("hot_topic", "C")
