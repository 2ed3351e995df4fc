"""Cases: each states the answers of the predicates and then the verdict, and tells its story."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.models.diagnosis.scenes import KEY, growing, scene
from throttlescope.models.diagnosis.partitions import over_partitions
from throttlescope.models.diagnosis.verdict import diagnose


@dataclass(frozen=True)
class Case:
    """One window.

    Attributes
    ----------
    yes, no, open : str
        Names of the symptoms that must be answered so (``open``: not known).
    queue : str
        State of the consumers' queues.
    limiter_reads : dict
        Limiter to its zone and activity.
    verdict : tuple
        Side, cause, limiter, confidence.
    variant : str
        Looked at where it is given.
    contributing : str
        Causes that must be named next to the primary one, in their order.
    """

    story: str
    scene: dict[str, Any]
    verdict: tuple[str, str, str | None, float]
    yes: str = ""
    no: str = ""
    open: str = ""
    queue: str = "empty"
    limiter_reads: dict[str, tuple[str, str]] = field(default_factory=dict)
    naive: str | None = None
    variant: str | None = None
    contributing: str = ""


FULL = {"permits": 0.0, "starved": 0.97, "unacked": 2000.0}
NO_PERMITS = {"permits": None, "starved": None}
PAUSED = {"paused": 1.0}
NO_QUEUES = {**NO_PERMITS, "kind": "Exclusive", "consumers": 1.0}
UP = {"backlog": growing(5000, 20), "in_rate": 120.0}
HEALTHY = ("neither", "healthy", None, 0.95)
#: A minute in which the two consumers are at their end with 120 msg/s.
SLOWER = {"out_rate": 120.0, **FULL}


def sub(limit, rho, events, **more):
    return {"subscription.msg": {"limit": limit, "rho": rho, "events": events, **more}}


#: A few entries wait, and nothing moves.
STILL = {
    "backlog": 95.0, "in_rate": 0.0, "out_rate": 0.0, "ack_rate": 0.0, "flow_age_s": 9e4, "ack_age_s": 9e4,
    "mark_delete_age_s": 9e4,
}  # fmt: skip
#: Two consumers with a receiver queue of 100 under a limit that one read uses up.
NEVER_IDLE = {
    "in_rate": 110.0, "out_rate": 77.0, "permits": 50.0, "starved": 0.1, "unacked": 100.0, "limits": sub(95, 0.81, 1.0),
}  # fmt: skip


CASES = [
    # -- healthy ---------------------------------------------------------------------------------
    Case("caught up, no limit", {}, HEALTHY, no="backlog_present backlog_growing", yes="limits_far"),
    Case("idle, nothing published, nothing waits",
         {"in_rate": 0.0, "out_rate": 0.0, "ack_rate": 0.0, "backlog": 0.0, "flow_age_s": 9000.0, "ack_age_s": 9000.0},
         HEALTHY, yes="dispatch_stopped flow_stopped"),
    Case("caught up under 50 msg/s: the counter ticks on every read although nothing is wrong",
         {"in_rate": 20.0, "out_rate": 20.0, "limits": sub(50, 0.4, 20.0)},
         HEALTHY, no="backlog_present", yes="throttle_events",
         limiter_reads={"subscription.msg": ("far", "ticking")}, naive="neither"),
    Case("caught up under 1 MB/s with 100 entries/s: a hundred byte events a second",
         {"limits": {"subscription.bytes": {"limit": 1_000_000, "rho": 0.1, "events": 98.0}}},
         HEALTHY, limiter_reads={"subscription.bytes": ("far", "ticking")}, naive="neither"),
    Case("caught up and using 97 % of its limit, which is dry for a moment every second",
         {"in_rate": 485.0, "out_rate": 485.0, "limits": sub(500, 0.97, 1.0)},
         HEALTHY, yes="limiter_at_limit", limiter_reads={"subscription.msg": ("at", "continuous")}),
    Case("a batching publisher: many messages, few entries",
         {"in_rate": 5000.0, "out_rate": 5000.0, "per_entry": 100.0, "backlog": 300.0}, HEALTHY),
    Case("a slow but parallel consumer holds a minute of messages, nothing waits for delivery",
         {"backlog": 6000.0, "unacked": 5990.0, "permits": 1000.0, "consumers": 10.0}, HEALTHY,
         queue="between"),
    Case("the limit was lifted and the backlog drains in minutes",
         {"backlog": growing(60_000, -150), "out_rate": 250.0, "ack_rate": 250.0},
         ("neither", "healthy", None, 0.85), yes="backlog_present backlog_draining limits_far"),
    Case("consumers are back and work at full speed; the backlog will be gone in minutes",
         {"backlog": growing(60_000, -150), "out_rate": 250.0, **FULL},
         ("neither", "healthy", None, 0.85), yes="backlog_draining consumer_queue_full", queue="full"),
    # -- throttled -------------------------------------------------------------------------------
    Case("at 100 msg/s for months; 120 are published",
         {**UP, "limits": sub(100, 0.99, 1.0)},
         ("throttle", "throttled", "subscription.msg", 0.95),
         yes="backlog_present backlog_growing limiter_at_limit throttle_events consumer_queue_empty",
         limiter_reads={"subscription.msg": ("at", "continuous")}, naive="throttle"),
    Case("the same without consumer metrics, on an Exclusive subscription",
         {**UP, **NO_QUEUES, "limits": sub(100, 0.99, 1.0)},
         ("throttle", "throttled", "subscription.msg", 0.95), open="consumer_queue_full", queue="unknown"),
    Case("a limit below the read batch: its events prove nothing, the use and the empty queues do",
         {"backlog": growing(5000, 10), "in_rate": 60.0, "out_rate": 50.0, "limits": sub(50, 1.0, 2.0)},
         ("throttle", "throttled", "subscription.msg", 0.95),
         limiter_reads={"subscription.msg": ("at", "ticking")}),
    Case("the same without consumer metrics: the use alone",
         {"backlog": growing(5000, 10), "in_rate": 60.0, "out_rate": 50.0, **NO_QUEUES, "limits": sub(50, 1.0, 2.0)},
         ("throttle", "throttled", "subscription.msg", 0.85), queue="unknown"),
    Case("the growth is small and the backlog still below ten seconds, but it grows",
         {"backlog": growing(0, 3), "in_rate": 103.0, "limits": sub(100, 1.0, 1.0)},
         ("throttle", "throttled", "subscription.msg", 0.95), yes="backlog_growing", no="backlog_present"),
    Case("publishing stopped; the limiter lets the rest out slowly and is what takes the time",
         {"backlog": growing(500_000, -100), "in_rate": 0.0, "limits": sub(100, 1.0, 1.0)},
         ("throttle", "throttled", "subscription.msg", 0.95), no="backlog_growing"),
    Case("a byte limit under 5 MiB: bytes are used up, messages are not limited",
         {**UP, "limits": {"subscription.bytes": {"limit": 100_000, "rho": 0.97, "events": 11.0}}},
         ("throttle", "throttled", "subscription.bytes", 0.95),
         limiter_reads={"subscription.bytes": ("at", "ticking")}),
    Case("a large limit that takes 0.2 s to use up delivers 83 % of itself",
         {"backlog": growing(5000, 200), "in_rate": 1033.0, "out_rate": 833.0, "limits": sub(1000, 0.833, 0.83)},
         ("throttle", "throttled", "subscription.msg", 0.85),
         limiter_reads={"subscription.msg": ("near", "continuous")}),
    Case("a victim of a greedy neighbour: it uses a tenth of the topic's limit, which is used up",
         {"backlog": growing(5000, 10), "in_rate": 60.0, "out_rate": 50.0,
          "limits": {"topic.msg": {"limit": 500, "rho": 1.0, "events": 1.0}}},
         ("throttle", "throttled", "topic.msg", 0.95),
         limiter_reads={"topic.msg": ("at", "continuous")}),
    Case("the broker's limit, shared by all its topics",
         {**UP, "limits": {"broker.msg": {"limit": 300, "rho": 0.98, "events": 1.0}}},
         ("throttle", "throttled", "broker.msg", 0.95)),
    Case("the subscription binds; topic and broker only trim, the broker most often",
         {"backlog": growing(5000, 30), "in_rate": 50.0, "out_rate": 20.0,
          "limits": {"broker.msg": {"limit": 100, "rho": 0.2, "events": 9.0},
                     "topic.msg": {"limit": 50, "rho": 0.4, "events": 2.0},
                     "subscription.msg": {"limit": 20, "rho": 1.0, "events": 2.0}}},
         ("throttle", "throttled", "subscription.msg", 0.95)),
    Case("topic and subscription have the same limit: the topic comes first and is the one that counts",
         {**UP, "limits": {"topic.msg": {"limit": 100, "rho": 0.99, "events": 1.0},
                           "subscription.msg": {"limit": 100, "rho": 0.995, "events": 0.0}}},
         ("throttle", "throttled", "topic.msg", 0.95)),
    Case("bytes bind, messages only trim",
         {**UP, "limits": {"subscription.msg": {"limit": 500, "rho": 0.2, "events": 3.0},
                           "subscription.bytes": {"limit": 100_000, "rho": 1.0, "events": 3.0}}},
         ("throttle", "throttled", "subscription.bytes", 0.95)),
    Case("10,000 per minute: used up in seconds, then dry for the rest of the minute",
         {"backlog": growing(5000, 40), "in_rate": 200.0, "out_rate": 164.0,
          "limits": sub(10_000, 0.985, 0.9, period_s=60)},
         ("throttle", "throttled", "subscription.msg", 0.95)),
    Case("100,000 per hour, used up: nothing is dispatched, and the limiter says so every second",
         {"backlog": growing(5000, 40), "in_rate": 40.0, "out_rate": 0.0, "ack_rate": 0.0,
          "limits": sub(100_000, 0.0, 1.0, period_s=3600)},
         ("throttle", "throttled", "subscription.msg", 0.85),
         limiter_reads={"subscription.msg": ("unknown", "continuous")}, yes="dispatch_stopped"),
    Case("throttled before and after its topic was unloaded",
         {**UP, "resets": [0, 0, 8, 0, 0], "out_rate": [100.0, 100.0, 80.0, 110.0, 100.0],
          "limits": sub(100, [1.0, 1.0, 0.8, 1.1, 1.0], 1.0, duty=[1.0, 1.0, 0.5, 1.0, 1.0])},
         ("throttle", "throttled", "subscription.msg", 0.9025), yes="counters_restarted"),
    Case("the limits were read a day later",
         {**UP, "observed_later": True, "limits": sub(100, 0.99, 1.0)},
         ("throttle", "throttled", "subscription.msg", 0.855), yes="limit_observed_later"),
    Case("a third of the scrapes failed",
         {**UP, "coverage": 0.66, "limits": sub(100, 0.99, 1.0)},
         ("throttle", "throttled", "subscription.msg", 0.855), yes="coverage"),
    Case("no counters on an old broker, but use at the limit and idle consumers",
         {**UP, "counters": False, "limits": sub(100, 0.99, None, duty=None)},
         ("throttle", "throttled", "subscription.msg", 0.85),
         limiter_reads={"subscription.msg": ("at", "unseen")}),
    # -- slow consumers --------------------------------------------------------------------------
    Case("consumers at their capacity, no limit",
         {**UP, **FULL}, ("consumer_capacity", "slow_consumers", None, 0.95),
         yes="consumer_queue_full limits_far", no="throttle_events", queue="full", naive="consumer_capacity"),
    Case("consumers at their capacity under a limit that does not bind",
         {**UP, **FULL, "limits": sub(500, 0.2, 0.0)},
         ("consumer_capacity", "slow_consumers", None, 0.95), queue="full"),
    Case("their requests wait on a connection that a producer above its publish limit has paused",
         {**UP, **FULL, **PAUSED}, ("neither", "connection_paused", None, 0.85),
         yes="connection_paused consumer_queue_full limits_far", queue="full", naive="consumer_capacity"),
    Case("the same where permits are not scraped",
         {**UP, **NO_QUEUES, **PAUSED}, ("neither", "connection_paused", None, 0.70), queue="unknown"),
    Case("a third of the consumers share a paused connection: the others could take more",
         {**UP, **FULL, "paused": 0.34}, ("consumer_capacity", "slow_consumers", None, 0.95),
         no="connection_paused", queue="full"),
    Case("connections are paused, the consumers have permits, and a dispatch limit is used up",
         {**UP, **PAUSED, "out_rate": 100.0, "limits": sub(100, 1.0, 1.0)},
         ("throttle", "throttled", "subscription.msg", 0.95), yes="connection_paused"),
    Case("who shares a connection is not known",
         {**UP, **FULL, "paused": None}, ("consumer_capacity", "slow_consumers", None, 0.95),
         open="connection_paused", queue="full"),
    Case("the same under 1 MB/s: byte events tick, and the naive rule is wrong",
         {**UP, **FULL, "limits": {"subscription.bytes": {"limit": 1_000_000, "rho": 0.1, "events": 2.0}}},
         ("consumer_capacity", "slow_consumers", None, 0.95), queue="full", naive="throttle"),
    Case("20 msg/s through a limit of 50: permits come in bursts, and each burst ticks",
         {"backlog": growing(5000, 10), "in_rate": 30.0, "out_rate": 20.0, **FULL, "starved": 0.6,
          "limits": sub(50, 0.4, 0.72, duty=0.6)},
         ("consumer_capacity", "slow_consumers", None, 0.95), queue="full", naive="throttle"),
    Case("900 of 1,000 msg/s: at the limit by its own capacity, and the limiter hardly ever acts",
         {"backlog": growing(5000, 100), "in_rate": 1000.0, "out_rate": 900.0, **FULL, "limits": sub(1000, 0.9, 0.03)},
         ("consumer_capacity", "slow_consumers", None, 0.85), queue="full",
         limiter_reads={"subscription.msg": ("at", "sparse")}),
    Case("no consumer metrics, Exclusive, no limit: by elimination",
         {**UP, **NO_QUEUES}, ("consumer_capacity", "slow_consumers", None, 0.85), queue="unknown"),
    Case("the same with a byte limit far away whose counter ticks",
         {**UP, **NO_QUEUES, "limits": {"topic.bytes": {"limit": 2_000_000, "rho": 0.05, "events": 2.0}}},
         ("consumer_capacity", "slow_consumers", None, 0.70), queue="unknown"),
    Case("full queues next to a neighbour that uses the topic's limit up",
         {**UP, **FULL, "limits": {"topic.msg": {"limit": 2000, "rho": 1.0, "events": 1.0}}},
         ("consumer_capacity", "slow_consumers", None, 0.85), queue="full"),
    Case("everything is delivered, half of it is acknowledged",
         {"backlog": growing(5000, 50), "ack_rate": 50.0, **NO_QUEUES},
         ("consumer_capacity", "slow_consumers", None, 0.85), yes="acks_behind", queue="unknown"),
    Case("slow across an unload: the full queues say so",
         {**UP, **FULL, "resets": [0, 6, 0, 0, 0]},
         ("consumer_capacity", "slow_consumers", None, 0.9025), queue="full"),
    Case("77 of 95 msg/s, one read's tokens, for a quarter of an hour, and both consumers hold messages at every sample",
         {**UP, **NEVER_IDLE, "before": [NEVER_IDLE] * 10},
         ("consumer_capacity", "slow_consumers", None, 0.70), yes="consumers_busy backlog_growing", queue="busy",
         limiter_reads={"subscription.msg": ("near", "ticking")}),
    Case("the same, but once in that time they were idle",
         {**UP, **NEVER_IDLE, "before": [NEVER_IDLE] * 8 + [NEVER_IDLE | {"unacked": 0.0}] + [NEVER_IDLE]},
         ("unknown", "unknown", None, 0.0), no="consumers_busy", queue="between"),
    Case("the same, at a rate that swings",
         {**UP, **NEVER_IDLE, "before": [NEVER_IDLE | {"out_rate": rate} for rate in (60.0, 95.0) * 5]},
         ("unknown", "unknown", None, 0.0), no="consumers_busy", queue="between"),
    Case("the same for five minutes only",
         {**UP, **NEVER_IDLE, "before": [{}] * 5}, ("unknown", "unknown", None, 0.0), no="consumers_busy", queue="between"),
    Case("near the limit, and the consumers are idle at most samples: the limiter's pauses",
         {**UP, **NEVER_IDLE, "unacked": [0.0, 90.0, 0.0, 90.0, 0.0], "before": [NEVER_IDLE] * 10},
         ("throttle", "throttled", "subscription.msg", 0.85), no="consumers_busy"),
    Case("never idle under a limit of many reads, whose counter proves its pauses",
         {**UP, **NEVER_IDLE, "out_rate": 833.0, "in_rate": 1033.0, "backlog": growing(5000, 200),
          "limits": sub(1000, 0.833, 0.83), "before": [NEVER_IDLE | {"out_rate": 833.0}] * 10},
         ("throttle", "throttled", "subscription.msg", 0.85), yes="consumers_busy", queue="busy"),
    # -- both ------------------------------------------------------------------------------------
    Case("the limit is used up every second, and the consumers could not take more either",
         {**UP, **FULL, "limits": sub(100, 0.97, 1.0)},
         ("both", "both", "subscription.msg", 0.70), queue="full"),
    # -- no consumer, nothing, lost -------------------------------------------------------------------
    Case("no consumer connected",
         {**UP, "consumers": 0.0, "out_rate": 0.0, "ack_rate": 0.0, "permits": None, "starved": None},
         ("consumer_capacity", "no_consumers", None, 0.95), yes="no_consumers", queue="unknown"),
    Case("a segment whose parents still have a backlog: a stream subscription reads them first",
         {**UP, "consumers": 0.0, "out_rate": 0.0, "permits": None, "starved": None, "parents": [900.0, 700.0, 500.0, 300.0, 100.0]},
         ("neither", "segment_blocked", None, 0.95), yes="no_consumers parent_segments", queue="unknown"),
    Case("a segment whose parents were drained minutes ago, which the broker has not seen yet",
         {**UP, "consumers": 0.0, "out_rate": 0.0, "permits": None, "starved": None, "parents": 0.0},
         ("neither", "segment_blocked", None, 0.70), yes="no_consumers", no="parent_segments", queue="unknown"),
    Case("a segment with consumers next to parents that drain: the limit holds it",
         {**UP, "parents": 5000.0, "limits": sub(100, 0.99, 1.0)},
         ("throttle", "throttled", "subscription.msg", 0.95), yes="parent_segments", no="no_consumers"),
    Case("a sealed segment without a consumer, while its successors have some",
         {**UP, "consumers": 0.0, "out_rate": 0.0, "permits": None, "starved": None, "successors": 2.0},
         ("unknown", "unknown", None, 0.0), yes="no_consumers successors_read", queue="unknown"),
    Case("a sealed segment whose successors have no consumer either",
         {**UP, "consumers": 0.0, "out_rate": 0.0, "permits": None, "starved": None, "successors": 0.0},
         ("consumer_capacity", "no_consumers", None, 0.95), yes="no_consumers", no="successors_read", queue="unknown"),
    Case("no consumer connected under a limit that was used up before they left",
         {**UP, "consumers": 0.0, "out_rate": 0.0, "permits": None, "starved": None,
          "limits": {"topic.msg": {"limit": 100, "rho": 1.0, "events": 0.0}}},
         ("consumer_capacity", "no_consumers", None, 0.95), queue="unknown"),
    Case("no consumer, and nothing waits",
         {"consumers": 0.0, "backlog": 0.0, "in_rate": 0.0, "out_rate": 0.0, "permits": None, "starved": None}, HEALTHY,
         queue="unknown"),
    Case("blocked: 200,000 messages are not acknowledged",
         {**UP, "blocked": 1.0, "unacked": 200_000.0, "backlog": growing(400_000, 100), "out_rate": 0.0, "ack_rate": 0.0,
          "limits": sub(50, 0.0, 1.0)},
         ("consumer_capacity", "blocked_on_unacked", None, 0.95), yes="blocked_on_unacked", queue="full"),
    Case("consumers took what they could hold and hang",
         {**UP, **FULL, "out_rate": 0.0, "ack_rate": 0.0, "flow_age_s": 900.0, "ack_age_s": 900.0},
         ("consumer_capacity", "hung_consumers", None, 0.95),
         yes="dispatch_stopped acks_stopped flow_stopped", queue="full"),
    Case("the same without consumer metrics",
         {**UP, **NO_QUEUES, "out_rate": 0.0, "ack_rate": 0.0, "flow_age_s": 900.0, "ack_age_s": 900.0},
         ("consumer_capacity", "hung_consumers", None, 0.70), queue="unknown"),
    Case("nothing is dispatched, but acknowledgements go on: they work off what they hold",
         {**UP, **NO_QUEUES, "out_rate": 0.0, "ack_rate": 1.0, "ack_age_s": 2.0},
         ("consumer_capacity", "slow_consumers", None, 0.85), queue="unknown"),
    Case("consumers have room, nothing is dispatched, no limiter acts: a stuck dispatcher or a ghost backlog",
         {"backlog": 40_000.0, "in_rate": 0.0, "out_rate": 0.0, "ack_rate": 0.0, "flow_age_s": 9e4, "ack_age_s": 9e4},
         ("unknown", "unknown", None, 0.0), yes="dispatch_stopped"),
    Case("consumers refuse most of what they get",
         {**UP, "redeliver_rate": 60.0, **FULL},
         ("consumer_capacity", "redelivery", None, 0.85), yes="redelivering", queue="full"),
    Case("redeliveries eat the limit: the limiter is what holds",
         {**UP, "redeliver_rate": 60.0, "limits": sub(100, 1.0, 1.0)},
         ("throttle", "throttled", "subscription.msg", 0.95), yes="redelivering"),
    Case("what waits is due tomorrow",
         {"backlog": 50_000.0, "delayed": 49_990.0}, ("neither", "delayed_delivery", None, 0.95),
         yes="backlog_delayed", no="backlog_present", naive="neither"),
    Case("the backlog is gone, but it expired",
         {"backlog": [90_000.0, 90_000.0, 90_000.0, 100.0, 100.0], "expired": [0.0, 0.0, 0.0, 89_900.0, 0.0]},
         ("neither", "healed_by_loss", None, 0.85), yes="expiring"),
    Case("the topic moved; what is left does not move and nothing else explains it",
         {"backlog": [0.0, 4000.0, 4000.0, 3950.0, 4000.0], "resets": [0, 8, 0, 0, 0], **NO_QUEUES},
         ("neither", "topic_moved", None, 0.70), yes="counters_restarted backlog_present", no="backlog_growing",
         queue="unknown"),
    Case("the topic moved under a limit whose use was not measured around the move",
         {"backlog": [0.0, 4000.0, 4000.0, 3950.0, 4000.0], "resets": [0, 8, 0, 0, 0], **NO_QUEUES,
          "limits": sub(100, None, 0.0, duty=None)},
         ("unknown", "unknown", None, 0.0), yes="counters_restarted backlog_present", no="backlog_growing",
         queue="unknown"),
    Case("bursts of ten seconds: the minute's mean is half of the limit, and the backlog comes and goes",
         {"in_rate": 150.0, "out_rate": 150.0, "backlog": [0.0, 4000.0, 0.0, 3500.0, 5.0],
          "limits": sub(300, 0.5, 0.4, duty=0.4)},
         ("throttle", "micro_burst_throttled", "subscription.msg", 0.70), yes="backlog_sawtooth"),
    Case("slow consumers were made fast; the rest of the backlog went through the limit and is gone",
         {"in_rate": 120.0, "out_rate": [90.0, 480.0, 300.0, 120.0, 120.0], "backlog": [30_000.0, 9_000.0, 20.0, 5.0, 5.0],
          "limits": sub(500, 0.5, 0.6, duty=0.4)}, HEALTHY, no="backlog_sawtooth"),
    Case("the same bursts under a limit whose events mean nothing",
         {"in_rate": 40.0, "out_rate": 40.0, "backlog": [0.0, 4000.0, 0.0, 3500.0, 5.0],
          "limits": sub(90, 0.45, 8.0)}, HEALTHY, yes="backlog_sawtooth"),
    # -- little that waits for long ----------------------------------------------------------------
    Case("95 entries, nothing dispatched or acknowledged for a day, the oldest message as old; permits are not scraped",
         {**STILL, **NO_QUEUES, "topic_age_s": 86_400.0}, ("unknown", "unknown", None, 0.0),
         yes="backlog_old dispatch_stopped acks_stopped", no="backlog_present backlog_growing", queue="unknown"),
    Case("the same, and the consumers have permits: dispatch is stuck",
         {**STILL, "topic_age_s": 86_400.0}, ("unknown", "unknown", None, 0.0), yes="backlog_old"),
    Case("the same, and the consumers have none: they hang",
         {**STILL, "kind": "Exclusive", "consumers": 1.0, "permits": 0.0, "starved": 1.0, "topic_age_s": 86_400.0},
         ("consumer_capacity", "hung_consumers", None, 0.95), yes="backlog_old", queue="full"),
    Case("the same, and no consumer is connected",
         {**STILL, "consumers": 0.0, "permits": None, "starved": None, "topic_age_s": 86_400.0},
         ("consumer_capacity", "no_consumers", None, 0.95), queue="unknown", variant="abandoned"),
    Case("the same under a limit that is used up for the hour",
         {**STILL, "topic_age_s": 86_400.0, "limits": sub(100_000, 0.0, 1.0, period_s=3600)},
         ("throttle", "throttled", "subscription.msg", 0.85), yes="backlog_old"),
    Case("an old trickle: one message every ten seconds comes and goes, two hours late",
         {"backlog": 95.0, "in_rate": 0.1, "out_rate": 0.1, "ack_rate": 0.1, "own_age_s": 7200.0, **NO_QUEUES},
         ("consumer_capacity", "slow_consumers", None, 0.85), yes="backlog_old", queue="unknown"),
    Case("99 entries of 1,000 messages under a limit that is used up: a hundred seconds of it",
         {"backlog": 99.0, "in_rate": 1000.0, "out_rate": 1000.0, "per_entry": 1000.0, "limits": sub(1000, 1.0, 1.0)},
         ("throttle", "throttled", "subscription.msg", 0.95), yes="backlog_present"),
    Case("an idle subscription whose imprecise count keeps 95 entries", STILL, HEALTHY, open="backlog_old"),
    Case("what a tail leaves behind: three entries, two of them delayed",
         {**STILL, "backlog": 3.0, "delayed": 2.0, "topic_age_s": 86_400.0}, HEALTHY, no="backlog_old"),
    Case("one message in ten minutes, and a neighbour whose backlog is a day old",
         {"backlog": 1.0, "in_rate": 0.0, "out_rate": 0.0, "ack_rate": 0.0, "ack_age_s": 500.0, "topic_age_s": 86_400.0,
          "mark_delete_age_s": 500.0}, HEALTHY, no="backlog_old"),
    # -- what the hours before say ---------------------------------------------------------------
    Case("at its limit, and ten minutes ago the consumers did less than is published now",
         {**UP, "in_rate": 200.0, "limits": sub(100, 0.99, 1.0), "before": [SLOWER] * 3 + [{}] * 10},
         ("both", "both", "subscription.msg", 0.95), yes="limiter_at_limit capacity_short"),
    Case("at its limit, and the consumers could do more than is published",
         {**UP, "in_rate": 115.0, "limits": sub(100, 0.99, 1.0), "before": [SLOWER] * 3 + [{}] * 10},
         ("throttle", "throttled", "subscription.msg", 0.95), no="capacity_short"),
    Case("four times the usual for three minutes, which the consumers' capacity is above",
         {**UP, **FULL, "in_rate": 400.0, "out_rate": 120.0, "before": [{}] * 20 + [SLOWER | {"in_rate": 400.0}] * 3},
         ("neither", "publish_burst", None, 0.85), yes="publishing_burst capacity_short", queue="full"),
    Case("the burst is over and its backlog drains",
         {"backlog": growing(12_000, -20), **FULL, "out_rate": 120.0,
          "before": [{}] * 20 + [SLOWER | {"in_rate": 400.0, "backlog": 9000.0}] * 5},
         ("neither", "publish_burst", None, 0.85), yes="publishing_burst backlog_draining", queue="full"),
    Case("a burst on top of consumers that do not keep up with the usual either",
         {**UP, **FULL, "in_rate": 400.0, "out_rate": 80.0,
          "before": [{}] * 20 + [{"out_rate": 80.0, **FULL, "in_rate": 400.0}] * 3},
         ("consumer_capacity", "slow_consumers", None, 0.95), yes="publishing_burst", queue="full"),
    Case("a burst on top of a backlog that was there before",
         {**UP, **FULL, "in_rate": 400.0, "out_rate": 120.0,
          "before": [{"backlog": 50_000.0}] * 20 + [SLOWER | {"in_rate": 400.0, "backlog": 50_000.0}] * 3},
         ("consumer_capacity", "slow_consumers", None, 0.95), yes="publishing_burst", queue="full"),
    # -- the broker and its other brakes ---------------------------------------------------------
    Case("every consumer has reached its own limit; Pulsar's flag of the subscription stays 0",
         {**UP, **FULL, "consumers_blocked": 2.0, "out_rate": 0.0},
         ("consumer_capacity", "blocked_on_unacked", None, 0.95), no="blocked_on_unacked", yes="consumers_blocked",
         queue="full", variant="consumer_limit"),
    Case("Key_Shared: entries wait for the one consumer that owns their keys",
         {**UP, "kind": "Key_Shared", "out_rate": 40.0, "replay": 900.0, "without_permits": 1.0, "slowest_acks": 2.0},
         ("consumer_capacity", "key_shared_blocked", None, 0.85), yes="hash_blocked consumers_uneven"),
    Case("entry filters put off nearly all that is read",
         {**UP, "out_rate": 10.0, "filtered": (100.0, 0.0, 90.0)},
         ("neither", "filter_rejects", None, 0.85), yes="filtering"),
    Case("the broker's memory for reads in flight is used up",
         {**UP, "out_rate": 50.0, "reads_inflight": 1e9, "reads_free": 0.0},
         ("neither", "read_limit", None, 0.85), yes="reads_wait"),
    Case("all that is published is dispatched and acknowledged, and 40,000 entries stay: are they there?",
         {"backlog": 40_000.0}, ("neither", "phantom_backlog", None, 0.70), no="backlog_growing dispatch_stopped"),
    Case("a quota takes what slow consumers leave; the backlog does not change",
         {"backlog": 9000.0, **FULL, "in_rate": 120.0, "out_rate": 60.0, "evictions": 4.2},
         ("neither", "healed_by_loss", None, 0.85), yes="evicting", queue="full", variant="quota_evicted",
         contributing="slow_consumers"),
    Case("what expires is what slow consumers leave; the backlog does not change",
         {"backlog": 9000.0, **FULL, "in_rate": 120.0, "out_rate": 60.0, "expired": 3600.0},
         ("neither", "healed_by_loss", None, 0.85), yes="expiring", no="backlog_growing", queue="full",
         variant="expired", contributing="slow_consumers"),
    Case("no consumer has connected for a day",
         {"backlog": growing(90_000, 20), "consumers": 0.0, "out_rate": 0.0, "mark_delete_age_s": 200_000.0},
         ("consumer_capacity", "no_consumers", None, 0.95), yes="abandoned", variant="abandoned"),
    Case("at its limit while half of what is dispatched was dispatched before",
         {**UP, "limits": sub(100, 0.99, 1.0), "redeliver_rate": 50.0},
         ("throttle", "throttled", "subscription.msg", 0.95), yes="redelivering", contributing="redelivery"),
    # -- limits not known ------------------------------------------------------------------------
    Case("metrics only: 500 msg/s in one event a second and idle consumers",
         {"backlog": growing(5000, 50), "in_rate": 550.0, "out_rate": 500.0, "limits_observed": False,
          "limits": sub(500, None, 1.0)},
         ("throttle", "throttled", "subscription.msg", 0.85),
         limiter_reads={"subscription.msg": ("unknown", "continuous")}),
    Case("metrics only: byte events and idle consumers",
         {**UP, "limits_observed": False, "limits": {"topic.bytes": {"events": 11.0}}},
         ("throttle", "throttled", "topic.bytes", 0.70),
         limiter_reads={"topic.bytes": ("unknown", "ticking")}),
    Case("metrics only: byte events and full queues",
         {**UP, **FULL, "limits_observed": False, "limits": {"topic.bytes": {"events": 11.0}}},
         ("consumer_capacity", "slow_consumers", None, 0.70), queue="full"),
    Case("metrics only: byte events and nothing else",
         {**UP, **NO_QUEUES, "limits_observed": False, "limits": {"topic.bytes": {"events": 11.0}}},
         ("unknown", "unknown", None, 0.0), queue="unknown"),
    Case("metrics only: no event at all while messages flow is sound",
         {**UP, **NO_QUEUES, "limits_observed": False},
         ("consumer_capacity", "slow_consumers", None, 0.85), queue="unknown"),
    Case("an old broker without counters or limits: full queues still say something",
         {**UP, **FULL, "limits_observed": False, "counters": False},
         ("consumer_capacity", "slow_consumers", None, 0.70), queue="full"),
    Case("metrics only: Failover with six consumers, of which the active one is starved and five are on standby",
         {**UP, "kind": None, "consumers": 6.0, "starved": 1 / 6, "unacked": 0.0, "slowest_acks": 0.0,
          "limits_observed": False, "limits": {"topic.bytes": {"events": 2.0}}},
         ("consumer_capacity", "slow_consumers", None, 0.70), queue="full"),
    Case("the same where unacked messages are not scraped: it is not known whether five are on standby",
         {**UP, "kind": None, "consumers": 6.0, "starved": 1 / 6, "unacked": None, "slowest_acks": None,
          "limits_observed": False, "limits": {"topic.bytes": {"events": 2.0}}},
         ("unknown", "unknown", None, 0.0), queue="unknown"),
    # -- bugs of brokers, after their reports; none was provoked ------------------------------------
    Case("the sum of permits is lost: consumers request messages, hold next to none, and get none",
         {**UP, "permits": -177_300.0, "starved": 1.0, "unacked": 4.0, "out_rate": 0.0},
         ("neither", "permit_drift", None, 0.70), yes="permits_lost", queue="full"),
    Case("the same with what slow consumers hold",
         {**UP, "permits": -900.0, "starved": 1.0, "unacked": 3800.0},
         ("consumer_capacity", "slow_consumers", None, 0.95), no="permits_lost", queue="full"),
    Case("fewer than no unacknowledged messages",
         {**UP, "unacked": -40.0, "out_rate": 50.0}, ("neither", "permit_drift", None, 0.70), yes="unacked_negative"),
    Case("two thirds of what the consumers took before they reconnected several times, with permits at all of them",
         {**UP, "out_rate": 78.0, "before": [SLOWER] * 10 + [{"consumers": count} for count in (2.0, 1.0, 2.0, 0.0, 2.0)]},
         ("neither", "permit_drift", None, 0.70), yes="dispatch_below_before"),
    Case("the same without reconnects: unknown",
         {**UP, "out_rate": 78.0, "before": [SLOWER] * 10}, ("unknown", "unknown", None, 0.0), no="dispatch_below_before"),
    Case("139,000 entries/s are published to one partition, 5,700 dispatched from the cache, and consumers have room",
         {"backlog": growing(9_000_000, 133_000), "in_rate": 139_000.0, "out_rate": 5_700.0, "written": 139_000.0},
         ("neither", "dispatch_contention", None, 0.70), yes="dispatch_contention"),
    Case("the same while a limiter throttles reads",
         {"backlog": growing(9_000_000, 133_000), "in_rate": 139_000.0, "out_rate": 5_700.0, "written": 139_000.0,
          "limits": sub(5_700, 0.99, 1.0)},
         ("throttle", "throttled", "subscription.msg", 0.95), yes="dispatch_contention"),
    Case("nothing is published and the backlog of a replicated subscription without consumers grows",
         {"backlog": growing(500, 1), "in_rate": 0.0, "out_rate": 0.0, "consumers": 0.0, "replicated": True},
         ("neither", "snapshot_markers", None, 0.70), yes="replication_markers", contributing="no_consumers"),
    # -- contradictions and gaps -----------------------------------------------------------------
    Case("consumers have room and no limit is near",
         {**UP, "out_rate": 50.0}, ("unknown", "unknown", None, 0.0), no="limiter_at_limit"),
    Case("the same while every read misses the cache",
         {**UP, "out_rate": 50.0, "misses": 50.0}, ("neither", "cold_reads", None, 0.70), yes="cold_reads"),
    Case("1.8 times what the limit allows, all the time: that limit is not in force",
         {**UP, "out_rate": 180.0, "in_rate": 200.0, **NO_QUEUES, "limits": sub(100, 1.8, 3.0)},
         ("unknown", "unknown", None, 0.0), yes="limit_not_in_force", queue="unknown"),
    Case("used up, but the limiter throttled no read: consumers that happen to be as fast as the limit",
         {**UP, **FULL, "limits": sub(100, 0.95, 0.0)},
         ("consumer_capacity", "slow_consumers", None, 0.85), queue="full"),
    Case("used up, no plan lowered, and room: contradictory",
         {**UP, "limits": sub(100, 0.95, 0.0)}, ("unknown", "unknown", None, 0.0)),
    Case("the use is near the limit, and neither counters nor queues were seen",
         {**UP, **NO_QUEUES, "counters": False, "limits": sub(90, 0.85, None, duty=None)},
         ("unknown", "unknown", None, 0.0), queue="unknown"),
    Case("the same, and its counter never rests: a lean",
         {**UP, **NO_QUEUES, "limits": sub(90, 0.85, 3.0)},
         ("throttle", "throttled", "subscription.msg", 0.55), queue="unknown"),
    Case("60 % of a limit whose events mean nothing: a lean, and limits read later take it away",
         {**UP, **NO_QUEUES, "observed_later": True, "limits": sub(90, 0.6, 3.0)},
         ("unknown", "unknown", None, 0.0), queue="unknown"),
    Case("the same with limits read in time is said, with little confidence",
         {**UP, **NO_QUEUES, "limits": sub(90, 0.6, 3.0)},
         ("consumer_capacity", "slow_consumers", None, 0.55), queue="unknown"),
    Case("a third of the samples", {**UP, "coverage": 0.33, "limits": sub(100, 0.99, 1.0)},
         ("unknown", "unknown", None, 0.0), no="coverage"),
    Case("the backlog was never measured", {"backlog": [None] * 5}, ("unknown", "unknown", None, 0.0),
         open="backlog_present"),
    Case("everything is NaN",
         {name: [float("nan")] * 5 for name in ("backlog", "in_rate", "out_rate", "permits", "unacked", "coverage")},
         ("unknown", "unknown", None, 0.0), queue="unknown", no="coverage"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.story)
def test_case(case):
    verdict = diagnose(scene(**case.scene))
    symptoms = verdict.symptoms
    answers = {name: symptoms.holds(name) for name in f"{case.yes} {case.no} {case.open}".split()}
    expected = dict.fromkeys(case.yes.split(), True)
    expected |= dict.fromkeys(case.no.split(), False) | dict.fromkeys(case.open.split(), None)
    assert answers == expected
    assert symptoms.queue.queue == case.queue
    reads = {limiter.name: (limiter.zone, limiter.activity) for limiter in symptoms.limiters}
    assert {name: reads[name] for name in case.limiter_reads} == case.limiter_reads
    assert (verdict.side, verdict.cause, verdict.limiter, verdict.confidence) == case.verdict
    assert case.variant in (None, verdict.variant)
    assert set(case.contributing.split()) <= {other.cause for other in verdict.contributing}
    assert verdict.cause not in {other.cause for other in verdict.contributing}
    if case.naive:
        assert verdict.naive_side == case.naive


def test_one_minute_of_five_is_too_little():
    assert diagnose(scene(minutes=1, **UP)).cause == "unknown"
    assert diagnose(scene(minutes=3, **UP, **FULL)).cause == "slow_consumers"


def test_several_causes_may_stand():
    verdict = diagnose(scene(**UP, redeliver_rate=60.0, limits=sub(100, 1.0, 1.0)))
    assert [standing.cause for standing in verdict.standings][:2] == ["throttled", "redelivery"]


#: Entries wait and no consumer is connected, as on every topic with compaction between two of its runs.
WAITING_ALONE = {
    "backlog": 50.0, "consumers": 0.0, "out_rate": 0.0, "ack_rate": 0.0, "permits": None, "starved": None,
}  # fmt: skip
SYSTEM_KEYS = [
    KEY._replace(subscription="__compaction"),
    KEY._replace(topic="persistent://acme/shop/__change_events", subscription="reader-0123456789"),
    KEY._replace(topic="persistent://acme/shop/orders-billing__transaction_pending_ack"),
    KEY._replace(
        namespace="pulsar/system", topic="persistent://pulsar/system/transaction_coordinator_assign"
    ),
]


@pytest.mark.parametrize("key", SYSTEM_KEYS, ids=lambda key: f"{key.topic}#{key.subscription}")
@pytest.mark.parametrize(
    "changes", [WAITING_ALONE, WAITING_ALONE | UP, UP | FULL, {"expired": 9000.0, "backlog": 9000.0}]
)
def test_system_subscriptions_have_no_incident(key, changes):
    assert diagnose(scene(**changes)).cause != "healthy"
    verdict = diagnose(replace(scene(**changes), key=key))
    assert (verdict.side, verdict.cause, verdict.confidence) == ("neither", "healthy", 0.95)
    assert "Pulsar's own" in verdict.why
    assert verdict.evidence[0].text == f"This is no incident: {verdict.why}."
    assert verdict.contributing == ()


def test_a_day_of_standstill_names_both_candidates():
    verdict = diagnose(scene(**STILL, **NO_QUEUES, topic_age_s=86_400.0))
    assert "consumers hang" in verdict.why
    assert "dispatching is stuck" in verdict.why
    texts = {row.symptom: row.text for row in verdict.evidence}
    assert texts["backlog_old"] == (
        "Nothing was dispatched or acknowledged while 95 entries wait; the oldest message of the topic's backlog is 24 h old."
    )
    assert any("exposeSubscriptionBacklogAgeInPrometheus" in one.fix for one in verdict.missing_evidence)


def test_a_reader_takes_messages_when_it_wants():
    window = scene(**STILL, **NO_QUEUES, topic_age_s=86_400.0)
    for name in ("reader-4f1c9a0b2d", "role-reader-4f1c9a0b2d", "multiTopicsReader-4f1c9a0b2d"):
        assert diagnose(replace(window, key=KEY._replace(subscription=name))).cause == "healthy"


@pytest.mark.long
def test_old_entries_across_partitions_are_backlog():
    found = [
        diagnose(
            replace(scene(**STILL, **NO_QUEUES, topic_age_s=86_400.0), key=KEY._replace(partition=n))
        ).to_row()
        for n in range(300)
    ]
    (rolled,) = over_partitions(found)
    assert rolled.causes == {"unknown": 300}
    assert rolled.text == (
        "Partition 0 is the worst with 95 of 28,500 entries: unknown; 300 of 300 partitions share that cause."
    )


def test_new_system_subscription_is_no_incident():
    """Every restart of a broker makes new readers; 5 min later they are as old as their window."""
    verdict = diagnose(replace(scene(**WAITING_ALONE, coverage=0.2), key=SYSTEM_KEYS[0]))
    assert (verdict.cause, verdict.contributing) == ("healthy", ())
    assert verdict.confidence < 0.95
