"""Families in which what is published is the cause: messages for later, and much more of them for a while."""

from __future__ import annotations

import math

from tests.lab.drawn.numbers import Draw
from tests.lab.drawn.parts import (
    CAUSE_S,
    CONSUMERS_LOW,
    HEALTHY,
    SIZES_BYTES,
    TOPIC,
    Fields,
    capacity_of,
    check,
    consumers_for,
    drains,
    grows,
    producer,
    scenario,
    state,
    subscription,
    truth,
)


def delayed(d: Draw) -> Fields:
    """20 to 60 msg/s that are due after 180 to 420 s; then they are published without delay."""
    rate_msg, delay_s = d.whole(20, 60), d.whole(180, 420)
    consumers = consumers_for(rate_msg * d.between(4, 8), d.whole(1, 3))
    within_s = delay_s + 60
    waiting = rate_msg * delay_s
    return scenario(
        f"{rate_msg} msg/s are due after {delay_s} s; what is published without delay leaves nothing behind.",
        [subscription("Shared", **consumers)],
        [producer(rate_msg, d.one_of(SIZES_BYTES), deliver_after_ms=1000 * delay_s)],
        [
            state("cause", CAUSE_S, truth=(truth({"side": "neither", "cause": "delayed_delivery"}),)),
            state(
                "relieved",
                within_s + 380,
                {"action": "set_delay", "topic": TOPIC, "deliver_after_ms": 0},
                truth=(truth(HEALTHY),),
            ),
        ],
        [
            grows("cause", rate_msg, delay_s),
            check(
                "shows",
                "cause",
                metric="pulsar_subscription_delayed",
                # From the first minute on as many as were published in it.
                at_least=min(50 * rate_msg, waiting // 2),
                share=0.9,
            ),
            drains("relieved", within_s, rate_msg),
        ],
    )


def publish_burst(d: Draw) -> Fields:
    """930 s of 30 to 120 msg/s, then 90 to 180 s of so much more that consumers of 1.7 to 2.5 times the rate need 240 to 320 s for it."""
    rate_msg, size_bytes = d.whole(30, 120), d.one_of(SIZES_BYTES)
    consumers = consumers_for(rate_msg * d.between(1.7, 2.5), d.whole(1, 4))
    capacity = capacity_of(consumers)
    usual_s, length_s, off_s = 930, d.whole(90, 180), d.whole(240, 320)
    # The truth begins a minute later and lasts five.
    off_s = max(off_s, 380 - length_s)
    backlog = off_s * (capacity - rate_msg)
    factor = round((capacity + backlog / length_s) / rate_msg, 2)
    slower = CONSUMERS_LOW * capacity
    most = length_s * (factor * rate_msg - slower)
    within_s = math.ceil(length_s + 1.25 * most / (slower - rate_msg) + 45)
    burst = {"side": "neither", "cause": "publish_burst", "part": "until_drained"}
    return scenario(
        f"After {usual_s} s of {rate_msg} msg/s {factor:g} times as much for {length_s} s; the consumers do {capacity:.0f} all the time.",
        [subscription("Shared", **consumers)],
        [producer(rate_msg, size_bytes, shape="steps", steps=[[usual_s, factor], [usual_s + length_s, 1]])],
        [
            state("usual", usual_s, truth=(truth(HEALTHY),)),
            state("burst", within_s + 400, truth=(truth(burst), truth(HEALTHY))),
        ],
        [
            check("stays_below", "usual", below_entries=max(150, 2 * rate_msg)),
            check(
                "peaks",
                "burst",
                above_entries=math.floor(backlog * 2 / 3),
                below_entries=max(200, 2 * rate_msg),
            ),
            drains("burst", within_s, rate_msg),
        ],
    )


FAMILIES = {"delayed": delayed, "publish_burst": publish_burst}
