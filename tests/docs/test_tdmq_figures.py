"""TDMQ's page gives three figures, Pulsar's polled limiter two more: the simulation gives the same, exactly."""

from __future__ import annotations

import pyarrow.compute as pc
import pytest

from docs.generate.tdmq.figures import (
    console_means,
    longest_wait_ms,
    mean_per_s,
    peak,
    seconds,
    thresholds_msg,
    throttle_count,
    used_before,
)
from docs.generate.tdmq.partition_answers import pushing, sending
from throttlescope.models.throttling.tdmq import simulate
from throttlescope.models.throttling.tdmq.cluster import node_threshold
from throttlescope.models.throttling.tdmq.scenario import changed, read_scenario, shipped


def test_the_101st_message_waits_600_ms():
    requests = simulate(shipped("101st-message")).requests.to_pylist()
    assert len(requests) == 101
    assert [r["wait_us"] for r in requests] == [0] * 100 + [600_000]
    assert [r["waited_for_channel"] for r in requests] == [False] * 100 + [True]
    assert requests[100]["accepted_us"] == 1_000_000
    assert requests[99]["processed_us"] < 400_000


def test_five_nodes_with_threshold_400_pass_2000():
    tables = simulate(shipped("five-nodes"))
    assert used_before(tables, 300) == [150] * 5
    first = tables.windows.filter(pc.field("window_start_us") == 0)
    assert first["threshold_msg"].to_pylist() == [400] * 5
    assert first["processed"].to_pylist() == [400] * 5
    assert first["processed_after_close"].to_pylist() == [0] * 5
    assert seconds(tables, "production")[0].processed == 2000


@pytest.mark.long
@pytest.mark.parametrize(
    ("moments_ms", "threshold", "processed"),
    [
        ([0], 1000, 5000),
        ([100], 800, 4000),
        ([298], 404, 2020),
        ([500], 650, 3250),
        (list(range(0, 1000, 10)), 200, 1000),
    ],
)
def test_passed_amount_depends_on_report_times(moments_ms, threshold, processed):
    tables = simulate(changed(shipped("five-nodes"), usage_known_at_ms=moments_ms))
    assert thresholds_msg(tables, "production", 0) == {threshold}
    assert seconds(tables, "production")[0].processed == processed


@pytest.mark.parametrize(
    ("limit", "own_use", "cluster_use", "threshold"),
    [
        (1000, 150, 750, 400),
        (1000, 0, 0, 1000),
        (1000, 0, 1000, 0),
        (1000, 300, 1500, 300),
        (None, 5, 9, None),
    ],
)
def test_node_threshold_is_use_plus_remainder(limit, own_use, cluster_use, threshold):
    assert node_threshold(limit, own_use, cluster_use) == threshold


def test_inflight_requests_are_processed_after_close():
    tables = simulate(shipped("in-flight"))
    first = seconds(tables, "production")[0]
    # 600 may be in flight; the request that reaches the threshold is one of them.
    assert (first.processed, first.processed_after_close) == (1599, 599)
    late = tables.requests.filter(pc.field("after_close") & (pc.field("processed_us") < 1_000_000))
    assert late.num_rows == 599
    assert set(late["answered_us"].to_pylist()) == {1_000_000}


def test_closed_node_keeps_its_threshold():
    tables = simulate(changed(shipped("in-flight"), usage_known_at_ms=[900]))
    assert used_before(tables, 900) == [1599]
    assert thresholds_msg(tables, "production", 0) == {1000}


def test_burst_is_throttled_below_minute_mean():
    tables = simulate(shipped("burst-in-a-minute"))
    assert console_means(tables, "production") == [150.0]
    assert throttle_count(tables, "production") == 3
    throttled = [second.start_s for second in seconds(tables, "production") if second.throttle_count]
    assert throttled == [30, 31, 32]
    assert longest_wait_ms(tables, "production") > 2000


def test_without_the_burst_nothing_is_throttled():
    scenario = shipped("burst-in-a-minute")
    tables = simulate(changed(scenario, producers=[scenario.producers[0].model_dump()]))
    assert throttle_count(tables, "production") == 0
    assert longest_wait_ms(tables, "production") == 0


def test_bandwidth_throttles_where_tps_are_low():
    tables = simulate(shipped("bandwidth"))
    # 1 MiB of production's half are 16 messages of 64 KiB.
    assert {second.processed for second in seconds(tables, "production")} == {16}


@pytest.mark.long
@pytest.mark.parametrize("deliver_after_ms", [0, -60_000, 1])
def test_any_delay_field_counts_as_delayed(deliver_after_ms):
    scenario = shipped("delay-field")
    delayed, plain = (group.model_dump() for group in scenario.producers)
    tables = simulate(changed(scenario, producers=[delayed | {"deliver_after_ms": deliver_after_ms}, plain]))
    assert {second.processed for second in seconds(tables, "delayed")} == {100}
    assert throttle_count(tables, "delayed") == scenario.duration_s
    # Production is far from its quota, and its messages wait nevertheless.
    assert throttle_count(tables, "production") == 0
    assert longest_wait_ms(tables, "production") == 900


def test_without_the_delay_field_nothing_waits():
    scenario = shipped("delay-field")
    plain = [group.model_dump() | {"deliver_after_ms": None} for group in scenario.producers]
    tables = simulate(changed(scenario, producers=plain, delayed=None))
    assert throttle_count(tables, "production") == 0
    assert set(tables.requests["wait_us"].to_pylist()) == {0}


def test_message_is_pushed_when_due():
    tables = simulate(
        read_scenario(
            cluster(
                delayed={"tps": 10},
                producers=[{"name": "a", "deliver_after_ms": 700, "sends": [{"at_ms": 100, "requests": 1}]}],
                consumers={},
            )
        )
    )
    (delivery,) = tables.deliveries.to_pylist()
    assert (delivery["available_us"], delivery["pushed_us"]) == (800_000, 800_000)


@pytest.mark.parametrize(
    ("ratio", "production", "consumption", "waiting"),
    [(1, 200, 200, 1400), (3, 100, 300, 0), (2, 133, 267, 60)],
)
def test_the_allocation_ratio_splits_the_specification(ratio, production, consumption, waiting):
    scenario = changed(shipped("fan-out"), allocation={"production": 1, "consumption": ratio})
    tables = simulate(scenario)
    assert thresholds_msg(tables, "production", 0) == {production}
    assert thresholds_msg(tables, "consumption", 0) == {consumption}
    assert seconds(tables, "consumption")[-1].waiting == waiting


@pytest.mark.long
@pytest.mark.parametrize(("check_ms", "processed"), [(10, 110), (50, 150)])
def test_partition_exceeds_quota_until_next_check(check_ms, processed):
    """Row 51 of the worked examples: 100 msg/s, a steady 1000 msg/s, looked at every 10 or 50 ms."""
    tables = simulate(changed(shipped("partition-production"), check_ms=check_ms))
    assert seconds(tables, "production")[0].processed == processed
    # Afterwards requests wait, so that one of them is in flight at the moment of the look.
    assert {second.processed for second in seconds(tables, "production")[1:]} == {processed + 1}


def test_partition_bandwidth_is_checked_too():
    scenario = shipped("partition-production")
    # 100 messages of 1 KiB may pass, whatever their number.
    tables = simulate(changed(scenario, production={"bandwidth_bytes": 100 * 1024}))
    assert seconds(tables, "production")[0].processed == 150


def test_partition_below_quota_is_not_throttled():
    tables = simulate(sending(shipped("partition-production"), 90))
    assert throttle_count(tables, "production") == 0
    assert longest_wait_ms(tables, "production") == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("rate", "checked", "mean", "busiest"),
    [(400, "each_push", 107.5, 110), (400, "window_end", 200, 400), (1000, "window_end", 500, 1000)],
)
def test_a_partitions_consumption_in_both_readings(rate, checked, mean, busiest):
    tables = simulate(changed(pushing(shipped("partition-consumption"), rate), consumption_checked=checked))
    assert mean_per_s(tables, "consumption") == mean
    assert peak(tables, "consumption") == busiest


def test_cluster_consumption_stops_until_next_window():
    tables = simulate(
        read_scenario(
            cluster(duration_s=3, consumers={"backlog": {"messages": 25}, "push_interval_us": 10_000})
        )
    )
    assert [second.processed for second in seconds(tables, "consumption")] == [10, 10, 5]
    assert [(c["closed_us"], c["opened_us"]) for c in tables.closings.to_pylist()] == [
        (90_000, 1_000_000),
        (1_090_000, 2_000_000),
    ]


def cluster(**fields):
    """A cluster of one node with 10 TPS for production and for consumption."""
    return {
        "format": 1, "name": "a", "about": "a", "throttle": "cluster", "duration_s": 1, "nodes": 1,
        "specification": {"tps": 20}, "usage_known_at_ms": [0],
    } | fields  # fmt: skip
