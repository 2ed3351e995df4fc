"""Scalable topics in the lab: scenarios that fit their seeds, truth that follows from what was seen, and a short real case.

In the real case a namespace rate of 10 msg/s limits each of two segments by itself, which together deliver twice as much; a split makes it three.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.lab.parts import SCALABLE_VERSION, PartMissing, broker_jars, java_binary, prometheus_binary
from tests.lab.readback import Series
from tests.lab.recording import altered_files, read_samples
from tests.lab.scalable.client import compiled_load
from tests.lab.scalable.draw import KINDS, draw
from tests.lab.scalable.model import SIDES, ScalableScenario
from tests.lab.scalable.record import SCALABLE
from tests.lab.scalable.sets import SCALABLE_SETS
from tests.lab.scalable.truth import backlog, find_truth, segment_name
from tests.lab.staged.play import StagedPlayed
from tests.lab.staged.truth import within
from throttlescope.ingest.core.labels import LabelMapping, normalise
from throttlescope.ingest.sources.recording import read_recording

LIMIT = {"action": "set_limit", "level": "subscription", "msg": 10}
THROTTLED = {"side": "throttle", "cause": "throttled", "limiter": "subscription.msg", "settle_s": 5}
SHORT = {
    "format": 1,
    "name": "scalable-short",
    "about": "A namespace rate of 10 msg/s under 40 msg/s on two segments, one of which is split.",
    "seed": 0,
    "scrape_interval_s": 5,
    "well_s": 15,
    "cause_s": 35,
    "relieved_s": 30,
    "topics": [
        {
            "name": "orders",
            "family": "segment_split_limited",
            "about": "Limited.",
            "segments": 2,
            "rate_msg": 80,
            "size_bytes": 100,
            "first": [LIMIT],
            "cause": [{"action": "split", "segments": [0]}],
            "relief": [{"action": "lift_limit", "level": "subscription"}],
            "truth": {
                "kept": {**THROTTLED, "grows_per_s": 10},
                "successors": {**THROTTLED, "grows_per_s": 10},
            },
        }
    ],
}
RECORDINGS = [folder for each in SCALABLE_SETS.values() for folder in each.folders]


def _changed(**fields) -> dict:
    return {**SHORT, "topics": [{**SHORT["topics"][0], **fields}]}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 101, 7])
def test_seed_draws_the_same_scenario(kind: str, seed: int) -> None:
    drawn = draw(kind, seed)
    assert drawn == draw(kind, seed)
    assert drawn != draw(kind, seed + 1)
    assert ScalableScenario.model_validate(drawn.model_dump()) == drawn


def test_sets_cover_every_cause_and_level() -> None:
    for name, each in SCALABLE_SETS.items():
        truths = [truth for one in each.scenarios for topic in one.topics for truth in topic.truth.values()]
        assert {truth.cause for truth in truths} == SIDES.keys()
        limiters = {truth.limiter for truth in truths if truth.limiter}
        assert limiters == {
            "subscription.msg",
            "subscription.bytes",
            "topic.msg",
            "topic.bytes",
            "broker.msg",
        }
        assert {topic.kind for one in each.scenarios for topic in one.topics} == {"queue", "stream"}
        assert all(one.kept_aside == (name == "held-out") for one in each.scenarios)


def test_sets_share_no_seed() -> None:
    seeds = [seed for each in SCALABLE_SETS.values() for seed in each.seeds]
    assert len(seeds) == len(set(seeds))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"truth": {"kept": {"side": "neither", "cause": "throttled"}}}, "throttled belongs to throttle"),
        ({"truth": {"kept": {"side": "throttle", "cause": "throttled"}}}, "limiter: given exactly when"),
        ({"truth": {"kept": {**THROTTLED}}}, "grows_per_s, drains: given exactly when"),
        ({"cause": [], "truth": {"sealed": {"side": "neither", "cause": "healthy"}}}, "no segment is ['sealed']"),
        ({"cause": [{"action": "split", "segments": [2]}]}, "the first layout has 0 to 1"),
        ({"cause": [{"action": "merge", "segments": [0]}]}, "merge: needs 2 segments"),
        ({"cause": [{"action": "set_limit", "level": "topic"}]}, "needs msg or bytes"),
        ({"cause": [{"action": "set_limit", "level": "broker", "msg": 5}]}, "a step of the scenario"),
    ],
)  # fmt: skip
def test_scenario_that_does_not_fit_is_refused(fields: dict, words: str) -> None:
    with pytest.raises(ValidationError) as refused:
        ScalableScenario.model_validate(_changed(**fields))
    assert words in str(refused.value)


def _played(
    backlogs: dict[str, Callable[[float], float | None]], **fields
) -> tuple[StagedPlayed, list[Series]]:
    """A scenario of which the backlog of every segment is known by the second."""
    scenario = ScalableScenario.model_validate({**_changed(**fields), "relieved_s": 400})
    (topic,) = scenario.topics
    played = StagedPlayed(scenario, start_ms=0, end_ms=450_000, about={"segments": {"orders": {}}})
    for state, at_ms in (("cause", 15_000), ("relieved", 50_000)):
        row = {"topic": "orders", "state": state, "begin_ms": at_ms, "applied_ms": at_ms, "error": None}
        played.changes.append(row)
    series = []
    for name, entries in backlogs.items():
        hash_range, number = name.rsplit("-", 1)
        played.about["segments"]["orders"][int(number)] = hash_range
        labels = {
            "__name__": "pulsar_subscription_back_log",
            "topic": segment_name(topic, hash_range, int(number)),
            "subscription": "billing",
        }
        points = [(at_ms, entries(at_ms / 1000)) for at_ms in range(0, 450_000, 5_000)]
        seen = [(at_ms, float(value)) for at_ms, value in points if value is not None]
        series.append(Series(labels, [at_ms for at_ms, _ in seen], [value for _, value in seen]))
    return played, series


def test_truth_of_segments_that_were_split() -> None:
    grows = lambda at_s: 20 * (at_s - 15) if 15 <= at_s < 60 else 0  # noqa: E731
    found = find_truth(
        *_played(
            {
                "0000-7fff-0": lambda at_s: 50 if at_s < 20 else None,
                "8000-ffff-1": grows,
                "0000-3fff-2": lambda at_s: None if at_s < 15 else grows(at_s),
                "4000-7fff-3": lambda at_s: None if at_s < 15 else 0,
            }
        )
    )
    rows = [(row["partition"], row["cause"], row["start_ms"], row["end_ms"]) for row in found.rows]
    assert rows == [
        (1, "throttled", 20_000, 50_000),
        (1, "healthy", 120_000, 450_000),
        (2, "throttled", 20_000, 50_000),
        (2, "healthy", 120_000, 450_000),
        # It did not grow during the cause.
        (3, "healthy", 110_000, 450_000),
    ]
    assert {row["topic"] for row in found.rows} == {"topic://scalable/orders/orders"}
    assert [check["ok"] for check in found.confirmed if check["segment"] == 3] == [False, True]


def test_truth_of_a_wait_ends_with_the_parent() -> None:
    waits = {"side": "neither", "cause": "segment_blocked", "grows_per_s": 10}
    found = find_truth(
        *_played(
            {
                "0000-7fff-0": lambda at_s: 500 - 12 * at_s if at_s <= 40 else None,
                "0000-3fff-2": lambda at_s: None if at_s < 15 else 20 * (at_s - 15) if at_s < 60 else 0,
            },
            truth={"successors": waits},
        )
    )
    blocked = [row for row in found.rows if row["cause"] == "segment_blocked"]
    assert [(row["partition"], row["start_ms"], row["end_ms"]) for row in blocked] == [(2, 15_000, 45_000)]


@pytest.mark.long
@pytest.mark.parametrize("folder", RECORDINGS, ids=lambda folder: folder.name)
def test_scalable_recording_is_whole_and_small(folder: Path) -> None:
    about = json.loads((folder / "recording.json").read_text())
    scenario = next(
        one for each in SCALABLE_SETS.values() for one in each.scenarios if one.name == about["name"]
    )
    assert altered_files(folder) == []
    assert (folder / "scalable.yaml").read_text() == scenario.to_yaml()
    assert about["kept_aside"] == scenario.kept_aside
    assert about["versions"]["broker"].strip('"') == SCALABLE_VERSION
    assert sum(path.stat().st_size for path in folder.iterdir()) < 2_000_000
    recording = read_recording(folder)
    layouts = [row for row in recording.policies.to_pylist() if row["scope"] == "scalable_layout"]
    assert {row["key"] for row in layouts} == {topic.full_name for topic in scenario.topics}
    rows = recording.truth.to_pylist()
    assert {row["cause"] for row in rows} <= SIDES.keys()
    assert all(row["side"] == SIDES[row["cause"]] for row in rows)
    assert all(str(row["partition"]) in about["segments"][row["namespace"].split("/")[1]] for row in rows)


@pytest.mark.broker
@pytest.mark.prometheus
@pytest.mark.timeout(600)
def test_namespace_rate_counts_per_segment(tmp_path: Path) -> None:
    try:
        java_binary(), broker_jars(SCALABLE_VERSION), prometheus_binary(), compiled_load()
    except PartMissing as missing:
        pytest.skip(f"no broker of Pulsar 5 here: {missing}")
    scenario = ScalableScenario.model_validate(SHORT)
    folder = SCALABLE.record(scenario, tmp_path / "out", tmp_path / "scratch", say=print, count_cpu=False)
    about = json.loads((folder / "recording.json").read_text())
    (topic,) = scenario.topics
    segments = {int(number): hash_range for number, hash_range in about["segments"]["orders"].items()}
    assert segments == {0: "0000-7fff", 1: "8000-ffff", 2: "0000-3fff", 3: "4000-7fff"}
    cause = next(state for state in about["states"] if state["name"] == "cause")
    series = read_samples(folder)
    for number in (1, 2, 3):
        points = backlog(series, segment_name(topic, segments[number], number))
        points = within(points, cause["start_ms"], cause["end_ms"])
        grown_per_s = (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0]) * 1000
        # A third of 80 msg/s comes in, and 10 msg/s go out.
        assert 13 < grown_per_s < 20, number
    keys = {
        normalise(tuple(one.labels.items()), LabelMapping()).labels
        for one in series
        if "subscription" in one.labels
    }
    assert {dict(labels)["partition"] for labels in keys} == {"0", "1", "2", "3"}
    rows = read_recording(folder).truth.to_pylist()
    throttled = {row["partition"] for row in rows if row["cause"] == "throttled"}
    assert throttled == {1, 2, 3}
