"""Random small scenarios: in, a seed; out, a scenario that uses a random part of everything there is."""

from __future__ import annotations

import random

from throttlescope.models.throttling.machine import INSTANT, LAB, Machine
from throttlescope.models.throttling.scenario import Scenario

TYPES = ("Exclusive", "Failover", "Shared", "Shared", "Shared", "Key_Shared")


def scenario_of(seed: int) -> tuple[Scenario, Machine]:
    """Draw a scenario of 5 to 25 seconds with a few thousand messages at most, and a machine."""
    draw = random.Random(seed)  # noqa: S311 - reproducible tests, not secrets
    topics = [_topic(draw, name) for name in ("a", "b")[: draw.randint(1, 2)]]
    names = [topic["name"] for topic in topics]
    subscriptions = [_subscription(draw, f"s{n}", names) for n in range(draw.randint(1, 3))]
    body = {
        "format": 1,
        "name": "random",
        "broker": {
            "version": draw.choice(["2.7.0", "3.0.0", "4.0.2", "4.2.4", "4.2.4", "4.2.4", "4.2.5", "5.0.0"]),
            "settings": _settings(draw),
        },
        "topics": topics,
        "limits": [],
        "subscriptions": subscriptions,
        "producers": [_producer(draw, name) for name in names if draw.random() < 0.95],
    }
    _newer(draw, body)
    for place in _places(draw, body):
        if draw.random() < 0.5:
            body["limits"].append({**place, **_rates(draw, place)})
    timeline = [{"name": "s0", "duration_s": draw.randint(2, 8)}]
    for number in range(1, draw.randint(1, 5)):
        steps = [_step(draw, body) for _ in range(draw.randint(0, 3))]
        state = {"name": f"s{number}", "duration_s": draw.randint(1, 6), "interventions": _once(steps)}
        timeline.append(state)
    body["timeline"] = timeline
    machine = draw.choice([INSTANT, LAB, _machine(draw)])
    return Scenario.model_validate(body), machine


def _machine(draw: random.Random) -> Machine:
    return Machine(
        read_us=draw.choice([0, 1, 997, 20_000]),
        read_entry_us=draw.choice([0, 1, 83]),
        notify_us=draw.choice([0, 300]),
        send_us=draw.choice([0, 1, 700]),
        flow_us=draw.choice([0, 1, 450]),
        timer_late_us=draw.choice([0, 1, 1000]),
        entry_overhead_bytes=draw.choice([0, 60]),
        message_overhead_bytes=5,
        reconnect_us=draw.choice([1, 100_000, 1_500_000]),
        cached_read_us=draw.choice([None, 0, 700]),
        cached_entry_us=draw.choice([None, 0, 10]),
        publish_tick_us=draw.choice([0, 0, 10_000, 33_000]),
        nack_timer=draw.random() < 0.5,
        pass_us=draw.choice([0, 0, 200, 30_000]),
        second_pass_share=draw.choice([0, 0.66, 1]),
    )


def _topic(draw: random.Random, name: str) -> dict:
    topic: dict = {"name": name, "partitions": draw.choice([0, 0, 2, 3])}
    if draw.random() < 0.1:
        topic["persistent"] = False
    if draw.random() < 0.2:
        topic["max_unacked_per_consumer"] = draw.choice([5, 50])
    if draw.random() < 0.2:
        topic["max_unacked_per_subscription"] = draw.choice([7, 90])
    if draw.random() < 0.15:
        topic["publish_rate"] = {"msg": draw.choice([20, 300])}
    return topic


def _subscription(draw: random.Random, name: str, topics: list[str]) -> dict:
    kind = draw.choice(TYPES)
    item: dict = {
        "name": name,
        "type": kind,
        "consumers": draw.randint(0, 1 if kind == "Exclusive" else 3),
        "processing_ms": draw.choice([0, 0.4, 3, 15, 80]),
        "receiver_queue": draw.choice([1, 2, 7, 50, 1000]),
    }
    if len(topics) > 1 and draw.random() < 0.3:
        item["topics"] = topics
    else:
        item["topic"] = draw.choice(topics)
    if draw.random() < 0.3:
        item["redelivery"] = {
            "nack_share": draw.choice([0.05, 0.5, 1]),
            "nack_times": draw.choice([1, 3]),
            "nack_delay_ms": draw.choice([0, 40, 1500]),
            **({"max_redeliver": draw.choice([1, 2])} if draw.random() < 0.4 else {}),
        }
    elif draw.random() < 0.1:
        item["ack"] = "none"
        if draw.random() < 0.5:
            item["redelivery"] = {"ack_timeout_ms": 1500}
    item["batch_index_ack"] = draw.random() < 0.3
    if draw.random() < 0.15:
        item["processing"] = "exponential"
    return item


def _newer(draw: random.Random, body: dict) -> None:
    """Acknowledgement time-outs, retry-letter topics, cumulative acknowledgement, patterns, segments, shared publish limits."""
    for item in body["subscriptions"]:
        single = item["type"] in ("Exclusive", "Failover")
        if single and "ack" not in item and draw.random() < 0.4:
            item["ack"] = "cumulative"
        if item.get("ack") != "none" and draw.random() < 0.3:
            redelivery = item.setdefault("redelivery", {})
            if item.get("ack") != "cumulative" or not redelivery:
                redelivery["ack_timeout_ms"] = draw.choice([1000, 1300])
                item["processing_ms"] = draw.choice([15, 300, 800, 1100, 2500])
        nacks = item.get("redelivery", {}).get("nack_share", 0)
        if item["type"] == "Shared" and item.get("ack") != "none" and not nacks and draw.random() < 0.4:
            item["retry_letter"] = {
                "share": draw.choice([0.1, 0.6, 1]),
                "times": draw.choice([1, 2, 5]),
                "delay_ms": draw.choice([0, 700, 2500]),
                **({"max_reconsume": draw.choice([1, 3])} if draw.random() < 0.4 else {}),
            }
        if (
            "topics" in item
            and draw.random() < 0.5
            and all(t.get("persistent", True) for t in body["topics"])
        ):
            del item["topics"]
            item["topics_pattern"] = "[ab]"
    if body["broker"]["version"] == "5.0.0" and all(s["type"] != "Key_Shared" for s in body["subscriptions"]):
        for topic in body["topics"]:
            if set(topic) <= {"name", "partitions"} and draw.random() < 0.6:
                del topic["partitions"]
                topic["segments"] = draw.choice([1, 2, 3])
    if draw.random() < 0.2:
        body["broker"]["settings"]["brokerPublisherThrottlingMaxMessageRate"] = draw.choice([15, 100])
    if draw.random() < 0.1:
        body["resource_group"] = {"bytes": draw.choice([3_000, 60_000])}


def _producer(draw: random.Random, topic: str) -> dict:
    item: dict = {"topic": topic, "rate_msg": draw.choice([0, 3, 40, 130, 333.3])}
    if draw.random() < 0.3:
        item["sizes"] = [{"size_bytes": 100, "share": 3}, {"size_bytes": 5000, "share": 1}]
    else:
        item["size_bytes"] = draw.choice([0, 256, 2000])
    if draw.random() < 0.3:
        item["batching"] = {"max_messages": draw.choice([2, 7]), "max_delay_ms": 1000}
    elif draw.random() < 0.25:
        item["deliver_after_ms"] = draw.choice([0, 500, 3000])
    if draw.random() < 0.2:
        item["shape"] = "poisson"
    elif draw.random() < 0.2:
        item["shape"] = "steps"
        item["steps"] = [(2, 0), (3, 2.5), (6, 1)]
    if draw.random() < 0.3:
        item.update(routing="key", keys=draw.choice([1, 3, 50]))
    return item


def _settings(draw: random.Random) -> dict:
    settings: dict = {"statsUpdateFrequencyInSecs": draw.choice([2, 60])}
    if draw.random() < 0.2:
        settings["dispatcherMaxReadBatchSize"] = draw.choice([1, 13, 200])
    if draw.random() < 0.2:
        settings["preciseDispatcherFlowControl"] = True
    if draw.random() < 0.2:
        settings["dispatchThrottlingOnBatchMessageEnabled"] = True
    if draw.random() < 0.2:
        settings["dispatchThrottlingOnNonBacklogConsumerEnabled"] = False
        settings["managedLedgerCursorBackloggedThreshold"] = draw.choice([-1, 10, 1000])
    return settings


def _places(draw: random.Random, body: dict) -> list[dict]:
    places: list[dict] = [
        {"level": "broker", "set_at": "broker"},
        {"level": "topic", "set_at": "namespace"},
        {"level": "subscription", "set_at": "namespace"},
    ]
    for topic in body["topics"]:
        if _takes_policies(topic):
            places.append({"level": "topic", "set_at": "topic", "topic": topic["name"]})
    for item in body["subscriptions"]:
        every = [topic["name"] for topic in body["topics"]]
        for name in item.get("topics", every if "topics_pattern" in item else [item.get("topic")]):
            topic = next(topic for topic in body["topics"] if topic["name"] == name)
            if _takes_policies(topic):
                places.append(
                    {
                        "level": "subscription",
                        "set_at": "subscription",
                        "topic": name,
                        "subscription": item["name"],
                    }
                )
    return places


def _takes_policies(topic: dict) -> bool:
    return topic.get("persistent", True) and "segments" not in topic


def _rates(draw: random.Random, place: dict) -> dict:
    rates: dict = {}
    if draw.random() < 0.7:
        rates["msg"] = draw.choice([1, 10, 60, 150, 1000])
    if not rates or draw.random() < 0.3:
        rates["bytes"] = draw.choice([700, 20_000, 200_000])
    if place["level"] != "broker":
        rates["period_s"] = draw.choice([1, 1, 1, 3])
        rates["relative_to_publish"] = draw.random() < 0.15
    return rates


def _step(draw: random.Random, body: dict) -> dict:
    item = draw.choice(body["subscriptions"])
    topic = draw.choice(body["topics"])["name"]
    place = draw.choice(_places(draw, body))
    consumers = draw.randint(0, 1 if item["type"] == "Exclusive" else 3)
    producers = [producer["topic"] for producer in body["producers"]]
    steps = [
        {"action": "set_limit", **place, **_rates(draw, place)},
        {"action": "lift_limit", **place},
        {"action": "set_consumers", "subscription": item["name"], "consumers": consumers},
        {"action": "set_consumers", "subscription": item["name"], "processing_ms": draw.choice([0, 1, 30])},
        {"action": "hang", "subscription": item["name"], "consumers": draw.randint(0, 2)},
        {"action": "unload", "topic": topic},
        {"action": "seek", "subscription": item["name"], "to": draw.choice(["earliest", "latest"])},
        {"action": "seek", "subscription": item["name"], "to": "seconds_back", "seconds_back": 2},
    ]
    if all("segments" not in each for each in body["topics"] if each["name"] == topic):
        steps.append({"action": "touch_policy", "topic": topic})
    if producers:
        steps.append(
            {"action": "set_rate", "topic": draw.choice(producers), "rate_msg": draw.choice([0, 20, 200])}
        )
    return draw.choice(steps)


def _once(steps: list[dict]) -> list[dict]:
    """At one moment each thing is changed at most once."""
    seen, kept = set(), []
    for step in steps:
        what = tuple(
            (name, step.get(name))
            for name in ("level", "set_at", "topic", "subscription")
            if step["action"] not in ("unload", "seek") or name in ("topic", "subscription")
        )
        key = (step["action"].replace("lift", "set"), what)
        if key not in seen:
            seen.add(key)
            kept.append(step)
    return kept
