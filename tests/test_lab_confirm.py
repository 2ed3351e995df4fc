"""Truth begins after the settling time and the drain, and a check that fails is told with what was seen."""

from __future__ import annotations

from tests.lab.__main__ import SMOKE_SCENARIOS
from tests.lab.confirm import Span, confirm, events, truth_rows
from tests.lab.readback import Series
from throttlescope.models.throttling.scenario import load_scenario

SCENARIO = load_scenario(SMOKE_SCENARIOS / "smoke-throttled.yaml")
SPANS = [Span("cause", 0, 80_000), Span("lifted", 80_100, 180_000)]


def _series(backlog: list[float], counts: list[float]) -> list[Series]:
    times = [5_000 * index for index in range(len(backlog))]
    common = {"subscription": "billing", "topic": "persistent://lab/smoke-throttled/orders"}
    name = "pulsar_subscription_dispatch_throttled_msg_events"
    return [
        Series({"__name__": "pulsar_subscription_back_log", **common}, times, backlog),
        Series({"__name__": name, "reason": "subscription", **common}, times, counts),
        Series({"__name__": name, "reason": "topic", **common}, times, [0.0] * len(times)),
    ]


def test_growth_and_drain_are_seen_and_timed() -> None:
    backlog = [200.0 * index for index in range(16)] + [3000.0, 1500.0] + [10.0] * 18
    result = confirm(SCENARIO, SPANS, _series(backlog, [10.0 * i for i in range(len(backlog))]))
    assert result.failures == []
    # 80 s is the first scrape after the change, 90 s the first one below the mark.
    assert result.drained_ms == {"lifted": 90_000}


def test_no_growth_is_a_failure() -> None:
    backlog = [5.0] * 36
    result = confirm(SCENARIO, SPANS, _series(backlog, [10.0 * i for i in range(36)]))
    assert len(result.failures) == 1
    assert "grows" in result.failures[0]


def test_a_backlog_that_comes_back_has_not_drained() -> None:
    backlog = [200.0 * index for index in range(16)] + [3000.0, 10.0] + [10.0] * 17 + [900.0]
    result = confirm(SCENARIO, SPANS, _series(backlog, [10.0 * i for i in range(len(backlog))]))
    assert [failure.split()[2] for failure in result.failures] == ["drains"]


def test_truth_begins_after_settling() -> None:
    rows = truth_rows(SCENARIO, SPANS, {"lifted": 90_000})
    assert [(row["start_ms"], row["end_ms"], row["cause"], row["partition"]) for row in rows] == [
        (60_000, 80_000, "throttled", -1)
    ]


def test_events_across_a_restart_count_from_zero() -> None:
    series = _series([0.0] * 4, [100.0, 110.0, 4.0, 9.0])
    assert events(series, "billing", "subscription", "msg", 0, 60_000) == (19.0, 15.0)
