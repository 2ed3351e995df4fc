"""Brokers that are scraped twice: how they differ from moves and from clusters of one name, and what is reported."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.transforms.lakes import lake_of
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.spark.task_executor import SparkPoolExecutor
from throttlescope.transforms.promql.source import MemorySource, Series
from throttlescope.transforms.read_once import BACKLOG, REPLICATORS, ReadOnce, overlap, read_twice
from throttlescope.transforms.scraped_once import check_scraped_once
from throttlescope.transforms.signals import build_signals

START_MS = 1_700_000_000_000 // BLOCK_MS * BLOCK_MS
END_MS = START_MS + BLOCK_MS


def topic(number=0):
    return {"cluster": "c", "namespace": "t/n", "topic": f"persistent://t/n/x{number}", "partition": "-1"}


def broker(job, instance, *, shift_s=0, first_s=0, last_s=3600, rate=10, began_s=-9000, number=0):
    """What one job has of one broker: a backlog and its counters, every 15 s."""
    seconds = np.arange(first_s + shift_s, last_s, 15)
    times = START_MS + 1000 * seconds

    def of(name, values, **labels):
        labels = {"__name__": name, "job": job, "instance": instance, **topic(number), **labels}
        return Series(labels, times, values.astype(np.float64))

    return [
        of("pulsar_subscription_back_log", 5000.0 + seconds, subscription="s"),
        of("pulsar_out_messages_total", rate * (seconds - began_s), subscription="s"),
        of("pulsar_in_messages_total", 2 * rate * (seconds - began_s)),
    ]


def found(*series):
    source = MemorySource(series)
    return read_twice(source, source.select(BACKLOG, START_MS, END_MS), START_MS, END_MS)


def test_jobs_of_one_instance_are_one_broker():
    twice = found(*broker("brokers", "b0:8080"), *broker("pods", "b0:8080", shift_s=7))
    assert twice.pairs() == [
        ({"instance": "b0:8080", "job": "brokers"}, {"instance": "b0:8080", "job": "pods"})
    ]


def test_name_and_address_are_one_broker():
    twice = found(*broker("brokers", "b0:8080"), *broker("pods", "10.0.0.7:8080", shift_s=4))
    assert [kept["instance"] for kept, _ in twice.pairs()] == ["10.0.0.7:8080"]


@pytest.mark.parametrize("rate", [10, 0])
def test_three_jobs_are_read_as_the_first(rate):
    jobs = [
        one
        for n, job in enumerate(("a", "b", "c"))
        for one in broker(job, "b0:8080", shift_s=4 * n, rate=rate)
    ]
    twice = found(*jobs)
    assert [(kept["job"], repeating["job"]) for kept, repeating in twice.pairs()] == [("a", "b"), ("a", "c")]
    once = ReadOnce(MemorySource(jobs), twice)
    (only,) = [one for one in once.select(BACKLOG, START_MS, END_MS) if len(one.timestamps_ms) > 5]
    assert only.labels["job"] == "a"


def test_moving_topic_is_not_scraped_twice():
    moved = [
        *broker("brokers", "b0:8080", last_s=1000),
        *broker("brokers", "b1:8080", first_s=1000, began_s=990),
    ]
    assert not overlap(MemorySource(moved).select(BACKLOG, START_MS, END_MS))


def test_old_owner_series_are_not_the_new():
    old = broker("brokers", "b0:8080", last_s=1000)
    left = [
        Series(
            one.labels,
            np.concatenate([one.timestamps_ms, START_MS + 1000 * np.arange(1005, 1300, 15)]),
            np.concatenate([one.values, np.repeat(one.values[-1], 20)]),
        )
        for one in old
    ]
    new = broker("brokers", "b1:8080", first_s=1001, began_s=990)
    assert overlap(MemorySource(left + new).select(BACKLOG, START_MS, END_MS))
    assert found(*left, *new) is None


def test_clusters_of_one_name_stay_separate():
    east, west = broker("brokers", "east:8080"), broker("brokers", "west:8080", shift_s=5, rate=3)
    assert found(*east, *west) is None


def replicator(job, instance, remote, *, shift_s=0):
    times = START_MS + 1000 * np.arange(shift_s, 3600, 15)
    labels = {
        "__name__": "pulsar_replication_backlog",
        "job": job,
        "instance": instance,
        "remote_cluster": remote,
    }
    return Series({**labels, **topic()}, times, np.full(len(times), 7.0))


def test_clusters_that_replicate_stay_separate():
    # All that one publishes comes to the other, and both subscriptions read all of it: the counters are the same.
    east, west = broker("pulsar", "e0:8080"), broker("pulsar", "w0:8080", shift_s=7)
    assert found(*east, *west) is not None
    both_ways = [replicator("pulsar", "e0:8080", "west"), replicator("pulsar", "w0:8080", "east", shift_s=7)]
    assert found(*east, *west, *both_ways) is None
    assert found(*east, *west, both_ways[0]) is None


def test_a_broker_with_replicators_is_read_once():
    first = [*broker("a", "b0:8080"), replicator("a", "b0:8080", "west"), replicator("a", "b0:8080", "south")]
    second = [
        *broker("b", "b0:8080", shift_s=7),
        replicator("b", "b0:8080", "west", shift_s=7),
        replicator("b", "b0:8080", "south", shift_s=7),
    ]
    twice = found(*first, *second)
    assert [(kept["job"], repeating["job"]) for kept, repeating in twice.pairs()] == [("a", "b")]
    once = ReadOnce(MemorySource([*first, *second]), twice).select(REPLICATORS, START_MS, END_MS)
    left = [(one.labels["job"], one.labels["remote_cluster"]) for one in once if len(one.timestamps_ms) > 5]
    assert sorted(left) == [("a", "south"), ("a", "west")]


def test_replicators_of_a_topic_are_not_one():
    remotes = [replicator("a", "b0:8080", remote) for remote in ("west", "south")]
    assert not overlap(remotes)


def test_second_job_fills_gaps_of_first():
    first = broker("a", "b0:8080", first_s=600, last_s=1200)
    second = broker("b", "b0:8080", shift_s=7)
    source = MemorySource([*first, *second])
    once = ReadOnce(source, found(*first, *second))
    times = {
        one.labels["job"]: (one.timestamps_ms - START_MS) // 1000
        for one in once.select(BACKLOG, START_MS, END_MS)
    }
    assert len(times["a"]) == 40
    between = (times["b"] > 600) & (times["b"] < 1200)
    assert not between.any()
    assert (times["b"] < 600).sum() == 40
    # For two and a half distances after its last sample the first may still come.
    assert times["b"][times["b"] > 600][0] == 1237


def test_quality_row_names_both_jobs(tmp_path):
    series = [
        one
        for number in range(3)
        for one in (
            *broker("brokers", "b0:8080", number=number),
            *broker("pods", "10.0.0.7:8080", shift_s=7, number=number),
        )
    ]
    lake = lake_of(tmp_path, series)
    (row,) = check_scraped_once(lake, ["c"], START_MS, END_MS, run_id="r", now_ms=END_MS).to_pylist()
    assert (row["success"], row["severity"], row["rows"]) == (False, "warning", 1)
    assert row["observed"] == (
        'instance="10.0.0.7:8080" and job="pods" is the same broker as instance="b0:8080" and job="brokers": '
        "it is scraped twice, and counted once"
    )
    assert json.loads(row["example"])["left_out"] == {"instance": "b0:8080", "job": "brokers"}


def test_broker_scraped_once_is_not_reported(tmp_path):
    lake = lake_of(tmp_path, [*broker("a", "b0:8080", last_s=1000), *broker("a", "b1:8080", first_s=1000)])
    assert check_scraped_once(lake, ["c"], START_MS, END_MS, run_id="r", now_ms=END_MS).num_rows == 0


@pytest.mark.study
@pytest.mark.spark
def test_spark_counts_it_once_as_well(spark, tmp_path):
    once = [one for number in range(3) for one in broker("brokers", "b0:8080", number=number)]
    again = [one for number in range(3) for one in broker("pods", "b0:8080", shift_s=7, number=number)]
    columns = [
        "topic",
        "minute_ms",
        "out_msg_delta",
        "in_msg_delta",
        "delta_span_ms",
        "broker",
        "out_msg_rate_5m",
    ]
    read = []
    for name, series in (("once", once), ("twice", once + again)):
        lake = lake_of(tmp_path / name, series)
        build_signals(SparkPoolExecutor(spark), lake, ["c"], START_MS, END_MS, "run")
        rows = lake.read("signals", columns=columns).to_pylist()
        read.append(sorted(rows, key=lambda row: (row["topic"], row["minute_ms"]))[:58])
    assert read[0] == read[1]
