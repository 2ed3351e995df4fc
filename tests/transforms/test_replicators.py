"""Replicators on their way into signals: their key, their one limit, and what the remote cluster shows of the topic."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.transforms.lakes import lake_of, limit_row
from throttlescope.ingest.contracts.vocabulary import LEVELS
from throttlescope.transforms.limits import effective_limits
from throttlescope.transforms.minutes import task_rows
from throttlescope.transforms.promql.source import Series
from throttlescope.transforms.signals import plan_tasks

HOUR_MS = 3_600_000
START_MS = 1_700_000_000_000 // HOUR_MS * HOUR_MS
TIMES_MS = np.arange(START_MS, START_MS + 10 * 60_000, 15_000)
TOPIC = "persistent://t/n/x"
EAST = {"cluster": "east", "instance": "e1:8080", "namespace": "t/n", "topic": TOPIC}
REPLICATOR = "pulsar.repl.west"


def _series(name, value, **labels) -> Series:
    return Series({"__name__": name, **EAST, **labels}, TIMES_MS, np.full(len(TIMES_MS), float(value)))


def _replicated(name, value) -> Series:
    return _series(f"pulsar_replication_{name}", value, remote_cluster="west")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The newest row of each subscription and replicator of the two clusters, by (cluster, subscription)."""
    keys = {"cluster": "east", "namespace": "t/n", "topic": TOPIC, "partition": -1}
    limits = [
        limit_row("subscription", at_ms=START_MS, msg=20, counts="entries", subscription=REPLICATOR, **keys),
        limit_row("topic", at_ms=START_MS, set_by="none", subscription=REPLICATOR, **keys),
        limit_row("topic", at_ms=START_MS, msg=100, subscription="billing", **keys),
    ]
    out = _series("pulsar_out_messages_total", 0, subscription="billing")
    out = Series(out.labels, TIMES_MS, (TIMES_MS - START_MS) / 1000 * 50)
    west = {"cluster": "west", "instance": "w1:8080"}
    lake = lake_of(
        tmp_path_factory.mktemp("lake"),
        [
            _series("pulsar_subscription_back_log", 7, subscription="billing"),
            out,
            _replicated("backlog", 5000),
            _replicated("rate_out", 21),
            _replicated("throughput_out", 2100),
            _replicated("connected_count", 1),
            _replicated("delay_in_seconds", 0.5),
            _series("pulsar_storage_write_rate", 100),
            _series("pulsar_publish_rate_limit_times", 3, **west),
            _series("pulsar_storage_backlog_size", 50, **west),
            _series("pulsar_storage_backlog_quota_limit", 200, **west),
            _series("pulsar_subscription_back_log", 1, subscription="audit", **west),
        ],
        limits=limits,
    )
    found = {}
    for task in plan_tasks(lake, ["east", "west"], START_MS, START_MS + HOUR_MS, parallelism=4):
        for batch in task_rows(task):
            for row in batch.to_pylist():
                if row["minute_ms"] == START_MS + 8 * 60_000:
                    found[row["cluster"], row["subscription"]] = row
    return found


@pytest.mark.long
def test_a_replicator_has_rows_under_the_name_of_its_cursor(rows):
    assert set(rows) == {("east", "billing"), ("east", REPLICATOR), ("west", "audit")}
    row = rows["east", REPLICATOR]
    assert (row["backlog_entries"], row["backlog_ready_entries"]) == (5000, 5000)
    assert (row["replication_entry_rate"], row["replication_bytes_rate"]) == (21, 2100)
    assert (row["replication_connected"], row["replication_delay_s"]) == (1, 0.5)
    assert (row["write_entry_rate"], row["consumers"], row["out_msg_delta"]) == (100, None, None)


def test_its_use_is_in_entries_of_its_own_limit(rows):
    row = rows["east", REPLICATOR]
    assert row["rho_subscription_msg"] == pytest.approx(21 / 20)
    assert row["rho_topic_msg"] is None
    assert (row["use_msg_per_s"], row["use_bytes_per_s"]) == (0, 0)


def test_it_takes_nothing_of_the_topic_limit(rows):
    row = rows["east", "billing"]
    assert row["rho_topic_msg"] == pytest.approx(0.5)
    assert row["topic_read_share"] == 1
    assert row["replication_entry_rate"] is None


def test_the_remote_cluster_is_seen_in_any_shard(rows):
    row = rows["east", REPLICATOR]
    assert (row["remote_publish_pauses"], row["remote_quota_used_share"]) == (3, 0.25)
    assert rows["west", "audit"]["remote_publish_pauses"] is None


# -- limits -------------------------------------------------------------------------------------


def _rate(msg=-1):
    return {"dispatchThrottlingRateInMsg": msg, "dispatchThrottlingRateInByte": -1, "ratePeriodInSecond": 1}


def _limits(*, topic=None, namespace=None, broker="0", clusters=("east", "west")):
    answers = {
        ("broker_configuration_runtime", "e1:8080"): {
            "clusterName": "east",
            "dispatchThrottlingRatePerReplicatorInMsg": broker,
            "dispatchThrottlingRatePerReplicatorInByte": "0",
            # A subscription's limit is none of a replicator.
            "dispatchThrottlingRatePerSubscriptionInMsg": "7",
            "dispatchThrottlingRatePerSubscriptionInByte": "0",
        },
        ("broker_dynamic_configuration", "e1:8080"): {},
        ("namespace", "t/n"): {
            "replication_clusters": list(clusters),
            "replicatorDispatchRate": {"east": _rate(namespace), "west": _rate(1)} if namespace else {},
            "subscriptionDispatchRate": {"east": _rate(9)},
        },
        ("topic_replicator_dispatch_rate", TOPIC): topic and _rate(topic),
        ("global_topic_replicator_dispatch_rate", TOPIC): None,
        ("topic_owner", TOPIC): {"httpUrl": "http://e1:8080"},
    }
    found = effective_limits(
        [
            {
                "cluster": "east", "scope": scope, "key": key, "body": json.dumps(body), "broker": "e1:8080",
                "observed_ms": START_MS,
            }
            for (scope, key), body in answers.items()
        ]
    )  # fmt: skip
    return {(row["subscription"], row["level"]): row for row in found}


@pytest.mark.parametrize(
    ("policies", "rate", "set_by"),
    [
        ({"topic": 20, "namespace": 30, "broker": "40"}, 20, "topic_policy"),
        ({"namespace": 30, "broker": "40"}, 30, "namespace_policy"),
        ({"broker": "40"}, 40, "broker_file"),
        ({}, None, "none"),
    ],
)
def test_first_policy_that_sets_a_rate_applies(policies, rate, set_by):
    row = _limits(**policies)[REPLICATOR, "subscription"]
    assert (row["rate_msg"], row["set_by"], row["counts"]) == (rate, set_by, "entries")


def test_limits_of_topic_and_broker_are_none_of_a_replicator():
    found = _limits(topic=20)
    assert {level for _, level in found} == set(LEVELS)
    assert all(found[REPLICATOR, level]["rate_msg"] is None for level in ("topic", "broker"))


def test_each_remote_cluster_has_a_replicator():
    names = {name for name, _ in _limits(clusters=("north", "east", "west"))}
    assert names == {"pulsar.repl.north", REPLICATOR}
    assert _limits(clusters=("east",)) == {}
