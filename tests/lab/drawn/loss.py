"""Families in which messages are lost before they are consumed: by a TTL or a backlog quota, which hides a growing backlog."""

from __future__ import annotations

import math

from tests.lab.drawn.numbers import Draw
from tests.lab.drawn.parts import (
    CONSUMERS_LOW,
    ENTRY_EXTRA_BYTES,
    SIZES_BYTES,
    SLOW,
    SUBSCRIPTION,
    TOPIC,
    Fields,
    capacity_of,
    check,
    consumers_for,
    drain_s,
    drains,
    grows,
    producer,
    scenario,
    state,
    subscription,
    truth,
)

#: Both are looked at once a minute; a scrape later the loss is seen.
CHECK_S = 60
#: So long the truth after the first loss lasts at least, with the minute that it begins later.
AFTER_LOSS_S = 480
KEPT_S = 160
LOST = {"side": "neither", "cause": "healed_by_loss", "part": "since_loss"}


def expired(d: Draw) -> Fields:
    """A TTL that is reached after 390 to 470 s, behind consumers that do 0.4 to 0.6 of 30 to 90 msg/s, or without any."""
    return _expired_slow(d) if d.one_of((True, False)) else _expired_absent(d)


def _expired_slow(d: Draw) -> Fields:
    rate_msg, first_s = d.whole(30, 90), d.whole(390, 470)
    consumers = consumers_for(rate_msg * d.between(0.4, 0.6), d.whole(1, 3))
    capacity = capacity_of(consumers)
    # The oldest message that still waits was published capacity / rate of the time ago that has passed.
    ttl_s = round(first_s * (1 - capacity / rate_msg))
    return _with_loss(
        d,
        f"Consumers that do {capacity:.0f} msg/s under {rate_msg}; what is older than {ttl_s} s is deleted.",
        subscription("Shared", **consumers, receiver_queue=100),
        producer(rate_msg, d.one_of(SIZES_BYTES)),
        {"ttl_s": ttl_s},
        {"action": "set_ttl", "topic": TOPIC},
        "expiry",
        first_s,
    )


def _expired_absent(d: Draw) -> Fields:
    rate_msg, ttl_s = d.whole(30, 80), d.whole(390, 430)
    less_from_s = ttl_s + d.whole(100, 160)
    cause_s = less_from_s + ttl_s + CHECK_S
    less = 0.1
    lost = (cause_s - ttl_s - CHECK_S - less_from_s) * less * rate_msg + less_from_s * rate_msg
    consumers = consumers_for(40 * rate_msg * less, 2)
    left = less * rate_msg * (ttl_s + CHECK_S + KEPT_S) + CHECK_S * rate_msg
    within_s = drain_s(left, capacity_of(consumers), less * rate_msg)
    absent = {"side": "consumer_capacity", "cause": "no_consumers", "part": "until_loss"}
    return scenario(
        f"Nobody consumes {rate_msg} msg/s, later a tenth of that; what is older than {ttl_s} s is deleted, and the backlog goes down.",
        [subscription("Shared", **{**consumers, "consumers": 0})],
        [producer(rate_msg, d.one_of(SIZES_BYTES), shape="steps", steps=[[less_from_s, less]])],
        [
            state("cause", cause_s, truth=(truth(absent), truth(LOST))),
            state("kept", KEPT_S, {"action": "set_ttl", "topic": TOPIC}),
            state(
                "relieved",
                within_s + 60,
                {"action": "set_consumers", "subscription": SUBSCRIPTION, "consumers": 2},
            ),
        ],
        [
            check("loses", "cause", by="expiry", at_least_entries=math.floor(lost / 2)),
            grows("kept", less * rate_msg, KEPT_S),
            drains("relieved", within_s, rate_msg),
        ],
        topics=[{"name": TOPIC, "ttl_s": ttl_s}],
    )


def quota(d: Draw) -> Fields:
    """A backlog quota that is reached after 380 to 460 s behind consumers that do 0.4 to 0.6 of 30 to 90 msg/s."""
    kind = d.one_of(("Shared", "Exclusive"))
    rate_msg, first_s, size_bytes = d.whole(30, 90), d.whole(380, 460), d.one_of((512, 1000, 2000, 4000))
    consumers = consumers_for(rate_msg * d.between(0.4, 0.6), 1 if kind == "Exclusive" else d.whole(1, 3))
    growth = rate_msg - capacity_of(consumers)
    limit_bytes = round(growth * first_s * (size_bytes + ENTRY_EXTRA_BYTES))
    return _with_loss(
        d,
        f"Consumers that do {capacity_of(consumers):.0f} msg/s under {rate_msg}; above {limit_bytes / 1e6:.0f} MB the oldest are evicted.",
        subscription(kind, **consumers, receiver_queue=d.one_of((50, 100, 200))),
        producer(rate_msg, size_bytes),
        {"backlog_quota": {"limit_bytes": limit_bytes}},
        {"action": "set_backlog_quota", "topic": TOPIC},
        "quota",
        first_s,
    )


def _with_loss(
    d: Draw,
    about: str,
    reader: Fields,
    publisher: Fields,
    policy: Fields,
    lift: Fields,
    by: str,
    first_s: int,
) -> Fields:
    """Slow consumers whose backlog is cut once a minute; without that it grows on, and faster consumers drain it."""
    rate_msg, capacity = publisher["rate_msg"], capacity_of(reader)
    growth = rate_msg - capacity
    # Consumers that are a little slower than written reach it earlier, an evicted entry size that is smaller later.
    cause_s = round(1.1 * first_s) + CHECK_S + AFTER_LOSS_S
    takes_ms = max(0.5, round(reader["processing_ms"] / d.between(8, 12), 1))
    most = (rate_msg - CONSUMERS_LOW * capacity) * (1.15 * first_s + CHECK_S + KEPT_S)
    within_s = drain_s(most, 1000 * reader["consumers"] / takes_ms, rate_msg)
    return scenario(
        about,
        [reader],
        [publisher],
        [
            state("cause", cause_s, truth=(truth({**SLOW, "part": "until_loss"}), truth(LOST))),
            state("kept", KEPT_S, lift),
            state(
                "relieved",
                within_s + 60,
                {"action": "set_consumers", "subscription": SUBSCRIPTION, "processing_ms": takes_ms},
            ),
        ],
        [
            check(
                "loses", "cause", by=by, at_least_entries=math.floor(growth * (AFTER_LOSS_S - CHECK_S) / 2)
            ),
            grows("kept", growth, KEPT_S),
            drains("relieved", within_s, rate_msg),
        ],
        topics=[{"name": TOPIC, **policy}],
    )


FAMILIES = {"expired": expired, "quota": quota}
