"""Families in which a limiter holds all the time, or never: subscription, topic and broker limits, healthy ones, an unload."""

from __future__ import annotations

from tests.lab.drawn.numbers import Draw
from tests.lab.drawn.parts import (
    AFTER_DRAIN_S,
    CAUSE_S,
    HEALTHY,
    LIMITER_HIGH,
    LIMITER_LOW,
    SIZES_BYTES,
    SUBSCRIPTION,
    TOPIC,
    Fields,
    capacity_of,
    check,
    consumers_for,
    drain_s,
    drains,
    grows,
    let_through,
    limited_to,
    place,
    producer,
    scenario,
    state,
    subscription,
    truth,
)

#: Below so many tokens per period the counters rise on healthy subscriptions too.
READ_BATCH = 100


def sustained(d: Draw, level: str, unit: str) -> Fields:
    """A limit of 25 to 250 msg/s below a publish rate of 1.25 to 1.6 times as much (Exclusive 1.4 to 1.6); consumers do 2.6 to 5 times that."""
    kind = d.one_of(("Shared", "Shared", "Exclusive"))
    limit_msg, size_bytes = d.whole(25, 250), d.one_of(SIZES_BYTES)
    rate_msg = round(limit_msg * d.between(1.4 if kind == "Exclusive" else 1.25, 1.6))
    consumers = consumers_for(rate_msg * d.between(2.6, 5), 1 if kind == "Exclusive" else d.whole(1, 4))
    where = place(level, d.one_of(("subscription", "topic")) if level == "subscription" else level)
    limit = limited_to(unit, limit_msg, size_bytes)
    growth = rate_msg - let_through(kind) * limit_msg
    within_s = drain_s(CAUSE_S * (rate_msg - LIMITER_LOW * limit_msg), capacity_of(consumers), rate_msg)
    cause = {"side": "throttle", "cause": "throttled", "limiter": f"{level}.{unit}"}
    return scenario(
        f"A {level} limit of {limit_msg} msg/s ({unit}) under {rate_msg}; lifting it drains the backlog.",
        [subscription(kind, **consumers)],
        [producer(rate_msg, size_bytes)],
        [
            state("cause", CAUSE_S, truth=(truth(cause),)),
            state(
                "relieved",
                within_s + AFTER_DRAIN_S,
                {"action": "lift_limit", **where},
                truth=(truth(HEALTHY),),
            ),
        ],
        [
            grows("cause", growth, CAUSE_S),
            check("ticks", "cause", reason=level, unit=unit, at_least=CAUSE_S // 3),
            drains("relieved", within_s, rate_msg),
        ],
        limits=[{**where, **limit}],
    )


def shared(d: Draw, level: str, unit: str) -> Fields:
    """Two subscriptions under one topic or broker limit of 40 to 160 msg/s; each has 1.25 to 1.5 times that to read."""
    limit_msg, size_bytes = d.whole(40, 160), d.one_of(SIZES_BYTES)
    rate_msg = round(limit_msg * d.between(1.25, 1.5))
    topics = [TOPIC] if level == "topic" else [TOPIC, "clicks"]
    readers = []
    for number, name in enumerate((SUBSCRIPTION, "audit")):
        fields = consumers_for(rate_msg * d.between(2.6, 4), d.whole(1, 3))
        readers.append(
            {**subscription("Shared", **fields), "name": name, "topic": topics[number % len(topics)]}
        )
    where = place(level, level)
    # However the limit is divided, neither gets more than four fifths of it.
    growth = rate_msg - 0.8 * LIMITER_HIGH * limit_msg
    slowest = min(capacity_of(item) for item in readers)
    within_s = drain_s(CAUSE_S * rate_msg * 0.9, slowest, rate_msg)
    cause = {"side": "throttle", "cause": "throttled", "limiter": f"{level}.{unit}"}
    names = [item["name"] for item in readers]
    return scenario(
        f"Two subscriptions under a {level} limit of {limit_msg} msg/s ({unit}), {rate_msg} for each; lifting it drains both.",
        readers,
        [{**producer(rate_msg, size_bytes), "topic": name} for name in topics],
        [
            state("cause", CAUSE_S, truth=tuple({**cause, "subscription": name} for name in names)),
            state(
                "relieved",
                within_s + AFTER_DRAIN_S,
                {"action": "lift_limit", **where},
                truth=tuple({**HEALTHY, "subscription": name} for name in names),
            ),
        ],
        [
            *[{**grows("cause", growth, CAUSE_S), "subscription": name} for name in names],
            *[drains("relieved", within_s, rate_msg, name) for name in names],
        ],
        topics=[{"name": name} for name in topics],
        limits=[{**where, **limited_to(unit, limit_msg, size_bytes)}],
    )


def healthy(d: Draw, unit: str) -> Fields:
    """A limit of 30 to 300 msg/s of which 0.2 to 0.6 is used, consumers that do 3 to 6 times the rate; lifting it changes nothing."""
    limit_msg, size_bytes = d.whole(30, 300), d.one_of(SIZES_BYTES)
    rate_msg = max(10, round(limit_msg * d.between(0.2, 0.6)))
    where = place("subscription", d.one_of(("subscription", "topic")))
    confirm = [
        check("stays_below", name, below_entries=max(150, 2 * rate_msg)) for name in ("limited", "unlimited")
    ]
    if unit == "bytes" or limit_msg < READ_BATCH:
        at_least = CAUSE_S * min(rate_msg, 50) // 4
        confirm.append(check("ticks", "limited", reason="subscription", unit=unit, at_least=at_least))
    return scenario(
        f"Healthy, {rate_msg} msg/s under a limit of {limit_msg} ({unit}); lifting it changes nothing.",
        [subscription("Shared", **consumers_for(rate_msg * d.between(3, 6), d.whole(1, 3)))],
        [producer(rate_msg, size_bytes)],
        [
            state("limited", CAUSE_S, truth=(truth(HEALTHY),)),
            state("unlimited", CAUSE_S, {"action": "lift_limit", **where}, truth=(truth(HEALTHY),)),
        ],
        confirm,
        limits=[{**where, **limited_to(unit, limit_msg, size_bytes)}],
    )


def unload(d: Draw) -> Fields:
    """As a sustained subscription limit in messages, with the topic unloaded in the middle."""
    found = sustained(d, "subscription", "msg")
    cause, relieved = found["timeline"]
    growth, _, drained = found["confirm"]
    after = {**cause, "name": "after", "interventions": [{"action": "unload", "topic": TOPIC}]}
    # Twice the backlog takes twice the time; what comes after the drain is not labelled here.
    within_s = 2 * drained["within_s"]
    last = {**relieved, "duration_s": within_s + 60}
    del last["truth"]
    return {
        **found,
        "about": found["about"].replace(";", ", and the topic is unloaded in the middle;"),
        "timeline": [cause, after, last],
        "confirm": [growth, {**growth, "state": "after"}, {**drained, "within_s": within_s}],
    }


FAMILIES = {
    "subscription_msg_limit": lambda d: sustained(d, "subscription", "msg"),
    "subscription_bytes_limit": lambda d: sustained(d, "subscription", "bytes"),
    "topic_msg_limit": lambda d: shared(d, "topic", "msg"),
    "topic_bytes_limit": lambda d: shared(d, "topic", "bytes"),
    "broker_msg_limit": lambda d: shared(d, "broker", "msg"),
    "healthy_msg_limit": lambda d: healthy(d, "msg"),
    "healthy_bytes_limit": lambda d: healthy(d, "bytes"),
    "topic_unload": unload,
}
