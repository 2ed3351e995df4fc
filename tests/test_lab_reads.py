"""The lab of read budgets: scenarios that fit their seeds, truth that follows from what was seen, and recordings that are whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.lab.parts import PartMissing, broker_jars, java_binary, prometheus_binary
from tests.lab.readback import Series
from tests.lab.reads.draw import draw
from tests.lab.reads.model import ReadsScenario
from tests.lab.reads.record import READS
from tests.lab.reads.sets import READS_SETS
from tests.lab.reads.truth import find_truth
from tests.lab.recording import altered_files
from tests.lab.staged.play import StagedPlayed
from throttlescope.ingest.sources.recording import read_recording

RECORDINGS = [folder for each in READS_SETS.values() for folder in each.folders]


@pytest.mark.parametrize("seed", [1, 101, 7])
def test_seed_draws_the_same_scenario(seed: int) -> None:
    drawn = draw("budget", seed)
    assert drawn == draw("budget", seed)
    assert drawn != draw("budget", seed + 1)
    assert ReadsScenario.model_validate(drawn.model_dump()) == drawn


@pytest.mark.parametrize("seed", range(40))
def test_budget_is_the_only_bound(seed: int) -> None:
    scenario = draw("budget", seed)
    limited = [topic for topic in scenario.topics if topic.truth.cause == "read_limit"]
    read_s = 2 * scenario.delay_ms / 1000
    read_bytes = [100 * (topic.producer.size_bytes or 0) for topic in limited]
    at_once = scenario.budget_mb * 2**20 // read_bytes[0]
    assert sum(topic.producer.rate_msg for topic in limited) > 1.3 * at_once * 100 / read_s
    # Without the budget each topic has reads of its own.
    assert all(1.3 * topic.producer.rate_msg < 100 / read_s for topic in limited)


def test_sets_cover_causes_and_share_no_seed() -> None:
    for name, each in READS_SETS.items():
        causes = [topic.truth.cause for one in each.scenarios for topic in one.topics]
        assert set(causes) == {"read_limit", "throttled", "slow_consumers", "healthy"}
        assert all(one.kept_aside == (name == "held-out") for one in each.scenarios)
    seeds = [seed for each in READS_SETS.values() for seed in each.seeds]
    assert len(seeds) == len(set(seeds))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"truth": {"side": "neither", "cause": "throttled"}}, "throttled belongs to throttle"),
        ({"truth": {"side": "throttle", "cause": "throttled"}}, "limiter: given exactly when"),
        ({"truth": {"side": "neither", "cause": "healthy"}}, "grows_per_s: given exactly when"),
        ({"cause": [{"action": "set_consumers", "subscription": "x", "consumers": 1}]}, "'x'"),
    ],
)  # fmt: skip
def test_scenario_that_does_not_fit_is_refused(fields: dict, words: str) -> None:
    body = draw("budget", 1).model_dump(mode="json", by_alias=True, exclude_defaults=True)
    body["topics"] = [body["topics"][0] | fields]
    with pytest.raises(ValidationError) as refused:
        ReadsScenario.model_validate({"format": 1, **body})
    assert words in str(refused.value)


def _found(backlogs: dict[str, Callable[[float], float]]) -> tuple[list[tuple], list[dict]]:
    """Truth of a scenario of which the backlog of some topics is known by the second."""
    scenario = draw("budget", 1)
    scenario = scenario.model_copy(
        update={"topics": tuple(topic for topic in scenario.topics if topic.name in backlogs)}
    )
    played = StagedPlayed(scenario, start_ms=0, end_ms=780_000)
    for state, at_ms, applied_ms in (("cause", 60_000, 60_000), ("relieved", 600_000, 620_000)):
        row = {"topic": None, "state": state, "begin_ms": at_ms, "applied_ms": applied_ms, "error": None}
        played.changes.append(row)
    times = list(range(0, 780_000, 15_000))
    series = [
        Series(
            {
                "__name__": "pulsar_subscription_back_log",
                "topic": f"persistent://reads/{name}/orders",
                "subscription": "billing",
            },
            times,
            [float(entries(at_ms / 1000)) for at_ms in times],
        )
        for name, entries in backlogs.items()
    ]
    found = find_truth(played, series)
    rows = [(row["namespace"], row["cause"], row["start_ms"], row["end_ms"]) for row in found.rows]
    return rows, found.confirmed


def test_truth_needs_growth_and_relief() -> None:
    grows = lambda at_s: 20 * min(at_s, 600)  # noqa: E731
    rows, _ = _found({"held-1": lambda at_s: grows(at_s) - max(0, at_s - 620) * 50})
    assert rows == [("reads/held-1", "read_limit", 90_000, 600_000)]
    # It grew, but lifting the budget changed nothing.
    rows, confirmed = _found({"held-1": lambda at_s: 20 * at_s})
    assert rows == []
    assert [check["ok"] for check in confirmed] == [True, False]


def test_subscriptions_beside_have_own_truth() -> None:
    rows, _ = _found(
        {
            "limited": lambda at_s: 5 * max(0, at_s - 60) if at_s < 620 else 0,
            "slow": lambda at_s: 10 * max(0, at_s - 60) if at_s < 620 else 0,
            "caught-up": lambda at_s: 3,
        }
    )
    assert rows == [
        ("reads/limited", "throttled", 120_000, 600_000),
        ("reads/limited", "healthy", 690_000, 780_000),
        ("reads/slow", "slow_consumers", 120_000, 600_000),
        ("reads/slow", "healthy", 690_000, 780_000),
        ("reads/caught-up", "healthy", 120_000, 600_000),
        ("reads/caught-up", "healthy", 690_000, 780_000),
    ]


@pytest.mark.long
@pytest.mark.parametrize("folder", RECORDINGS, ids=lambda folder: folder.name)
def test_reads_recording_is_whole_and_small(folder: Path) -> None:
    about = json.loads((folder / "recording.json").read_text())
    scenario = next(
        one for each in READS_SETS.values() for one in each.scenarios if one.name == about["name"]
    )
    assert altered_files(folder) == []
    assert (folder / "reads.yaml").read_text() == scenario.to_yaml()
    assert about["kept_aside"] == scenario.kept_aside
    assert sum(path.stat().st_size for path in folder.iterdir()) < 2_000_000
    truth = {
        row["namespace"]: row["cause"]
        for row in read_recording(folder).truth.to_pylist()
        if row["start_ms"] < about["states"][0]["end_ms"] + 120_000
    }
    expected = {topic.namespace: topic.truth.cause for topic in scenario.topics}
    assert truth.items() <= expected.items()
    assert "read_limit" in truth.values()


@pytest.mark.study
@pytest.mark.broker
@pytest.mark.prometheus
@pytest.mark.timeout(600)
def test_budget_holds_topics_until_lifted(tmp_path: Path) -> None:
    try:
        java_binary(), broker_jars(), prometheus_binary()
    except PartMissing as missing:
        pytest.skip(f"no broker here: {missing}")
    short = {"well_s": 30.0, "cause_s": 75.0, "relieved_s": 60.0}
    scenario = draw("budget", 1).model_copy(update=short)
    folder = READS.record(scenario, tmp_path / "out", tmp_path / "scratch", say=print, count_cpu=False)
    confirmed = json.loads((folder / "recording.json").read_text())["confirmed"]
    seen = {(row["topic"], row["state"]): row["ok"] for row in confirmed if row["topic"].startswith("held")}
    assert seen == {
        (f"held-{number}", state): True for number in (1, 2, 3) for state in ("cause", "relieved")
    }
