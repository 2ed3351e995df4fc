"""A scenario that cannot be run is refused before anything runs, in one line that names file and field."""

from __future__ import annotations

import pytest
import yaml

from throttlescope.models.throttling.scenario.file import ScenarioError
from throttlescope.models.throttling.tdmq.scenario import MAX_STEPS, SHIPPED, load_scenario, read_scenario

GROUP = {"name": "a", "sends": [{"at_ms": 0, "requests": 10}]}
CLUSTER = {
    "format": 1, "name": "bad", "about": "a", "throttle": "cluster", "duration_s": 2, "nodes": 2,
    "specification": {"tps": 20}, "usage_known_at_ms": [0], "producers": [GROUP],
}  # fmt: skip
PARTITION = {
    "format": 1, "name": "bad", "about": "a", "throttle": "partition", "duration_s": 2,
    "production": {"tps": 20}, "producers": [GROUP],
}  # fmt: skip


def group(**fields):
    return {"producers": [GROUP | fields]}


def send(**fields):
    return group(sends=[GROUP["sends"][0] | fields])


@pytest.mark.parametrize(
    ("base", "change", "field"),
    [
        (CLUSTER, {"specification": {"tps": -1}}, "specification.tps"),
        (CLUSTER, {"specification": {"tps": 0}}, "specification.tps"),
        (CLUSTER, {"specification": {"tps": 10**12}}, "specification.tps"),
        (CLUSTER, {"specification": {"tps": 1.5}}, "specification.tps"),
        (CLUSTER, {"specification": {"tps": float("nan")}}, "specification.tps"),
        (CLUSTER, {"specification": {"tps": "20"}}, "specification.tps"),
        (CLUSTER, {"specification": {"tps": True}}, "specification.tps"),
        (CLUSTER, {"specification": {"bandwidth_bytes": 0}}, "specification.bandwidth_bytes"),
        (CLUSTER, {"specification": {}}, "tps, bandwidth_bytes"),
        (CLUSTER, {"specification": {"tps": 1}}, "allocation"),
        (
            CLUSTER,
            {"specification": {"tps": 20}, "allocation": {"production": 1, "consumption": 99}},
            "allocation",
        ),
        (CLUSTER, {"allocation": {"production": 0, "consumption": 1}}, "allocation.production"),
        (CLUSTER, {"nodes": 0}, "nodes"),
        (CLUSTER, {"nodes": 1001}, "nodes"),
        (CLUSTER, {"duration_s": 0}, "duration_s"),
        (CLUSTER, {"processing_us": 0}, "processing_us"),
        (CLUSTER, {"usage_known_at_ms": []}, "usage_known_at_ms"),
        (CLUSTER, {"usage_known_at_ms": [1000]}, "usage_known_at_ms.0"),
        (CLUSTER, {"usage_known_at_ms": [-1]}, "usage_known_at_ms.0"),
        (CLUSTER, {"usage_known_at_ms": [500, 100]}, "usage_known_at_ms"),
        (CLUSTER, {"usage_known_at_ms": [100, 100]}, "usage_known_at_ms"),
        (CLUSTER, {"delayed": {"tps": 5}}, "delayed"),
        (CLUSTER, group(deliver_after_ms=0), "delayed"),
        (CLUSTER, group(deliver_after_ms=10**12), "producers.0.deliver_after_ms"),
        (CLUSTER, group(in_flight_requests=0), "producers.0.in_flight_requests"),
        (CLUSTER, group(size_bytes=0), "producers.0.size_bytes"),
        (CLUSTER, group(size_bytes=5_242_881), "producers.0.size_bytes"),
        (CLUSTER, group(on=[2]), "producers.0.on"),
        (CLUSTER, group(on=[-1]), "producers.0.on"),
        (CLUSTER, group(on=[0, 0]), "producers.0.on"),
        (CLUSTER, group(on=[]), "producers.0.on"),
        (CLUSTER, group(per_place=0), "producers.0.per_place"),
        (CLUSTER, group(speed=3), "producers.0.speed"),
        (CLUSTER, {"producers": [GROUP, GROUP]}, "producers"),
        (CLUSTER, {"producers": []}, "producers, consumers.backlog"),
        (CLUSTER, send(requests=0), "producers.0.sends.0.requests"),
        (CLUSTER, send(requests=-5), "producers.0.sends.0.requests"),
        (CLUSTER, send(at_ms=-1), "producers.0.sends.0.at_ms"),
        (CLUSTER, send(at_ms=2000), "producers.0.sends.0"),
        (CLUSTER, send(at_ms=1500, over_ms=501), "producers.0.sends.0"),
        (CLUSTER, send(every_ms=1000, times=3), "producers.0.sends.0"),
        (CLUSTER, send(times=2), "every_ms, times"),
        (CLUSTER, send(every_ms=5), "every_ms, times"),
        (CLUSTER, send(requests=10**12), "requests"),
        (CLUSTER, {"consumers": {"subscriptions": 0}}, "consumers.subscriptions"),
        (CLUSTER, {"consumers": {"push_messages": 0}}, "consumers.push_messages"),
        (CLUSTER, {"consumers": {"push_interval_us": 0}}, "consumers.push_interval_us"),
        (CLUSTER, {"consumers": {"backlog": {"messages": 10**9}}}, "requests"),
        (CLUSTER, {"duration_s": 86_400, "nodes": 1000}, "duration_s"),
        (CLUSTER, {"check_ms": 50}, "check_ms"),
        (PARTITION, {"production": None}, "production"),
        (PARTITION, {"production": {"tps": 0}}, "production.tps"),
        (PARTITION, {"consumption": {"tps": 5}}, "consumption"),
        (PARTITION, {"consumers": {}}, "consumption"),
        (PARTITION, {"check_ms": 0}, "check_ms"),
        (PARTITION, {"check_ms": 1001}, "check_ms"),
        (PARTITION, {"consumption_checked": "sometimes"}, "consumption_checked"),
        (PARTITION, group(deliver_after_ms=0), "producers.0.deliver_after_ms"),
        (PARTITION, {"nodes": 5}, "nodes"),
        (PARTITION, {"partitions": 0}, "partitions"),
        (PARTITION, {"throttle": "broker"}, "throttle"),
        (PARTITION, {"throttle": []}, "throttle"),
        (PARTITION, {"format": 2}, "format"),
        (PARTITION, {"about": ""}, "about"),
    ],
)
def test_bad_input_is_refused_in_one_line(tmp_path, base, change, field):
    path = tmp_path / "bad.yaml"
    path.write_text(yaml.safe_dump(base))
    load_scenario(path)  # refused for the change, not for the rest
    path.write_text(yaml.safe_dump(base | change))
    with pytest.raises(ScenarioError) as error:
        load_scenario(path)
    text = str(error.value)
    assert text.startswith("bad.yaml: ")
    assert field in text
    assert "\n" not in text


@pytest.mark.parametrize("text", ["", "- 1", "a: [", "\tx", "5"])
def test_file_without_scenario_is_refused(tmp_path, text):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=r"^bad\.yaml: ") as error:
        load_scenario(path)
    assert "\n" not in str(error.value)


def test_missing_or_binary_file_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match=r"^none\.yaml: "):
        load_scenario(tmp_path / "none.yaml")
    path = tmp_path / "bad.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match=r"^bad\.yaml: "):
        load_scenario(path)


def test_a_scenario_has_its_files_name(tmp_path):
    path = tmp_path / "other.yaml"
    path.write_text(yaml.safe_dump(CLUSTER))
    with pytest.raises(ScenarioError, match=r"^other\.yaml: name: bad"):
        load_scenario(path)


def test_the_bound_counts_requests_pushes_and_looks():
    scenario = read_scenario(
        CLUSTER
        | {"consumers": {"subscriptions": 3, "backlog": {"messages": 7}}, "usage_known_at_ms": [0, 500]}
    )
    requests, looks = 2 * 10, 2 * 2 * 3
    assert scenario.steps == requests + 3 * requests + 3 * 2 * 7 + looks
    assert scenario.steps < MAX_STEPS


def test_the_shipped_scenarios_are_there_and_small():
    paths = sorted(SHIPPED.glob("*.yaml"))
    assert len(paths) >= 10
    assert max(load_scenario(path).steps for path in paths) < 100_000
