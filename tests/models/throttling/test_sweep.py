"""A sweep gives what single simulations give, in threads and on Spark, and refuses a bad grid before it runs."""

from __future__ import annotations

import pytest

from throttlescope.ingest.spark.task_executor import SparkPoolExecutor
from throttlescope.models.throttling import Scenario, ScenarioError, simulate, sweep


def scenario() -> Scenario:
    return Scenario.model_validate(
        {
            "format": 1,
            "name": "sweep",
            "topics": [{"name": "orders", "partitions": 2}],
            "limits": [
                {"level": "subscription", "set_at": "topic", "topic": "orders", "msg": 100},
                {"level": "topic", "set_at": "namespace", "bytes": 50_000},
            ],
            "subscriptions": [
                {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 2, "processing_ms": 5},
                {"name": "audit", "topic": "orders", "type": "Failover", "consumers": 1, "processing_ms": 1},
            ],
            "producers": [{"topic": "orders", "rate_msg": 300, "size_bytes": 100, "shape": "poisson"}],
            "timeline": [{"name": "all", "duration_s": 60}],
        }
    )


GRID = {"limits.0.msg": [50, 120], "subscriptions.0.consumers": [1, 4], "broker.version": ["3.0.7", "4.2.4"]}


@pytest.fixture(scope="module")
def found():
    return sweep(scenario(), GRID, seed=3)


def test_sweep_point_equals_single_scenario(found):
    body = scenario().model_dump(mode="json", exclude_unset=True)
    body["limits"][0]["msg"], body["subscriptions"][0]["consumers"] = 120, 4
    body["broker"] = {"version": "3.0.7"}
    alone = simulate(Scenario.model_validate(body), seed=3).seconds.to_pandas()
    rows = found.to_pandas()
    point = rows[
        (rows["limits.0.msg"] == 120)
        & (rows["subscriptions.0.consumers"] == 4)
        & (rows["broker.version"] == "3.0.7")
    ]
    assert len(point) == 4
    for row in point.itertuples():
        mine = alone[(alone["subscription"] == row.subscription) & (alone["partition"] == row.partition)]
        assert row.out_messages == mine["out_messages"].sum()
        assert row.published_messages == mine["published_messages"].sum()
        assert row.subscription_msg_events == mine["subscription_msg_events"].sum()
        assert row.backlog_peak_entries == mine["backlog_entries"].max()
        assert row.backlog_mean_entries == pytest.approx(mine["backlog_entries"].mean())
        assert row.backlog_end_entries == mine["backlog_entries"].iloc[-1]


def test_every_combination_is_a_point(found):
    points = found.select(["point", *GRID]).to_pylist()
    assert [row["point"] for row in points] == [number for number in range(8) for _ in range(4)]
    assert len({tuple(row[name] for name in GRID) for row in points}) == 8


def test_more_consumers_never_raise_the_backlog(found):
    rows = found.to_pandas()
    mine = rows[rows["subscription"] == "billing"]
    per_consumers = mine.groupby("subscriptions.0.consumers")["backlog_end_entries"].sum()
    assert per_consumers[4] <= per_consumers[1]


@pytest.mark.study
@pytest.mark.spark
def test_spark_gives_the_same_rows(spark, found):
    assert sweep(scenario(), GRID, seed=3, executor=SparkPoolExecutor(spark)).equals(found)


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ({"limits.3.msg": [1]}, "grid.limits.3.msg: no such field in the scenario"),
        ({"limits.first.msg": [1]}, "grid.limits.first.msg: no such field in the scenario"),
        ({"limits.0.msgs": [1]}, "limits.0.msgs: no such field"),
        ({"limits.0.msg": [0]}, "limits.0.msg: Input should be greater than 0, got 0"),
        ({"limits.0.msg": []}, "grid.limits.0.msg: a list of values; got []"),
        ({"limits.0.msg": "100"}, "grid.limits.0.msg: a list of values; got '100'"),
        ({"limits.0.msg": range(1, 500), "limits.1.bytes": range(1, 500)}, "too many points; got 249,001"),
        ({"producers.0.rate_msg": [9_000_000], "timeline.0.duration_s": [86_400]}, "rate_msg"),
    ],
)
def test_invalid_grid_names_its_field(grid, words):
    with pytest.raises(ScenarioError) as error:
        sweep(scenario(), grid)
    assert words in str(error.value)
