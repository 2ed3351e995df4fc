"""Will it pass, or did it pass for a bad reason? In: symptoms. Out: standings about bursts, drains, losses and delays."""

from __future__ import annotations

from throttlescope.models.diagnosis.hypotheses.standing import Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

NO_BACKLOG = Standing("healthy", "A", "there is no backlog to explain")
#: Of a subscription that is Pulsar's own (:mod:`throttlescope.ingest.core.system_names`), whatever else would stand.
SYSTEM_BACKLOG = Standing(
    "healthy", "A", "this subscription is Pulsar's own: what waits on it is read when Pulsar needs it"
)


def healed_by_loss(s: Symptoms) -> Standing | None:
    """The backlog falls, or stays as it is, because messages are lost unread."""
    if s.holds("evicting"):
        why = "the backlog quota took entries that nobody had consumed"
        return Standing("healed_by_loss", "B", why, variant="quota_evicted")
    if s.holds("expiring"):
        return Standing(
            "healed_by_loss", "B", "the backlog fell by expiry, not by consumption", variant="expired"
        )
    return None


def publish_burst(s: Symptoms) -> Standing | None:
    """Far more than usual was published for a while; the consumers keep up with the usual."""
    burst = s.burst
    if not s.backlog_held or burst is None or not (s.holds("backlog_growing") or s.holds("backlog_draining")):
        return None
    before, threshold = burst.backlog_before_entries, s.by_name["backlog_present"].threshold
    if before is None or threshold is None or before > threshold:
        return None
    if s.capacity is None:
        return Standing("publish_burst", "C", "the backlog began with a burst of publishing")
    if s.capacity.msg_per_s < burst.usual.msg_per_s:
        return None
    return Standing(
        "publish_burst",
        "B",
        "the backlog began with a burst of publishing; the consumers keep up with the usual",
    )


def draining(s: Symptoms) -> Standing | None:
    """Nothing holds the backlog: it falls, and will be gone soon."""
    if not s.backlog_held or not s.holds("backlog_draining") or s.holds("expiring"):
        return None
    return Standing("healthy", "B", "the backlog is being worked off and no limiter holds it")


def topic_moved(s: Symptoms) -> Standing | None:
    """The topic was away for a moment, and nothing else explains what is left of it."""
    if not s.backlog_held or not s.holds("counters_restarted") or s.holds("backlog_growing"):
        return None
    if any(limiter.zone in ("at", "near") for limiter in s.limiters):
        return None
    return Standing("topic_moved", "C", "the topic was unloaded or moved, and nothing else holds the backlog")


def delayed_delivery(s: Symptoms) -> Standing | None:
    """What waits is not due yet."""
    if s.backlog_held or not s.holds("backlog_delayed"):
        return None
    return Standing("delayed_delivery", "A", "what waits is not due yet")


def healthy(s: Symptoms) -> Standing | None:
    """There is no backlog to explain, whatever the counters do."""
    if s.backlog_held is not False:
        return None
    return NO_BACKLOG
