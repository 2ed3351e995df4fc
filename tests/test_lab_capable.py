"""The lab refuses by name what it cannot play, and plays everything that is committed."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.lab.__main__ import SMOKE_SCENARIOS
from tests.lab.capable import lab_refuses, load_recordable
from tests.lab.sets import SETS
from throttlescope.models.throttling.scenario import Scenario, ScenarioError

SMOKE_FILE = SMOKE_SCENARIOS / "smoke-throttled.yaml"


def _changed(change) -> dict:
    body = yaml.safe_load(SMOKE_FILE.read_text())
    change(body)
    return body


def _subscription(**fields):
    return lambda body: body["subscriptions"][0].update(fields)


def _producer(**fields):
    return lambda body: body["producers"][0].update(fields)


def _topic(**fields):
    return lambda body: body["topics"][0].update(fields)


def _volatile(body: dict) -> None:
    body["topics"][0]["persistent"] = False
    body["limits"] = []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: b.update(confirm=[]), "confirm: a scenario with truth"),
        (lambda b: b.update(broker={"version": "3.0.0"}), "broker.version: 3.0.0 is not one of"),
        (lambda b: b.update(broker={"engine": "A0"}), "broker.engine: version and settings decide"),
        (_volatile, "topics.0.persistent"),
        (_topic(broker=1), "topics.0.broker: there is one broker"),
        (_topic(deduplication=True), "topics.0.deduplication"),
        (_producer(send="sync"), "producers.0.send: sync"),
        (_producer(stored_share=0.5), "producers.0.stored_share"),
        (_producer(duplicate_share=0.5), "producers.0.duplicate_share"),
        (_subscription(consumers=1000), "subscriptions.0.consumers: at most"),
        (
            _subscription(processing="exponential"),
            "subscriptions.0.processing",
        ),
        (_subscription(redelivery={"ack_timeout_ms": 2000}), "takes no less than 10000"),
        (
            _subscription(type="Exclusive", redelivery={"nack_share": 1, "max_redeliver": 2}),
            "a Exclusive subscription has no dead-letter topic",
        ),
        (
            lambda b: b["timeline"][1]["interventions"].append(
                {"action": "set_consumers", "subscription": "billing", "consumers": 100}
            ),
            "timeline.lifted: consumers: at most",
        ),
        (
            lambda b: (
                b["producers"][0].update(batching={"max_messages": 10, "max_delay_ms": 10}),
                b["timeline"][1]["interventions"].append(
                    {"action": "set_delay", "topic": "orders", "deliver_after_ms": 1000}
                ),
            ),
            "timeline.lifted: set_delay: orders is batched",
        ),
    ],
)
def test_refuses_by_name(tmp_path: Path, change, words: str) -> None:
    body = _changed(change)
    (reason,) = lab_refuses(Scenario.model_validate(body))
    assert words in reason
    (tmp_path / SMOKE_FILE.name).write_text(yaml.safe_dump(body))
    with pytest.raises(ScenarioError) as refused:
        load_recordable(tmp_path)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "change",
    [
        _producer(size_bytes=None, sizes=[{"size_bytes": 10, "share": 1}], shape="poisson"),
        _producer(routing="key", keys=10, deliver_after_ms=1000),
        _subscription(type="Key_Shared", redelivery={"nack_share": 0.5, "max_redeliver": 3}),
        _subscription(ack="none", redelivery={"ack_timeout_ms": 10_000}),
        _topic(max_unacked_per_consumer=10, publish_rate={"msg": 10}, ttl_s=60),
        _topic(backlog_quota={"limit_bytes": 1000}),
        _producer(shape="bursts", bursts={"every_s": 10, "length_s": 1, "factor": 5}),
        lambda b: (_topic(partitions=3)(b), _producer(routing="hot", hot={"partition": 2, "share": 0.9})(b)),
        _subscription(consumers=2, each_processing_ms=[500]),
        _subscription(redelivery={"nack_share": 0.5, "nack_times": 1000}),
        lambda b: b.update(broker={"version": "4.0.1"}),
        lambda b: b.update(broker={"engine": "C"}),
    ],
)
def test_plays_what_the_client_can_do(change) -> None:
    assert lab_refuses(Scenario.model_validate(_changed(change))) == []


@pytest.mark.parametrize("folder", [SMOKE_SCENARIOS, *(item.scenarios for item in SETS.values())], ids=str)
def test_every_committed_scenario_can_be_played(folder: Path) -> None:
    assert load_recordable(folder)
