"""Fleets drawn by chance: in, a seed; out, a :class:`Fleet`, always the same one.

A fleet is put together from services: a topic or two with their readers, most of them well all the time, each of the others with one fault
whose rates fit its limits and consumers (bounds as in :mod:`tests.lab.drawn.parts`). Services are dealt onto namespaces, and their
faults onto two waves, so that several are on at any time; a broker limit comes last, because it would mix with every other cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.lab.drawn.numbers import Draw
from tests.lab.drawn.parts import ENTRY_EXTRA_BYTES, LIMITER_HIGH, consumers_for
from tests.lab.fleet.model import Fleet

Fields = dict[str, Any]

#: What a company runs: tenant to namespaces to topics.
COMPANY: dict[str, dict[str, tuple[str, ...]]] = {
    "payments": {
        "checkout": ("orders", "carts", "receipts", "coupons"),
        "invoices": ("issued", "paid", "reminders", "credits"),
        "ledger": ("entries", "balances", "statements", "transfers"),
        "fraud": ("scores", "alerts", "reviews", "devices"),
        "refunds": ("requests", "approvals", "payouts", "disputes"),
    },
    "logistics": {
        "tracking": ("positions", "scans", "events", "geofences"),
        "warehouse": ("picks", "stock", "returns", "inbound"),
        "routing": ("plans", "detours", "traffic", "drivers"),
        "customs": ("declarations", "holds", "releases", "duties"),
        "delivery": ("stops", "proofs", "slots", "ratings"),
    },
    "ads": {
        "clicks": ("raw", "sessions", "conversions", "bots"),
        "bids": ("auctions", "wins", "prices", "losses"),
        "campaigns": ("changes", "budgets", "creatives", "pauses"),
        "audiences": ("segments", "joins", "exports", "consents"),
        "reports": ("hourly", "daily", "anomalies", "billing"),
    },
    "shop": {
        "catalog": ("products", "prices", "images", "reviews"),
        "search": ("queries", "results", "suggestions", "synonyms"),
        "accounts": ("signups", "logins", "profiles", "deletions"),
        "inventory": ("levels", "reservations", "restocks", "audits"),
        "loyalty": ("points", "tiers", "rewards", "expiries"),
    },
}
READERS = (
    "billing", "audit", "search-index", "notifications", "fraud-check", "analytics", "archiver", "features", "cache-refresh", "mailer",
    "dashboards", "exporter", "reconciler", "recommender", "crm-sync", "enricher", "alerting", "data-lake", "support-desk", "replayer",
)  # fmt: skip
TENANTS = 3
NAMESPACES = 12
READERS_LEAST = 42
#: Times of the two waves of faults and of the broker limit: what the second wave left is drained before that.
WAVES_S = ((110, 240), (620, 720))
LENGTH_S = (420, 480)
BROKER_LIMIT_S, BROKER_LIMIT_LENGTH_S = 1350, 380
DURATION_S = 1890
DRAIN_S, BROKER_DRAIN_S = 240, 150
_SIZES_BYTES = (128, 256, 512, 1000, 2000)
#: Settings of 5.0.0, which its first milestone has not yet.
_AS_5_0 = {"dispatcherMaxReadBatchSize": 500}


@dataclass
class Service:
    """Topics with their producers and readers, and at most one fault, all by names of their own; ``stages`` are timed from 0."""

    topics: list[Fields] = field(default_factory=list)
    producers: list[Fields] = field(default_factory=list)
    subscriptions: list[Fields] = field(default_factory=list)
    limits: list[Fields] = field(default_factory=list)
    kind: str | None = None
    stages: list[Fields] = field(default_factory=list)
    until_s: float = 0
    end: list[Fields] = field(default_factory=list)
    within_s: float = DRAIN_S
    #: Whether it needs the first wave, because it takes longer than one.
    long: bool = False


# -- parts of a service -----------------------------------------------------------------------


def _length(d: Draw) -> int:
    return d.whole(*LENGTH_S)


def _entry_rate(producer: Fields) -> float:
    """Entries per second that a producer writes."""
    batching = producer.get("batching")
    if batching is None:
        return producer["rate_msg"]
    in_batch = min(batching["max_messages"], max(1.0, producer["rate_msg"] * batching["max_delay_ms"] / 1000))
    return producer["rate_msg"] / in_batch


def _entry_bytes(producer: Fields) -> float:
    return producer["rate_msg"] / _entry_rate(producer) * producer["size_bytes"] + ENTRY_EXTRA_BYTES


def _batched(d: Draw, low: int, high: int) -> Fields:
    """A producer whose batches fill before they close, or close first where they are large."""
    rate = d.whole(low, high)
    most = d.one_of((10, 50, 200, 1000))
    delay_ms = min(1500, max(10, round(1200 * most / rate)))
    return {
        "topic": "t",
        "rate_msg": rate,
        "size_bytes": d.one_of((64, 128, 256, 512)),
        "batching": {"max_messages": most, "max_delay_ms": delay_ms},
    }


def _plain(d: Draw, low: int, high: int) -> Fields:
    return {"topic": "t", "rate_msg": d.whole(low, high), "size_bytes": d.one_of(_SIZES_BYTES)}


def _reader(d: Draw, name: str, rate_msg: float, kind: str | None = None, **fields: Any) -> Fields:
    """Consumers that do three to six times the rate."""
    kind = kind or d.one_of(("Shared", "Shared", "Shared", "Exclusive", "Failover"))
    count = {"Exclusive": 1, "Failover": d.whole(1, 3)}.get(kind) or d.whole(1, 4)
    if rate_msg > 150:
        fields = {"consumers": count, "processing_ms": 0, **fields}
    else:
        per_active = 1 if kind == "Failover" else count
        takes = consumers_for(rate_msg * d.between(3.5, 6), per_active)["processing_ms"]
        fields = {"consumers": count, "processing_ms": takes, **fields}
    return {"name": name, "topic": "t", "type": kind, **fields}


def _active(reader: Fields) -> int:
    """How many of the consumers of a reader work at a time."""
    return 1 if reader["type"] in ("Failover", "Exclusive") else reader["consumers"]


def _takes_ms(reader: Fields, capacity_msg: float) -> float:
    return round(1000 * _active(reader) / capacity_msg, 2)


def _limit(unit: str, msg_per_s: float, producer: Fields) -> Fields:
    if unit == "msg":
        return {"msg": max(1, round(msg_per_s))}
    bytes_per_msg = _entry_bytes(producer) * _entry_rate(producer) / producer["rate_msg"]
    return {"bytes": max(1, round(msg_per_s * bytes_per_msg))}


def _others(d: Draw, rate_msg: float, most: int = 1) -> list[Fields]:
    """Further readers of the topic, well all the time."""
    return [_reader(d, f"other-{number}", rate_msg) for number in range(d.whole(0, most))]


def _throttled(name: str, limiter: str, **fields: Any) -> Fields:
    return {"subscription": name, "side": "throttle", "cause": "throttled", "limiter": limiter, **fields}


def _of_consumers(name: str, cause: str, grows_per_s: float, **fields: Any) -> Fields:
    return {
        "subscription": name,
        "side": "consumer_capacity",
        "cause": cause,
        "grows_per_s": round(grows_per_s, 3),
        **fields,
    }


def _two_thirds(of_entries_per_s: float) -> float:
    return of_entries_per_s * 2 / 3


# -- services ---------------------------------------------------------------------------------


def well(d: Draw, low: int = 4, high: int = 20, most_readers: int = 3) -> Service:
    """A topic that nothing happens to, sometimes under a limit that it never reaches."""
    producer = _plain(d, low, high)
    if d.one_of((True, False, False)):
        rate = producer.pop("size_bytes")
        producer["sizes"] = [{"size_bytes": rate, "share": 4}, {"size_bytes": 4 * rate, "share": 1}]
    readers = [_reader(d, f"r{n}", producer["rate_msg"]) for n in range(d.whole(2, most_readers))]
    limits = []
    if d.one_of((True, False, False)):
        # Below a read batch its counters rise all the time.
        limits = [{"level": "subscription", "set_at": "topic", "topic": "t", "msg": 3 * producer["rate_msg"]}]
    return Service([{"name": "t"}], [producer], readers, limits)


def well_batched(d: Draw, low: int, high: int) -> Service:
    """A busy topic in partitions, batched, well all the time."""
    producer = _batched(d, low, high)
    readers = [_reader(d, "r0", producer["rate_msg"], "Shared"), *_others(d, producer["rate_msg"])]
    return Service([{"name": "t", "partitions": d.whole(2, 4)}], [producer], readers)


def well_keyed(d: Draw) -> Service:
    """A topic with keys and Key_Shared readers, well all the time."""
    producer = {**_plain(d, 8, 20), "keys": d.whole(100, 1000)}
    return Service(
        [{"name": "t"}],
        [producer],
        [_reader(d, f"r{n}", producer["rate_msg"], "Key_Shared") for n in range(2)],
    )


def subscription_limit(d: Draw, unit: str) -> Service:
    """One reader of two or three is limited by a limit of its own, or all of a topic's by one that is set there."""
    producer = _plain(d, 30, 60) if unit == "msg" else _batched(d, 200, 400)
    rate = producer["rate_msg"]
    kind = d.one_of(("Shared", "Failover", "Exclusive"))
    reader = _reader(d, "r0", rate, kind)
    allowed = rate * d.between(0.5, 0.68)
    where = {"level": "subscription", "set_at": "subscription", "topic": "t", "subscription": "r0"}
    limit = _limit(unit, allowed, producer)
    # An Exclusive or Failover dispatcher lets up to 1.15 of a limit through.
    grows = _two_thirds((rate - 1.15 * allowed) / rate * _entry_rate(producer))
    high = {"action": "set_limit", **where, **_limit(unit, 3.5 * rate, producer)}
    end = d.one_of(({"action": "lift_limit", **where}, high))
    limits = [{**where, **_limit(unit, d.between(2, 3) * rate, producer)}] if d.one_of((True, False)) else []
    effect = _throttled("r0", f"subscription.{unit}", grows_per_s=round(grows, 3))
    return Service(
        [{"name": "t"}], [producer], [reader, *_others(d, rate, 2)], limits, "subscription_limit",
        [{"at_s": 0, "steps": [{"action": "set_limit", **where, **limit}], "effects": [effect]}],
        _length(d), [end],
    )  # fmt: skip


def topic_limit(d: Draw, unit: str) -> Service:
    """Two or three readers share a topic limit of 0.5 to 0.7 of what they need together."""
    producer = _plain(d, 25, 45) if unit == "msg" else _batched(d, 150, 250)
    count, rate = d.whole(2, 3), producer["rate_msg"]
    readers = [_reader(d, f"r{n}", rate, d.one_of(("Shared", "Shared", "Failover"))) for n in range(count)]
    where = {"level": "topic", "set_at": "topic", "topic": "t"}
    limit = _limit(unit, count * rate * d.between(0.5, 0.7), producer)
    effects = [_throttled(one["name"], f"topic.{unit}") for one in readers]
    return Service(
        [{"name": "t"}], [producer], readers, [], "topic_limit",
        [{"at_s": 0, "steps": [{"action": "set_limit", **where, **limit}], "effects": effects}],
        _length(d), [{"action": "lift_limit", **where}],
    )  # fmt: skip


def replayed(d: Draw) -> Service:
    """A topic limit that two readers need 0.75 to 0.85 of; a third comes back after five minutes and uses it up."""
    producer = _plain(d, 25, 45)
    rate = producer["rate_msg"]
    readers = [_reader(d, f"r{n}", rate, "Shared") for n in range(2)]
    readers.append({**_reader(d, "r2", rate, "Shared"), "consumers": 3, "processing_ms": 1.0})
    where = {"level": "topic", "set_at": "topic", "topic": "t"}
    limit = {**where, "msg": round(2 * rate / d.between(0.75, 0.85))}
    away_s = 380
    gone = [{"action": "set_consumers", "subscription": "r2", "consumers": 0}]
    back = [{"action": "set_consumers", "subscription": "r2", "consumers": 3}]
    effects = [_throttled(f"r{n}", "topic.msg") for n in range(2)]
    # The one that came back takes from its backlog; it is limited all the same.
    effects.append(_throttled("r2", "topic.msg", grows_per_s=0))
    return Service(
        [{"name": "t"}], [producer], readers, [limit], "replay",
        [
            {"at_s": 0, "steps": gone, "effects": [_of_consumers("r2", "no_consumers", _two_thirds(rate))]},
            {"at_s": away_s, "steps": back, "effects": effects},
        ],
        away_s + d.whole(420, 480), [{"action": "lift_limit", **where}], long=True,
    )  # fmt: skip


def namespace_limit(d: Draw) -> Service:
    """A limit of every subscription, set at the namespace, that two topics' readers need 1.4 to 1.8 times and one topic's half of."""
    low = d.whole(10, 18)
    busy = [
        {**_plain(d, 1, 1), "topic": f"t{n}", "rate_msg": round(low * d.between(2.8, 3.6))} for n in range(2)
    ]
    quiet = {**_plain(d, 1, 1), "topic": "t2", "rate_msg": low}
    producers = [*busy, quiet]
    readers = [
        {**_reader(d, f"r{n}", one["rate_msg"], "Shared"), "topic": one["topic"]}
        for n, one in enumerate(producers)
    ]
    where = {"level": "subscription", "set_at": "namespace"}
    effects = [_throttled(f"r{n}", "subscription.msg") for n in range(3)]
    return Service(
        [{"name": f"t{n}"} for n in range(3)], producers, readers, [], "namespace_limit",
        [{"at_s": 0, "steps": [{"action": "set_limit", **where, "msg": 2 * low}], "effects": effects}],
        _length(d), [{"action": "lift_limit", **where}],
    )  # fmt: skip


def hot_partition(d: Draw) -> Service:
    """Of three or four partitions one gets 0.6 to 0.75 of the messages, more than the topic's limit for each lets through."""
    partitions, share = d.whole(3, 4), round(d.between(0.6, 0.75), 2)
    producer = _plain(d, 50, 90)
    hot = d.whole(0, partitions - 1)
    producer |= {"routing": "hot", "hot": {"partition": hot, "share": share}}
    rate, limited = producer["rate_msg"], share * producer["rate_msg"]
    allowed = limited * d.between(0.6, 0.75)
    level = d.one_of(("subscription", "topic"))
    where = {"level": level, "set_at": "topic", "topic": "t"}
    grows = _two_thirds(limited - LIMITER_HIGH * allowed)
    effect = _throttled("r0", f"{level}.msg", partitions=[hot], grows_per_s=round(grows, 3))
    return Service(
        [{"name": "t", "partitions": partitions}], [producer], [_reader(d, "r0", rate, "Shared")], [], "hot_partition",
        [{"at_s": 0, "steps": [{"action": "set_limit", **where, "msg": round(allowed)}], "effects": [effect]}],
        _length(d), [{"action": "lift_limit", **where}],
    )  # fmt: skip


def slow(d: Draw, kind: str, *, batched: bool = False, limited: bool = False) -> Service:
    """Consumers that get slower, to 0.5 to 0.75 of the rate, and fast again; sometimes under a limit that they stay far from."""
    producer = _batched(d, 150, 300) if batched else _plain(d, 20, 50)
    rate, entries = producer["rate_msg"], _entry_rate(producer)
    keyed = {"keys": d.whole(200, 1000)} if kind == "Key_Shared" else {}
    reader = _reader(d, "r0", rate, kind, receiver_queue=d.one_of((100, 500, 1000)))
    usual_ms = reader["processing_ms"]
    capacity = rate * d.between(0.5, 0.75)
    limits = []
    if limited:
        unit = d.one_of(("msg", "bytes"))
        limits = [
            {"level": "subscription", "set_at": "topic", "topic": "t", **_limit(unit, 3.5 * rate, producer)}
        ]
    grows = _two_thirds((rate - capacity) / rate * entries)
    step = {"action": "set_consumers", "subscription": "r0"}
    return Service(
        [{"name": "t"}], [{**producer, **keyed}], [reader, *_others(d, rate)], limits, "slow_consumers",
        [{
            "at_s": 0, "steps": [{**step, "processing_ms": _takes_ms(reader, capacity)}],
            "effects": [_of_consumers("r0", "slow_consumers", grows)],
        }],
        _length(d), [{**step, "processing_ms": usual_ms}],
    )  # fmt: skip


def both(d: Draw) -> Service:
    """Consumers that do 0.7 to 0.8 of the rate, then also a limit of 0.7 to 0.8 of that; both are taken away together."""
    producer = _plain(d, 30, 55)
    rate = producer["rate_msg"]
    reader = _reader(d, "r0", rate, "Shared")
    capacity = rate * d.between(0.7, 0.8)
    allowed = capacity * d.between(0.7, 0.8)
    level = d.one_of(("subscription", "topic"))
    where = {"level": level, "set_at": "topic", "topic": "t"}
    step = {"action": "set_consumers", "subscription": "r0"}
    first_s = 400
    slower = _two_thirds(rate - capacity)
    limited = {
        "subscription": "r0", "side": "both", "cause": "both", "limiter": f"{level}.msg",
        "grows_per_s": round(_two_thirds(rate - LIMITER_HIGH * allowed), 3),
    }  # fmt: skip
    return Service(
        [{"name": "t"}], [producer], [reader], [], "both",
        [
            {
                "at_s": 0, "steps": [{**step, "processing_ms": _takes_ms(reader, capacity)}],
                "effects": [_of_consumers("r0", "slow_consumers", slower)],
            },
            {"at_s": first_s, "steps": [{"action": "set_limit", **where, "msg": round(allowed)}], "effects": [limited]},
        ],
        first_s + d.whole(400, 440),
        [{"action": "lift_limit", **where}, {**step, "processing_ms": reader["processing_ms"]}], long=True,
    )  # fmt: skip


def hung(d: Draw) -> Service:
    """All consumers hang with what they hold, then go on."""
    producer = _plain(d, 15, 40)
    reader = _reader(d, "r0", producer["rate_msg"], d.one_of(("Shared", "Exclusive", "Failover")))
    reader["receiver_queue"] = d.one_of((50, 200, 500))
    step = {"action": "hang", "subscription": "r0"}
    effect = _of_consumers("r0", "hung_consumers", _two_thirds(producer["rate_msg"]))
    return Service(
        [{"name": "t"}], [producer], [reader, *_others(d, producer["rate_msg"])], [], "hung_consumers",
        [{"at_s": 0, "steps": [{**step, "consumers": reader["consumers"]}], "effects": [effect]}],
        _length(d), [{**step, "consumers": 0}],
    )  # fmt: skip


def absent(d: Draw) -> Service:
    """All consumers leave and come back."""
    producer = _plain(d, 12, 35) if d.one_of((True, False)) else _batched(d, 150, 250)
    reader = _reader(d, "r0", producer["rate_msg"])
    step = {"action": "set_consumers", "subscription": "r0"}
    effect = _of_consumers("r0", "no_consumers", _two_thirds(_entry_rate(producer)))
    return Service(
        [{"name": "t"}], [producer], [reader, *_others(d, producer["rate_msg"])], [], "no_consumers",
        [{"at_s": 0, "steps": [{**step, "consumers": 0}], "effects": [effect]}],
        _length(d), [{**step, "consumers": reader["consumers"]}],
    )  # fmt: skip


def burst(d: Draw) -> Service:
    """For three minutes or four so much more is published that the consumers need six minutes and more for it."""
    producer = _plain(d, 20, 35)
    rate, length_s = producer["rate_msg"], d.whole(170, 240)
    capacity = rate * d.between(2, 2.6)
    count = d.whole(2, 4)
    reader = {"name": "r0", "topic": "t", "type": "Shared", **consumers_for(capacity, count)}
    off_s = 400 - length_s
    factor = (capacity + off_s * (capacity - rate) / length_s) / rate
    grows = _two_thirds(factor * rate - capacity)
    effect = {
        "subscription": "r0", "side": "neither", "cause": "publish_burst", "part": "until_drained",
        "grows_per_s": round(grows, 3),
    }  # fmt: skip
    step = {"action": "set_rate", "topic": "t"}
    return Service(
        [{"name": "t"}], [producer], [reader], [], "publish_burst",
        [{"at_s": 0, "steps": [{**step, "rate_msg": round(factor * rate)}], "effects": [effect]}],
        length_s, [{**step, "rate_msg": rate}], within_s=360, long=False,
    )  # fmt: skip


def redelivered(d: Draw) -> Service:
    """0.5 to 0.7 of the messages are given back three or four times, which takes more than the consumers can do."""
    rate, share, times = d.whole(12, 22), round(d.between(0.5, 0.7), 2), d.whole(3, 4)
    deliveries = 1 + share * times
    takes_ms = d.whole(60, 110)
    count = max(2, round(rate * deliveries / d.between(1.25, 1.5) * takes_ms / 1000))
    capacity = 1000 * count / takes_ms
    again = {"nack_share": 0.01, "nack_times": times, "nack_delay_ms": d.whole(100, 200)}
    reader = {
        "name": "r0", "topic": "t", "type": "Shared", "consumers": count, "processing_ms": takes_ms, "receiver_queue": 50,
        "redelivery": again,
    }  # fmt: skip
    step = {"action": "set_redelivery", "subscription": "r0"}
    effect = _of_consumers("r0", "redelivery", _two_thirds(rate - capacity / deliveries))
    return Service(
        [{"name": "t"}], [{"topic": "t", "rate_msg": rate, "size_bytes": d.one_of(_SIZES_BYTES)}],
        [reader, *_others(d, rate)], [], "redelivery",
        [{"at_s": 0, "steps": [{**step, "nack_share": share}], "effects": [effect]}],
        _length(d), [{**step, "nack_share": 0}], within_s=420,
    )  # fmt: skip


def waiting_head(d: Draw) -> Service:
    """One of two to four Key_Shared consumers hangs; the others have room, and its keys wait."""
    count, rate = d.whole(2, 4), d.whole(25, 45)
    reader = {
        "name": "r0", "topic": "t", "type": "Key_Shared", "consumers": count,
        "processing_ms": round(1000 / (3.5 * rate), 1), "receiver_queue": d.one_of((20, 50, 100)),
    }  # fmt: skip
    step = {"action": "hang", "subscription": "r0"}
    # Keys are dealt out unevenly: one consumer gets at least 0.4 of its fair part.
    effect = _of_consumers("r0", "key_shared_blocked", 0.4 * rate / count)
    producer = {
        "topic": "t",
        "rate_msg": rate,
        "size_bytes": d.one_of(_SIZES_BYTES),
        "keys": d.whole(200, 1000),
    }
    return Service(
        [{"name": "t"}], [producer], [reader, *_others(d, rate)], [], "key_shared_blocked",
        [{"at_s": 0, "steps": [{**step, "consumers": 1}], "effects": [effect]}],
        _length(d), [{**step, "consumers": 0}],
    )  # fmt: skip


def unacked(d: Draw) -> Service:
    """Consumers stop acknowledging; Pulsar stops at so many unacknowledged messages of the subscription."""
    producer, most = _plain(d, 15, 35), d.whole(200, 800)
    reader = _reader(d, "r0", producer["rate_msg"], "Shared")
    step = {"action": "set_ack", "subscription": "r0"}
    effect = _of_consumers("r0", "blocked_on_unacked", _two_thirds(producer["rate_msg"]))
    return Service(
        [{"name": "t", "max_unacked_per_subscription": most}], [producer], [reader], [], "blocked_on_unacked",
        [{"at_s": 0, "steps": [{**step, "ack": "none"}], "effects": [effect]}],
        _length(d), [{**step, "ack": "individual"}],
    )  # fmt: skip


#: In every fleet.
ALWAYS: tuple[Callable[[Draw], Service], ...] = (
    lambda d: subscription_limit(d, "msg"),
    lambda d: subscription_limit(d, "bytes"),
    lambda d: topic_limit(d, "msg"),
    replayed,
    lambda d: slow(d, "Shared"),
    lambda d: slow(d, "Failover", limited=True),
    lambda d: slow(d, "Exclusive", batched=True),
    both,
    hung,
    absent,
    burst,
    hot_partition,
    redelivered,
    waiting_head,
)
#: Some of these, drawn.
SOMETIMES: tuple[Callable[[Draw], Service], ...] = (
    lambda d: topic_limit(d, "bytes"),
    namespace_limit,
    lambda d: slow(d, "Key_Shared"),
    lambda d: slow(d, "Shared", limited=True),
    waiting_head,
    unacked,
)


# -- the fleet --------------------------------------------------------------------------------


def draw(seed: int, *, kept_aside: bool = False) -> Fleet:
    """Draw a fleet.

    Parameters
    ----------
    seed
        The same one gives the same fleet.
    kept_aside
        Written into the fleet; nothing else depends on it.
    """
    d = Draw("fleet", seed, 1)
    version = d.one_of(("4.2.4", "4.2.4", "4.2.4", "5.0.0-M1", "4.0.7"))
    profile, interval_s = d.one_of(("helm", "default")), d.one_of((15, 15, 30, 60))
    brokers = d.one_of((2, 2, 3))
    services = [make(d) for make in ALWAYS]
    left = list(SOMETIMES)
    for _ in range(2):
        services.append(left.pop(d.whole(0, len(left) - 1))(d))
    services += [well_batched(d, 300, 700), well_batched(d, 200, 400), well_keyed(d)]
    while sum(len(one.subscriptions) for one in services) < READERS_LEAST:
        services.append(well(d))
    return _fleet(
        d, f"fleet-{seed}", seed, services,
        kept_aside=kept_aside, version=version, profile=profile, scrape_interval_s=interval_s, brokers=brokers,
        settings=_AS_5_0 if version.startswith("5.") else {},
    )  # fmt: skip


def draw_smoke(seed: int) -> Fleet:
    """Draw a fleet of three faults, a move and a restart within six minutes: it proves that the machinery works."""
    d = Draw("smoke fleet", seed, 1)
    services = [
        subscription_limit(d, "msg"),
        topic_limit(d, "msg"),
        slow(d, "Shared"),
        hot_partition(d),
        well_batched(d, 100, 300),
    ]
    for one in services:
        one.until_s, one.within_s = min(one.until_s, 110), 150
    namespaces, faults = _deal(d, services, 2, [20 + 10 * n for n in range(len(services))], 360)
    first = faults[0]
    topic = first["stages"][0]["steps"][0]["topic"]
    operations = [
        {"at_s": 70, "kind": "move", "namespace": first["namespace"], "topic": topic, "back_after_s": 40},
        {"at_s": 90, "kind": "miss_scrapes", "away_s": 12},
        {"at_s": 250, "kind": "kill", "broker": 1, "away_s": 15},
    ]
    return Fleet.model_validate(
        {
            "format": 1, "name": f"smoke-{seed}", "seed": seed, "version": "4.2.4", "profile": "helm",
            "scrape_interval_s": 5, "brokers": 2, "duration_s": 360, "namespaces": namespaces, "faults": faults,
            "operations": operations,
        }
    )  # fmt: skip


def _fleet(d: Draw, name: str, seed: int, services: list[Service], **fields: Any) -> Fleet:
    starts: list[float] = []
    for number, service in enumerate(services):
        early = service.long or number % 2 == 0
        low, high = WAVES_S[0 if early else 1]
        starts.append(d.whole(low, low + 40) if service.long else d.whole(low, high))
    namespaces, faults = _deal(d, services, NAMESPACES, starts, DURATION_S)
    limit = {"share": round(d.between(0.55, 0.7), 2), "unit": "msg"}
    faults.append(
        {
            "name": "broker-limit", "kind": "broker_limit", "broker_limit": limit, "at_s": BROKER_LIMIT_S,
            "until_s": BROKER_LIMIT_S + BROKER_LIMIT_LENGTH_S, "within_s": BROKER_DRAIN_S,
        }
    )  # fmt: skip
    return Fleet.model_validate(
        {
            "format": 1, "name": name, "seed": seed, "duration_s": DURATION_S, "namespaces": namespaces, "faults": faults,
            "operations": _operations(d, namespaces, faults, fields["brokers"], fields["scrape_interval_s"]), **fields,
        }
    )  # fmt: skip


def _operations(
    d: Draw, namespaces: list[Fields], faults: list[Fields], brokers: int, interval_s: int
) -> list[Fields]:
    """What operators do: every fleet has a move and its return, an unload, one or two ways to lose a broker, and missed scrapes."""
    ill = [fault for fault in faults if fault.get("namespace")]
    first, second = (
        [fault for fault in ill if (fault["stages"][0]["at_s"] < WAVES_S[1][0]) == early]
        for early in (True, False)
    )

    def place(group: Sequence[Fields]) -> Fields:
        fault = d.one_of(group)
        scenario = next(one for one in namespaces if f"{one['tenant']}/{one['name']}" == fault["namespace"])
        names = {effect["subscription"] for stage in fault["stages"] for effect in stage["effects"]}
        topic = next(one["topic"] for one in scenario["subscriptions"] if one["name"] in names)
        return {"namespace": fault["namespace"], "topic": topic}

    any_scenario = d.one_of(namespaces)
    elsewhere = {
        "namespace": f"{any_scenario['tenant']}/{any_scenario['name']}",
        "topic": d.one_of(any_scenario["topics"])["name"],
    }
    missed_s = round(2.4 * interval_s)
    found = [
        {"at_s": d.whole(310, 380), "kind": "move", **place(first), "back_after_s": d.whole(90, 150)},
        {"at_s": d.whole(400, 470), "kind": "unload", **place(first)},
        {"at_s": d.whole(410, 430), "kind": "touch_policy", **place(first)},
        {"at_s": d.whole(880, 930), "kind": "move", **place(second), "back_after_s": d.whole(60, 120)},
        {"at_s": d.whole(840, 1000), "kind": "unload", **elsewhere},
        {"at_s": d.whole(1400, 1600), "kind": "touch_policy", **elsewhere},
        {"at_s": d.whole(280, 300), "kind": "miss_scrapes", "away_s": missed_s},
        {"at_s": d.whole(1480, 1520), "kind": "miss_scrapes", "away_s": missed_s},
    ]
    loses = [
        {"kind": "restart", "broker": d.whole(0, brokers - 1), "away_s": d.whole(5, 30)},
        {"kind": "kill", "broker": d.whole(0, brokers - 1), "away_s": d.one_of((3, 45, 90))},
        {"kind": "rolling_restart", "away_s": d.whole(5, 10)},
        {"kind": "new_instance", "broker": d.whole(0, brokers - 1), "away_s": d.whole(5, 30)},
    ]
    for at_s in (d.whole(480, 520), d.whole(1000, 1040)):
        found.append({"at_s": at_s, **loses.pop(d.whole(0, len(loses) - 1))})
    return sorted(found, key=lambda one: one["at_s"])


def _deal(
    d: Draw, services: list[Service], count: int, starts: list[float], duration_s: float
) -> tuple[list[Fields], list[Fields]]:
    """Put services into namespaces under a company's names, and their faults onto the clock."""
    spots = _spots(d, count)
    dealt: list[list[tuple[Service, float]]] = [[] for _ in spots]
    # A limit of the namespace would hold its neighbours there too.
    alone = [pair for pair in zip(services, starts, strict=True) if pair[0].kind == "namespace_limit"]
    rest = [pair for pair in zip(services, starts, strict=True) if pair[0].kind != "namespace_limit"]
    for number, pair in enumerate(alone):
        dealt[number].append(pair)
    for number, pair in enumerate(rest):
        dealt[len(alone) + number % (count - len(alone))].append(pair)
    namespaces, faults = [], []
    for (tenant, name, topic_names), group in zip(spots, dealt, strict=True):
        scenario: Fields = {
            "format": 1, "name": name, "tenant": tenant, "topics": [], "producers": [], "subscriptions": [], "limits": [],
            "timeline": [{"name": "run", "duration_s": duration_s}],
        }  # fmt: skip
        topics, readers = list(topic_names), list(READERS)
        for service, start_s in group:
            names = {
                one["name"]: topics.pop(d.whole(0, len(topics) - 1)) if topics else None
                for one in service.topics
            }
            names = {
                old: new or f"{old}-{len(scenario['topics']) + n}"
                for n, (old, new) in enumerate(names.items())
            }
            called = {one["name"]: readers.pop(d.whole(0, len(readers) - 1)) for one in service.subscriptions}
            renamed = lambda item: _renamed(item, names, called)  # noqa: B023, E731 - used within this turn
            scenario["topics"] += [{**one, "name": names[one["name"]]} for one in service.topics]
            scenario["producers"] += [renamed(one) for one in service.producers]
            scenario["subscriptions"] += [
                {**renamed(one), "name": called[one["name"]]} for one in service.subscriptions
            ]
            scenario["limits"] += [renamed(one) for one in service.limits]
            if service.kind is None:
                continue
            faults.append(
                {
                    "name": f"{tenant}-{name}-{service.kind.replace('_', '-')}-{len(faults)}",
                    "kind": service.kind,
                    "namespace": f"{tenant}/{name}",
                    "stages": [
                        {
                            "at_s": start_s + stage["at_s"],
                            "steps": [renamed(step) for step in stage["steps"]],
                            "effects": [renamed(effect) for effect in stage["effects"]],
                        }
                        for stage in service.stages
                    ],
                    "until_s": start_s + service.until_s,
                    "end": [renamed(step) for step in service.end],
                    "within_s": service.within_s,
                }
            )
        namespaces.append(scenario)
    return namespaces, faults


def _spots(d: Draw, count: int) -> list[tuple[str, str, tuple[str, ...]]]:
    tenants = list(COMPANY)
    while len(tenants) > TENANTS:
        tenants.pop(d.whole(0, len(tenants) - 1))
    spots = []
    for number in range(count):
        tenant = tenants[number % TENANTS]
        taken = {name for owner, name, _ in spots if owner == tenant}
        name = d.one_of([name for name in COMPANY[tenant] if name not in taken])
        spots.append((tenant, name, COMPANY[tenant][name]))
    return spots


def _renamed(item: Fields, topics: Fields, readers: Fields) -> Fields:
    found = dict(item)
    if "topic" in found:
        found["topic"] = topics[found["topic"]]
    if "subscription" in found:
        found["subscription"] = readers[found["subscription"]]
    return found
