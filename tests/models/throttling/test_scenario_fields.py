"""Bursts, hot partitions and single slow consumers act in the simulator; what only a broker does is refused by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from throttlescope.models.throttling import simulate
from throttlescope.models.throttling.bounds import notes
from throttlescope.models.throttling.machine import LAB
from throttlescope.models.throttling.scenario import Broker, Scenario, ScenarioError


def _scenario(**changes) -> Scenario:
    body = {
        "format": 1,
        "name": "fields",
        "topics": [{"name": "orders"}],
        "subscriptions": [
            {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 2, "processing_ms": 1}
        ],
        "producers": [{"topic": "orders", "rate_msg": 10, "size_bytes": 100}],
        "timeline": [{"name": "all", "duration_s": 60}],
    }
    for name, fields in changes.items():
        old = body.get(name)
        target = old[0] if isinstance(old, list) and isinstance(fields, dict) else None
        if target is None:
            body[name] = fields
        else:
            target.update(fields)
    return Scenario.model_validate(body)


def _seconds(scenario: Scenario, engine: str = "kernel") -> dict[str, list]:
    return simulate(scenario, engine=engine).seconds.to_pydict()


@pytest.mark.parametrize("engine", ["kernel", "twin"])
def test_bursts_publish_more_at_their_times_only(engine: str) -> None:
    bursts = {"every_s": 20, "length_s": 2, "factor": 5}
    seconds = _seconds(_scenario(producers={"shape": "bursts", "bursts": bursts}), engine)
    # Rows are named by their end: a burst from 20 to 22 is in the rows 21 and 22.
    published = dict(zip(seconds["second"], seconds["published_messages"], strict=True))
    for second in range(2, 59):
        wanted = 50 if second in (21, 22, 41, 42) else 10
        assert abs(published[second] - wanted) <= 1, second
    assert abs(sum(published.values()) - (10 * 56 + 50 * 4)) <= 2


def test_rate_change_applies_within_bursts() -> None:
    bursts = {"every_s": 20, "length_s": 2, "factor": 5}
    timeline = [
        {"name": "one", "duration_s": 30},
        {
            "name": "two",
            "duration_s": 30,
            "interventions": [{"action": "set_rate", "topic": "orders", "rate_msg": 20}],
        },
    ]
    scenario = _scenario(producers={"shape": "bursts", "bursts": bursts}, timeline=timeline)
    total = sum(_seconds(scenario)["published_messages"])
    assert abs(total - (28 * 10 + 2 * 50 + 28 * 20 + 2 * 100)) <= 4


@pytest.mark.parametrize("engine", ["kernel", "twin"])
def test_hot_partition_gets_its_share(engine: str) -> None:
    scenario = _scenario(
        topics={"partitions": 4},
        producers={"rate_msg": 100, "routing": "hot", "hot": {"partition": 2, "share": 0.7}},
    )
    seconds = _seconds(scenario, engine)
    sums = dict.fromkeys(range(4), 0)
    for partition, count in zip(seconds["partition"], seconds["published_messages"], strict=True):
        sums[partition] += count
    assert sums == {
        partition: pytest.approx(4200 if partition == 2 else 600, abs=2) for partition in range(4)
    }


@pytest.mark.parametrize("engine", ["kernel", "twin"])
def test_consumers_can_have_own_times(engine: str) -> None:
    scenario = _scenario(
        subscriptions={
            "consumers": 3,
            "processing_ms": 20,
            "each_processing_ms": [1000],
            "receiver_queue": 10,
        },
        producers={"rate_msg": 200},
    )
    acked = sum(_seconds(scenario, engine)["acked_entries"])
    # 1 + 50 + 50 messages per second for a minute.
    assert acked == pytest.approx(60 * 101, rel=0.02)


def test_limit_above_consumer_capacity_cannot_bind() -> None:
    limit = {"level": "subscription", "set_at": "topic", "topic": "orders", "msg": 102}
    fields = {"consumers": 3, "processing_ms": 20, "each_processing_ms": [1000]}
    body = _scenario(subscriptions=fields).model_dump(mode="json")
    assert any(
        "101 msg/s at most" in note for note in notes(Scenario.model_validate({**body, "limits": [limit]}))
    )
    assert notes(Scenario.model_validate({**body, "limits": [{**limit, "msg": 100}]})) == []


@pytest.mark.parametrize(
    "step",
    [
        {"action": "set_ack", "subscription": "billing", "ack": "none"},
        {"action": "set_redelivery", "subscription": "billing", "nack_share": 0},
        {"action": "set_delay", "topic": "orders", "deliver_after_ms": 0},
        {"action": "set_ttl", "topic": "orders"},
        {"action": "set_backlog_quota", "topic": "orders"},
    ],
    ids=lambda step: step["action"],
)
def test_what_only_a_broker_does_is_refused(step: dict) -> None:
    timeline = [
        {"name": "one", "duration_s": 10},
        {"name": "two", "duration_s": 10, "interventions": [step]},
    ]
    scenario = _scenario(subscriptions={"redelivery": {"nack_share": 0.1}}, timeline=timeline)
    with pytest.raises(ScenarioError, match=rf"timeline.two.interventions: {step['action']}: the simulator"):
        simulate(scenario)


def test_a_backlog_quota_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"topics.0.backlog_quota: the simulator has no backlog quotas"):
        simulate(_scenario(topics={"backlog_quota": {"limit_bytes": 1000}}))


def test_too_many_bursts_are_refused() -> None:
    bursts = {"every_s": 0.01, "length_s": 0.001, "factor": 2}
    timeline = [{"name": "all", "duration_s": 86_400}]
    with pytest.raises(ScenarioError, match=r"producers.0.bursts.every_s: 9e\+06 bursts"):
        simulate(_scenario(producers={"shape": "bursts", "bursts": bursts}, timeline=timeline))


# -- versions up to 5.0, patterns, segments, retry-letter topics ---------------------------------------------


@pytest.mark.parametrize("kind", ["Shared", "KeyShared"])
@pytest.mark.parametrize("version", ["3.3.8", "5.0.0", "5.0.1"])
def test_classic_dispatchers_end_at_5(kind: str, version: str) -> None:
    name = f"subscription{kind}UseClassicPersistentImplementation"
    with pytest.raises(ValueError, match=rf"settings.{name}: Pulsar {version} has no such setting; expected"):
        _scenario(broker={"version": version, "settings": {name: True}})


def test_classic_key_shared_is_refused() -> None:
    settings = {"subscriptionKeySharedUseClassicPersistentImplementation": True}
    with pytest.raises(ScenarioError, match="no classic Key_Shared"):
        simulate(_scenario(broker={"version": "4.2.4", "settings": settings}))


@pytest.mark.parametrize(
    ("version", "batch", "merges"),
    [
        ("4.0.13", 100, False), ("4.0.14", 100, True), ("4.1.2", 100, False), ("4.2.4", 100, False),
        ("4.2.5", 100, True), ("5.0.0-M1", 100, False), ("5.0.0-M2", 100, True), ("5.0.0", 500, True),
    ],
)  # fmt: skip
def test_version_decides_reads_and_merging(version: str, batch: int, merges: bool) -> None:
    broker = Broker(version=version)
    assert (broker.read_batch, broker.merges_reads, broker.limiter_engine) == (batch, merges, "C")
    assert Broker(version=version, settings={"dispatcherMaxReadBatchSize": 7}).read_batch == 7


@pytest.mark.parametrize(
    ("version", "twice"), [("3.0.0", False), ("4.0.8", False), ("4.2.4", True), ("5.0.0-M1", True)]
)
def test_version_decides_passes_of_redelivery(version: str, twice: bool) -> None:
    assert Broker(version=version).redelivery_requests_flow == twice


@pytest.mark.parametrize("version", ["5.0", "5.0.0-M0", "5.0.0-SNAPSHOT", "v5.0.0"])
def test_unknown_form_of_version_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match="version"):
        _scenario(broker={"version": version})


TOPICS = [
    {"name": "orders-eu"},
    {"name": "orders-us"},
    {"name": "bills"},
    {"name": "orders-tmp", "persistent": False},
]
PRODUCERS = [{"topic": "orders-eu", "rate_msg": 10, "size_bytes": 100}]


def test_pattern_reads_all_matching_topics() -> None:
    scenario = _scenario(
        topics=TOPICS, producers=PRODUCERS, subscriptions={"topic": None, "topics_pattern": "orders-.*"}
    )
    assert scenario.subscriptions[0].reads == ("orders-eu", "orders-us")
    again = Scenario.model_validate(scenario.model_dump(mode="json"))
    assert again.subscriptions[0].reads == ("orders-eu", "orders-us")
    rows = simulate(scenario, engine="twin").seconds.to_pydict()
    assert set(rows["topic"]) == {"orders-eu", "orders-us"}


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (
            "orders",
            r"subscriptions.0.topics_pattern: 'orders' matches none of the persistent topics \['orders-eu'",
        ),
        ("orders-tmp", "matches none"),
        ("orders-(", "is no regular expression"),
    ],
)
def test_useless_pattern_is_refused(pattern: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        _scenario(
            topics=TOPICS, producers=PRODUCERS, subscriptions={"topic": None, "topics_pattern": pattern}
        )


def test_pattern_next_to_topic_is_refused() -> None:
    with pytest.raises(ValueError, match="topic, topics, topics_pattern: give exactly one"):
        _scenario(subscriptions={"topics_pattern": "orders"})


TOPIC_LIMIT = {"level": "topic", "set_at": "topic", "topic": "orders", "msg": 10}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"topics": {"segments": 2, "partitions": 2}}, "segments, not partitions; got both"),
        ({"topics": {"segments": 2, "ttl_s": 60}}, "ttl_s: a scalable topic takes no topic policies"),
        ({"topics": {"segments": 2}, "broker": {"version": "4.2.5"}}, "segments need Pulsar 5.0, got broker.version 4.2.5"),
        ({"topics": {"segments": 2}, "limits": [TOPIC_LIMIT]}, "orders is a scalable topic"),
        ({"topics": {"segments": 2}, "subscriptions": {"type": "Key_Shared"}}, "got Key_Shared"),
    ],
)  # fmt: skip
def test_segments_that_do_not_fit_are_refused(changes: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        _scenario(**{"broker": {"version": "5.0.0"}, **changes})


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"type": "Failover"}, "retry_letter: .* Shared subscriptions, got Failover"),
        ({"ack": "none"}, "retry_letter: .* got ack: none"),
        ({"redelivery": {"nack_share": 0.5}}, "given back or reconsumed later; give one of them"),
    ],
)
def test_retry_letter_that_does_not_fit_is_refused(fields: dict, words: str) -> None:
    retry = {"retry_letter": {"share": 0.5, "delay_ms": 1000}}
    with pytest.raises(ValueError, match=words):
        _scenario(subscriptions={**retry, **fields})


@pytest.mark.parametrize(("kind", "ack"), [("Shared", "none"), ("Exclusive", "cumulative")])
def test_ambiguous_time_outs_are_refused(kind: str, ack: str) -> None:
    redelivery = {"nack_share": 0.5, "ack_timeout_ms": 1000}
    fields = {"type": kind, "consumers": 1, "ack": ack, "redelivery": redelivery}
    with pytest.raises(ScenarioError, match=r"subscriptions.0.redelivery: ack_timeout_ms together"):
        simulate(_scenario(subscriptions=fields))


@pytest.mark.parametrize("engine", ["twin", "kernel"])
def test_merging_keeps_an_event_per_period(engine: str) -> None:
    """However long a pass runs: an exhausted limit counts an event for each poll of the back-off timer."""
    limit = {"level": "subscription", "set_at": "topic", "topic": "orders", "msg": 20}
    scenario = _scenario(
        broker={"version": "4.2.5"},
        limits=[limit],
        subscriptions={"consumers": 30, "processing_ms": 20, "receiver_queue": 2},
        producers={"rate_msg": 200},
    )
    rates = {}
    for pass_us in (0, 200_000):
        machine = replace(LAB, pass_us=pass_us)
        rows = simulate(scenario, machine=machine, engine=engine).seconds.to_pydict()
        rates[pass_us] = sum(rows["subscription_msg_events"][5:]) / 55
    assert 0.9 <= rates[200_000] < rates[0]
