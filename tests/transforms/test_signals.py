"""The signals job: however the work is cut, the same rows; what shares a broker meets; a repetition changes nothing."""

from __future__ import annotations

import shutil
from collections import Counter
from itertools import count

import numpy as np
import pyarrow as pa
import pytest

from tests.transforms.lakes import lake_of, limit_row, stats_row
from tests.transforms.recorded import bounds_ms, recorded_series
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.labels import shard_of
from throttlescope.ingest.core.metrics import METRICS
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS
from throttlescope.ingest.lake import Lake, read_files
from throttlescope.ingest.spark.task_executor import InProcessExecutor, SparkPoolExecutor
from throttlescope.transforms.minutes import metrics_read, task_rows
from throttlescope.transforms.promql.source import Series
from throttlescope.transforms.signals import build_signals, plan_tasks

KEY = list(TABLES["signals"].key)
#: Two hours before a midnight to two hours after it.
START_MS = 1_700_000_000_000 // DAY_MS * DAY_MS - 2 * BLOCK_MS
END_MS = START_MS + 4 * BLOCK_MS


def topic_names(cluster):
    """Five topics of different shards, the last one in the shard of the broker's own series."""
    brokers_shard = shard_of(cluster, "", "")
    names, shards = [], {brokers_shard}
    for number in count():
        name = f"persistent://t/n/x{number}"
        shard = shard_of(cluster, "t/n", name)
        if len(names) < 4 and shard not in shards:
            names.append(name)
            shards.add(shard)
        elif len(names) >= 4 and shard == brokers_shard:
            return [*names, name]


def cluster_series(cluster, seed):
    """A cluster with two brokers, scraped every 30 s; one topic moves from one to the other."""
    rng = np.random.default_rng(seed)
    times = np.arange(START_MS - BLOCK_MS + 7, END_MS, 30_000)
    series = [
        Series(
            {"__name__": "pulsar_broker_rate_out", "cluster": cluster, "instance": f"b{n}"},
            times,
            np.full(len(times), 5.0 + n),
        )
        for n in range(2)
    ]
    for n, name in enumerate(topic_names(cluster)):
        labels = {"cluster": cluster, "namespace": "t/n", "topic": name, "partition": "-1"}
        moved = len(times) // 2
        parts = [("b0", times[:moved]), ("b1", times[moved:])] if n == 0 else [(f"b{n % 2}", times)]
        for instance, at in parts:
            here = {**labels, "instance": instance}
            series.append(Series({"__name__": "pulsar_in_messages_total", **here}, at, _rising(rng, at)))
            for subscription in ("a", "b"):
                mine = {**here, "subscription": subscription}
                backlog = np.floor(rng.uniform(0, 3000, len(at)))
                series += [
                    Series({"__name__": "pulsar_subscription_back_log", **mine}, at, backlog),
                    Series({"__name__": "pulsar_out_messages_total", **mine}, at, _rising(rng, at)),
                    Series({"__name__": "pulsar_out_bytes_total", **mine}, at, _rising(rng, at, 1000)),
                ]
    return series


def _rising(rng, times, step=10):
    return np.cumsum(rng.integers(0, step, len(times)) * 0.37).astype(np.float64)


def limits_and_stats(cluster):
    keys = [
        {"cluster": cluster, "namespace": "t/n", "topic": name, "partition": -1, "subscription": subscription}
        for name in topic_names(cluster)
        for subscription in ("a", "b")
    ]
    at = START_MS + 90 * MINUTE_MS
    limits = [
        limit_row(level, at_ms=at, msg=7, size=900, period_s=2, **key)
        for key in keys
        for level in ("broker", "topic")
    ]
    limits += [limit_row("broker", at_ms=at + BLOCK_MS, msg=9, **key) for key in keys]
    return limits, [
        stats_row(at_ms=at, subscription_type="Shared", messages_per_entry=2.0, **key) for key in keys
    ]


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    clusters = ("east", "west")
    limits, stats = zip(*(limits_and_stats(cluster) for cluster in clusters), strict=True)
    return lake_of(
        tmp_path_factory.mktemp("lake"),
        [one for seed, cluster in enumerate(clusters) for one in cluster_series(cluster, seed)],
        limits=[row for some in limits for row in some],
        stats=[row for some in stats for row in some],
    )


def rows_of(tasks):
    batches = [batch for task in tasks for batch in task_rows(task)]
    return pa.Table.from_batches(batches).sort_by([(name, "ascending") for name in KEY])


def test_metrics_that_are_read_are_known():
    assert metrics_read() <= set(METRICS)


@pytest.mark.long
def test_every_subscription_minute_comes_once(lake):
    tasks = plan_tasks(lake, ["east", "west"], START_MS, END_MS, parallelism=4)
    assert len(tasks) >= 4
    rows = rows_of(tasks)
    # Two clusters, five topics, two subscriptions, four hours.
    assert rows.num_rows == 2 * 5 * 2 * 240
    assert rows.select(KEY).group_by(KEY).aggregate([]).num_rows == rows.num_rows
    # The broker's own metric reached the topics of every shard.
    assert rows["broker_out_msg_rate"].null_count == 0


@pytest.mark.long
def test_rows_do_not_depend_on_split(lake):
    whole = rows_of(plan_tasks(lake, ["east", "west"], START_MS, END_MS, parallelism=1))
    for parallelism in (3, 50):
        assert rows_of(plan_tasks(lake, ["west", "east"], START_MS, END_MS, parallelism)).equals(whole)
    hours = [
        task
        for hour_ms in range(START_MS, END_MS, BLOCK_MS)
        for cluster in ("east", "west")
        for task in plan_tasks(lake, [cluster], hour_ms, hour_ms + BLOCK_MS, 2)
    ]
    assert rows_of(hours).equals(whole)


@pytest.mark.long
def test_splitting_a_shard_keeps_its_rows(lake, monkeypatch):
    whole = rows_of(plan_tasks(lake, ["east", "west"], START_MS, END_MS, parallelism=1))
    monkeypatch.setattr("throttlescope.transforms.signals._CUT_ROWS", 1)
    tasks = plan_tasks(lake, ["east", "west"], START_MS, END_MS, parallelism=100)
    lengths = {task.end_ms - task.start_ms for task in tasks}
    assert BLOCK_MS in lengths
    assert rows_of(tasks).equals(whole)


@pytest.mark.long
def test_a_cluster_without_samples_has_no_work(lake):
    assert plan_tasks(lake, ["north"], START_MS, END_MS, 2) == []
    assert plan_tasks(lake, ["east"], START_MS - 30 * DAY_MS, START_MS - 29 * DAY_MS, 2) == []


def broker_uses(rows):
    """Use of broker limits, one row after the other."""
    sums: dict[tuple, list[float]] = {}
    rows = rows.to_pylist()
    for row in sorted(rows, key=lambda row: tuple(row[name] for name in KEY)):
        here = (row["cluster"], row["broker"], row["minute_ms"])
        sums.setdefault(here, []).append(row["use_msg_per_s"] or 0.0)
    out = {}
    for row in rows:
        total = sum(sums[row["cluster"], row["broker"], row["minute_ms"]])
        out[tuple(row[name] for name in KEY)] = total / (
            row["limit_broker_msg"] / row["limit_broker_period_s"]
        )
    return out


@pytest.mark.spark
def test_job_writes_task_rows_and_broker_use(spark, lake, tmp_path, monkeypatch):
    executor = SparkPoolExecutor(spark)
    written = build_signals(executor, lake, ["east", "west"], START_MS + 5, END_MS - 5, "run-1")
    signals = lake.read("signals").sort_by([(name, "ascending") for name in KEY])
    rows = rows_of(plan_tasks(lake, ["east", "west"], START_MS, END_MS, 2))
    assert written == signals.num_rows == rows.num_rows
    same = [name for name in signals.column_names if name in rows.column_names]
    assert set(signals.column_names) - set(same) == {
        "rho_broker_msg",
        "rho_broker_bytes",
        "broker_read_share",
    }
    assert signals.select(same).equals(rows.select(same).cast(signals.select(same).schema))
    expected = broker_uses(rows)
    found = {tuple(row[name] for name in KEY): row["rho_broker_msg"] for row in signals.to_pylist()}
    assert found == expected
    # The use is that of several subscriptions, not of one.
    alone = max(
        row["use_msg_per_s"] / (row["limit_broker_msg"] / row["limit_broker_period_s"])
        for row in rows.to_pylist()
        # In the minute in which the topic moved nobody knows.
        if row["use_msg_per_s"] is not None
    )
    assert max(found.values()) > 1.5 * alone

    version = lake.version("signals")
    # Repeated as a whole, and hour by hour: the same files, so no new version.
    build_signals(executor, lake, ["east", "west"], START_MS, END_MS, "run-2")
    build_signals(executor, lake, ["west"], START_MS + BLOCK_MS, START_MS + 2 * BLOCK_MS, "run-3")
    assert lake.version("signals") == version
    assert len(lake.files("signals")) == 2 * 4

    # An hour of many rows is written by several tasks, each subscription by one, and the same files by whatever tasks.
    monkeypatch.setattr("throttlescope.ingest.lake.spark_files.FILE_ROWS", 250)
    build_signals(executor, lake, ["east", "west"], START_MS, END_MS, "run-4")
    files = lake.files("signals")
    assert len(files) > 2 * 2 * 4
    places = Counter()
    for file in files:
        keys = read_files("signals", [file], columns=[*KEY[:-1]]).group_by(KEY[:-1]).aggregate([])
        places.update((file.minimum["minute_ms"], *row.values()) for row in keys.to_pylist())
    assert set(places.values()) == {1}
    assert lake.read("signals").sort_by([(name, "ascending") for name in KEY]).equals(signals)
    monkeypatch.setattr("throttlescope.ingest.spark.task_executor.parallelism", lambda session: 7)
    build_signals(executor, lake, ["west"], START_MS + BLOCK_MS, START_MS + 2 * BLOCK_MS, "run-5")
    assert lake.version("signals") == version + 1
    monkeypatch.undo()
    here = Lake(tmp_path / "here")
    shutil.copytree(lake.root, here.root, ignore=shutil.ignore_patterns("signals"))
    build_signals(InProcessExecutor(), here, ["east", "west"], START_MS, END_MS, "run-6")
    build_signals(executor, lake, ["east", "west"], START_MS, END_MS, "run-7")
    names = [{file.relative_path for file in one.files("signals")} for one in (lake, here)]
    assert names[0] == names[1]
    assert len(names[0]) == 2 * 4


def test_nothing_to_do_is_done(tmp_path):
    lake = lake_of(tmp_path, cluster_series("east", 1)[:2])
    assert build_signals(InProcessExecutor(), lake, ["east"], START_MS, END_MS, "run") == 0


@pytest.fixture(scope="module")
def recorded_signals(tmp_path_factory):
    names = ("topic-greedy-small", "unload-throttled", "healthy-msg-50")
    series = [one for name in names for one in recorded_series(name, metrics_read())]
    first_ms, last_ms = bounds_ms(series)
    lake = lake_of(tmp_path_factory.mktemp("recorded"), series)
    start_ms, end_ms = first_ms - first_ms % BLOCK_MS, last_ms + -last_ms % BLOCK_MS
    rows = rows_of(plan_tasks(lake, names, start_ms, end_ms, 1)).to_pylist()
    return [row for row in rows if not row["topic"].endswith("__change_events")]


@pytest.mark.long
def test_recorded_backlog_is_input_minus_output(recorded_signals):
    """Conservation: between two minutes the backlog grows by what was published less what was acknowledged.

    Dispatched stands for acknowledged, up to what the clients hold; these recordings have one message per entry.
    """
    rows = [
        row
        for row in recorded_signals
        if row["cluster"] == "topic-greedy-small" and row["subscription"] == "modest"
    ]
    whole = [row for row in rows if row["coverage_share"] == 1.0]
    assert len(whole) > 20
    grown = whole[-1]["backlog_entries"] - whole[0]["backlog_entries"]
    flowed = sum(row["in_msg_delta"] - row["out_msg_delta"] for row in whole[1:])
    # One subscription's receiver queue, twice: at the begin and at the end.
    assert abs(grown - flowed) < 2_000


@pytest.mark.long
def test_unload_restarts_counters_and_keeps_minutes(recorded_signals):
    rows = [row for row in recorded_signals if row["cluster"] == "unload-throttled"]
    restarts = [row["counter_resets"] for row in rows]
    assert sum(r > 0 for r in restarts) == 1
    assert all(row["out_msg_delta"] >= 0 for row in rows)
    assert all(row["out_msg_delta"] is not None for row in rows)


@pytest.mark.long
def test_a_healthy_recording_ticks_in_every_scrape(recorded_signals):
    rows = [
        row for row in recorded_signals if row["cluster"] == "healthy-msg-50" and row["coverage_share"] == 1.0
    ]
    assert len(rows) > 20
    # Its limit of 50 messages/s is lifted after about eleven minutes.
    limited = rows[:9]
    assert [row["throttled_msg_duty_subscription_share"] for row in limited] == [1.0] * 9
    assert max(row["backlog_entries"] for row in limited) < 100
    assert rows[-1]["throttled_msg_duty_subscription_share"] == 0.0
