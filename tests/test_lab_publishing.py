"""The lab's scenarios about publish limits: drawn from their seeds, playable, refused by the simulator, and their recordings whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.lab.capable import lab_refuses
from tests.lab.drawn import FAMILIES, PUBLISHING, drawn
from tests.lab.generate import scenario_yaml
from tests.lab.recording import altered_files
from tests.lab.sets import SETS
from throttlescope.models.throttling.bounds import check
from throttlescope.models.throttling.scenario import Scenario, ScenarioError, load_scenarios

SEEDS = {"publishing": 1, "publishing-held-out": 101}
RECORDINGS = [folder for name in SEEDS for folder in SETS[name].folders]
TOPICS = [{"name": "orders", "publish_rate": {"msg": 5, "set_at": "namespace"}}, {"name": "imports"}]


@pytest.mark.parametrize("family", PUBLISHING)
@pytest.mark.parametrize("seed", [7, 20_000])
def test_drawn_scenario_can_be_played(family: str, seed: int) -> None:
    for number in range(6):
        body = drawn(family, seed, number)
        scenario = Scenario.model_validate(body)
        assert lab_refuses(scenario) == []
        assert scenario.family == family
        truths = [truth for state in scenario.timeline for truth in state.truth]
        checked = {(one.state, one.subscription) for one in scenario.confirm}
        assert truths
        assert {("cause", truth.subscription) for truth in truths} <= checked
        assert yaml.safe_load(scenario_yaml(family, seed, number)) == body


def test_paused_consumers_share_the_loud_client() -> None:
    for family in PUBLISHING:
        scenario = Scenario.model_validate(drawn(family, 7, 1))
        loud = next(one for one in scenario.producers if one.topic == "imports")
        for truth in scenario.timeline[0].truth:
            shares = scenario.subscription(truth.subscription).client
            if truth.cause == "connection_paused":
                assert shares == loud.client is not None
                limit = scenario.topic("imports").publish_rate
                assert limit.bytes is not None or limit.msg < loud.rate_msg


@pytest.mark.parametrize("name", SEEDS)
def test_scenario_files_are_drawn_from_the_seed(name: str) -> None:
    found = {one.name: one for one in load_scenarios(SETS[name].scenarios)}
    assert len(found) == len(PUBLISHING)
    for scenario in found.values():
        kept_aside = name.endswith("held-out")
        assert scenario == Scenario.model_validate(
            drawn(scenario.family, SEEDS[name], 1, kept_aside=kept_aside)
        )
    assert not set(FAMILIES) & set(PUBLISHING)


def test_simulator_refuses_shared_connections() -> None:
    scenario = Scenario.model_validate(drawn("paused_own_topic", 7, 1))
    with pytest.raises(ScenarioError, match=r"producers\.0\.client: the simulator has no connections"):
        check(scenario)


def test_namespace_publish_rate_is_of_every_topic() -> None:
    body = drawn("paused_by_namespace", 7, 1) | {"topics": TOPICS}
    with pytest.raises(ValueError, match="the same for every topic"):
        Scenario.model_validate(body)


@pytest.mark.parametrize("folder", RECORDINGS, ids=lambda path: path.name)
def test_recording_is_whole(folder: Path) -> None:
    about = json.loads((folder / "recording.json").read_text())
    assert altered_files(folder) == []
    assert all(check["ok"] for check in about["confirmed"])
    assert sum(path.stat().st_size for path in folder.iterdir()) < 1_500_000
    assert about["kept_aside"] == (folder.parent.name == "held_out")
