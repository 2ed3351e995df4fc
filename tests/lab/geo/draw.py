"""Geo scenarios drawn by chance: in, a seed; out, four :class:`GeoScenario`, always the same ones.

Causes that concern one topic run next to each other on one pair (``limits``). What concerns a whole cluster has a pair of its own: a limit of the
broker (``broker``), a remote cluster that is stopped (``stopped``), a slow network (``slow``).

An entry that a replicator sends is its payload and about 50 bytes; a byte limit is worked out from that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.lab.drawn.numbers import Draw
from tests.lab.geo.model import GeoScenario
from tests.lab.staged.model import TOPIC

Fields = dict[str, Any]
ENTRY_EXTRA_BYTES = 50
#: A quota is looked at once a minute; rates and backlog have settled a minute later.
_QUOTA_SETTLE_S = 130
_HEALTHY = {"side": "neither", "cause": "healthy"}
_SIZES_BYTES = (200, 400, 800, 1200)


def _plain(d: Draw, low: int, high: int) -> Fields:
    return {"topic": TOPIC, "rate_msg": d.whole(low, high), "size_bytes": d.one_of(_SIZES_BYTES)}


def _batched(d: Draw, entries: int, in_batch: int) -> Fields:
    """A producer of about so many entries per second: its batches close when they are full."""
    rate = entries * in_batch
    return {
        "topic": TOPIC,
        "rate_msg": rate,
        "size_bytes": d.one_of((64, 128, 256)),
        "batching": {"max_messages": in_batch, "max_delay_ms": round(1500 * in_batch / rate)},
    }


def _entries(producer: Fields) -> float:
    batching = producer.get("batching")
    return producer["rate_msg"] / (batching["max_messages"] if batching else 1)


def _entry_bytes(producer: Fields) -> float:
    return producer["rate_msg"] / _entries(producer) * producer["size_bytes"] + ENTRY_EXTRA_BYTES


def _rate(unit: str, entries_per_s: float, producer: Fields) -> Fields:
    if unit == "msg":
        return {"msg": max(1, round(entries_per_s))}
    return {"bytes": max(1, round(entries_per_s * _entry_bytes(producer)))}


def _throttled(unit: str) -> Fields:
    return {"side": "throttle", "cause": "throttled", "limiter": f"replicator.{unit}"}


def _topic(name: str, family: str, about: str, producer: Fields, **fields: Any) -> Fields:
    return {"name": name, "family": family, "about": about, "producer": producer, **fields}


def _limited(d: Draw, level: str, unit: str, producer: Fields) -> Fields:
    """A limit of 0.5 to 0.7 of what the topic gets, in entries or bytes."""
    entries = _entries(producer)
    allowed = entries * d.between(0.5, 0.7)
    limit = {"level": level, "cluster": "east", **_rate(unit, allowed, producer)}
    kind = "batched" if "batching" in producer else "plain"
    lift = {"action": "lift_replicator_limit", "level": level, "cluster": "east"}
    raise_ = {"action": "set_replicator_limit", **limit, **_rate(unit, 30 * entries, producer)}
    return _topic(
        f"{level}-{unit}-{kind}",
        f"replicator_{level}_limit",
        f"A replicator limit at the {level} lets {allowed:.1f} of {entries:g} entries/s through.",
        producer,
        cause=[{"action": "set_replicator_limit", **limit}],
        relief=[d.one_of((lift, raise_))],
        truth=_throttled(unit),
        grows_per_s=round(entries - allowed, 2),
    )


def _remote_publish(d: Draw, level: str, unit: str, producer: Fields) -> Fields:
    entries = _entries(producer)
    share = d.between(0.45, 0.65)
    if unit == "msg":
        # The remote side counts messages, not entries.
        limit: Fields = {"msg": round(share * producer["rate_msg"])}
    else:
        limit = _rate(unit, share * entries, producer)
    where = {"level": level, "cluster": "west"}
    return _topic(
        f"remote-publish-{level}-{unit}",
        "remote_publish_limit",
        f"A publish limit at the remote {level} lets {share:.0%} of {producer['rate_msg']} msg/s in.",
        producer,
        cause=[{"action": "set_publish_limit", **where, **limit}],
        relief=[{"action": "lift_publish_limit", **where}],
        truth={"side": "throttle", "cause": "remote_publish_limit"},
        grows_per_s=round(0.6 * (1 - share) * entries, 2),
    )


def _remote_quota(d: Draw, policy: str) -> Fields:
    producer = _plain(d, 20, 40)
    quota = {"limit_bytes": d.whole(50_000, 150_000), "policy": policy, "cluster": "west"}
    clear = [
        {"action": "clear_backlog", "cluster": "west"},
        {"action": "lift_backlog_quota", "cluster": "west"},
    ]
    return _topic(
        f"remote-quota-{policy.split('_')[-1]}",
        "remote_quota",
        f"A backlog quota of the remote topic ({policy}) stops its producers: an unread subscription is above it.",
        producer,
        unread_on_remote="unread",
        cause=[{"action": "set_backlog_quota", **quota}],
        relief=d.one_of((clear, clear[1:])),
        truth={"side": "neither", "cause": "remote_quota", "settle_s": _QUOTA_SETTLE_S},
        # It still sends until the remote's next check.
        grows_per_s=round(0.8 * producer["rate_msg"], 2),
        drains_within_s=240,
    )


def _schema(d: Draw) -> Fields:
    producer = {"topic": TOPIC, "rate_msg": d.whole(8, 16), "size_bytes": d.one_of((100, 200, 400))}
    return _topic(
        "schema-refused",
        "schema_refused",
        "A new schema version that the remote namespace does not accept.",
        producer,
        schema_name="order",
        cause=[
            {"action": "refuse_schemas", "cluster": "west"},
            {"action": "change_schema", "cluster": "east"},
        ],
        # The producer stays paused until the topic is loaded again.
        relief=[{"action": "accept_schemas", "cluster": "west"}, {"action": "unload", "cluster": "east"}],
        truth={"side": "neither", "cause": "schema_refused"},
        grows_per_s=round(0.9 * producer["rate_msg"], 2),
        drains_within_s=240,
    )


def _healthy_under_limit(d: Draw, level: str) -> Fields:
    producer = _plain(d, 10, 30)
    limit = {"msg": round(producer["rate_msg"] * d.between(3, 5))}
    return _topic(
        f"healthy-{level}-limit",
        "replicator_healthy_under_limit",
        f"A replicator limit at the {level} of 3 to 5 times the traffic.",
        producer,
        cause=[{"action": "set_replicator_limit", "level": level, "cluster": "east", **limit}],
        relief=[{"action": "lift_replicator_limit", "level": level, "cluster": "east"}],
        truth=_HEALTHY,
    )


def _healthy_batched(d: Draw) -> Fields:
    in_batch = d.one_of((10, 20))
    producer = _batched(d, d.whole(5, 10), in_batch)
    limit = round(producer["rate_msg"] * d.between(0.25, 0.4))
    return _topic(
        "healthy-batched-limit",
        "replicator_healthy_batched",
        f"A limit of {limit} under {producer['rate_msg']} msg/s, but only {_entries(producer):g} entries/s.",
        producer,
        cause=[{"action": "set_replicator_limit", "level": "topic", "cluster": "east", "msg": limit}],
        relief=[{"action": "lift_replicator_limit", "level": "topic", "cluster": "east"}],
        truth=_HEALTHY,
    )


def _unloaded(d: Draw, cluster: str) -> Fields:
    unload = {"action": "unload", "cluster": cluster}
    return _topic(
        f"unload-{cluster}",
        "replicator_topic_unloaded",
        f"The topic is unloaded on {cluster} and comes back by itself.",
        _plain(d, 15, 35),
        cause=[unload],
        relief=[unload],
        truth=_HEALTHY,
        below_entries=400,
    )


def _from_west(d: Draw) -> Fields:
    return _topic(
        "healthy-from-west",
        "replicator_healthy",
        "Published on the other cluster, without a limit.",
        _plain(d, 15, 35),
        source="west",
        truth=_HEALTHY,
    )


def limits(d: Draw) -> Fields:
    """Causes that concern one topic each."""
    levels = [("topic", "msg"), ("topic", "bytes"), ("namespace", "msg"), ("namespace", "bytes")]
    batched = {level: d.one_of((True, False)) for level in ("topic", "namespace")}
    topics = [
        # Of the two limits of a level one is in batches, the other is not.
        _limited(
            d,
            level,
            unit,
            _batched(d, d.whole(24, 36), d.one_of((4, 8)))
            if batched[level] == (unit == "msg")
            else _plain(d, 30, 45),
        )
        for level, unit in levels
    ]
    place = d.one_of(("topic", "namespace"))
    other = "namespace" if place == "topic" else "topic"
    topics += [
        _remote_publish(d, place, "msg", _plain(d, 30, 45)),
        _remote_publish(d, other, "bytes", _batched(d, d.whole(24, 36), 4)),
        _remote_quota(d, "producer_request_hold"),
        _remote_quota(d, "producer_exception"),
        _schema(d),
        _healthy_under_limit(d, d.one_of(("topic", "namespace"))),
        _healthy_batched(d),
        _unloaded(d, d.one_of(("east", "west"))),
        _from_west(d),
    ]
    return {"about": "Limits, quotas and schemas, each on a topic of its own.", "topics": topics}


def broker(d: Draw) -> Fields:
    """Limits of the broker, in messages and in bytes: one topic is bound by each, and two by neither."""
    small = {"topic": TOPIC, "rate_msg": d.whole(35, 50), "size_bytes": 200}
    large = {"topic": TOPIC, "rate_msg": d.whole(12, 16), "size_bytes": 6000}
    msg = round(small["rate_msg"] * d.between(0.5, 0.65))
    size = round(large["rate_msg"] * _entry_bytes(large) * d.between(0.5, 0.65))
    other = _plain(d, 20, 40)
    own = {
        "action": "set_replicator_limit",
        "level": "topic",
        "cluster": "east",
        "msg": 20 * other["rate_msg"],
    }
    topics = [
        _topic(
            "broker-msg", "replicator_broker_limit", f"The broker's limit of {msg} entries/s binds.", small,
            truth=_throttled("msg"), grows_per_s=small["rate_msg"] - msg,
        ),
        _topic(
            "broker-bytes", "replicator_broker_limit", f"The broker's limit of {size} bytes/s binds.", large,
            truth=_throttled("bytes"), grows_per_s=round(large["rate_msg"] - size / _entry_bytes(large), 2),
        ),
        _topic(
            "broker-batched", "replicator_healthy_batched", "More messages than the broker's limit, far fewer entries.",
            _batched(d, d.whole(5, 8), 10), truth=_HEALTHY,
        ),
        _topic(
            "broker-own-limit", "replicator_healthy_under_limit", "A limit of the topic, far above its traffic, replaces the broker's.",
            other, first=[own], truth=_HEALTHY,
        ),
    ]  # fmt: skip
    limit = {"level": "broker", "cluster": "east"}
    return {
        "about": "A replicator limit of the broker, in messages and bytes.",
        "cause": [{"action": "set_replicator_limit", **limit, "msg": msg, "bytes": size}],
        "relief": [{"action": "lift_replicator_limit", **limit}],
        "topics": topics,
    }


def stopped(d: Draw) -> Fields:
    """The remote cluster is stopped, and started again with its data."""
    topics = []
    for name, low, high in (("busy", 25, 40), ("calm", 3, 6)):
        producer = _plain(d, low, high)
        topics.append(
            _topic(
                f"stopped-{name}", "remote_disconnected", "The remote cluster is away.", producer,
                truth={"side": "neither", "cause": "remote_disconnected"},
                grows_per_s=0.95 * producer["rate_msg"],
            )
        )  # fmt: skip
    producer = _batched(d, d.whole(8, 12), 5)
    topics.append(
        _topic(
            "stopped-batched", "remote_disconnected", "The remote cluster is away.", producer,
            truth={"side": "neither", "cause": "remote_disconnected"},
            grows_per_s=0.95 * _entries(producer),
        )
    )  # fmt: skip
    return {
        "about": "The remote cluster is stopped and started again.",
        "cause": [{"action": "stop_cluster", "cluster": "west"}],
        "relief": [{"action": "start_cluster", "cluster": "west"}],
        "topics": topics,
    }


def slow(d: Draw) -> Fields:
    """The network to the remote cluster is slower than the traffic."""
    producers = [
        {"topic": TOPIC, "rate_msg": d.whole(35, 50), "size_bytes": d.one_of((800, 1000, 1200))},
        {"topic": TOPIC, "rate_msg": d.whole(20, 30), "size_bytes": d.one_of((800, 1000, 1200))},
    ]
    sent = sum(one["rate_msg"] * (_entry_bytes(one) + 50) for one in producers)
    share = d.between(0.45, 0.6)
    topics = [
        _topic(
            f"slow-{number}", "remote_slow", f"The network takes {share:.0%} of what is sent.", producer,
            truth={"side": "consumer_capacity", "cause": "remote_slow", "settle_s": 90},
            grows_per_s=round(0.4 * (1 - share) * producer["rate_msg"], 2),
        )
        for number, producer in enumerate(producers)
    ]  # fmt: skip
    return {
        "about": "A network with a bound on bandwidth and a delay.",
        "first": [{"action": "shape_network", "cluster": "west", "delay_ms": 2}],
        "cause": [
            {
                "action": "shape_network",
                "cluster": "west",
                "delay_ms": d.whole(20, 120),
                "bytes_per_s": round(share * sent),
            }
        ],
        "relief": [{"action": "shape_network", "cluster": "west", "delay_ms": 2}],
        "topics": topics,
    }


KINDS: dict[str, Callable[[Draw], Fields]] = {
    "limits": limits,
    "broker": broker,
    "stopped": stopped,
    "slow": slow,
}


def draw(kind: str, seed: int, *, kept_aside: bool = False) -> GeoScenario:
    """Draw one scenario of a kind."""
    name = f"geo-{kind}-{seed}"
    return GeoScenario.model_validate(
        {
            "format": 1,
            "name": name,
            "seed": seed,
            "kept_aside": kept_aside,
            **KINDS[kind](Draw(f"geo_{kind}", seed, 1)),
        }
    )
