"""Families in which the consumers are the cause: slow ones, one slow of many, none, none that acknowledge, many that give back."""

from __future__ import annotations

import math

from tests.lab.drawn.numbers import Draw
from tests.lab.drawn.parts import (
    AFTER_DRAIN_S,
    CAUSE_S,
    CONSUMERS_LOW,
    HEALTHY,
    LIMITER_LOW,
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


def slow_consumers(d: Draw, *, limited: bool) -> Fields:
    """Consumers that do 0.55 to 0.85 of 20 to 180 msg/s, alone or under a limit of 2 to 6 times the rate; then more or faster ones."""
    kind = d.one_of(("Shared", "Shared", "Exclusive"))
    rate_msg, size_bytes = d.whole(20, 180), d.one_of(SIZES_BYTES)
    count = 1 if kind == "Exclusive" else d.whole(1, 4)
    consumers = consumers_for(rate_msg * d.between(0.55, 0.85), count)
    capacity = capacity_of(consumers)
    faster = round(consumers["processing_ms"] / d.between(4, 7), 1)
    more = {"processing_ms": max(0.5, faster)}
    if kind == "Shared" and d.one_of((True, False)):
        more = {"consumers": math.ceil(count * d.between(4, 6))}
    relieved = capacity_of({**consumers, **more})
    limits = None
    if limited:
        limit_msg = round(rate_msg * d.between(2, 6))
        # The limit is the next to bind.
        relieved = min(relieved, LIMITER_LOW * limit_msg)
        unit = d.one_of(("msg", "bytes"))
        rate = {"msg": limit_msg} if unit == "msg" else {"bytes": limit_msg * (size_bytes + 60)}
        limits = [{"level": "subscription", "set_at": "topic", "topic": TOPIC, **rate}]
    within_s = drain_s(CAUSE_S * (rate_msg - CONSUMERS_LOW * capacity), relieved, rate_msg)
    return scenario(
        f"{count} consumers that do {capacity:.0f} msg/s under {rate_msg}{', a limit far above that' if limited else ''}.",
        [subscription(kind, **consumers, receiver_queue=d.one_of((20, 100, 1000)))],
        [producer(rate_msg, size_bytes)],
        [
            state("cause", CAUSE_S, truth=(truth(SLOW),)),
            state(
                "relieved",
                within_s + AFTER_DRAIN_S,
                {"action": "set_consumers", "subscription": SUBSCRIPTION, **more},
                truth=(truth(HEALTHY),),
            ),
        ],
        [grows("cause", rate_msg - capacity, CAUSE_S), drains("relieved", within_s, rate_msg)],
        limits=limits,
    )


def slow_one(d: Draw) -> Fields:
    """One of three or four consumers takes 25 to 80 times as long; all alike would do, the others alone miss 0.18 to 0.3 of one's rate."""
    count, takes_ms = d.whole(3, 4), d.whole(15, 60)
    one = 1000 / takes_ms
    rate_msg = round(((count - 1) + d.between(0.22, 0.33)) * one)
    slow_ms = round(takes_ms * d.between(30, 80))
    capacity = (count - 1) * one + 1000 / slow_ms
    within_s = drain_s(CAUSE_S * (rate_msg - CONSUMERS_LOW * capacity), count * one, rate_msg)
    slow_at = d.whole(0, count - 1)
    each = [float(takes_ms)] * slow_at + [float(slow_ms)]
    return scenario(
        f"One of {count} consumers takes {slow_ms} ms for a message, the others {takes_ms}; {capacity:.0f} msg/s under {rate_msg}.",
        [
            subscription(
                "Shared",
                consumers=count,
                processing_ms=takes_ms,
                each_processing_ms=each,
                receiver_queue=d.one_of((5, 10, 20)),
            )
        ],
        [producer(rate_msg, d.one_of(SIZES_BYTES))],
        [
            state("cause", CAUSE_S, truth=(truth(SLOW),)),
            state(
                "relieved",
                within_s + AFTER_DRAIN_S,
                {"action": "set_consumers", "subscription": SUBSCRIPTION, "processing_ms": takes_ms},
                truth=(truth(HEALTHY),),
            ),
        ],
        [grows("cause", rate_msg - capacity, CAUSE_S), drains("relieved", within_s, rate_msg)],
    )


def no_consumers(d: Draw) -> Fields:
    """20 to 120 msg/s without a consumer, from the start or after a healthy time; then two consumers come."""
    rate_msg, size_bytes = d.whole(20, 120), d.one_of(SIZES_BYTES)
    leaves = d.one_of((True, False))
    consumers = consumers_for(rate_msg * d.between(6, 8), 2)
    within_s = drain_s(CAUSE_S * rate_msg, capacity_of(consumers), rate_msg)
    cause = {"side": "consumer_capacity", "cause": "no_consumers"}
    come = {"action": "set_consumers", "subscription": SUBSCRIPTION, "consumers": 2}
    states = [state("cause", CAUSE_S, truth=(truth(cause),))]
    confirm = [grows("cause", rate_msg, CAUSE_S), drains("relieved", within_s, rate_msg)]
    if leaves:
        gone = {**states[0], "interventions": [{**come, "consumers": 0}]}
        states = [state("well", 690, truth=(truth(HEALTHY),)), gone]
        confirm.insert(0, check("stays_below", "well", below_entries=max(150, 2 * rate_msg)))
    return scenario(
        f"Nobody takes {rate_msg} msg/s{' after a healthy time' if leaves else ''}; two consumers drain them.",
        [subscription("Shared", **{**consumers, "consumers": 2 if leaves else 0})],
        [producer(rate_msg, size_bytes)],
        [*states, state("relieved", within_s + AFTER_DRAIN_S, come, truth=(truth(HEALTHY),))],
        confirm,
    )


def unacked(d: Draw) -> Fields:
    """A subscription may hold 200 to 800 unacknowledged messages; its consumers never acknowledge, or all but one hang."""
    rate_msg, size_bytes = d.whole(30, 80), d.one_of(SIZES_BYTES)
    silent, count, most = d.one_of((True, False)), d.whole(2, 4), d.whole(200, 800)
    consumers = consumers_for(rate_msg * d.between(5, 7), count)
    within_s = drain_s(CAUSE_S * rate_msg, capacity_of(consumers), rate_msg)
    cause = truth({"side": "consumer_capacity", "cause": "blocked_on_unacked"})
    stop = {"action": "hang", "subscription": SUBSCRIPTION, "consumers": count - 1}
    relief = {**stop, "consumers": 0}
    states = [state("well", 60), state("cause", CAUSE_S, stop, truth=(cause,))]
    if silent:
        relief = {"action": "set_ack", "subscription": SUBSCRIPTION, "ack": "individual"}
        states = [state("cause", CAUSE_S, truth=(cause,))]
    return scenario(
        f"{count} consumers {'never acknowledge' if silent else 'of which one goes on'}; Pulsar stops at {most} unacknowledged messages.",
        [subscription("Shared", **consumers, ack="none" if silent else "individual")],
        [producer(rate_msg, size_bytes)],
        [*states, state("relieved", within_s + AFTER_DRAIN_S, relief, truth=(truth(HEALTHY),))],
        [
            # It takes up to a minute until so many are unacknowledged.
            grows("cause", rate_msg, CAUSE_S - 60),
            check(
                "shows",
                "cause",
                metric="pulsar_subscription_blocked_on_unacked_messages",
                at_least=1,
                share=0.9,
            ),
            drains("relieved", within_s, rate_msg),
        ],
        topics=[{"name": TOPIC, "max_unacked_per_subscription": most}],
    )


def redelivery(d: Draw) -> Fields:
    """0.5 to 0.7 of the messages are given back three or four times; consumers do 0.67 to 0.8 of what that takes. Or a few for ever."""
    return _poison(d) if d.one_of((True, False)) else _often(d)


def _often(d: Draw) -> Fields:
    rate_msg, share, times = d.whole(15, 45), round(d.between(0.5, 0.7), 2), d.whole(3, 4)
    deliveries = 1 + share * times
    takes_ms = d.whole(60, 120)
    count = round(rate_msg * deliveries / d.between(1.25, 1.5) * takes_ms / 1000)
    capacity = 1000 * count / takes_ms
    growth = rate_msg - capacity / deliveries
    within_s = drain_s(CAUSE_S * 1.2 * growth, capacity, rate_msg)
    again = {"nack_share": share, "nack_times": times, "nack_delay_ms": d.whole(100, max(110, 2 * takes_ms))}
    return scenario(
        f"{share:.0%} of {rate_msg} msg/s are given back {times} times; {count} consumers do {capacity:.0f} msg/s.",
        [
            subscription(
                "Shared", consumers=count, processing_ms=takes_ms, receiver_queue=50, redelivery=again
            )
        ],
        [producer(rate_msg, d.one_of(SIZES_BYTES))],
        [
            state("cause", CAUSE_S, truth=(truth({"side": "consumer_capacity", "cause": "redelivery"}),)),
            state(
                "relieved",
                within_s + AFTER_DRAIN_S,
                {"action": "set_redelivery", "subscription": SUBSCRIPTION, "nack_share": 0},
                truth=(truth(HEALTHY),),
            ),
        ],
        [
            grows("cause", growth, CAUSE_S),
            check(
                "shows",
                "cause",
                metric="pulsar_subscription_msg_rate_redeliver",
                at_least=round(capacity * (1 - 1 / deliveries) / 2, 1),
                share=0.8,
            ),
            drains("relieved", within_s, rate_msg),
        ],
    )


def _poison(d: Draw) -> Fields:
    count, queue, takes_ms = d.whole(4, 8), d.one_of((10, 15)), d.whole(45, 60)
    capacity = 1000 * count / takes_ms
    share = round(d.between(0.06, 0.1), 3)
    # What never leaves has to fill all queues within the first state.
    building_s = 180
    rate_msg = max(round(capacity / 5), math.ceil(1.3 * count * queue / (share * building_s)))
    cause_s = 700
    within_s = drain_s((cause_s + building_s) * rate_msg, capacity, rate_msg)
    again = {"nack_share": share, "nack_times": 1000, "nack_delay_ms": d.whole(100, max(110, 2 * takes_ms))}
    return scenario(
        f"{share:.1%} of {rate_msg} msg/s are given back for ever; {count} consumers do {capacity:.0f} msg/s and see little else.",
        [
            subscription(
                "Shared", consumers=count, processing_ms=takes_ms, receiver_queue=queue, redelivery=again
            )
        ],
        [producer(rate_msg, d.one_of(SIZES_BYTES))],
        [
            state("building", building_s),
            state("cause", cause_s, truth=(truth({"side": "consumer_capacity", "cause": "redelivery"}),)),
            state(
                "relieved",
                within_s + AFTER_DRAIN_S,
                {"action": "set_redelivery", "subscription": SUBSCRIPTION, "nack_share": 0},
                truth=(truth(HEALTHY),),
            ),
        ],
        [
            # Little new goes through, but some does.
            grows("cause", rate_msg / 2, cause_s),
            check(
                "shows",
                "cause",
                metric="pulsar_subscription_msg_rate_redeliver",
                at_least=round(capacity / 3, 1),
                share=0.8,
            ),
            drains("relieved", within_s, rate_msg),
        ],
    )


FAMILIES = {
    "slow_consumers_no_limit": lambda d: slow_consumers(d, limited=False),
    "slow_consumers_under_limit": lambda d: slow_consumers(d, limited=True),
    "slow_one_of_many": slow_one,
    "no_consumers": no_consumers,
    "unacked_subscription": unacked,
    "redelivery_loop": redelivery,
}
