"""Families that no rules were made with: all hang, each blocked alone, a waiting head, a broker's bytes, slow behind a standby.

What belongs to them was laid down by the broker's documented behaviour and the bounds in ``parts``, before any was recorded.
"""

from __future__ import annotations

from tests.lab.drawn.limits import shared
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


def hung(d: Draw) -> Fields:
    """All 1 to 4 consumers of 20 to 120 msg/s hang with what they hold, after a healthy minute or longer; then they go on."""
    kind = d.one_of(("Shared", "Shared", "Exclusive"))
    rate_msg, size_bytes = d.whole(20, 120), d.one_of(SIZES_BYTES)
    consumers = consumers_for(rate_msg * d.between(4, 6), 1 if kind == "Exclusive" else d.whole(1, 4))
    long_well = d.one_of((True, False))
    well = state("well", 690, truth=(truth(HEALTHY),)) if long_well else state("well", 60)
    within_s = drain_s(CAUSE_S * rate_msg, capacity_of(consumers), rate_msg)
    stop = {"action": "hang", "subscription": SUBSCRIPTION, "consumers": consumers["consumers"]}
    confirm = [grows("cause", rate_msg, CAUSE_S), drains("relieved", within_s, rate_msg)]
    if long_well:
        confirm.insert(0, check("stays_below", "well", below_entries=max(150, 2 * rate_msg)))
    return scenario(
        f"All {consumers['consumers']} consumers of {rate_msg} msg/s hang, connected and silent; then they go on.",
        [subscription(kind, **consumers, receiver_queue=d.one_of((50, 200, 1000)))],
        [producer(rate_msg, size_bytes)],
        [
            well,
            state(
                "cause",
                CAUSE_S,
                stop,
                truth=(truth({"side": "consumer_capacity", "cause": "hung_consumers"}),),
            ),
            state("relieved", within_s + AFTER_DRAIN_S, {**stop, "consumers": 0}, truth=(truth(HEALTHY),)),
        ],
        confirm,
    )


def each_unacked(d: Draw) -> Fields:
    """Each of 1 to 4 consumers may hold 40 to 300 unacknowledged messages of 30 to 90 msg/s and never acknowledges; then they do."""
    rate_msg, size_bytes = d.whole(30, 90), d.one_of(SIZES_BYTES)
    count, most = d.whole(1, 4), d.whole(40, 300)
    consumers = consumers_for(rate_msg * d.between(4, 6), count)
    within_s = drain_s(CAUSE_S * rate_msg, capacity_of(consumers), rate_msg)
    return scenario(
        f"{count} consumers never acknowledge; Pulsar stops at {most} unacknowledged messages of each.",
        [subscription("Shared", **consumers, ack="none", receiver_queue=d.one_of((20, 100, 500)))],
        [producer(rate_msg, size_bytes)],
        [
            state(
                "cause",
                CAUSE_S,
                truth=(truth({"side": "consumer_capacity", "cause": "blocked_on_unacked"}),),
            ),
            state(
                "relieved",
                within_s + AFTER_DRAIN_S,
                {"action": "set_ack", "subscription": SUBSCRIPTION, "ack": "individual"},
                truth=(truth(HEALTHY),),
            ),
        ],
        [
            grows("cause", rate_msg, CAUSE_S - 60),
            check(
                "shows",
                "cause",
                metric="pulsar_subscription_unacked_messages",
                at_least=0.9 * count * most,
                share=0.9,
            ),
            drains("relieved", within_s, rate_msg),
        ],
        topics=[{"name": TOPIC, "max_unacked_per_consumer": most}],
    )


def waiting_head(d: Draw) -> Fields:
    """One of 2 to 4 Key_Shared consumers hangs or takes 100 to 200 times as long as the others, at 40 to 90 msg/s; then it goes on."""
    count, rate_msg = d.whole(2, 4), d.whole(40, 90)
    # Its keys have to drain through one consumer, so one alone does three times the rate.
    takes_ms = round(1000 / (3 * rate_msg), 1)
    hangs = d.one_of((True, False))
    slow_ms = round(takes_ms * d.between(100, 200))
    # Keys are dealt out unevenly: one of them gets at least 0.4 of its fair part.
    growth = 0.4 * rate_msg / count - (0 if hangs else 1000 / slow_ms)
    within_s = drain_s(CAUSE_S * rate_msg, 1000 / takes_ms, rate_msg)
    fields: Fields = {
        "consumers": count,
        "processing_ms": takes_ms,
        "receiver_queue": d.one_of((20, 50, 100)),
    }
    cause = truth({"side": "consumer_capacity", "cause": "key_shared_blocked"})
    states = [
        state("well", 60),
        state(
            "cause",
            CAUSE_S,
            {"action": "hang", "subscription": SUBSCRIPTION, "consumers": 1},
            truth=(cause,),
        ),
    ]
    relief: Fields = {"action": "hang", "subscription": SUBSCRIPTION, "consumers": 0}
    if not hangs:
        slow_at = d.whole(0, count - 1)
        fields["each_processing_ms"] = [takes_ms] * slow_at + [float(slow_ms)]
        states = [state("cause", CAUSE_S, truth=(cause,))]
        relief = {"action": "set_consumers", "subscription": SUBSCRIPTION, "processing_ms": takes_ms}
    return scenario(
        f"One of {count} Key_Shared consumers {'hangs' if hangs else f'takes {slow_ms} ms for a message'}; the others have room, and its"
        f" keys wait, of {rate_msg} msg/s.",
        [subscription("Key_Shared", **fields)],
        [producer(rate_msg, d.one_of(SIZES_BYTES), keys=d.whole(100, 1000))],
        [*states, state("relieved", within_s + AFTER_DRAIN_S, relief, truth=(truth(HEALTHY),))],
        [grows("cause", growth, CAUSE_S), drains("relieved", within_s, rate_msg)],
    )


def slow_behind_standby(d: Draw) -> Fields:
    """A Failover subscription of 1 to 3 consumers, of which the active one does 0.5 to 0.85 of 20 to 150 msg/s; then it is faster."""
    rate_msg, size_bytes = d.whole(20, 150), d.one_of(SIZES_BYTES)
    count, limited = d.whole(1, 3), d.one_of((True, False))
    takes_ms = round(1000 / (rate_msg * d.between(0.5, 0.85)), 1)
    capacity = 1000 / takes_ms
    faster_ms = max(0.5, round(takes_ms / d.between(5, 8), 1))
    relieved, limits = 1000 / faster_ms, None
    if limited:
        limit_msg = round(rate_msg * d.between(2.5, 6))
        relieved = min(relieved, LIMITER_LOW * limit_msg)
        unit = d.one_of(("msg", "bytes"))
        rate = {"msg": limit_msg} if unit == "msg" else {"bytes": limit_msg * (size_bytes + 60)}
        limits = [{"level": "subscription", "set_at": "topic", "topic": TOPIC, **rate}]
    within_s = drain_s(CAUSE_S * (rate_msg - CONSUMERS_LOW * capacity), relieved, rate_msg)
    return scenario(
        f"The active one of {count} Failover consumers does {capacity:.0f} msg/s under {rate_msg}"
        f"{', a limit far above that' if limited else ''}.",
        [
            subscription(
                "Failover",
                consumers=count,
                processing_ms=takes_ms,
                receiver_queue=d.one_of((20, 100, 1000)),
                ack=d.one_of(("individual", "cumulative")),
            )
        ],
        [producer(rate_msg, size_bytes)],
        [
            state("cause", CAUSE_S, truth=(truth(SLOW),)),
            state(
                "relieved",
                within_s + AFTER_DRAIN_S,
                {"action": "set_consumers", "subscription": SUBSCRIPTION, "processing_ms": faster_ms},
                truth=(truth(HEALTHY),),
            ),
        ],
        [grows("cause", rate_msg - capacity, CAUSE_S), drains("relieved", within_s, rate_msg)],
        limits=limits,
    )


FAMILIES = {
    "consumers_hung": hung,
    "unacked_consumers": each_unacked,
    "key_shared_head": waiting_head,
    "broker_bytes_limit": lambda d: shared(d, "broker", "bytes"),
    "slow_failover": slow_behind_standby,
}
