"""Families about publish limits: one connection that a broker pauses, with consumers on it; next to it what only looks like that.

A client's commands reach the broker in the order in which they were written. Where a producer publishes more than its topic may, its
``max_pending`` messages stand in that queue, and permits and acknowledgements of the client's consumers behind them: each waits about
``max_pending / limit`` seconds, and a consumer gets no more than its receiver queue in that time.
"""

from __future__ import annotations

import math

from tests.lab.drawn.numbers import Draw
from tests.lab.drawn.parts import (
    ENTRY_EXTRA_BYTES,
    HEALTHY,
    SLOW,
    SUBSCRIPTION,
    TOPIC,
    Fields,
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

#: The topic whose producer publishes more than it may, and the client that it shares.
LOUD, APP = "imports", "app"
CAUSE_S, RELIEVED_S = 670, 180
_PAUSED = {"side": "neither", "cause": "connection_paused"}
_SIZES_BYTES = (128, 256, 512, 1000)
#: A published message is charged with its metadata, which is a little more than an entry's overhead.
_CHARGED_EXTRA_BYTES = ENTRY_EXTRA_BYTES + 10


class _Loud:
    """A producer above its publish limit: its rate, what it may, and how long what it writes waits."""

    def __init__(self, d: Draw, unit: str = "msg", in_batch: int = 1) -> None:
        self.rate_msg = d.whole(40, 56) * (2 if in_batch > 1 else 1)
        self.size_bytes = d.one_of(_SIZES_BYTES)
        self.allowed_msg = round(self.rate_msg * d.between(0.4, 0.6))
        self.waits_s = d.between(10, 17)
        self.limit: Fields = {"msg": self.allowed_msg}
        if unit == "bytes":
            self.limit = {"bytes": round(self.allowed_msg * (self.size_bytes + _CHARGED_EXTRA_BYTES))}
        self._in_batch = in_batch

    def producer(self, client: str | None = None, **fields: object) -> Fields:
        """The producer, whose queue is full within a minute."""
        if self._in_batch > 1:
            fields["batching"] = {
                "max_messages": self._in_batch,
                "max_delay_ms": round(1500 * self._in_batch / self.rate_msg),
            }
        if client is not None:
            fields["client"] = client
        pending = round(self.allowed_msg * self.waits_s)
        return {**producer(self.rate_msg, self.size_bytes, max_pending=pending, **fields), "topic": LOUD}

    def quieter(self) -> Fields:
        """What removes the cause: it publishes half of what it may."""
        return {"action": "set_rate", "topic": LOUD, "rate_msg": round(self.allowed_msg / 2)}


def _behind(d: Draw, rate_msg: float, loud: _Loud) -> tuple[int, float]:
    """A receiver queue that lets 0.35 to 0.55 of a rate through a connection, and by how much its backlog grows per second."""
    queue = max(10, round(rate_msg * loud.waits_s * d.between(0.35, 0.55)))
    return queue, rate_msg - 1.1 * queue / loud.waits_s


def _of(name: str, what: Fields) -> Fields:
    return {**truth(what), "subscription": name}


def _named(name: str, fields: Fields, topic: str = TOPIC) -> Fields:
    return {**fields, "name": name, "topic": topic}


def _slow(d: Draw, rate_msg: float) -> tuple[Fields, float]:
    """Consumers that do 0.5 to 0.7 of a rate, and the growth of their backlog."""
    share = d.between(0.5, 0.7)
    fields = consumers_for(rate_msg * share, d.whole(1, 2))
    return subscription("Shared", **fields, receiver_queue=d.one_of((20, 50, 100))), rate_msg * (1 - share)


def _faster(name: str, rate_msg: float) -> Fields:
    return {
        "action": "set_consumers",
        "subscription": name,
        "processing_ms": round(1000 / (9 * rate_msg), 1),
    }


def _fast(rate_msg: float, kind: str = "Shared", **fields: object) -> Fields:
    return subscription(kind, **consumers_for(9 * rate_msg, 1), **fields)


def _limit(d: Draw, name: str, rate_msg: float) -> tuple[Fields, float]:
    """A subscription's own limit of 0.5 to 0.65 of a rate, and the growth behind it."""
    msg = max(4, round(rate_msg * d.between(0.5, 0.65)))
    place = {"level": "subscription", "set_at": "subscription", "topic": TOPIC, "subscription": name}
    return {**place, "msg": msg}, rate_msg - 1.06 * msg


def paused(d: Draw, *, unit: str = "msg", set_at: str = "topic", in_batch: int = 1) -> Fields:
    """A consumer on the connection of a producer that publishes 1.7 to 2.5 times what its topic or namespace may.

    The same topic is read on connections of their own by a consumer that keeps up, by slow ones, and under a dispatch limit.
    """
    loud, rate_msg, size_bytes = _Loud(d, unit, in_batch), d.whole(12, 18), d.one_of((100, 200, 300))
    if set_at == "namespace":
        # The limit of the namespace holds for the other topic too, which stays far below.
        loud.limit = {**loud.limit, "set_at": "namespace"}
        rate_msg = min(rate_msg, round(0.6 * loud.allowed_msg))
    queue, growth = _behind(d, rate_msg, loud)
    slow, slow_growth = _slow(d, rate_msg)
    limit, limited_growth = _limit(d, "exports", rate_msg)
    kind = d.one_of(("Shared", "Shared", "Exclusive", "Failover"))
    topics = [{"name": TOPIC}, {"name": LOUD, "publish_rate": loud.limit}]
    if set_at == "namespace":
        topics = [{**topic, "publish_rate": loud.limit} for topic in topics]
    names = (SUBSCRIPTION, "ledger", "exports")
    return scenario(
        f"A publish limit at the {set_at} ({unit}) lets {loud.allowed_msg} of {loud.rate_msg} msg/s in; a consumer on that connection is"
        f" paused with it, others of the topic are not: one keeps up, one is slow, one is limited.",
        [
            _fast(rate_msg, kind, receiver_queue=queue, client=APP),
            _named("audit", _fast(rate_msg, receiver_queue=queue)),
            _named("ledger", slow),
            _named("exports", _fast(rate_msg)),
        ],
        [producer(rate_msg, size_bytes), loud.producer(APP)],
        [
            state(
                "cause",
                CAUSE_S,
                truth=(
                    truth(_PAUSED),
                    _of("audit", HEALTHY),
                    _of("ledger", SLOW),
                    _of("exports", {"side": "throttle", "cause": "throttled", "limiter": "subscription.msg"}),
                ),
            ),
            state(
                "relieved",
                RELIEVED_S,
                loud.quieter(),
                _faster("ledger", rate_msg),
                {"action": "lift_limit", **{name: limit[name] for name in limit if name != "msg"}},
            ),
        ],
        [
            grows("cause", growth, CAUSE_S - 60),
            check("stays_below", "cause", "audit", below_entries=max(60, 4 * rate_msg)),
            {**grows("cause", slow_growth, CAUSE_S), "subscription": "ledger"},
            {**grows("cause", limited_growth, CAUSE_S), "subscription": "exports"},
            *(drains("relieved", RELIEVED_S - 20, rate_msg, name) for name in names),
        ],
        topics=topics,
        limits=[limit],
    )


def paused_own_topic(d: Draw) -> Fields:
    """A consumer of the very topic whose producer is above its limit, on its connection and on another one."""
    loud = _Loud(d)
    queue, growth = _behind(d, loud.allowed_msg, loud)
    return scenario(
        f"A publish limit lets {loud.allowed_msg} of {loud.rate_msg} msg/s in; a consumer of that topic shares the connection, one does not.",
        [
            _named(SUBSCRIPTION, _fast(loud.allowed_msg, receiver_queue=queue, client=APP), LOUD),
            _named("audit", _fast(loud.allowed_msg, receiver_queue=queue), LOUD),
        ],
        [loud.producer(APP)],
        [
            state("cause", CAUSE_S, truth=(truth(_PAUSED), _of("audit", HEALTHY))),
            state("relieved", RELIEVED_S, loud.quieter()),
        ],
        [
            grows("cause", growth, CAUSE_S - 60),
            check("stays_below", "cause", "audit", below_entries=max(100, 4 * loud.allowed_msg)),
            drains("relieved", RELIEVED_S - 20, loud.allowed_msg),
        ],
        topics=[{"name": LOUD, "publish_rate": loud.limit}],
    )


def paused_with_neighbour(d: Draw) -> Fields:
    """A second producer shares the paused connection: its topic counts the pauses too, but its consumer elsewhere is slow by itself."""
    loud, rate_msg, other_msg = _Loud(d), d.whole(12, 18), d.whole(12, 18)
    queue, growth = _behind(d, rate_msg, loud)
    slow, slow_growth = _slow(d, other_msg)
    quiet = "metrics"
    return scenario(
        f"A publish limit lets {loud.allowed_msg} of {loud.rate_msg} msg/s in; a quiet producer and a consumer share the connection. The quiet"
        " topic's own consumers are slow, on another one.",
        [
            _fast(rate_msg, receiver_queue=queue, client=APP),
            _named("audit", _fast(rate_msg, receiver_queue=queue)),
            _named("ledger", slow, quiet),
        ],
        [
            producer(rate_msg, d.one_of((100, 200, 300))),
            loud.producer(APP),
            {**producer(other_msg, 200, client=APP), "topic": quiet},
        ],
        [
            state("cause", CAUSE_S, truth=(truth(_PAUSED), _of("audit", HEALTHY), _of("ledger", SLOW))),
            state("relieved", RELIEVED_S, loud.quieter(), _faster("ledger", other_msg)),
        ],
        [
            grows("cause", growth, CAUSE_S - 60),
            check("stays_below", "cause", "audit", below_entries=max(60, 4 * rate_msg)),
            # What is published waits for the connection too: in the long run as much, a little later.
            {**grows("cause", slow_growth, CAUSE_S - 60), "subscription": "ledger"},
            drains("relieved", RELIEVED_S - 20, rate_msg),
            drains("relieved", RELIEVED_S - 20, other_msg, "ledger"),
        ],
        topics=[{"name": TOPIC}, {"name": LOUD, "publish_rate": loud.limit}, {"name": quiet}],
    )


def limit_alone(d: Draw) -> Fields:
    """A producer above its publish limit on a connection of its own: its topic's consumer keeps up, and another topic's is slow."""
    loud, rate_msg = _Loud(d, d.one_of(("msg", "bytes"))), d.whole(12, 18)
    slow, slow_growth = _slow(d, rate_msg)
    return scenario(
        f"A publish limit lets {loud.allowed_msg} of {loud.rate_msg} msg/s in, and no consumer is on that connection.",
        [
            _named("audit", _fast(loud.allowed_msg, receiver_queue=d.one_of((20, 100, 500))), LOUD),
            _named("ledger", slow),
        ],
        [producer(rate_msg, d.one_of((100, 200, 300))), loud.producer()],
        [
            state("cause", CAUSE_S, truth=(_of("audit", HEALTHY), _of("ledger", SLOW))),
            state("relieved", RELIEVED_S, loud.quieter(), _faster("ledger", rate_msg)),
        ],
        [
            check("stays_below", "cause", "audit", below_entries=max(100, 4 * loud.allowed_msg)),
            {**grows("cause", slow_growth, CAUSE_S), "subscription": "ledger"},
            drains("relieved", RELIEVED_S - 20, rate_msg, "ledger"),
        ],
        topics=[{"name": TOPIC}, {"name": LOUD, "publish_rate": loud.limit}],
    )


def shared_unpaused(d: Draw) -> Fields:
    """Consumers share a connection with a producer far below its publish limit: one is slow, one is limited, one keeps up."""
    loud, rate_msg = _Loud(d), d.whole(12, 18)
    slow, slow_growth = _slow(d, rate_msg)
    limit, limited_growth = _limit(d, "exports", rate_msg)
    below = {name: 3 * value for name, value in loud.limit.items()}
    below["msg"] = 3 * loud.rate_msg
    return scenario(
        f"A publish limit of {below['msg']} msg/s is not reached by {loud.rate_msg}; consumers on that connection are not paused.",
        [
            _named("audit", _fast(rate_msg, receiver_queue=d.one_of((50, 200)), client=APP)),
            {**_named("ledger", slow), "client": APP},
            _named("exports", _fast(rate_msg, client=APP)),
        ],
        [producer(rate_msg, d.one_of((100, 200, 300))), loud.producer(APP)],
        [
            state(
                "cause",
                CAUSE_S,
                truth=(
                    _of("audit", HEALTHY),
                    _of("ledger", SLOW),
                    _of("exports", {"side": "throttle", "cause": "throttled", "limiter": "subscription.msg"}),
                ),
            ),
            state(
                "relieved",
                RELIEVED_S,
                _faster("ledger", rate_msg),
                {"action": "lift_limit", **{name: limit[name] for name in limit if name != "msg"}},
            ),
        ],
        [
            check("stays_below", "cause", "audit", below_entries=max(60, 4 * rate_msg)),
            {**grows("cause", slow_growth, CAUSE_S), "subscription": "ledger"},
            {**grows("cause", limited_growth, CAUSE_S), "subscription": "exports"},
            drains("relieved", RELIEVED_S - 20, rate_msg, "ledger"),
            drains("relieved", RELIEVED_S - 20, rate_msg, "exports"),
        ],
        topics=[{"name": TOPIC}, {"name": LOUD, "publish_rate": below}],
        limits=[limit],
    )


def paused_briefly(d: Draw) -> Fields:
    """A producer that is above its publish limit for a few seconds every three minutes: a consumer on its connection keeps up, another is slow."""
    loud, rate_msg = _Loud(d), d.whole(12, 18)
    slow, slow_growth = _slow(d, rate_msg)
    length_s = d.whole(3, 5)
    # Outside the bursts it publishes half of what it may; a burst is gone within seconds.
    calm_msg = round(loud.allowed_msg / 2)
    factor = round(1.5 * loud.allowed_msg / calm_msg, 1)
    bursts = {"every_s": 180, "length_s": length_s, "factor": factor}
    burst = {
        **producer(calm_msg, loud.size_bytes, client=APP, shape="bursts", bursts=bursts),
        "topic": LOUD,
    }
    return scenario(
        f"A producer of {calm_msg} msg/s is above its publish limit of {loud.allowed_msg} for {length_s} s every three minutes; consumers share"
        " its connection.",
        [
            _named("audit", _fast(rate_msg, receiver_queue=d.one_of((200, 500)), client=APP)),
            {**_named("ledger", slow), "client": APP},
        ],
        [producer(rate_msg, d.one_of((100, 200, 300))), burst],
        [
            state("cause", CAUSE_S, truth=(_of("audit", HEALTHY), _of("ledger", SLOW))),
            state("relieved", RELIEVED_S, _faster("ledger", rate_msg)),
        ],
        [
            check("stays_below", "cause", "audit", below_entries=math.ceil(max(100, 10 * rate_msg))),
            {**grows("cause", slow_growth, CAUSE_S), "subscription": "ledger"},
            drains("relieved", RELIEVED_S - 20, rate_msg, "ledger"),
        ],
        topics=[{"name": TOPIC}, {"name": LOUD, "publish_rate": loud.limit}],
    )


FAMILIES = {
    "paused_by_topic_msg": paused,
    "paused_by_topic_bytes": lambda d: paused(d, unit="bytes"),
    "paused_by_namespace": lambda d: paused(d, set_at="namespace", unit=d.one_of(("msg", "bytes"))),
    "paused_batched": lambda d: paused(d, in_batch=d.one_of((4, 8))),
    "paused_own_topic": paused_own_topic,
    "paused_with_neighbour": paused_with_neighbour,
    "publish_limit_alone": limit_alone,
    "shared_connection_unpaused": shared_unpaused,
    "paused_briefly": paused_briefly,
}
