"""Scenarios of the read budget drawn by chance: in, a seed; out, a :class:`ReadsScenario`, always the same one.

A read asks for up to 100 entries and takes two delays. With entries of 1 / 100 (or 1 / 200) of the budget one read (or two) is in flight over the
whole broker, however many topics want to read: that is what limits them. Each alone, without the budget, could read faster than it is published.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.lab.drawn.numbers import Draw
from tests.lab.reads.model import SUBSCRIPTION, ReadsScenario
from tests.lab.staged.model import TOPIC

Fields = dict[str, Any]
_MB = 2**20
#: Entries of a read, and what the broker reserves for each besides its payload, about.
_READ_ENTRIES, _ENTRY_EXTRA_BYTES = 100, 130
#: What a read takes besides the two delays.
_READ_S = 0.02


def _topic(name: str, family: str, about: str, rate_msg: float, size_bytes: int, **fields: Any) -> Fields:
    subscription = {
        "name": SUBSCRIPTION,
        "topic": TOPIC,
        "type": "Shared",
        "consumers": 1,
        "processing_ms": 0,
    }
    return {
        "name": name,
        "family": family,
        "about": about,
        "producer": {"topic": TOPIC, "rate_msg": rate_msg, "size_bytes": size_bytes},
        "subscription": subscription | fields.pop("subscription", {}),
        **fields,
    }


def _limited_by_budget(d: Draw, budget_mb: int, delay_ms: float) -> list[Fields]:
    """Topics that together want 1.4 to 1.7 times what the budget lets through."""
    at_once = d.one_of((1, 2)) if budget_mb > 1 else 1
    size_bytes = int(0.97 * budget_mb * _MB / at_once / _READ_ENTRIES) - _ENTRY_EXTRA_BYTES
    read_s = 2 * delay_ms / 1000 + _READ_S
    in_all = at_once * _READ_ENTRIES / read_s
    topics = 2 * at_once + 1
    each = round(d.between(1.4, 1.6) * in_all / topics)
    grows = each - in_all / topics
    return [
        _topic(
            f"held-{number}",
            "read_budget",
            f"The budget lets {in_all:.0f} of {topics * each} msg/s through in {topics} topics; each alone could read {_READ_ENTRIES / read_s:.0f} msg/s.",
            each,
            size_bytes,
            # A backlog from before: who is caught up reads from the cache.
            subscription={"consumers": 0},
            cause=[{"action": "set_consumers", "subscription": SUBSCRIPTION, "consumers": 1}],
            truth={"side": "neither", "cause": "read_limit", "settle_s": 30},
            grows_per_s=round(0.6 * grows, 2),
        )
        for number in range(1, topics + 1)
    ]


def _throttled(d: Draw) -> Fields:
    rate, period_s = d.whole(10, 14), 10
    allowed = d.between(0.4, 0.6) * rate
    place = {"level": "subscription", "set_at": "topic", "topic": TOPIC}
    # The bucket of a longer period fills while a read waits for its turn, so that the limit decides and not the wait.
    limit = {"action": "set_limit", **place, "msg": round(allowed * period_s), "period_s": period_s}
    return _topic(
        "limited",
        "read_budget_beside",
        f"A dispatch rate lets {allowed:.1f} of {rate} msg/s through.",
        rate,
        d.one_of((100, 200)),
        cause=[limit],
        relief=[{"action": "lift_limit", **place}],
        truth={"side": "throttle", "cause": "throttled", "limiter": "subscription.msg"},
        grows_per_s=round(0.8 * (rate - allowed), 2),
    )


def _slow(d: Draw) -> Fields:
    rate, taken = d.whole(10, 14), d.between(0.4, 0.55)
    step = {"action": "set_consumers", "subscription": SUBSCRIPTION}
    return _topic(
        "slow",
        "read_budget_beside",
        f"A consumer takes {taken:.0%} of {rate} msg/s.",
        rate,
        d.one_of((100, 200)),
        subscription={"receiver_queue": 200},
        cause=[{**step, "processing_ms": round(1000 / (taken * rate), 1)}],
        relief=[{**step, "processing_ms": 0}],
        truth={"side": "consumer_capacity", "cause": "slow_consumers"},
        grows_per_s=round(0.8 * (1 - taken) * rate, 2),
    )


def _healthy(d: Draw) -> Fields:
    about = "Fast consumers that are caught up: they are served from the cache."
    truth = {"side": "neither", "cause": "healthy"}
    return _topic(
        "caught-up", "read_budget_beside", about, d.whole(10, 30), d.one_of((100, 200)), truth=truth
    )


def _budget(d: Draw) -> Fields:
    budget_mb, delay_ms = d.whole(1, 2), d.whole(48, 55) * 10
    return {
        "about": f"Storage is {delay_ms} ms away in each direction, and reads in flight may have {budget_mb} MB.",
        "budget_mb": budget_mb,
        "delay_ms": delay_ms,
        "topics": [*_limited_by_budget(d, budget_mb, delay_ms), _throttled(d), _slow(d), _healthy(d)],
    }


KINDS: dict[str, Callable[[Draw], Fields]] = {"budget": _budget}


def draw(kind: str, seed: int, *, kept_aside: bool = False) -> ReadsScenario:
    """Draw the scenario of a kind from a seed."""
    fields = KINDS[kind](Draw(f"reads-{kind}", seed, 0))
    name = f"reads-{kind}-{seed}"
    return ReadsScenario.model_validate(
        {"format": 1, "name": name, "seed": seed, "kept_aside": kept_aside, **fields}
    )
