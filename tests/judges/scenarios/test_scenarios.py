"""Scenario files made by hand: what is read of them, and what is left of it on two cores."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.judges.checkouts import checkouts_dir
from tests.judges.scenarios.judge import SCENARIOS, DiagnosedWindow, contradicts, result_of, source
from tests.judges.scenarios.read import PulsarLoad, read_load
from tests.judges.scenarios.scale import different, plays_of, scaled_load
from tests.lab.capable import lab_refuses
from tests.lab.parts import PartMissing
from throttlescope.models.throttling.scenario import Scenario, SetConsumers

FILES = {
    "flat.yaml": """
        cluster: {brokers: 1}
        workloads:
          iotTelemetry:
            rate: 4000
            payloadBytes: 50
            deviceCount: 700
            topicCount: 40
            applicationCount: 30
            clientsPerApplication: 60
            maxOutstanding: 900
            clientRestartIntervalSeconds: 0
            clientRestartFraction: 0.0
        """,
    "nested.yaml": """
        extends: flat.yaml
        cluster: ~
        workloads:
          iotTelemetry:
            rate: 0
            topics: {count: 1}
            applications: {count: 3, podsPerApplication: 7, joinSeconds: [0, 15, 15]}
        """,
    "restarts.yaml": """
        extends: [flat.yaml]
        workloads:
          iotTelemetry:
            clientRestartIntervalSeconds: 40
            clientRestartFraction: 0.25
        """,
    "perf.yaml": """
        load:
          produceRate: 2147483647
          producerCount: 200
          consumerCount: 1
          messageSize: 99
          subscriptionType: Exclusive
          receiverQueueSize: 3000
          maxOutstanding: 5
        """,
    "profile.yaml": "profiling: {brokerOptions: event=cpu}",
}


@pytest.fixture
def loads(tmp_path: Path) -> dict[str, PulsarLoad | None]:
    for name, text in FILES.items():
        (tmp_path / name).write_text(
            "\n".join(line[8:] if line.startswith(" " * 8) else line for line in text.splitlines())
        )
    return {file.stem: read_load(file) for file in tmp_path.glob("*.yaml")}


def test_each_form_of_file_is_read(loads):
    assert loads["flat"] == PulsarLoad("flat", 4000, 40, 30, 60, 50, "Key_Shared", 1000, 700, 900)
    assert loads["nested"] == PulsarLoad(
        "nested", None, 1, 3, 7, 50, "Key_Shared", 1000, 700, 900, (0, 15, 15)
    )
    assert loads["perf"] == PulsarLoad("perf", None, 1, 1, 1, 99, "Exclusive", 3000, 0, 1000)
    assert loads["profile"] is None


def test_file_that_extends_itself_is_refused(tmp_path):
    (tmp_path / "a.yaml").write_text("extends: b.yaml")
    (tmp_path / "b.yaml").write_text("extends: [a.yaml]")
    with pytest.raises(ValueError, match=r"a\.yaml extends itself"):
        read_load(tmp_path / "a.yaml")


def test_scaling_divides_large_counts(loads):
    small = scaled_load(loads["flat"])
    assert (small.topics, small.applications, small.pods) == (4, 3, 6)
    # A tenth of the script's 4,000 would deliver 1,200 messages a second to three applications.
    assert small.rate_msg == pytest.approx(200 / 3)
    small = scaled_load(loads["nested"])
    assert (small.topics, small.applications, small.pods) == (1, 3, 2)


@pytest.mark.parametrize("number", range(4))
def test_limit_is_half_of_what_is_dispatched(loads, number):
    healthy, limited, _ = plays_of(loads["flat"], number)
    assert (healthy.limiter, healthy.scenario.limits, healthy.side) == (None, (), "neither")
    dispatched = 200 / 3 / 4 * (3 if limited.limiter.startswith("topic") else 1)
    for limit in limited.scenario.limits:
        assert f"{limit.level}.{'msg' if limit.msg else 'bytes'}" == limited.limiter
        assert (limit.msg or limit.bytes / 50) == pytest.approx(dispatched / 2, abs=0.5)
    assert len(limited.scenario.limits) == 4
    assert limited.side == "throttle"


def test_slow_consumers_take_half(loads):
    *_, slow = plays_of(loads["flat"], 0)
    assert (slow.limiter, slow.scenario.limits, slow.side) == (None, (), "consumer_capacity")
    for one in slow.scenario.subscriptions:
        assert one.consumers * 1000 / one.processing_ms == pytest.approx(200 / 3 / 2, abs=0.01)


def test_times_of_the_script_stay(loads):
    joining, *_ = plays_of(loads["nested"], 0)
    assert joining.settled_s == {"application-0": 60, "application-1": 75, "application-2": 75}
    assert [one.consumers for one in joining.scenario.subscriptions] == [2, 0, 0]
    assert _consumers(joining.scenario) == {15: [2, 2]}
    restarting, *_ = plays_of(loads["restarts"], 0, seconds=100)
    # A quarter of six rounds to two.
    assert _consumers(restarting.scenario) == {40: [4] * 3, 42: [6] * 3, 80: [4] * 3, 82: [6] * 3}
    assert restarting.scenario.duration_s == 100


def _consumers(scenario: Scenario) -> dict[float, list[int | None]]:
    found, at_s = {}, 0.0
    for state in scenario.timeline:
        if state.interventions:
            found[at_s] = [step.consumers for step in state.interventions if isinstance(step, SetConsumers)]
        at_s += state.duration_s
    return found


def test_lab_plays_every_scaled_load(loads):
    played = [load for load in loads.values() if load]
    assert [lab_refuses(play.scenario) for load in played for play in plays_of(load, 0)] == [[]] * 12


def test_loads_that_are_equal_when_scaled_are_played_once(loads):
    twin = PulsarLoad("twin", 5000, 41, 30, 61, 50, "Key_Shared", 1000, 800, 900)
    assert different([loads["flat"], twin, loads["perf"]]) == {loads["flat"]: ["twin"], loads["perf"]: []}


def test_backlog_that_contradicts_the_script_is_not_judged(loads):
    healthy, limited, slow = plays_of(loads["flat"], 0)
    flat, growing = np.array([3.0, 0.0, 5.0]), np.array([3.0, 100.0, 900.0])
    assert {contradicts(healthy, flat), contradicts(limited, growing), contradicts(slow, growing)} == {None}
    assert contradicts(healthy, growing) == "its backlog reached 900 entries without a reason"
    assert contradicts(limited, flat) == "its backlog grew by 2 entries only"
    assert contradicts(limited, flat[:0]) == "it has no backlog"


def test_windows_are_counted_by_side_and_cause(loads):
    _, limited, slow = plays_of(loads["flat"], 0)
    because = SimpleNamespace(stored="it was so")

    def said(play, side, cause, limiter=None):
        verdict = SimpleNamespace(
            side=side, cause=cause, limiter=limiter, because=because, backlog_entries=7.0
        )
        return DiagnosedWindow(play, verdict)

    answers = [
        said(limited, "throttle", "throttled", "subscription.msg"),
        said(limited, "throttle", "throttled", "topic.msg"),
        said(limited, "unknown", "unknown"),
        said(slow, "neither", "healthy"),
        said(slow, "consumer_capacity", "hung_consumers"),
    ]
    found = result_of([limited, slow], answers, ["a note"], [1.0, 2.5])
    assert "with a limit: 2 of 3 windows right, 1 unknown, 0 wrong, the limiter right in 1" in found["figure"]
    assert (
        "with slow consumers: 1 of 2 windows right, 0 unknown, 1 wrong, the cause right in 0"
        in found["figure"]
    )
    assert "1 loads, 2 of 2 plays judged" in found["figure"]
    assert "load average 1.0 to 2.5" in found["figure"]
    assert "flat-slow: 1 wrong, neither, healthy: it was so" in found["details"]
    assert found["details"][-1] == "a note"


def test_source_may_be_files_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("THROTTLESCOPE_CHECKOUTS", str(tmp_path))
    with pytest.raises(PartMissing, match=r"git clone https://github\.com/apache/pulsar"):
        source()
    folder = checkouts_dir() / "pulsar"
    folder.mkdir()
    (folder / "VERSION").write_text("today\na.yaml 123\n")
    with pytest.raises(PartMissing, match="older than Pulsar's scenarios"):
        source()
    (folder / SCENARIOS).mkdir(parents=True)
    assert source() == (folder / SCENARIOS, "today", ["a.yaml 123"])
