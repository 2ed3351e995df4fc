"""Every committed recording is whole, small, and in the form that its readers rely on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.lab.checks import Span
from tests.lab.confirm import confirm, truth_rows
from tests.lab.measure import FOLDERS, measure
from tests.lab.recording import SAMPLES_SCHEMA, altered_files, read_samples
from tests.lab.sets import SCENARIOS, SETS
from throttlescope.app.pipeline.sources.synthetic_history import FILE
from throttlescope.models.throttling.scenario import SIDE_OF_CAUSE, Scenario, load_scenario, load_scenarios

SHIPPED, MORE = FOLDERS
RECORDINGS = SETS["default"].folders
ENGINE = SETS["engine"]
ENGINE_RECORDINGS = sorted(path.parent for path in ENGINE.recordings.glob("*/recording.json"))
DIAGNOSIS = SETS["diagnosis"]
DIAGNOSIS_RECORDINGS = sorted(path.parent for path in DIAGNOSIS.recordings.glob("*/recording.json"))
SCENARIOS_OF = {ENGINE.recordings: ENGINE.scenarios, DIAGNOSIS.recordings: DIAGNOSIS.scenarios}
TRUTH_KEYS = {
    "cluster", "namespace", "topic", "partition", "subscription", "start_ms", "end_ms", "side", "cause", "limiter",
    "family", "recording", "kept_aside",
}  # fmt: skip


def test_shipped_recordings_stay_small() -> None:
    size_bytes = sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file())
    assert size_bytes + FILE.stat().st_size < 15_000_000
    # A handful of single faults; a recorded cluster has no scenario.
    assert len(list(SHIPPED.glob("*/scenario.yaml"))) <= 15
    size_bytes = sum(path.stat().st_size for path in ENGINE.recordings.rglob("*") if path.is_file())
    assert size_bytes < 15_000_000
    for folder in DIAGNOSIS_RECORDINGS:
        assert sum(path.stat().st_size for path in folder.iterdir()) < 1_000_000, folder.name


def test_no_recording_is_in_both_places() -> None:
    names = [folder.name for folder in RECORDINGS]
    assert len(names) == len(set(names))


@pytest.mark.sampled(8)
@pytest.mark.long
@pytest.mark.parametrize(
    "folder", RECORDINGS + ENGINE_RECORDINGS + DIAGNOSIS_RECORDINGS, ids=lambda path: path.name
)
def test_recording_is_whole(folder: Path) -> None:
    scenarios = SCENARIOS_OF.get(folder.parent, SCENARIOS)
    about = json.loads((folder / "recording.json").read_text())
    assert about["format"] == 1
    assert about["name"] == folder.name
    assert altered_files(folder) == []
    assert all(check["ok"] for check in about["confirmed"])
    assert (folder / "scenario.yaml").read_text() == (scenarios / f"{folder.name}.yaml").read_text()
    series = read_samples(folder)
    assert {item.labels["cluster"] for item in series} == {folder.name}
    for item in series:
        assert item.timestamps_ms == sorted(set(item.timestamps_ms))
        assert len(item.timestamps_ms) == len(item.values)
        assert all(about["start_ms"] <= time_ms < about["end_ms"] for time_ms in item.timestamps_ms)
    assert any(item.labels["__name__"] == "pulsar_subscription_back_log" for item in series)
    assert {item.labels["instance"] for item in series} == {about["instance"]}


def test_engine_recordings_are_many_enough() -> None:
    families: dict[str, int] = {}
    for folder in ENGINE_RECORDINGS:
        scenario = load_scenario(folder / "scenario.yaml", named_as_file=False)
        families[scenario.family] = families.get(scenario.family, 0) + 1
    assert sum(1 for count in families.values() if count == 3) >= 12


@pytest.mark.sampled(8)
@pytest.mark.long
@pytest.mark.parametrize("folder", ENGINE_RECORDINGS, ids=lambda path: path.name)
def test_engine_recording_is_sound(folder: Path) -> None:
    scenario = load_scenario(folder / "scenario.yaml", named_as_file=False)
    about = json.loads((folder / "recording.json").read_text())
    assert about["versions"]["broker"] == scenario.broker.version
    assert about["kept_aside"] == scenario.kept_aside
    assert json.loads((folder / "truth.json").read_text())["rows"] == []
    assert [state["name"] for state in about["states"]] == [state.name for state in scenario.timeline]
    for span, state in zip(about["states"], scenario.timeline, strict=True):
        assert (span["end_ms"] - span["start_ms"]) / 1000 == pytest.approx(state.duration_s, abs=1.5)
    scrapes = about["measured"]["scrapes"]
    assert scrapes["failed"] == 0
    assert scrapes["worst_gap_s"] <= 1.5 * scenario.scrape_interval_s
    assert all(row["short_share"] <= 0.05 for row in about["measured"]["producers"].values())
    single_active = any(item.type in ("Exclusive", "Failover") for item in scenario.subscriptions)
    assert about["group"]["side_by_side"] == 1 or not (single_active or scenario.disturbs_others)
    played = [json.loads(line) for line in (folder / "interventions.jsonl").read_text().splitlines()]
    assert [row["action"] for row in played] == [
        step.action for state in scenario.timeline for step in state.interventions
    ]
    for name in ("policies", "topic_stats"):
        lines = (folder / f"{name}.jsonl").read_text().splitlines()
        assert lines
        for line in lines:
            json.loads(json.loads(line)["body"] or "null")


@pytest.mark.sampled(8)
@pytest.mark.long
@pytest.mark.parametrize("folder", RECORDINGS, ids=lambda path: path.name)
def test_truth_follows_the_script(folder: Path) -> None:
    scenario = Scenario.model_validate(yaml.safe_load((folder / "scenario.yaml").read_text()))
    truth = json.loads((folder / "truth.json").read_text())
    assert truth["format"] == 1
    assert truth["rows"]
    for row in truth["rows"]:
        assert set(row) == TRUTH_KEYS
        assert row["kept_aside"] == scenario.kept_aside
        assert row["side"] == SIDE_OF_CAUSE[row["cause"]]
        assert row["end_ms"] - row["start_ms"] >= 300_000
    assert all(item.over_s >= 300 for item in measure(folder))


def test_every_diagnosis_family_is_recorded_twice() -> None:
    families: dict[str, int] = {}
    for folder in DIAGNOSIS_RECORDINGS:
        scenario = load_scenario(folder / "scenario.yaml", named_as_file=False)
        families[scenario.family] = families.get(scenario.family, 0) + 1
    fresh = set(families) - {scenario.family for scenario in load_scenarios(SCENARIOS)}
    assert len(fresh) >= 11
    assert all(families[family] >= 2 for family in fresh), families


@pytest.mark.sampled(8)
@pytest.mark.long
@pytest.mark.parametrize("folder", DIAGNOSIS_RECORDINGS, ids=lambda path: path.name)
def test_diagnosis_recording_can_be_checked_again(folder: Path) -> None:
    """Checks and truth follow from scenario, states and samples as they lie there."""
    scenario = load_scenario(folder / "scenario.yaml", named_as_file=False)
    about = json.loads((folder / "recording.json").read_text())
    spans = [Span(item["name"], item["start_ms"], item["end_ms"]) for item in about["states"]]
    found = confirm(scenario, spans, read_samples(folder))
    assert found.failures == []
    assert json.loads(json.dumps(found.seen)) == about["confirmed"]
    for item in about["states"]:
        assert item["drained_ms"] == found.drained_ms.get(item["name"])
        assert item["first_loss_ms"] == found.first_loss_ms.get(item["name"])
    rows = json.loads((folder / "truth.json").read_text())["rows"]
    assert rows == truth_rows(scenario, spans, found.drained_ms, found.first_loss_ms)
    assert {(row["cause"], row["limiter"]) for row in rows} == {
        (item.cause, item.limiter) for state in scenario.timeline for item in state.truth
    }
    for row in rows:
        assert set(row) == TRUTH_KEYS
        assert row["side"] == SIDE_OF_CAUSE[row["cause"]]
        assert row["end_ms"] - row["start_ms"] >= 300_000
    lossy = any(topic.ttl_s or topic.backlog_quota for topic in scenario.topics)
    assert lossy == bool(found.first_loss_ms)


@pytest.mark.sampled(8)
@pytest.mark.long
@pytest.mark.parametrize("folder", DIAGNOSIS_RECORDINGS, ids=lambda path: path.name)
def test_diagnosis_recording_has_deadline_policies(folder: Path) -> None:
    scenario = load_scenario(folder / "scenario.yaml", named_as_file=False)
    rows = [json.loads(line) for line in (folder / "policies.jsonl").read_text().splitlines()]
    first_ms = min(row["observed_ms"] for row in rows)
    for topic in scenario.topics:
        key = f"persistent://{scenario.namespace}/{topic.name}"
        bodies = {
            row["scope"]: json.loads(row["body"] or "null")
            for row in sorted(rows, key=lambda row: -row["observed_ms"])
            if row["key"] == key
        }
        assert bodies["topic_message_ttl"] == topic.ttl_s
        quotas = bodies["topic_backlog_quotas"] or {}
        wanted = topic.backlog_quota
        assert quotas.get("destination_storage", {}).get("limitSize") == (wanted and wanted.limit_bytes)
    runtime = next(row for row in rows if row["scope"] == "broker_configuration_runtime")
    assert runtime["observed_ms"] <= first_ms + 5_000
    settings = json.loads(runtime["body"])
    assert settings["messageExpiryCheckIntervalInMinutes"] == "1"
    assert settings["backlogQuotaCheckIntervalInSeconds"] == "60"


@pytest.mark.sampled(8)
@pytest.mark.long
@pytest.mark.parametrize("folder", RECORDINGS + DIAGNOSIS_RECORDINGS, ids=lambda path: path.name)
def test_admin_answers_are_json(folder: Path) -> None:
    policies = [json.loads(line) for line in (folder / "policies.jsonl").read_text().splitlines()]
    about = json.loads((folder / "recording.json").read_text())
    scopes = {row["scope"] for row in policies}
    assert {
        "broker_configuration_runtime",
        "namespace",
        "topic_owner",
        "subscription_dispatch_rate",
    } <= scopes
    for row in policies:
        assert set(row) == {"scope", "key", "body", "broker", "observed_ms"}
        assert row["broker"] == about["instance"]
        if row["body"] is not None:
            json.loads(row["body"])
    stats = [json.loads(line) for line in (folder / "topic_stats.jsonl").read_text().splitlines()]
    assert len({row["observed_ms"] // 60_000 for row in stats}) >= 20
    for row in stats:
        assert "subscriptions" in json.loads(row["body"])


def test_schema_is_the_documented_one() -> None:
    assert SAMPLES_SCHEMA.names == ["labels", "timestamps_ms", "values", "stale_ms"]
