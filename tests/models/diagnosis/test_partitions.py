"""The worst partition, and who shares its cause: worked out by hand, and on recordings with one hot partition."""

from __future__ import annotations

import pytest

from throttlescope.models.diagnosis.partitions import COLUMNS, ROW_COLUMNS, over_partitions


def row(
    partition: int,
    cause: str = "healthy",
    backlog: float | None = 0.0,
    limiter=None,
    start_ms: int = 0,
    **more,
):
    return dict.fromkeys(COLUMNS) | {
        "cluster": "prod",
        "namespace": "acme/shop",
        "topic": "persistent://acme/shop/orders",
        "subscription": "billing",
        "partition": partition,
        "cause": cause,
        "limiter": limiter,
        "backlog_entries": backlog,
        "window_start_ms": start_ms,
        "window_end_ms": start_ms + 300_000,
        **more,
    }


def only(rows):
    (found,) = over_partitions(rows)
    return found


def test_one_hot_partition_of_four():
    found = only([row(0), row(1, backlog=3), row(2, "throttled", 900, "subscription.msg"), row(3)])
    assert found.worst["partition"] == 2
    assert (found.partitions, found.sharing, found.backlog_entries) == (4, (2,), 903)
    assert found.causes == {"healthy": 3, "throttled": 1}
    assert found.text == (
        "Partition 2 is the worst with 900 of 903 entries: throttled (subscription.msg); 1 of 4 partitions share that cause."
    )


def test_the_cause_is_shared_where_the_limiter_is_the_same():
    found = only([
        row(0, "throttled", 10, "topic.msg"), row(1, "throttled", 20, "subscription.msg"),
        row(2, "throttled", 5, "subscription.msg"),
    ])  # fmt: skip
    assert (found.worst["partition"], found.sharing) == (1, (1, 2))


def test_a_healthy_partition_with_a_large_backlog_is_not_the_worst():
    """A drain is healthy: what is limited comes first, then what is unknown."""
    rows = [row(0, "healthy", 9_000), row(1, "unknown", 500), row(2, "slow_consumers", 20)]
    assert only(rows).worst["partition"] == 2
    assert only(rows[:2]).worst["partition"] == 1
    assert only([*rows[:1], row(5, "healthy", 9_001)]).text == "All 2 partitions are healthy."


def test_of_several_windows_the_newest_counts():
    found = only([row(0, "throttled", 10, start_ms=600_000), row(0, "healthy", 0, start_ms=900_000)])
    assert (found.partitions, found.causes) == (1, {"healthy": 1})


def test_an_unknown_backlog_is_no_zero():
    found = only([row(0, "no_consumers", None), row(1, "healthy", None)])
    assert found.backlog_entries is None
    assert "with" not in found.text
    assert only([row(0, "no_consumers", None), row(1, "healthy", 4)]).backlog_entries == 4


def test_subscriptions_and_clusters_are_apart_and_the_worst_is_first():
    found = over_partitions([
        row(0, subscription="audit"), row(0, "throttled", 5, cluster="other"), row(0, "throttled", 50), row(1),
    ])  # fmt: skip
    assert [(one.cluster, one.subscription) for one in found] == [
        ("prod", "billing"),
        ("other", "billing"),
        ("prod", "audit"),
    ]


def test_a_topic_without_partitions_says_so():
    assert (
        only([row(-1, "throttled", 5, "topic.msg")]).text
        == "The topic is not partitioned: throttled (topic.msg)."
    )


def test_a_row_names_what_is_printed():
    found = only([row(2, "throttled", 900, "subscription.msg"), row(3)]).to_row()
    assert (found["worst_partition"], found["cause"], found["sharing"], found["partitions"]) == (
        2,
        "throttled",
        [2],
        2,
    )
    assert found["total_backlog_entries"] == 900


def test_nothing_gives_nothing():
    assert over_partitions([]) == []


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_rows_does_not_matter(order):
    rows = [row(n, "throttled", 7, "topic.msg") for n in range(5)][::order]
    assert only(rows).worst["partition"] == 0


def test_the_columns_of_a_row_are_known_without_one():
    assert tuple(only([row(0)]).to_row()) == ROW_COLUMNS
