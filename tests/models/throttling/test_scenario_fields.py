"""Bursts, hot partitions and single slow consumers act in the simulator; what only a broker does is refused by name."""

from __future__ import annotations

import pytest

from throttlescope.models.throttling import simulate
from throttlescope.models.throttling.bounds import notes
from throttlescope.models.throttling.scenario import Scenario, ScenarioError


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
        target = body[name][0] if isinstance(body[name], list) and isinstance(fields, dict) else None
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
