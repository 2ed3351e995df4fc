"""Segments of scalable topics: limits from namespace and broker, per segment, and what the segments before a segment still hold."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.models.recommendation.commands import set_limit
from throttlescope.transforms.limits import effective_limits, limit_ladder, resolve_limits, segment_keys
from throttlescope.transforms.promql.source import Series
from throttlescope.transforms.segments import (
    DRAIN_SEEN_WITHIN_MS,
    parent_backlogs,
    segments_of,
    successor_consumers,
)

TOPIC = "topic://acme/shop/eu/orders"
NOW = 1_700_000_000_000
BROKER = "10.0.0.1:8080"
RUNTIME = {
    "clusterName": "prod",
    "dispatchThrottlingRateInMsg": "0",
    "dispatchThrottlingRateInByte": "0",
    "dispatchThrottlingRatePerTopicInMsg": "0",
    "dispatchThrottlingRatePerTopicInByte": "0",
    "dispatchThrottlingRatePerSubscriptionInMsg": "7",
    "dispatchThrottlingRatePerSubscriptionInByte": "0",
    "dispatcherMaxReadBatchSize": "100",
}
RATE = {"dispatchThrottlingRateInMsg": 10, "dispatchThrottlingRateInByte": -1, "ratePeriodInSecond": 1}


def answers(namespace: dict, *extra: tuple[str, str, object]) -> list[dict]:
    found = [
        ("brokers", BROKER, [BROKER]),
        ("broker_configuration_runtime", BROKER, RUNTIME),
        ("namespace", "acme/shop", namespace),
        ("scalable_layout", TOPIC, {"segments": {}}),
        *extra,
    ]
    return [
        {
            "cluster": "prod",
            "scope": scope,
            "key": key,
            "body": json.dumps(body),
            "broker": BROKER,
            "observed_ms": NOW + n,
        }
        for n, (scope, key, body) in enumerate(found)
    ]


def key(segment: int) -> tuple:
    return "prod", "acme/shop", TOPIC, segment, "billing"


def test_namespace_rate_limits_each_segment() -> None:
    rows = effective_limits(answers({"subscriptionDispatchRate": {"prod": RATE}}), (), [key(0), key(3)])
    found = {
        row["partition"]: (row["rate_msg"], row["set_by"]) for row in rows if row["level"] == "subscription"
    }
    assert found == {0: (10, "namespace_policy"), 3: (10, "namespace_policy")}


def test_broker_limits_a_segment_without_namespace_rate() -> None:
    rows = effective_limits(answers({}), (), [key(0)])
    found = {row["level"]: (row["rate_msg"], row["set_by"]) for row in rows}
    assert found == {"broker": (None, "none"), "topic": (None, "none"), "subscription": (7, "broker_file")}


def test_topic_policies_do_not_limit_a_segment() -> None:
    stray = ("topic_subscription_dispatch_rate", TOPIC, {**RATE, "dispatchThrottlingRateInMsg": 1})
    rows = effective_limits(answers({}, stray), (), [key(0)])
    assert {row["rate_msg"] for row in rows if row["level"] == "subscription"} == {7}
    rungs = limit_ladder(
        answers({}, stray),
        cluster="prod",
        namespace="acme/shop",
        topic=TOPIC,
        partition=0,
        subscription="billing",
    )
    assert {rung.set_by for rung in rungs} == {"namespace_policy", "broker_file"}


def test_limits_of_segments_without_namespace_are_unknown() -> None:
    without = [row for row in answers({}) if row["scope"] != "namespace"]
    assert effective_limits(without, (), [key(0)]) == []


def test_segment_keys_come_from_labels() -> None:
    labels = {
        "cluster": "prod",
        "namespace": "acme/shop",
        "topic": TOPIC,
        "partition": "3",
        "subscription": "billing",
    }
    other = {**labels, "topic": "persistent://acme/shop/x", "partition": "0"}
    assert segment_keys([labels, other]) == {key(3)}


@pytest.mark.parametrize(("requested", "partitions"), [(True, {0, 3}), (False, set())])
def test_segments_of_the_lake_have_limits(tmp_path, requested: bool, partitions: set[int]) -> None:
    """Where a layout was requested the catalogue of series says which segments have subscriptions."""
    lake = Lake(tmp_path)
    policies = [
        row | {"date": "2023-11-14"}
        for row in answers({"subscriptionDispatchRate": {"prod": RATE}})
        if requested or row["scope"] != "scalable_layout"
    ]
    series = [
        {
            "series_id": f"{segment:032x}",
            "metric_name": "pulsar_subscription_back_log",
            "cluster": "prod",
            "labels": {
                "cluster": "prod", "namespace": "acme/shop", "topic": TOPIC, "partition": str(segment), "subscription": "billing",
            },
            "shard": 0,
            "first_ms": NOW,
            "last_ms": NOW,
        }
        for segment in (0, 3)
    ]  # fmt: skip
    for table, rows in (("policies", policies), ("series", series)):
        lake.upsert(table, pa.Table.from_pylist(rows, schema=TABLES[table].loose_schema), run_id="r")
    resolve_limits(lake, ["prod"], NOW - MINUTE_MS, NOW + MINUTE_MS, run_id="r")
    found = lake.read("limits", where=pc.field("level") == "subscription")
    assert set(found["partition"].to_pylist()) == partitions
    assert set(found["rate_msg"].to_pylist()) == ({10} if requested else set())


@pytest.mark.parametrize(
    ("set_by", "undo"),
    [
        ("namespace_policy", "set-subscription-dispatch-rate acme/shop -md 10 -bd -1 -dt 1"),
        ("broker_file", "remove-subscription-dispatch-rate acme/shop"),
    ],
)
def test_command_changes_the_namespace(set_by: str, undo: str) -> None:
    row = {
        "level": "subscription",
        "set_by": set_by,
        "rate_msg": 10,
        "rate_bytes": None,
        "period_s": 1,
        "relative_to_publish": False,
    }
    command = set_limit(row, TOPIC, "billing", msg=30, size=None, period_s=1)
    assert (
        command.do == "pulsar-admin namespaces set-subscription-dispatch-rate acme/shop -md 30 -bd -1 -dt 1"
    )
    assert command.undo == f"pulsar-admin namespaces {undo}"


ENDS_MS = np.arange(1, 31) * MINUTE_MS


def backlogs(
    segments: dict[tuple[str, int], list[float]], consumers: dict[int, float]
) -> dict[int, list[float]]:
    """Segments by hash range and id with their backlogs per minute, NaN where they are away."""
    keys = sorted(key(number) for _, number in segments)
    columns = {
        "backlog_entries": np.full((len(keys), len(ENDS_MS)), np.nan),
        "consumers": np.full((len(keys), len(ENDS_MS)), np.nan),
    }
    series = []
    for (hash_range, number), values in segments.items():
        row = keys.index(key(number))
        columns["backlog_entries"][row] = values
        columns["consumers"][row] = consumers[number]
        there = ~np.isnan(np.array(values))
        times = (ENDS_MS - 1)[there]
        series.append(
            (
                key(number),
                Series({"hash_range": hash_range}, times, np.array(values)[there], np.array([], np.int64)),
            )
        )
    found = parent_backlogs(segments_of(series), keys, columns, ENDS_MS)
    return {one[3]: found[n].tolist() for n, one in enumerate(keys)}


def test_parents_are_older_and_overlap() -> None:
    full = [100.0] * 30
    found = backlogs(
        {("0000-7fff", 0): full, ("8000-ffff", 1): full, ("0000-3fff", 2): full, ("4000-7fff", 3): full},
        {0: 1.0, 1: 1.0, 2: 0.0, 3: 0.0},
    )
    assert found[2] == found[3] == full
    assert np.isnan(found[0]).all()
    assert np.isnan(found[1]).all()


def test_merged_segment_waits_for_both_parents() -> None:
    found = backlogs(
        {("0000-7fff", 0): [30.0] * 30, ("8000-ffff", 1): [12.0] * 30, ("0000-ffff", 2): [1.0] * 30},
        {0: 1.0, 1: 1.0, 2: 0.0},
    )
    assert found[2] == [42.0] * 30


def test_parents_without_consumers_block_nothing() -> None:
    found = backlogs({("0000-ffff", 0): [30.0] * 30, ("0000-7fff", 1): [1.0] * 30}, {0: 0.0, 1: 0.0})
    assert np.isnan(found[1]).all()


def test_parents_that_ended_are_drained() -> None:
    nan = float("nan")
    found = backlogs(
        {("0000-ffff", 0): [5.0] * 5 + [nan] * 25, ("0000-7fff", 1): [1.0] * 30}, {0: 1.0, 1: 0.0}
    )[1]
    minutes = DRAIN_SEEN_WITHIN_MS // MINUTE_MS
    assert found[:5] == [5.0] * 5
    assert found[5 : 4 + minutes] == [0.0] * (minutes - 1)
    assert np.isnan(found[5 + minutes :]).all()


def test_successors_are_younger_and_overlap() -> None:
    keys = [key(0), key(1), key(2), key(3)]
    ranges = ("0000-7fff", "8000-ffff", "0000-3fff", "4000-7fff")
    times = np.array([0], np.int64)
    series = [
        (one, Series({"hash_range": hash_range}, times, np.array([1.0]), np.array([], np.int64)))
        for one, hash_range in zip(keys, ranges, strict=True)
    ]
    found = successor_consumers(segments_of(series), keys, np.array([[0.0], [1.0], [2.0], [np.nan]]))
    assert found[0] == 2.0
    assert np.isnan(found[1:]).all()
