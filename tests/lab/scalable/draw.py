"""Scenarios of scalable topics drawn by chance: in, a seed; out, two :class:`ScalableScenario`, always the same ones.

Causes that concern one topic run next to each other on one broker (``limits``): every topic has a namespace of its own, which is the lowest place
where a limit of a scalable topic can be set. A limit of the broker concerns all topics, so it has a broker of its own (``broker``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.lab.drawn.numbers import Draw
from tests.lab.scalable.model import ScalableScenario

Fields = dict[str, Any]
#: What an entry has besides its payload, about.
ENTRY_EXTRA_BYTES = 60
_HEALTHY = {"side": "neither", "cause": "healthy"}
_SIZES_BYTES = (100, 200, 400, 800)


def _load(d: Draw, low: int, high: int, segments: int, kind: str = "queue") -> Fields:
    """So many messages per second for each of some segments."""
    return {
        "segments": segments,
        "kind": kind,
        "consumers": segments if kind == "stream" else d.whole(1, 2),
        "rate_msg": segments * d.whole(low, high),
        "size_bytes": d.one_of(_SIZES_BYTES),
    }


def _limit(level: str, unit: str, msg_per_s: float, load: Fields) -> Fields:
    value = msg_per_s if unit == "msg" else msg_per_s * (load["size_bytes"] + ENTRY_EXTRA_BYTES)
    return {"action": "set_limit", "level": level, unit: max(1, round(value))}


def _lift(level: str) -> Fields:
    return {"action": "lift_limit", "level": level}


def _throttled(level: str, unit: str, **fields: Any) -> Fields:
    return {"side": "throttle", "cause": "throttled", "limiter": f"{level}.{unit}", **fields}


def _limited(d: Draw, level: str, unit: str, segments: int, kind: str) -> Fields:
    """A namespace rate of 0.5 to 0.7 of what each segment gets: it counts in every segment by itself."""
    load = _load(d, 25, 40, segments, kind)
    each = load["rate_msg"] / segments
    allowed = each * d.between(0.5, 0.7)
    return {
        "name": f"{level}-{unit}-{kind}",
        "family": f"segment_{level}_limit",
        "about": f"A {level} rate of the namespace lets {allowed:.1f} of {each:g} msg/s through in each of {segments} segments.",
        **load,
        "cause": [_limit(level, unit, allowed, load)],
        "relief": [d.one_of((_lift(level), _limit(level, unit, 40 * each, load)))],
        "truth": {"kept": _throttled(level, unit, grows_per_s=round(0.8 * (each - allowed), 2))},
    }


def _slow(d: Draw, kind: str, segments: int, limited: bool) -> Fields:
    load = _load(d, 20, 35, segments, kind)
    each = load["rate_msg"] / segments
    taken = d.between(0.45, 0.65)
    processing_ms = round(1000 * load["consumers"] / (taken * load["rate_msg"]), 1)
    limit = [_limit("subscription", "msg", each * d.between(3, 5), load)] if limited else []
    return {
        "name": f"slow-{kind}{'-limit' if limited else ''}",
        "family": "segment_slow_consumers",
        "about": f"Consumers take {taken:.0%} of what is published{', far below a limit' if limited else ''}.",
        **load,
        "first": limit,
        "cause": [{"action": "set_processing", "processing_ms": processing_ms}],
        "relief": [{"action": "set_processing", "processing_ms": 0}],
        "truth": {
            "kept": {
                "side": "consumer_capacity",
                "cause": "slow_consumers",
                "grows_per_s": round(0.6 * (1 - taken) * each, 2),
            }
        },
    }


def _healthy(d: Draw, name: str, load: Fields, limit: Fields | None = None, **fields: Any) -> Fields:
    return {
        "name": name,
        "family": "segment_healthy_under_limit" if limit else "segment_healthy",
        "about": "A namespace rate far above the traffic of each segment."
        if limit
        else "No limit, fast consumers.",
        **load,
        "cause": [limit] if limit else [],
        "truth": {"kept": _HEALTHY},
        **fields,
    }


def _batched(d: Draw) -> Fields:
    """Fewer entries than the limit allows, and fewer messages too: the limit counts messages."""
    load = {**_load(d, 50, 80, 2), "batch_messages": d.one_of((5, 10))}
    limit = _limit("subscription", "msg", load["rate_msg"] / 2 * d.between(2, 3), load)
    return _healthy(d, "healthy-batched", load, limit)


def _split_healthy(d: Draw, limited: bool) -> Fields:
    load = _load(d, 20, 35, 2)
    limit = _limit("subscription", "msg", load["rate_msg"] / 2 * d.between(3, 5), load)
    return {
        "name": f"split-healthy{'-limit' if limited else ''}",
        "family": "segment_split",
        "about": "A segment is split while consumers keep up.",
        **load,
        "first": [limit] if limited else [],
        "cause": [{"action": "split", "segments": [d.whole(0, 1)]}],
        "truth": {"kept": _HEALTHY, "successors": _HEALTHY},
    }


def _merge(d: Draw) -> Fields:
    return {
        "name": "merge-healthy",
        "family": "segment_merge",
        "about": "Two segments are merged while consumers keep up.",
        **_load(d, 15, 25, 2),
        "cause": [{"action": "merge", "segments": [0, 1]}],
        "truth": {"successors": _HEALTHY},
    }


def _split_limited(d: Draw) -> Fields:
    """Limited before and after: each successor gets half of the traffic and the same limit."""
    load = _load(d, 50, 70, 1)
    allowed = load["rate_msg"] * d.between(0.25, 0.32)
    return {
        "name": "split-limited",
        "family": "segment_split_limited",
        "about": f"A limit of {allowed:.0f} msg/s per segment, and a split: {load['rate_msg']} msg/s now come in half and half.",
        **load,
        "first": [_limit("subscription", "msg", allowed, load)],
        "cause": [{"action": "split", "segments": [0]}],
        "relief": [_lift("subscription")],
        "truth": {
            "sealed": _throttled("subscription", "msg", drains=True),
            "successors": _throttled(
                "subscription", "msg", grows_per_s=round(0.6 * (load["rate_msg"] / 2 - allowed), 2)
            ),
        },
    }


def _split_relieves(d: Draw) -> Fields:
    """Limited before, healthy after: two segments have the limit twice."""
    load = _load(d, 35, 50, 1)
    allowed = load["rate_msg"] * d.between(0.6, 0.7)
    return {
        "name": "split-relieves",
        "family": "segment_split_relieves",
        "about": f"A limit of {allowed:.0f} msg/s per segment binds {load['rate_msg']} msg/s, and no longer after a split.",
        **load,
        "first": [_limit("subscription", "msg", allowed, load)],
        "cause": [{"action": "split", "segments": [0]}],
        "relief": [_lift("subscription")],
        "truth": {"successors": _HEALTHY},
    }


def _split_stream(d: Draw) -> Fields:
    """Stream consumers read a successor when its parent is drained, and a limit delays that."""
    load = _load(d, 25, 40, 1, "stream")
    allowed = load["rate_msg"] * d.between(0.25, 0.3)
    return {
        "name": "split-stream-limited",
        "family": "segment_split_stream",
        "about": f"A limit of {allowed:.0f} msg/s delays a sealed segment, and its successors wait for that.",
        **load,
        "first": [_limit("subscription", "msg", allowed, load)],
        "cause": [{"action": "split", "segments": [0]}],
        "relief": [_lift("subscription")],
        "truth": {
            "sealed": _throttled("subscription", "msg", drains=True),
            "successors": {
                "side": "neither",
                "cause": "segment_blocked",
                "grows_per_s": round(0.8 * load["rate_msg"] / 2, 2),
            },
        },
        # The broker looks at ever longer intervals whether a parent is drained.
        "drains_within_s": 300,
    }


def limits(d: Draw) -> Fields:
    """Causes that concern one topic each."""
    kinds = [d.one_of((("queue", "stream"), ("stream", "queue"))) for _ in range(2)]
    topics = [
        _limited(d, "subscription", "msg", d.whole(2, 3), kinds[0][0]),
        _limited(d, "subscription", "bytes", 2, kinds[0][1]),
        _limited(d, "topic", "msg", 2, kinds[1][0]),
        _limited(d, "topic", "bytes", d.whole(1, 2), kinds[1][1]),
        _slow(d, "queue", 2, limited=False),
        _slow(d, "stream", 2, limited=False),
        _slow(d, "queue", d.whole(1, 2), limited=True),
        _healthy(d, "healthy-queue", _load(d, 20, 40, 2)),
        _healthy(d, "healthy-stream", _load(d, 20, 40, 2, "stream")),
        _batched(d),
    ]
    for level in ("subscription", "topic"):
        load = _load(d, 10, 25, 2, d.one_of(("queue", "stream")))
        limit = _limit(level, "msg", load["rate_msg"] / 2 * d.between(2.5, 4), load)
        topics.append(_healthy(d, f"healthy-{level}-limit", load, limit))
    topics += [
        _split_healthy(d, limited=False),
        _split_healthy(d, limited=True),
        _merge(d),
        _split_limited(d),
        _split_relieves(d),
        _split_stream(d),
    ]
    return {
        "about": "Limits, slow consumers, splits and a merge, each on a topic of its own.",
        "topics": topics,
    }


def broker(d: Draw) -> Fields:
    """A limit of the broker, which all segments share."""
    loads = [_load(d, 25, 40, 2), _load(d, 25, 40, 1), _load(d, 25, 40, 1, "stream")]
    share = d.between(0.5, 0.6)
    msg = round(share * sum(load["rate_msg"] for load in loads))
    topics = [
        {
            "name": f"broker-{number}",
            "family": "segment_broker_limit",
            "about": f"The broker's limit of {msg} msg/s, for all segments together.",
            **load,
            # The broker does not share evenly.
            "truth": {
                "kept": _throttled(
                    "broker", "msg", grows_per_s=round(0.15 * load["rate_msg"] / load["segments"], 2)
                )
            },
        }
        for number, load in enumerate(loads)
    ]
    return {
        "about": "A limit of the broker in messages.",
        "cause": [{"action": "set_limit", "level": "broker", "msg": msg}],
        "relief": [_lift("broker")],
        "topics": topics,
    }


KINDS: dict[str, Callable[[Draw], Fields]] = {"limits": limits, "broker": broker}


def draw(kind: str, seed: int, *, kept_aside: bool = False) -> ScalableScenario:
    """Draw one scenario of a kind."""
    name = f"scalable-{kind}-{seed}"
    drawn = KINDS[kind](Draw(f"scalable_{kind}", seed, 1))
    return ScalableScenario.model_validate(
        {"format": 1, "name": name, "seed": seed, "kept_aside": kept_aside, **drawn}
    )
