"""Geo-replication in the lab: scenarios that fit their seeds, truth that follows from what was seen, and a short real case.

In the real case a limit of 10 entries/s lets a replicator fall behind 40 msg/s; lifted, it catches up.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.lab.geo.draw import KINDS, draw
from tests.lab.geo.model import SIDES, GeoScenario
from tests.lab.geo.play import load_of
from tests.lab.geo.record import GEO
from tests.lab.geo.sets import GEO_SETS
from tests.lab.geo.truth import find_truth, of_replicator
from tests.lab.parts import PartMissing, broker_jars, java_binary, prometheus_binary
from tests.lab.readback import Series
from tests.lab.recording import altered_files, read_samples
from tests.lab.staged.play import StagedPlayed
from tests.lab.staged.truth import within
from throttlescope.ingest.sources.recording import read_recording

LIMIT = {"cluster": "east", "level": "topic"}
SHORT = {
    "format": 1,
    "name": "geo-short",
    "about": "A topic limit of 10 entries/s under 40 msg/s, and lifted.",
    "seed": 0,
    "scrape_interval_s": 5,
    "well_s": 5,
    "cause_s": 25,
    "relieved_s": 20,
    "topics": [
        {
            "name": "orders",
            "family": "replicator_topic_limit",
            "about": "Limited.",
            "producer": {"topic": "orders", "rate_msg": 40, "size_bytes": 100},
            "cause": [{"action": "set_replicator_limit", **LIMIT, "msg": 10}],
            "relief": [{"action": "lift_replicator_limit", **LIMIT}],
            "truth": {
                "side": "throttle",
                "cause": "throttled",
                "limiter": "replicator.msg",
                "settle_s": 5,
            },
            "grows_per_s": 25,
        }
    ],
}
RECORDINGS = [folder for each in GEO_SETS.values() for folder in each.folders]


def _changed(**fields) -> dict:
    return {**SHORT, "topics": [{**SHORT["topics"][0], **fields}]}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 101, 7])
def test_seed_draws_the_same_scenario(kind: str, seed: int) -> None:
    drawn = draw(kind, seed)
    assert drawn == draw(kind, seed)
    assert drawn != draw(kind, seed + 1)
    assert GeoScenario.model_validate(drawn.model_dump()) == drawn
    assert all(load_of(drawn, topic).namespace == topic.namespace for topic in drawn.topics)


def test_sets_cover_every_cause_that_can_be_played() -> None:
    for name, each in GEO_SETS.items():
        topics = [topic for scenario in each.scenarios for topic in scenario.topics]
        # No bug of this version is known to leave a replicator stuck.
        assert {topic.truth.cause for topic in topics} == SIDES.keys() - {"replicator_stuck"}
        levels = {
            (step.level, "msg" if step.msg else "bytes")
            for scenario in each.scenarios
            for topic in scenario.topics
            for step in (*scenario.cause, *topic.cause)
            if topic.truth.limiter and step.action == "set_replicator_limit"
        }
        assert {level for level, _ in levels} == {"topic", "namespace", "broker"}
        assert all(scenario.kept_aside == (name != "development") for scenario in each.scenarios)


def test_sets_share_no_seed() -> None:
    seeds = [seed for each in GEO_SETS.values() for seed in each.seeds]
    assert len(seeds) == len(set(seeds))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"truth": {"side": "neither", "cause": "throttled"}},
            "throttled belongs to throttle, not to neither",
        ),
        ({"truth": {"side": "throttle", "cause": "throttled"}}, "limiter: given exactly when"),
        ({"grows_per_s": None}, "grows_per_s: given exactly when"),
        ({"cause": [{"action": "stop_cluster", "cluster": "west"}]}, "a step of the scenario"),
        ({"cause": [{"action": "set_publish_limit", "cluster": "west", "level": "topic"}]}, "needs msg or bytes"),
        ({"cause": [{"action": "unload", "cluster": "west", "level": "topic"}]}, "needs [], got ['level']"),
        ({"relief": [{"action": "clear_backlog", "cluster": "west"}]}, "there is no unread subscription"),
    ],
)  # fmt: skip
def test_scenario_that_does_not_fit_is_refused(fields: dict, words: str) -> None:
    with pytest.raises(ValidationError) as refused:
        GeoScenario.model_validate(_changed(**fields))
    assert words in str(refused.value)


def _played(backlog: Callable[[float], float]) -> tuple[StagedPlayed, list[Series]]:
    """A scenario of which the backlog is known by the second."""
    scenario = GeoScenario.model_validate({**SHORT, "relieved_s": 400})
    played = StagedPlayed(scenario, start_ms=0, end_ms=430_000)
    for state, at_ms in (("cause", 5_000), ("relieved", 30_000)):
        row = {"topic": "orders", "state": state, "begin_ms": at_ms, "applied_ms": at_ms, "error": None}
        played.changes.append(row)
    labels = {
        "__name__": "pulsar_replication_backlog",
        "cluster": "geo-short-east",
        "namespace": "geo/orders",
        "topic": "persistent://geo/orders/orders",
        "remote_cluster": "geo-short-west",
    }
    times = list(range(0, 430_000, 5_000))
    return played, [Series(labels, times, [float(backlog(at_ms / 1000)) for at_ms in times])]


def test_truth_of_a_backlog_that_grows_and_drains() -> None:
    found = find_truth(*_played(lambda at_s: 30 * (at_s - 5) if 5 <= at_s < 40 else 0))
    assert [(row["cause"], row["limiter"], row["start_ms"], row["end_ms"]) for row in found.rows] == [
        ("throttled", "replicator.msg", 10_000, 30_000),
        ("healthy", None, 90_000, 430_000),
    ]
    assert {(row["cluster"], row["subscription"]) for row in found.rows} == {
        ("geo-short-east", "pulsar.repl.geo-short-west")
    }


@pytest.mark.parametrize(
    ("backlog", "causes"),
    [
        (lambda at_s: 0, []),
        (lambda at_s: 30 * max(0, at_s - 5), ["throttled"]),
    ],
    ids=["does not grow", "does not drain"],
)
def test_no_truth_without_the_effect(backlog: Callable[[float], float], causes: list[str]) -> None:
    found = find_truth(*_played(backlog))
    assert [row["cause"] for row in found.rows] == causes
    assert not all(check["ok"] for check in found.confirmed)


@pytest.mark.long
@pytest.mark.parametrize("folder", RECORDINGS, ids=lambda folder: folder.name)
def test_geo_recording_is_whole_and_small(folder: Path) -> None:
    about = json.loads((folder / "recording.json").read_text())
    scenario = next(one for each in GEO_SETS.values() for one in each.scenarios if one.name == about["name"])
    assert altered_files(folder) == []
    assert (folder / "geo.yaml").read_text() == scenario.to_yaml()
    assert about["kept_aside"] == scenario.kept_aside
    assert sum(path.stat().st_size for path in folder.iterdir()) < 2_000_000
    labels = {scenario.label("east"), scenario.label("west")}
    assert set(about["clusters"]) == labels
    assert {series.labels["cluster"] for series in read_samples(folder)} == labels
    recording = read_recording(folder)
    assert recording.clusters == tuple(sorted(labels))
    assert set(recording.policies["cluster"].to_pylist()) == labels
    # A topic without a subscription has no row; every topic has one where it is sent from.
    sources = {scenario.label(topic.source) for topic in scenario.topics}
    assert sources <= set(recording.topic_stats["cluster"].to_pylist()) <= labels
    rows = recording.truth.to_pylist()
    assert {row["cause"] for row in rows} - {"healthy"} == {
        topic.truth.cause for topic in scenario.topics
    } - {"healthy"}
    for row in rows:
        assert row["side"] == SIDES[row["cause"]]
        assert row["end_ms"] - row["start_ms"] >= 300_000


@pytest.mark.broker
@pytest.mark.prometheus
@pytest.mark.timeout(600)
def test_limited_replicator_falls_behind(tmp_path: Path) -> None:
    try:
        java_binary(), broker_jars(), prometheus_binary()
    except PartMissing as missing:
        pytest.skip(f"no real brokers here: {missing}")
    scenario = GeoScenario.model_validate(SHORT)
    folder = GEO.record(scenario, tmp_path / "out", tmp_path / "scratch", say=print, count_cpu=False)
    about = json.loads((folder / "recording.json").read_text())
    (topic,) = scenario.topics
    cause = next(state for state in about["states"] if state["name"] == "cause")
    series = read_samples(folder)
    seen = {}
    for name in ("backlog", "connected_count", "delay_in_seconds"):
        points = of_replicator(series, f"pulsar_replication_{name}", scenario, topic)
        seen[name] = [value for _, value in within(points, cause["start_ms"], cause["end_ms"])]
    assert seen["backlog"][-1] - seen["backlog"][0] > 300
    assert set(seen["connected_count"]) == {1}
    assert set(seen["delay_in_seconds"]) <= {0, 1}
    recording = read_recording(folder)
    assert recording.clusters == ("geo-short-east", "geo-short-west")
    (row,) = recording.truth.to_pylist()
    assert (row["subscription"], row["limiter"]) == ("pulsar.repl.geo-short-west", "subscription.msg")
    assert all(check["ok"] for check in about["confirmed"]), about["confirmed"]
