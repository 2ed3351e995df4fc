"""Families in which a limiter holds for moments, not alone, on one partition, or for a while: bursts, both, hot, changed."""

from __future__ import annotations

import math

from tests.lab.drawn.numbers import Draw
from tests.lab.drawn.parts import (
    AFTER_DRAIN_S,
    CAUSE_S,
    CONSUMERS_LOW,
    HEALTHY,
    LIMITER_HIGH,
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
    limited_to,
    place,
    producer,
    scenario,
    state,
    subscription,
    truth,
)


def micro_burst(d: Draw) -> Fields:
    """Bursts of 2.2 to 3.2 times a limit of 110 to 220 msg/s for 3 s and more, every 20 to 110 s; below 0.6 of it in the mean."""
    level = d.one_of(("subscription", "topic"))
    limit_msg, size_bytes = d.whole(110, 220), d.one_of(SIZES_BYTES)
    # Distances that share no factor with the scrapes, so that these see bursts at every moment of theirs.
    every_s = d.one_of([every for every in range(31, 110) if math.gcd(every, 15) == 1])
    length_s = max(3, round(every_s * d.between(0.07, 0.11)))
    rate_msg = round(limit_msg * d.between(0.1, 0.2))
    factor = round(limit_msg * d.between(2.2, 3.2) / rate_msg, 2)
    burst_msg = rate_msg * factor
    # The first second of a burst finds a full bucket.
    lowest = (burst_msg - LIMITER_HIGH * limit_msg) * length_s - limit_msg
    highest = (burst_msg - LIMITER_LOW * limit_msg) * length_s
    above = round(0.35 * lowest)
    seen_s = 0.6 * (length_s + lowest / (limit_msg - rate_msg))
    bursts = CAUSE_S / every_s
    at_least = max(2, math.floor(0.4 * bursts * min(1, seen_s / 15)))
    where = place(level, d.one_of(("subscription", "topic")) if level == "subscription" else level)
    cause = {"side": "throttle", "cause": "micro_burst_throttled", "limiter": f"{level}.msg"}
    mean = (burst_msg * length_s + rate_msg * (every_s - length_s)) / every_s
    return scenario(
        f"Every {every_s} s, {length_s} s of {burst_msg:.0f} msg/s meet a {level} limit of {limit_msg}; the mean is {mean:.0f}.",
        [subscription("Shared", consumers=d.whole(3, 4), processing_ms=1)],
        [
            producer(
                rate_msg,
                size_bytes,
                shape="bursts",
                bursts={"every_s": every_s, "length_s": length_s, "factor": factor},
            )
        ],
        [
            state("cause", CAUSE_S, truth=(truth(cause),)),
            state("relieved", CAUSE_S, {"action": "lift_limit", **where}, truth=(truth(HEALTHY),)),
        ],
        [
            check(
                "peaks", "cause", above_entries=above, below_entries=max(60, above // 3), at_least=at_least
            ),
            check("stays_below", "cause", below_entries=math.ceil(1.5 * highest)),
            check("ticks", "cause", reason=level, unit="msg", at_least=math.floor(bursts * length_s / 2)),
            check("stays_below", "relieved", below_entries=max(220, above)),
        ],
        limits=[{**where, "msg": limit_msg}],
    )


def both(d: Draw) -> Fields:
    """Consumers that do 0.72 to 0.88 of 40 to 170 msg/s, then a limit of 0.68 to 0.82 of that too; each lifted alone, then both."""
    level, unit = d.one_of(
        (("subscription", "msg"), ("subscription", "bytes"), ("topic", "msg"), ("topic", "bytes"))
    )
    rate_msg, size_bytes = d.whole(40, 170), d.one_of(SIZES_BYTES)
    count = d.whole(2, 3)
    consumers = consumers_for(rate_msg * d.between(0.72, 0.88), count)
    capacity = capacity_of(consumers)
    limit_msg = round(capacity * d.between(0.68, 0.82))
    where = place(level, "topic")
    set_limit = {"action": "set_limit", **where, **limited_to(unit, limit_msg, size_bytes)}
    lift = {"action": "lift_limit", **where}
    more = math.ceil(rate_msg * d.between(5, 7) * consumers["processing_ms"] / 1000)
    step_s, short_s = 700, 150
    most = (step_s + short_s) * (rate_msg - CONSUMERS_LOW * capacity + rate_msg - LIMITER_LOW * limit_msg)
    within_s = drain_s(most, 1000 * more / consumers["processing_ms"], rate_msg)
    cause = {"side": "both", "cause": "both", "limiter": f"{level}.{unit}"}
    slower, limited = rate_msg - capacity, rate_msg - LIMITER_HIGH * limit_msg
    return scenario(
        f"Consumers that do {capacity:.0f} msg/s under {rate_msg}, then a {level} limit of {limit_msg} ({unit}) too; only both reliefs"
        " together drain it.",
        [subscription("Shared", **consumers, receiver_queue=d.one_of((100, 200, 500)))],
        [producer(rate_msg, size_bytes)],
        [
            state("consumers", step_s, truth=(truth(SLOW),)),
            state("cause", step_s, set_limit, truth=(truth(cause),)),
            state("limit-lifted", short_s, lift),
            state(
                "consumers-added",
                short_s,
                set_limit,
                {"action": "set_consumers", "subscription": SUBSCRIPTION, "consumers": more},
            ),
            state("relieved", within_s + 60, lift),
        ],
        [
            grows("consumers", slower, step_s),
            grows("cause", limited, step_s),
            check("ticks", "cause", reason=level, unit=unit, at_least=step_s // 3),
            grows("limit-lifted", slower, short_s),
            grows("consumers-added", limited, short_s),
            drains("relieved", within_s, rate_msg),
        ],
    )


def partition_hot(d: Draw) -> Fields:
    """Three to five partitions, one of which gets 0.6 to 0.8 of the messages and 1.25 to 1.5 times a limit of 40 to 150 msg/s."""
    level, unit = d.one_of((("subscription", "msg"), ("topic", "msg"), ("topic", "bytes")))
    partitions, share = d.whole(3, 5), round(d.between(0.6, 0.8), 2)
    hot = d.whole(0, partitions - 1)
    limit_msg, size_bytes = d.whole(40, 150), d.one_of(SIZES_BYTES)
    hot_msg = limit_msg * d.between(1.25, 1.5)
    rate_msg = round(hot_msg / share)
    consumers = consumers_for(rate_msg * d.between(3, 5), d.whole(2, 3))
    where = place(level, "topic")
    within_s = drain_s(CAUSE_S * (hot_msg - LIMITER_LOW * limit_msg), capacity_of(consumers), rate_msg)
    cause = {"side": "throttle", "cause": "throttled", "limiter": f"{level}.{unit}"}
    others = [number for number in range(partitions) if number != hot]
    return scenario(
        f"Of {rate_msg} msg/s on {partitions} partitions {share:.0%} go to one, above the {level} limit of {limit_msg} ({unit}) of each.",
        [subscription("Shared", **consumers)],
        [producer(rate_msg, size_bytes, routing="hot", hot={"partition": hot, "share": share})],
        [
            state(
                "cause",
                CAUSE_S,
                truth=(truth(cause, partitions=[hot]), truth(HEALTHY, partitions=others)),
            ),
            state(
                "relieved",
                within_s + AFTER_DRAIN_S,
                {"action": "lift_limit", **where},
                truth=(truth(HEALTHY),),
            ),
        ],
        [
            grows("cause", hot_msg - LIMITER_HIGH * limit_msg, CAUSE_S, partition=hot),
            check("ticks", "cause", reason=level, unit=unit, at_least=CAUSE_S // 3, partition=hot),
            *[check("stays_below", "cause", below_entries=100, partition=number) for number in others],
            drains("relieved", within_s, rate_msg),
        ],
        topics=[{"name": TOPIC, "partitions": partitions}],
        limits=[{**where, **limited_to(unit, limit_msg, size_bytes)}],
    )


def limit_change(d: Draw) -> Fields:
    """A limit of 2 to 3 times 30 to 150 msg/s is lowered to 0.7 to 0.85 of the rate and raised again."""
    level, unit = d.one_of(
        (("subscription", "msg"), ("subscription", "bytes"), ("topic", "msg"), ("topic", "bytes"))
    )
    rate_msg, size_bytes = d.whole(30, 150), d.one_of(SIZES_BYTES)
    high, low = round(rate_msg * d.between(2, 3)), round(rate_msg * d.between(0.7, 0.85))
    where = place(level, "topic")
    step_s = 690
    within_s = drain_s(step_s * (rate_msg - LIMITER_LOW * low), LIMITER_LOW * high, rate_msg)
    cause = {"side": "throttle", "cause": "throttled", "limiter": f"{level}.{unit}"}
    lower, higher = (
        {"action": "set_limit", **where, **limited_to(unit, limit, size_bytes)} for limit in (low, high)
    )
    return scenario(
        f"A {level} limit of {high} msg/s ({unit}) over {rate_msg} is lowered to {low} and raised again.",
        [subscription("Shared", **consumers_for(rate_msg * d.between(4, 6), d.whole(1, 3)))],
        [producer(rate_msg, size_bytes)],
        [
            state("before", step_s, truth=(truth(HEALTHY),)),
            state("cause", step_s, lower, truth=(truth(cause),)),
            state("relieved", within_s + AFTER_DRAIN_S, higher, truth=(truth(HEALTHY),)),
        ],
        [
            check("stays_below", "before", below_entries=max(150, 2 * rate_msg)),
            grows("cause", rate_msg - LIMITER_HIGH * low, step_s),
            check("ticks", "cause", reason=level, unit=unit, at_least=step_s // 3),
            drains("relieved", within_s, rate_msg),
        ],
        limits=[{**where, **limited_to(unit, high, size_bytes)}],
    )


FAMILIES = {
    "micro_burst": micro_burst,
    "both": both,
    "partition_hot": partition_hot,
    "limit_change": limit_change,
}
