"""Backlogs of known age: in, a seed; out, one scenario with a topic for each way in which a backlog grows, ages and drains.

Ten minutes, all on one broker. Rates, shares and batch sizes are drawn. ``python -m tests.lab.drawn.ages SEED`` writes its file; seed 1 is for
development, others are held-out.
"""

from __future__ import annotations

import sys

import yaml

from tests.lab.drawn.numbers import Draw
from tests.lab.drawn.parts import SIZES_BYTES, Fields, check, state
from tests.lab.sets import SETS

GROWS_S, CHANGED_S = 330, 270
DEVELOPMENT_SEED = 1


def scenario_fields(seed: int) -> Fields:
    """The fields of the scenario of a seed."""
    d = Draw("ages", seed, 1)
    topics: list[Fields] = []
    limits: list[Fields] = []
    subscriptions: list[Fields] = []
    producers: list[Fields] = []
    checks: list[Fields] = []

    def topic(name: str, rate_msg: float, kind: str, *, limit_msg: int | None = None, **consumers) -> Fields:
        topics.append({"name": name})
        if limit_msg is not None:
            limits.append(
                {"level": "subscription", "set_at": "subscription", "topic": name, "subscription": name, "msg": limit_msg}
            )  # fmt: skip
        subscriptions.append({"name": name, "topic": name, "type": kind, **consumers})
        found = {"topic": name, "rate_msg": rate_msg, "size_bytes": d.one_of(SIZES_BYTES)}
        producers.append(found)
        return found

    def grows(name: str, of: str = "grows", by_entries: int = 50) -> None:
        checks.append(check("grows", of, name, by_entries=by_entries))

    fast = {"consumers": 2, "processing_ms": 1}
    rate_msg = d.whole(15, 40)
    topic("limited", rate_msg, "Shared", limit_msg=round(rate_msg * d.between(0.3, 0.8)), **fast)
    grows("limited")
    rate_msg = d.whole(20, 40)
    batches = {"max_messages": d.whole(5, 20), "max_delay_ms": 200}
    topic(
        "batches",
        rate_msg,
        "Exclusive",
        limit_msg=round(rate_msg * d.between(0.3, 0.6)),
        consumers=1,
        processing_ms=0.5,
    )
    producers[-1]["batching"] = batches
    grows("batches", by_entries=30)
    rate_msg = d.whole(15, 40)
    topic(
        "slow",
        rate_msg,
        "Shared",
        consumers=3,
        processing_ms=round(3000 / (rate_msg * d.between(0.4, 0.8))),
        receiver_queue=100,
    )
    grows("slow")
    rate_msg = d.whole(12, 35)
    topic("failover", rate_msg, "Failover", consumers=2, processing_ms=round(1000 / (rate_msg * d.between(0.3, 0.7))), ack=d.one_of(("individual", "cumulative")))  # fmt: skip
    grows("failover")
    topic("unread", d.whole(10, 25), "Shared", **fast)
    grows("unread", "changed")
    topic("bursts", d.whole(4, 8), "Shared", consumers=1, processing_ms=d.whole(80, 110), receiver_queue=100)
    producers[-1] |= {
        "shape": "bursts",
        "bursts": {"every_s": d.whole(70, 110), "length_s": d.whole(10, 20), "factor": 12},
    }
    rate_msg = d.whole(15, 35)
    topic("steps", rate_msg, "Shared", limit_msg=round(rate_msg * d.between(0.5, 0.7)), **fast)
    steps = [[0, 1.0]] + [
        [at_s, round(d.between(0.4, 2.5), 2)] for at_s in range(60, GROWS_S + CHANGED_S, 75)
    ]
    producers[-1] |= {"shape": "steps", "steps": steps}
    # Batches close by their delay: their size moves with the rate.
    rate_msg = d.whole(30, 60)
    topic("sizes", rate_msg, "Shared", limit_msg=round(rate_msg * d.between(0.3, 0.5)), **fast)
    steps = [[0, 1.0]] + [
        [at_s, round(d.between(0.5, 3.0), 2)] for at_s in range(90, GROWS_S + CHANGED_S, 120)
    ]
    producers[-1] |= {"shape": "steps", "steps": steps, "batching": {"max_messages": 50, "max_delay_ms": 100}}
    rate_msg = d.whole(20, 40)
    drains = topic("drains", rate_msg, "Shared", limit_msg=round(rate_msg * 0.4), **fast)
    grows("drains")
    # One consumer takes a few messages and keeps them: the oldest entry is older than a count of entries says.
    topic(
        "kept",
        d.whole(30, 60),
        "Shared",
        consumers=3,
        processing_ms=30,
        each_processing_ms=[600_000],
        receiver_queue=10,
    )
    changes = [
        {"action": "set_consumers", "subscription": "unread", "consumers": 0},
        {"action": "set_limit", "level": "subscription", "set_at": "subscription", "topic": "drains", "subscription": "drains", "msg": round(drains["rate_msg"] * d.between(1.3, 1.7))},
    ]  # fmt: skip
    return {
        "format": 1,
        "name": f"ages-{seed}",
        "about": "Backlogs of limited, slow and missing consumers, published evenly, in steps, in bursts and in batches.",
        "family": "backlog_age",
        "size": f"drawn_{seed}",
        "kept_aside": seed != DEVELOPMENT_SEED,
        "profile": "helm",
        "scrape_interval_s": 15,
        "topics": topics,
        "limits": limits,
        "subscriptions": subscriptions,
        "producers": producers,
        "timeline": [state("grows", GROWS_S), state("changed", CHANGED_S, *changes)],
        "confirm": checks,
    }


def scenario_yaml(seed: int) -> str:
    """The text of its file."""
    return yaml.safe_dump(scenario_fields(seed), sort_keys=False, width=110, default_flow_style=None)


if __name__ == "__main__":
    for word in sys.argv[1:]:
        folder = SETS["ages"].scenarios
        folder.mkdir(exist_ok=True)
        (folder / f"ages-{int(word)}.yaml").write_text(scenario_yaml(int(word)))
