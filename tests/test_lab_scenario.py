"""The scenario schema refuses what nothing acts on, and every committed scenario passes it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.lab.__main__ import SMOKE_SCENARIOS, plan
from tests.lab.sets import SCENARIOS, SETS
from throttlescope.models.throttling.scenario import ScenarioError, load_scenario, load_scenarios

ENGINE, DIAGNOSIS = SETS["engine"], SETS["diagnosis"]
SMOKE_FILE = SMOKE_SCENARIOS / "smoke-throttled.yaml"


def _changed(tmp_path: Path, change) -> Path:
    body = yaml.safe_load(SMOKE_FILE.read_text())
    change(body)
    file = tmp_path / f"{body['name']}.yaml"
    file.write_text(yaml.safe_dump(body))
    return file


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: b.update(colour="red"), "colour: no such field"),
        (lambda b: b["subscriptions"][0].update(nack_share=0.5), "nack_share: no such field"),
        (lambda b: b["subscriptions"][0].update(redelivery={}), "without either nothing is redelivered"),
        (
            lambda b: b["producers"][0].update(sizes=[{"size_bytes": 1, "share": 1}]),
            "give exactly one of them",
        ),
        (lambda b: b["producers"][0].update(routing="key"), "routing by key needs their number"),
        (lambda b: b.update(broker={"settings": {"colour": 1}}), "broker.settings.colour: no such field"),
        (lambda b: b["limits"][0].pop("msg"), "needs at least one"),
        (lambda b: b["limits"][0].update(level="broker"), "a broker limit is set at broker"),
        (lambda b: b["limits"][0].update(set_at="namespace"), "do not fit together"),
        (lambda b: b["subscriptions"][0].update(ack="cumulative"), "not allowed on Shared"),
        (lambda b: b["producers"][0].update(topic="absent"), "'absent' is not defined"),
        (lambda b: b["confirm"][0].update(state="absent"), "'absent' is not defined"),
        (
            lambda b: b["timeline"][0]["truth"][0].update(cause="slow_consumers"),
            "belongs to consumer_capacity",
        ),
        (lambda b: b["timeline"][0]["truth"][0].update(cause="lazy"), "truth.0.cause"),
        (lambda b: b["timeline"][0]["truth"][0].pop("limiter"), "throttled needs one"),
        (lambda b: b.update(size="small"), "a state with truth lasts 660 s"),
        (lambda b: b["producers"][0].update(shape="steps"), "given exactly when shape is steps"),
        (lambda b: b.update(name="other"), "is not the file's name"),
        (lambda b: b["producers"][0].update(shape="bursts"), "given exactly when shape is bursts"),
        (
            lambda b: b["producers"][0].update(
                shape="bursts", bursts={"every_s": 10, "length_s": 10, "factor": 2}
            ),
            "a burst ends before the next begins",
        ),
        (lambda b: b["producers"][0].update(routing="hot"), "given exactly when routing is hot"),
        (
            lambda b: b["producers"][0].update(routing="hot", hot={"partition": 0, "share": 0.5}),
            "orders has 0 partitions",
        ),
        (
            lambda b: b["subscriptions"][0].update(consumers=1, each_processing_ms=[1, 2]),
            "2 times for 1 consumers",
        ),
        (lambda b: b["topics"][0].update(backlog_quota={"policy": "producer_exception"}), "backlog_quota"),
        (lambda b: b["confirm"][0].update(partition=3), "orders has no partition 3"),
        (lambda b: b["timeline"][0]["truth"][0].update(partitions=[7]), "orders has no partition 7"),
        (
            lambda b: b["timeline"][0]["truth"][0].update(part="until_drained"),
            "part until_drained needs a check drains of cause, billing",
        ),
        (
            lambda b: b["timeline"][0]["truth"][0].update(part="since_loss"),
            "part since_loss needs a check loses of cause, billing",
        ),
        (
            lambda b: b["timeline"][0]["truth"][0].update(side="both", cause="both", limiter=None),
            "both needs one",
        ),
        (
            lambda b: b["timeline"][1]["interventions"].append(
                {"action": "set_redelivery", "subscription": "billing", "nack_share": 0}
            ),
            "billing has no redelivery to change",
        ),
        (
            lambda b: b["timeline"][1]["interventions"].extend(
                [
                    {"action": "set_ack", "subscription": "billing", "ack": "none"},
                    {"action": "set_consumers", "subscription": "billing", "consumers": 3},
                ]
            ),
            "both change consumers of billing",
        ),
    ],
)
def test_refuses_by_name(tmp_path: Path, change, words: str) -> None:
    file = _changed(tmp_path, change)
    file = file.rename(tmp_path / SMOKE_FILE.name)
    with pytest.raises(ScenarioError) as refused:
        load_scenario(file)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_families_have_one_held_out_size() -> None:
    """Of two."""
    families: dict[str, list[bool]] = {}
    for scenario in load_scenarios(SCENARIOS):
        if scenario.profile == "helm":
            families.setdefault(scenario.family, []).append(scenario.kept_aside)
    assert len(families) >= 10
    for family, aside in families.items():
        assert len(aside) >= 2, family
        assert sum(aside) == 1, family


def test_engine_families_have_one_held_out_set() -> None:
    """Of three."""
    families: dict[str, list[bool]] = {}
    for scenario in load_scenarios(ENGINE.scenarios):
        assert scenario.scrape_interval_s == 2, scenario.name
        assert not any(state.truth for state in scenario.timeline), scenario.name
        families.setdefault(scenario.family, []).append(scenario.kept_aside)
    assert len(families) >= 14
    for family, aside in families.items():
        assert len(aside) == 3, family
        assert sum(aside) == 1, family


def test_diagnosis_families_have_no_held_out_set() -> None:
    """They have two."""
    families: dict[str, list[bool]] = {}
    for scenario in load_scenarios(DIAGNOSIS.scenarios):
        families.setdefault(scenario.family, []).append(scenario.kept_aside)
    # Those of the default set have their sets there.
    fresh = set(families) - {scenario.family for scenario in load_scenarios(SCENARIOS)}
    assert len(fresh) >= 11
    for family, aside in families.items():
        assert len(aside) >= 2 or family not in fresh, family
        assert not any(aside), family


def test_engine_plan_lets_no_scenario_disturb_another() -> None:
    scenarios = load_scenarios(ENGINE.scenarios)
    batches = plan(scenarios, ENGINE)
    groups = [group for batch in batches for group in batch]
    assert sorted(s.name for group in groups for s in group.scenarios) == [s.name for s in scenarios]
    assert len({group.name for group in groups}) == len(groups)
    single_active = 0
    for group in groups:
        assert len({(s.profile, s.scrape_interval_s, s.broker) for s in group.scenarios}) == 1, group.name
        assert len(group.scenarios) <= 4, group.name
        for scenario in group.scenarios:
            types = {item.type for item in scenario.subscriptions}
            if types & {"Exclusive", "Failover"} or scenario.disturbs_others:
                assert len(group.scenarios) == 1, scenario.name
            single_active += bool(types & {"Exclusive", "Failover"})
    assert single_active >= 4
    assert any(len(group.scenarios) > 1 for group in groups)
    for batch in batches:
        assert sum(group.rate_msg for group in batch) <= ENGINE.batch_rate_msg


def test_plan_separates_broker_limits() -> None:
    """And keeps batches small."""
    batches = plan(load_scenarios(SCENARIOS))
    for groups in batches:
        assert sum(group.rate_msg for group in groups) <= 6000
        for group in groups:
            assert len({(s.profile, s.scrape_interval_s) for s in group.scenarios}) == 1
            assert len(group.scenarios) == 1 or not any(s.disturbs_others for s in group.scenarios)
