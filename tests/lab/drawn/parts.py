"""What drawn scenarios are put together from: in, numbers; out, fields of topics, consumers, states, truths and checks.

Bounds rest on what the lab measured: a saturated limiter lets 0.85 to 1.06 of its limit through, on Exclusive up to 1.15; consumers do
0.96 to 1.0 of ``1000 / processing_ms``; an entry is its payload and about 31 bytes.
"""

from __future__ import annotations

import math
from typing import Any

from throttlescope.models.throttling.scenario.scenario import MINIMUM_STATE_S

Fields = dict[str, Any]

TOPIC, SUBSCRIPTION = "orders", "billing"
#: A state with truth lasts this long, and a drain leaves so much time for the truth after it.
CAUSE_S = 745
AFTER_DRAIN_S = 420
ENTRY_EXTRA_BYTES = 31
SIZES_BYTES = (128, 256, 512, 1000, 2000)

LIMITER_LOW, LIMITER_HIGH = 0.85, 1.06
EXCLUSIVE_HIGH = 1.15
CONSUMERS_LOW = 0.96

HEALTHY = {"side": "neither", "cause": "healthy"}
SLOW = {"side": "consumer_capacity", "cause": "slow_consumers"}


def place(level: str, set_at: str) -> Fields:
    """Where a limit of the one topic is set."""
    found: Fields = {"level": level, "set_at": set_at}
    if set_at != "broker":
        found["topic"] = TOPIC
    if set_at == "subscription":
        found["subscription"] = SUBSCRIPTION
    return found


def limited_to(unit: str, per_s_msg: float, size_bytes: int) -> Fields:
    """A rate that lets about so many messages per second through."""
    if unit == "msg":
        return {"msg": round(per_s_msg)}
    return {"bytes": round(per_s_msg * (size_bytes + ENTRY_EXTRA_BYTES))}


def let_through(kind: str) -> float:
    """The most that a saturated limiter lets through, as a share of its limit."""
    return EXCLUSIVE_HIGH if kind == "Exclusive" else LIMITER_HIGH


def consumers_for(rate_msg: float, consumers: int) -> Fields:
    """So many consumers that together do about a rate."""
    return {"consumers": consumers, "processing_ms": round(max(0.5, 1000 * consumers / rate_msg), 1)}


def capacity_of(subscription: Fields) -> float:
    """Messages per second of consumers that are all alike."""
    return 1000 * subscription["consumers"] / subscription["processing_ms"]


def subscription(kind: str, **fields: Any) -> Fields:
    """The one subscription of the one topic."""
    return {"name": SUBSCRIPTION, "topic": TOPIC, "type": kind, **fields}


def producer(rate_msg: float, size_bytes: int, **fields: Any) -> Fields:
    """The producer of the one topic."""
    return {"topic": TOPIC, "rate_msg": rate_msg, "size_bytes": size_bytes, **fields}


def truth(what: Fields, **fields: Any) -> Fields:
    """What is true of the one subscription."""
    return {"subscription": SUBSCRIPTION, **what, **fields}


def state(name: str, duration_s: float, *interventions: Fields, truth: tuple[Fields, ...] = ()) -> Fields:
    """A state of the timeline, as long as a truth has to be if it carries one."""
    least_s = MINIMUM_STATE_S if truth else 0
    found: Fields = {"name": name, "duration_s": max(least_s, math.ceil(duration_s))}
    if interventions:
        found["interventions"] = list(interventions)
    if truth:
        found["truth"] = list(truth)
    return found


def check(kind: str, of: str, subscription: str = SUBSCRIPTION, **fields: Any) -> Fields:
    """A check of a state."""
    return {"check": kind, "state": of, "subscription": subscription, **fields}


def grows(of: str, per_s: float, over_s: float, **fields: Any) -> Fields:
    """Growth of at least two thirds of what is worked out."""
    return check("grows", of, by_entries=math.floor(per_s * over_s * 2 / 3), **fields)


def drain_s(backlog_entries: float, capacity_msg: float, rate_msg: float) -> int:
    """Within which time a backlog is gone, with a quarter and three scrapes to spare."""
    return math.ceil(1.25 * backlog_entries / (CONSUMERS_LOW * capacity_msg - rate_msg) + 45)


def drains(of: str, within_s: int, rate_msg: float, subscription: str = SUBSCRIPTION) -> Fields:
    """A drain down to what is on its way at any time."""
    return check("drains", of, subscription, below_entries=max(200, round(2 * rate_msg)), within_s=within_s)


def scenario(
    about: str,
    subscriptions: list[Fields],
    producers: list[Fields],
    timeline: list[Fields],
    confirm: list[Fields],
    *,
    topics: list[Fields] | None = None,
    limits: list[Fields] | None = None,
) -> Fields:
    """A scenario's fields but for those that every drawn one has."""
    return {
        "about": about,
        "topics": topics or [{"name": TOPIC}],
        **({"limits": limits} if limits else {}),
        "subscriptions": subscriptions,
        "producers": producers,
        "timeline": timeline,
        "confirm": confirm,
    }
