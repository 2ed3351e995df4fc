"""Which anomalies belong to one incident, and what they share."""

from __future__ import annotations

from throttlescope.models.anomaly.grouping import TOGETHER_MS, grouped, topics_judged

MINUTE = 60_000
T0 = 1_790_000_000_000


def row(subscription="billing", topic="orders", at=0, length=20, **more):
    return {
        "cluster": "prod", "namespace": "acme/shop", "topic": topic, "partition": 0, "subscription": subscription,
        "signal": "in_msg_rate", "direction": "up", "state": "closed", "start_ms": T0 + at * MINUTE,
        "end_ms": T0 + (at + length) * MINUTE, "broker": "b0", "verdict_limiter": None, "group_id": "", "group_rows": 1,
        "shared_kind": None, "shared_with": None,
    } | more  # fmt: skip


def groups(rows, topics=None):
    found = {}
    for one in grouped(rows, topics):
        found.setdefault(one["group_id"], []).append(one)
    return list(found.values())


def test_one_subscription_alone_shares_nothing():
    (only,) = groups([row()])
    assert (only[0]["shared_kind"], only[0]["shared_with"], only[0]["group_rows"]) == (None, None, 1)
    assert len(only[0]["group_id"]) == 16


def test_overlapping_signals_are_one_incident():
    """Of one subscription."""
    (one,) = groups([row(), row(signal="backlog_ready_entries", at=18, length=90)])
    assert {r["group_rows"] for r in one} == {2}
    assert one[0]["shared_kind"] is None
    assert len(groups([row(), row(at=500)])) == 2


def test_subscriptions_of_a_topic_that_begin_together():
    (one,) = groups([row(), row("audit", at=10)])
    assert {(r["shared_kind"], r["shared_with"]) for r in one} == {("topic", "orders")}
    assert len(groups([row(), row("audit", at=TOGETHER_MS // MINUTE + 1)])) == 2
    assert len(groups([row(), row("audit", cluster="other")])) == 2


def test_only_broker_limiters_join_topics():
    throttled = {"verdict_limiter": "broker.msg"}
    (one,) = groups([row(**throttled), row("audit", "clicks", **throttled)])
    assert {(r["shared_kind"], r["shared_with"]) for r in one} == {("limiter", "broker.msg of b0")}
    assert len(groups([row(**throttled), row("audit", "clicks", broker="b1", **throttled)])) == 2
    topic = {"verdict_limiter": "topic.msg"}
    assert len(groups([row(**topic), row("audit", "clicks", **topic)])) == 2


def test_broker_needs_three_topics_and_half():
    rows = [row("a", f"topic-{i}") for i in range(3)]
    six = {("prod", "b0"): 6, ("prod", None): 100}
    (one,) = groups(rows, six)
    assert {(r["shared_kind"], r["shared_with"]) for r in one} == {("broker", "b0")}
    assert len(groups(rows, {("prod", "b0"): 7, ("prod", None): 100})) == 3
    assert len(groups(rows[:2], {("prod", "b0"): 2, ("prod", None): 100})) == 2
    # It is not known how many there are.
    assert len(groups(rows)) == 3


def test_a_cluster_stands_above_its_brokers():
    rows = [row("a", f"topic-{i}", broker=f"b{i % 2}") for i in range(6)]
    (one,) = groups(rows, {("prod", "b0"): 3, ("prod", "b1"): 3, ("prod", None): 8})
    assert {(r["shared_kind"], r["shared_with"]) for r in one} == {("cluster", "prod")}


def test_learning_is_no_incident():
    rows = [row(state="learning"), row("audit", state="learning")]
    assert [r["group_rows"] for r in grouped(rows)] == [1, 1]
    assert len({r["group_id"] for r in grouped(rows)}) == 2


def test_grouping_does_not_depend_on_order():
    """The rows themselves are not changed."""
    rows = [row(f"s{i % 5}", f"t{i % 3}", at=7 * i, signal=f"signal-{i}") for i in range(30)]
    before = [dict(one) for one in rows]
    expected = grouped(rows)
    assert rows == before
    assert grouped(reversed(rows)) == expected
    assert grouped(rows[1::2] + rows[::2]) == expected


def test_topics_are_counted_once_per_broker():
    """And once for the cluster."""
    topics = {("prod", *one) for one in [("a", "b0"), ("a", "b1"), ("b", "b0"), ("b", None)]}
    assert topics_judged(topics) == {("prod", "b0"): 2, ("prod", "b1"): 1, ("prod", None): 2}
