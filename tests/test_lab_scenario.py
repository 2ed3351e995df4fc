"""The scenario schema refuses what nothing acts on, and every committed scenario passes it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.lab.__main__ import SCENARIOS, SMOKE_SCENARIOS, plan
from throttlescope.models.throttling.scenario import ScenarioError, load_scenario, load_scenarios

SMOKE_FILE = SMOKE_SCENARIOS / "smoke-throttled.yaml"


def _changed(tmp_path: Path, change) -> Path:
    body = yaml.safe_load(SMOKE_FILE.read_text())
    change(body)
    file = tmp_path / f"{body['name']}.yaml"
    file.write_text(yaml.safe_dump(body))
    return file


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: b.update(colour="red"), "colour: no such field"),
        (lambda b: b["subscriptions"][0].update(nack_share=0.5), "nack_share: no such field"),
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
    ],
)
def test_refuses_by_name(tmp_path: Path, change, words: str) -> None:
    file = _changed(tmp_path, change)
    file = file.rename(tmp_path / SMOKE_FILE.name)
    with pytest.raises(ScenarioError) as refused:
        load_scenario(file)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_every_family_has_two_sizes_and_one_kept_aside() -> None:
    families: dict[str, list[bool]] = {}
    for scenario in load_scenarios(SCENARIOS):
        if scenario.profile == "helm":
            families.setdefault(scenario.family, []).append(scenario.kept_aside)
    assert len(families) >= 10
    for family, aside in families.items():
        assert len(aside) >= 2, family
        assert sum(aside) == 1, family


def test_plan_keeps_broker_limits_apart_and_batches_small() -> None:
    batches = plan(load_scenarios(SCENARIOS))
    for groups in batches:
        assert sum(group.rate_msg for group in groups) <= 6000
        for group in groups:
            assert len({(s.profile, s.scrape_interval_s) for s in group.scenarios}) == 1
            assert len(group.scenarios) == 1 or not any(s.disturbs_others for s in group.scenarios)
