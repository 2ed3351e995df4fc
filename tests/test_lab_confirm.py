"""Truth begins after the settling time and the drain, and a check that fails is told with what was seen."""

from __future__ import annotations

from tests.lab.__main__ import SMOKE_SCENARIOS
from tests.lab.checks import Span, events
from tests.lab.confirm import confirm, truth_rows
from tests.lab.readback import Series
from throttlescope.models.throttling.scenario import Scenario, load_scenario

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


def test_returning_backlog_has_not_drained() -> None:
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


def _asked(confirm_: list[dict], truth: list[dict], topic: dict | None = None) -> Scenario:
    """One state of 400 s with these checks and truths."""
    body = SCENARIO.model_dump(mode="json", exclude={"limits", "timeline", "confirm", "topics"})
    return Scenario.model_validate(
        {
            **body,
            "topics": [{"name": "orders", **(topic or {})}],
            "timeline": [{"name": "cause", "duration_s": 400, "truth": truth}],
            "confirm": [{"state": "cause", "subscription": "billing", **check} for check in confirm_],
        }
    )


def _gauge(name: str, values: list[float], **labels: str) -> Series:
    times = [15_000 * index for index in range(len(values))]
    topic = "persistent://lab/smoke-throttled/orders"
    return Series({"__name__": name, "topic": topic, **labels}, times, values)


def _backlog(values: list[float], **labels: str) -> Series:
    return _gauge("pulsar_subscription_back_log", values, subscription="billing", **labels)


SPAN = [Span("cause", 0, 400_000)]
BURST = {"subscription": "billing", "side": "neither", "cause": "publish_burst", "part": "until_drained"}
WELL = {"subscription": "billing", "side": "neither", "cause": "healthy"}
LOST = {"subscription": "billing", "side": "neither", "cause": "healed_by_loss", "part": "since_loss"}
ABSENT = {
    "subscription": "billing",
    "side": "consumer_capacity",
    "cause": "no_consumers",
    "part": "until_loss",
}


def test_burst_lasts_until_backlog_drains() -> None:
    scenario = _asked([{"check": "drains", "below_entries": 100, "within_s": 300}], [BURST, WELL])
    series = [_backlog([0, 900, 1800, 2700, *[2400 - 300 * i for i in range(8)], *[1] * 14])]
    result = confirm(scenario, SPAN, series)
    assert result.failures == []
    drained_ms = result.drained_ms["cause"]
    rows = truth_rows(scenario, SPAN, result.drained_ms)
    assert [(row["cause"], row["start_ms"], row["end_ms"]) for row in rows] == [
        ("publish_burst", 60_000, drained_ms),
        ("healthy", drained_ms + 60_000, 400_000),
    ]
    assert drained_ms == 180_000


def test_expiry_splits_state_at_first_loss() -> None:
    check = {"check": "loses", "by": "expiry", "at_least_entries": 500}
    scenario = _asked([check], [ABSENT, LOST], {"ttl_s": 100})
    expired = [0.0] * 10 + [300.0] * 4 + [600.0] * 12
    series = [
        _backlog([100.0 * index for index in range(26)]),
        _gauge("pulsar_subscription_total_msg_expired", expired, subscription="billing"),
    ]
    result = confirm(scenario, SPAN, series)
    assert result.failures == []
    assert result.first_loss_ms == {"cause": 150_000}
    assert result.seen[0]["seen"] == {
        "lost_entries": 600.0, "losses": 2, "first_loss_s": 150.0, "first_loss_ms": 150_000
    }  # fmt: skip
    rows = truth_rows(scenario, SPAN, {}, result.first_loss_ms)
    assert [(row["cause"], row["start_ms"], row["end_ms"]) for row in rows] == [
        ("no_consumers", 60_000, 150_000 - 1000 * scenario.scrape_interval_s),
        ("healed_by_loss", 210_000, 400_000),
    ]
    nothing = confirm(scenario, SPAN, [series[0]])
    assert len(nothing.failures) == 1
    assert truth_rows(scenario, SPAN, {}, nothing.first_loss_ms) == []


def test_eviction_counts_the_backlog_drop() -> None:
    check = {"check": "loses", "by": "quota", "at_least_entries": 400}
    scenario = _asked([check], [LOST], {"backlog_quota": {"limit_bytes": 1000}})
    values = [100.0 * index for index in range(10)] + [500.0 + 100.0 * index for index in range(16)]
    evicted = [0.0] * 10 + [1.0] * 16
    name = "pulsar_storage_backlog_quota_exceeded_evictions_total"
    series = [_backlog(values), _gauge(name, evicted, quota_type="size")]
    seen = confirm(scenario, SPAN, series)
    assert seen.failures == []
    assert seen.seen[0]["seen"]["lost_entries"] == 400
    # The same fall without an eviction is no loss: consumers took it.
    assert confirm(scenario, SPAN, [series[0], _gauge(name, [0.0] * 26, quota_type="size")]).failures
    other = Series({**series[1].labels, "topic": "persistent://lab/other/orders"}, *_two(series[1]))
    assert confirm(scenario, SPAN, [series[0], other]).failures


def _two(series: Series) -> tuple[list[int], list[float]]:
    return series.timestamps_ms, series.values


def test_peaks_are_counted_when_they_are_over() -> None:
    def asked(at_least: int) -> list[str]:
        check = {"check": "peaks", "above_entries": 500, "below_entries": 50, "at_least": at_least}
        values = [0, 600, 700, 10, 600, 100, 600, 0, 800, 800] + [800] * 16
        return confirm(_asked([check], []), SPAN, [_backlog([float(value) for value in values])]).failures

    # Up, down, up, (not quite down), down, up: two are over.
    assert asked(2) == []
    assert len(asked(3)) == 1


def test_series_must_show_in_scrape_share() -> None:
    name = "pulsar_subscription_blocked_on_unacked_messages"
    check = {"check": "shows", "metric": name, "at_least": 1, "share": 0.8}
    scenario = _asked([check], [])
    # The first minute does not count.
    assert (
        confirm(scenario, SPAN, [_gauge(name, [0.0] * 8 + [1.0] * 18, subscription="billing")]).failures == []
    )
    assert confirm(scenario, SPAN, [_gauge(name, [0.0] * 12 + [1.0] * 14, subscription="billing")]).failures
    assert confirm(scenario, SPAN, []).failures


def test_partitions_are_checked_and_told_apart() -> None:
    truth = [
        {
            "subscription": "billing",
            "side": "throttle",
            "cause": "throttled",
            "limiter": "topic.msg",
            "partitions": [1],
        },
        {**WELL, "partitions": [0, 2]},
    ]
    checks = [
        {"check": "grows", "by_entries": 1000, "partition": 1},
        {"check": "stays_below", "below_entries": 100, "partition": 0},
    ]
    scenario = _asked(checks, truth, {"partitions": 3})
    growing, well = [100.0 * index for index in range(26)], [3.0] * 26
    split = [_backlog(well, partition="0"), _backlog(growing, partition="1"), _backlog(well, partition="2")]
    assert confirm(scenario, SPAN, split).failures == []
    rows = truth_rows(scenario, SPAN, {})
    assert [(row["partition"], row["cause"]) for row in rows] == [
        (1, "throttled"),
        (0, "healthy"),
        (2, "healthy"),
    ]
    # The partition may be part of the topic's name.
    joined = [
        Series({**item.labels, "topic": f"{item.labels['topic']}-partition-{number}"}, *_two(item))
        for number, item in enumerate(split)
    ]
    for item in joined:
        del item.labels["partition"]
    assert confirm(scenario, SPAN, joined).failures == []
    swapped = [_backlog(growing, partition="0"), _backlog(well, partition="1")]
    assert len(confirm(scenario, SPAN, swapped).failures) == 2
