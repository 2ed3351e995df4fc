"""Drawn scenarios are the same every time, can be played, and their checks hold in both worlds of the fluid model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from tests.lab.capable import lab_refuses, load_recordable
from tests.lab.checks import backlog
from tests.lab.confirm import confirm, truth_rows
from tests.lab.drawn import FAMILIES, UNSEEN, drawn
from tests.lab.generate import app, scenario_yaml
from tests.lab.recording import read_samples
from tests.lab.sets import SCENARIOS, SETS
from tests.naive.lab_fluid import fluid
from tests.naive.lab_fluid_state import LITTLE, MIDDLE, MUCH, World
from throttlescope.models.throttling.scenario import Scenario, SetConsumers, load_scenario, load_scenarios

#: No held-out set is made from this seed.
SEED = 20_000
NUMBERS = range(8)
CASES = [(family, number) for family in FAMILIES for number in NUMBERS]
DEVELOPMENT = load_scenarios(SETS["diagnosis"].scenarios)
RECORDED = sorted(path.parent for path in SETS["diagnosis"].recordings.glob("*/recording.json"))
#: The seed of those among them that are drawn, each the first of its family.
DEVELOPMENT_SEED = 1
KEPT_ASIDE = load_scenarios(SETS["kept-aside"].scenarios)
KEPT_ASIDE_SEED = 2026
#: Recorded before its family left time for a drain at the limit that binds next.
SHORTER = {"slow-consumers-under-limit-1-1"}


def _unseen(scenario: Scenario, world: World) -> list[str]:
    spans, series = fluid(scenario, world)
    return confirm(scenario, spans, series).failures


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("family", "number"), CASES)
def test_a_drawn_scenario_can_be_played(family: str, number: int) -> None:
    body = drawn(family, SEED, number)
    scenario = Scenario.model_validate(body)
    assert lab_refuses(scenario) == []
    assert scenario.family == family
    assert scenario.confirm
    assert any(state.truth for state in scenario.timeline)
    assert scenario.duration_s <= 2700
    assert scenario.rate_msg <= 500
    assert yaml.safe_load(scenario_yaml(family, SEED, number)) == body


@pytest.mark.sampled(8)
@pytest.mark.long
@pytest.mark.parametrize("world", [LITTLE, MUCH], ids=["little", "much"])
@pytest.mark.parametrize(("family", "number"), CASES)
def test_drawn_scenario_checks_hold_by_arithmetic(family: str, number: int, world: World) -> None:
    scenario = Scenario.model_validate(drawn(family, SEED, number))
    spans, series = fluid(scenario, world)
    found = confirm(scenario, spans, series)
    assert found.failures == []
    rows = truth_rows(scenario, spans, found.drained_ms, found.first_loss_ms)
    # Every truth of the script has a row that is long enough for its windows.
    told = {(row["cause"], row["limiter"]) for row in rows}
    assert told == {(item.cause, item.limiter) for state in scenario.timeline for item in state.truth}
    assert all(row["end_ms"] - row["start_ms"] >= 300_000 for row in rows)


@pytest.mark.long
@pytest.mark.parametrize("scenario", DEVELOPMENT, ids=lambda scenario: scenario.name)
def test_development_scenario_checks_hold_by_arithmetic(scenario: Scenario) -> None:
    assert _unseen(scenario, MIDDLE) == []


@pytest.mark.study
def test_without_its_intervention_the_check_fails() -> None:
    """The fluid model can say no: nothing drains where the relief is left out."""
    families = [name for name in FAMILIES if not name.startswith("healthy")]
    for family in families:
        body = drawn(family, SEED, 0)
        for state in body["timeline"][-1:]:
            state.pop("interventions", None)
        failures = _unseen(Scenario.model_validate(body), LITTLE)
        # A burst of publishing goes away by itself, and so does the saw-tooth's single tooth.
        if family == "publish_burst":
            assert failures == []
        else:
            assert failures, family


@pytest.mark.sampled(8)
@pytest.mark.long
@pytest.mark.parametrize("folder", RECORDED, ids=lambda path: path.name)
def test_the_fluid_model_says_what_was_recorded(folder: Path) -> None:
    scenario = load_scenario(folder / "scenario.yaml", named_as_file=False)
    start_ms = json.loads((folder / "recording.json").read_text())["start_ms"]
    recorded = read_samples(folder)
    little, middle, much = ([*fluid(scenario, world)[1]] for world in (LITTLE, MIDDLE, MUCH))
    for item in scenario.subscriptions:
        for partition in scenario.partitions_of(item.topic):
            asked = (item.name, None if partition < 0 else partition)
            points = backlog(recorded, asked[0], start_ms, 2**62, asked[1])
            at_ms = np.array([time_ms - start_ms for time_ms, _ in points])
            seen = np.array([entries for _, entries in points])
            worlds = []
            for series in (little, middle, much):
                flowing = backlog(series, asked[0], 0, 2**62, asked[1])
                worlds.append(np.interp(at_ms, *zip(*flowing, strict=True)))
            peak = seen.max()
            if scenario.family == "micro_burst":
                # A scrape sees a moment of a burst; how high it was is chance.
                assert 0.4 < peak / worlds[1].max() < 2.5
                continue
            room = max(300.0, 0.1 * peak)
            low, high = np.minimum.reduce(worlds) - room, np.maximum.reduce(worlds) + room
            inside = float(((seen >= low) & (seen <= high)).mean())
            assert inside >= 0.95, asked
            if len(scenario.subscriptions) == 1:
                assert np.abs(worlds[1] - seen).mean() <= max(100.0, 0.1 * peak), asked


@pytest.mark.long
def test_drawing_is_repeatable_per_number() -> None:
    for family in FAMILIES:
        texts = {scenario_yaml(family, seed, number) for seed in (1, 2) for number in (1, 2, 3)}
        assert len(texts) == 6, family
        assert scenario_yaml(family, 1, 2) == scenario_yaml(family, 1, 2)
    # Written down, so that a change of the order of draws is seen.
    body = drawn("limit_change", 1, 1)
    assert {key: body[key] for key in ("name", "about")} == {
        "name": "limit-change-1-1",
        "about": "A topic limit of 252 msg/s (bytes) over 120 is lowered to 90 and raised again.",
    }


def test_development_scenarios_equal_their_seed() -> None:
    folder, ending = SETS["diagnosis"].scenarios, f"-{DEVELOPMENT_SEED}-1"
    found = [scenario for scenario in DEVELOPMENT if scenario.name.endswith(ending)]
    assert {scenario.family for scenario in found} == set(FAMILIES) - UNSEEN
    for scenario in found:
        text = scenario_yaml(scenario.family, DEVELOPMENT_SEED, 1)
        same = (folder / f"{scenario.name}.yaml").read_text() == text
        assert same == (scenario.name not in SHORTER), scenario.name


@pytest.mark.long
def test_held_out_scenarios_equal_their_seed() -> None:
    folder = SETS["kept-aside"].scenarios
    numbers = [(family, 1 + number) for family in FAMILIES for number in range(4 if family in UNSEEN else 2)]
    texts = {
        f"{family.replace('_', '-')}-{KEPT_ASIDE_SEED}-{number}": scenario_yaml(
            family, KEPT_ASIDE_SEED, number, kept_aside=True
        )
        for family, number in numbers
    }
    assert {path.stem: path.read_text() for path in folder.glob("*.yaml")} == texts


def test_unseen_families_have_no_earlier_recording() -> None:
    assert not UNSEEN & {scenario.family for scenario in (*load_scenarios(SCENARIOS), *DEVELOPMENT)}


def test_kept_aside_is_the_only_difference() -> None:
    assert drawn("both", 1, 1, kept_aside=True) == {**drawn("both", 1, 1), "kept_aside": True}


def test_drawn_families_equal_committed_scenarios() -> None:
    committed = {scenario.family for scenario in (*load_scenarios(SCENARIOS), *DEVELOPMENT, *KEPT_ASIDE)}
    assert set(FAMILIES) == committed


def test_command_writes_playable_files(tmp_path: Path) -> None:
    arguments = [
        "--seed",
        "5",
        "--out",
        str(tmp_path),
        "--family",
        "quota",
        "--family",
        "both",
        "--count",
        "2",
    ]
    result = CliRunner().invoke(app, [*arguments, "--kept-aside"])
    assert result.exit_code == 0, result.output
    scenarios = load_recordable(tmp_path)
    assert [scenario.name for scenario in scenarios] == ["both-5-1", "both-5-2", "quota-5-1", "quota-5-2"]
    assert all(scenario.kept_aside for scenario in scenarios)
    unknown = CliRunner().invoke(app, ["--seed", "5", "--out", str(tmp_path), "--family", "lazy"])
    assert unknown.exit_code == 2
    assert "no family lazy" in unknown.output


def test_added_consumers_stay_within_lab_limits() -> None:
    for family, number in CASES:
        scenario = Scenario.model_validate(drawn(family, SEED, number))
        steps = [step for state in scenario.timeline for step in state.interventions]
        counts = [step.consumers for step in steps if isinstance(step, SetConsumers) and step.consumers]
        assert max([*counts, *(item.consumers for item in scenario.subscriptions)]) <= 32
