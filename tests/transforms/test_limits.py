"""The limit resolver, rule by rule: which record wins, and what a missing answer means."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import DAY_MS
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.limits import effective_limits, limit_ladder, resolve_limits

CLUSTER, NAMESPACE, SUB = "recorded", "t/n", "s"
TOPIC = f"persistent://{NAMESPACE}/x"
BROKER = "10.0.0.1:8080"
NOW_MS = 1_700_000_000_000

PER_TOPIC = ("topic_dispatch_rate", "global_topic_dispatch_rate")
PER_SUBSCRIPTION = (
    "subscription_dispatch_rate",
    "topic_subscription_dispatch_rate",
    "global_topic_subscription_dispatch_rate",
)


def rate(msg=-1, size=-1, period=1, relative=False):
    return {
        "dispatchThrottlingRateInMsg": msg,
        "dispatchThrottlingRateInByte": size,
        "ratePeriodInSecond": period,
        "relativeToPublishRate": relative,
    }


def runtime(**settings):
    return {
        "clusterName": "pulsar-prod",
        "dispatchThrottlingRateInMsg": "0",
        "dispatchThrottlingRateInByte": "0",
        "dispatchThrottlingRatePerTopicInMsg": "0",
        "dispatchThrottlingRatePerTopicInByte": "0",
        "dispatchThrottlingRatePerSubscriptionInMsg": "0",
        "dispatchThrottlingRatePerSubscriptionInByte": "0",
        "dispatchThrottlingOnBatchMessageEnabled": "false",
        "dispatchThrottlingOnNonBacklogConsumerEnabled": "true",
        "dispatcherMaxReadBatchSize": "100",
        "dispatcherMaxReadSizeBytes": "5242880",
        "topicLevelPoliciesEnabled": "true",
        **settings,
    }


def snapshot(*, at_ms=NOW_MS, without=(), topic=TOPIC, partitions=0, subscriptions=(SUB,), **answers):
    """All questions of one topic with their answers; ``without`` names the ones that were not asked."""
    namespace = topic.split("://")[1].rsplit("/", 1)[0]
    physical = [f"{topic}-partition-{n}" for n in range(partitions)] or [topic]
    keys = {
        "broker_configuration_runtime": [BROKER],
        "broker_dynamic_configuration": [BROKER],
        "namespace": [namespace],
        **{
            scope: [topic]
            for scope in (*PER_TOPIC, *PER_SUBSCRIPTION[1:], "partition_count", "topic_subscriptions")
        },
        "topic_owner": physical,
        "subscription_dispatch_rate": [f"{topic}#{name}" for name in subscriptions],
    }
    bodies = {
        "broker_configuration_runtime": runtime(),
        "broker_dynamic_configuration": {},
        "namespace": {"replication_clusters": ["pulsar-prod"]},
        "partition_count": {"partitions": partitions},
        "topic_subscriptions": list(subscriptions),
        "topic_owner": {"brokerUrl": "pulsar://10.0.0.1:6650", "httpUrl": f"http://{BROKER}"},
        **answers,
    }
    return [
        {
            "cluster": CLUSTER,
            "scope": scope,
            "key": key,
            "body": None if bodies.get(scope) is None else json.dumps(bodies[scope]),
            "broker": BROKER,
            "observed_ms": at_ms + n,
        }
        for n, (scope, key) in enumerate((s, k) for s, some in keys.items() for k in some)
        if scope not in without
    ]


def level(rows, name, **key):
    found = [row for row in rows if row["level"] == name and all(row[k] == v for k, v in key.items())]
    assert len(found) <= 1
    return (found[0]["rate_msg"], found[0]["rate_bytes"], found[0]["set_by"]) if found else None


NAMESPACE_TOPIC = {
    "replication_clusters": ["pulsar-prod"],
    "topicDispatchRate": {"pulsar-prod": rate(70, 7000)},
}
LEGACY = {"replication_clusters": ["pulsar-prod"], "clusterDispatchRate": {"pulsar-prod": rate(60, 6000)}}
NAMESPACE_SUB = {
    "replication_clusters": ["pulsar-prod"],
    "subscriptionDispatchRate": {"pulsar-prod": rate(50)},
}
BROKER_TOPIC = runtime(dispatchThrottlingRatePerTopicInMsg="40", dispatchThrottlingRatePerTopicInByte="4000")
BROKER_SUB = runtime(dispatchThrottlingRatePerSubscriptionInByte="3000")


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, (None, None, "none")),
        ({"broker_configuration_runtime": BROKER_TOPIC}, (40, 4000, "broker_file")),
        ({"broker_configuration_runtime": BROKER_TOPIC, "namespace": LEGACY}, (60, 6000, "namespace_policy")),
        (
            {"namespace": {**NAMESPACE_TOPIC, **{"clusterDispatchRate": {"pulsar-prod": rate(1)}}}},
            (70, 7000, "namespace_policy"),
        ),
        # The legacy map speaks where the newer one has a record that sets nothing.
        (
            {"namespace": {**LEGACY, "topicDispatchRate": {"pulsar-prod": rate()}}},
            (60, 6000, "namespace_policy"),
        ),
        # A record of another cluster is none of ours.
        ({"namespace": {"topicDispatchRate": {"elsewhere": rate(70)}}}, (None, None, "none")),
        (
            {"namespace": NAMESPACE_TOPIC, "global_topic_dispatch_rate": rate(80)},
            (80, None, "global_topic_policy"),
        ),
        # Taken whole: the topic's message rate switches the namespace's byte rate off.
        ({"namespace": NAMESPACE_TOPIC, "topic_dispatch_rate": rate(10)}, (10, None, "topic_policy")),
        (
            {"global_topic_dispatch_rate": rate(80), "topic_dispatch_rate": rate(-1, 9)},
            (None, 9, "topic_policy"),
        ),
        # Both rates <= 0 set nothing at any level: one cannot exempt a topic this way.
        ({"namespace": NAMESPACE_TOPIC, "topic_dispatch_rate": rate(-1, -1)}, (70, 7000, "namespace_policy")),
        ({"namespace": NAMESPACE_TOPIC, "topic_dispatch_rate": rate(0, 0)}, (70, 7000, "namespace_policy")),
        ({"namespace": {"topicDispatchRate": {"pulsar-prod": rate(-1, -1)}}}, (None, None, "none")),
    ],
)
def test_the_topic_level(answers, expected):
    assert level(effective_limits(snapshot(**answers)), "topic") == expected


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, (None, None, "none")),
        ({"broker_configuration_runtime": BROKER_SUB}, (None, 3000, "broker_file")),
        (
            {"broker_configuration_runtime": BROKER_SUB, "namespace": NAMESPACE_SUB},
            (50, None, "namespace_policy"),
        ),
        # The topic level's records, also the legacy ones, say nothing of subscriptions.
        ({"namespace": {**NAMESPACE_TOPIC, **LEGACY}}, (None, None, "none")),
        (
            {"namespace": NAMESPACE_SUB, "global_topic_subscription_dispatch_rate": rate(55)},
            (55, None, "global_topic_policy"),
        ),
        (
            {"namespace": NAMESPACE_SUB, "topic_subscription_dispatch_rate": rate(20)},
            (20, None, "topic_policy"),
        ),
        (
            {"topic_subscription_dispatch_rate": rate(20), "subscription_dispatch_rate": rate(-1, 5)},
            (None, 5, "subscription_policy"),
        ),
        (
            {"topic_subscription_dispatch_rate": rate(20), "subscription_dispatch_rate": rate(-1, 0)},
            (20, None, "topic_policy"),
        ),
    ],
)
def test_the_subscription_level(answers, expected):
    assert level(effective_limits(snapshot(**answers)), "subscription") == expected


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, (None, None, "none")),
        (
            {"broker_configuration_runtime": runtime(dispatchThrottlingRateInMsg="900")},
            (900, None, "broker_file"),
        ),
        (
            {
                "broker_configuration_runtime": runtime(dispatchThrottlingRateInMsg="900"),
                "broker_dynamic_configuration": {"dispatchThrottlingRateInMsg": "900"},
            },
            (900, None, "broker_dynamic"),
        ),
        # A deleted override stays in force until a restart: what runs is the truth.
        (
            {
                "broker_configuration_runtime": runtime(dispatchThrottlingRateInByte="5"),
                "broker_dynamic_configuration": {},
            },
            (None, 5, "broker_file"),
        ),
        # An override of 0 sets nothing.
        ({"broker_dynamic_configuration": {"dispatchThrottlingRateInMsg": "0"}}, (None, None, "none")),
    ],
)
def test_the_broker_level(answers, expected):
    assert level(effective_limits(snapshot(**answers)), "broker") == expected


@pytest.mark.parametrize(
    ("missing", "answers", "unknown"),
    [
        # Not asked, and nothing before it won: not known.
        (["namespace"], {}, {"topic", "subscription"}),
        (["topic_dispatch_rate"], {}, {"topic"}),
        (["global_topic_dispatch_rate"], {}, {"topic"}),
        (["subscription_dispatch_rate"], {}, {"subscription"}),
        (["broker_configuration_runtime"], {}, {"broker", "topic", "subscription"}),
        # A record further up answers all the same.
        (["namespace"], {"topic_dispatch_rate": rate(10)}, {"subscription"}),
        (["global_topic_dispatch_rate"], {"topic_dispatch_rate": rate(10)}, set()),
        (["broker_configuration_runtime"], {"topic_dispatch_rate": rate(10)}, {"broker", "subscription"}),
        # Without the configuration, overrides of both rates are still the broker's rates.
        (
            ["broker_configuration_runtime"],
            {
                "broker_dynamic_configuration": {
                    "dispatchThrottlingRateInMsg": "7",
                    "dispatchThrottlingRateInByte": "0",
                }
            },
            {"topic", "subscription"},
        ),
    ],
)
def test_a_missing_answer_is_unknown_and_no_limit_is_known(missing, answers, unknown):
    rows = effective_limits(snapshot(without=missing, **answers))
    assert {"broker", "topic", "subscription"} - {row["level"] for row in rows} == unknown


def test_limits_resolve_without_topic_level_policies():
    rows = effective_limits(
        snapshot(
            without=(*PER_TOPIC, *PER_SUBSCRIPTION),
            broker_configuration_runtime=runtime(topicLevelPoliciesEnabled="false"),
            namespace=NAMESPACE_TOPIC,
        )
    )
    assert level(rows, "topic") == (70, 7000, "namespace_policy")
    assert level(rows, "subscription") == (None, None, "none")


def test_without_a_broker_s_configuration_the_namespace_s_one_cluster_is_meant():
    rows = effective_limits(snapshot(without=["broker_configuration_runtime"], namespace=NAMESPACE_TOPIC))
    assert level(rows, "topic") == (70, 7000, "namespace_policy")
    two = {**NAMESPACE_TOPIC, "replication_clusters": ["pulsar-prod", "elsewhere"]}
    assert (
        level(effective_limits(snapshot(without=["broker_configuration_runtime"], namespace=two)), "topic")
        is None
    )


@pytest.mark.parametrize(
    "name", ["__change_events", "__transaction_buffer_snapshot", "x-s__transaction_pending_ack"]
)
def test_system_topics_ignore_the_namespace(name):
    topic = f"persistent://{NAMESPACE}/{name}"
    both = {**NAMESPACE_TOPIC, **NAMESPACE_SUB}
    rows = effective_limits(snapshot(topic=topic, namespace=both))
    assert level(rows, "topic") == (None, None, "none")
    assert level(rows, "subscription") == (None, None, "none")
    rows = effective_limits(snapshot(topic=topic, namespace=both, broker_configuration_runtime=BROKER_TOPIC))
    assert level(rows, "topic") == (40, 4000, "broker_file")


def test_each_partition_and_subscription_has_its_rows():
    rows = effective_limits(snapshot(partitions=3, subscriptions=("a", "b"), topic_dispatch_rate=rate(10)))
    assert len(rows) == 3 * 2 * 3
    for partition in range(3):
        assert level(rows, "topic", partition=partition, subscription="b") == (10, None, "topic_policy")
    assert {row["partition"] for row in effective_limits(snapshot())} == {-1}


def test_facts_that_come_with_a_limit():
    record = rate(600, 5, period=60, relative=True)
    odd = runtime(
        dispatchThrottlingOnBatchMessageEnabled="true",
        dispatchThrottlingOnNonBacklogConsumerEnabled="false",
        dispatcherMaxReadBatchSize="20",
        dispatcherMaxReadSizeBytes="1000",
    )
    row = next(
        row
        for row in effective_limits(snapshot(topic_dispatch_rate=record, broker_configuration_runtime=odd))
        if row["level"] == "topic"
    )
    assert (row["rate_msg"], row["rate_bytes"], row["period_s"], row["relative_to_publish"]) == (
        600,
        5,
        60,
        True,
    )
    assert (row["counts"], row["exempt_caught_up"]) == ("entries", True)
    assert (row["read_batch_entries"], row["read_size_bytes"]) == (20, 1000)
    assert row["broker"] == BROKER


def test_a_broker_s_setting_is_per_second_and_never_relative():
    settings = BROKER_TOPIC | {"dispatchThrottlingRateRelativeToPublishRate": "true"}
    row = next(
        r for r in effective_limits(snapshot(broker_configuration_runtime=settings)) if r["level"] == "topic"
    )
    assert (row["period_s"], row["relative_to_publish"]) == (1, False)


def test_a_period_below_a_second_is_one():
    rows = effective_limits(snapshot(topic_dispatch_rate=rate(10, period=0)))
    assert {row["period_s"] for row in rows} == {1}


def test_the_owner_s_own_configuration_counts():
    other = "10.0.0.2:8080"
    rows = snapshot(topic_owner={"httpUrl": f"http://{other}"})
    strict = runtime(dispatchThrottlingRateInMsg="5")
    rows.append({**rows[0], "key": other, "body": json.dumps(strict), "broker": other})
    found = effective_limits(rows)
    assert level(found, "broker") == (5, None, "broker_file")
    assert {row["broker"] for row in found} == {other}


def test_with_two_brokers_an_unknown_owner_leaves_the_broker_s_part_unknown():
    rows = snapshot(without=["topic_owner"], topic_dispatch_rate=rate(10))
    rows.append({**rows[0], "key": "10.0.0.2:8080"})
    found = effective_limits(rows)
    assert {row["level"] for row in found} == {"topic"}
    assert {row["broker"] for row in found} == {None}
    # Stats name the owner too.
    stats = [
        {
            "cluster": CLUSTER, "namespace": NAMESPACE, "topic": TOPIC, "partition": -1, "subscription": SUB,
            "observed_ms": NOW_MS + 90_000, "owner_broker": BROKER,
        }
    ]  # fmt: skip
    assert {row["level"] for row in effective_limits(rows, stats)} == {"broker", "topic", "subscription"}


def brokers(*names):
    return {**snapshot()[0], "scope": "brokers", "key": BROKER, "body": json.dumps(names)}


def test_one_of_several_brokers_speaks_for_itself_alone():
    # Only one of them was reached, and another one owns the topic.
    strict = runtime(dispatchThrottlingRateInMsg="5")
    rows = snapshot(
        topic_owner={"httpUrl": "http://10.0.0.2:8080"}, broker_configuration_runtime=strict,
        topic_dispatch_rate=rate(10), namespace=NAMESPACE_SUB,
    )  # fmt: skip
    found = effective_limits([brokers(BROKER, "10.0.0.2:8080"), *rows])
    assert level(found, "broker") is None
    # What the cluster's policies say does not depend on the broker.
    assert (level(found, "topic"), level(found, "subscription")) == (
        (10, None, "topic_policy"),
        (50, None, "namespace_policy"),
    )
    assert level(effective_limits([brokers(BROKER), *rows]), "broker") == (5, None, "broker_file")


def test_a_single_broker_is_the_owner_by_whatever_address_it_is_named():
    found = effective_limits(snapshot(topic_owner={"httpUrl": "http://pulsar-broker-0.svc:8080"}))
    assert {row["level"] for row in found} == {"broker", "topic", "subscription"}
    assert {row["broker"] for row in found} == {"pulsar-broker-0.svc:8080"}


def test_snapshots_follow_one_another_and_a_partial_one_is_completed_from_the_last():
    later = NOW_MS + 600_000
    change = [
        row
        for row in snapshot(at_ms=later, topic_dispatch_rate=None)
        if row["scope"] == "topic_dispatch_rate"
    ]
    rows = effective_limits([*change, *snapshot(topic_dispatch_rate=rate(10))])
    times = sorted({row["observed_ms"] for row in rows})
    assert times[1] == change[0]["observed_ms"]
    assert level([row for row in rows if row["observed_ms"] == times[0]], "topic") == (
        10,
        None,
        "topic_policy",
    )
    assert level([row for row in rows if row["observed_ms"] == times[1]], "topic") == (None, None, "none")


def test_a_snapshot_says_nothing_of_topics_that_it_did_not_ask_about():
    other = f"persistent://{NAMESPACE}/y"
    per_broker = ("broker_configuration_runtime", "broker_dynamic_configuration", "namespace")
    first = [*snapshot(), *snapshot(topic=other, without=per_broker)]
    again = [row for row in snapshot(at_ms=NOW_MS + 60_000) if row["scope"] == "topic_dispatch_rate"]
    rows = effective_limits([*first, *again])
    assert {row["topic"] for row in rows if row["observed_ms"] >= NOW_MS + 60_000} == {TOPIC}


def test_answers_about_two_topics_with_a_pause_between_are_two_snapshots():
    other = f"persistent://{NAMESPACE}/other"
    shared = ("broker_configuration_runtime", "broker_dynamic_configuration", "namespace")
    first = snapshot(topic_dispatch_rate=rate(msg=50))
    second = snapshot(at_ms=NOW_MS + 30_000, topic=other, without=shared)
    found = {row["topic"]: row["observed_ms"] for row in effective_limits([*first, *second])}
    assert found == {TOPIC: first[-1]["observed_ms"], other: second[-1]["observed_ms"]}


def test_an_answer_speaks_for_a_day():
    late = NOW_MS + DAY_MS + 60_000
    again = [
        row
        for row in snapshot(at_ms=late)
        if row["scope"].startswith("broker") or "topic_subscr" in row["scope"]
    ]
    rows = [row for row in effective_limits([*snapshot(), *again]) if row["observed_ms"] >= late]
    assert {row["level"] for row in rows} == {"broker"}


def test_each_level_has_the_time_of_its_oldest_answer():
    later = NOW_MS + 20 * 3_600_000
    asked_again = ("broker_configuration_runtime", "broker_dynamic_configuration", "topic_owner")
    again = [row for row in snapshot(at_ms=later) if row["scope"] in asked_again]
    first = snapshot()
    rows = [row for row in effective_limits([*first, *again]) if row["observed_ms"] >= later]
    answered = {row["level"]: row["answered_ms"] for row in rows}
    time_of = {row["scope"]: row["observed_ms"] for row in first}
    # What was not asked again keeps the time at which it was answered.
    assert answered["topic"] == time_of["namespace"]
    assert answered["subscription"] == time_of["namespace"]
    assert answered["broker"] == again[0]["observed_ms"]


def test_an_unread_configuration_leaves_the_read_batch_open():
    rows = effective_limits(snapshot(without=["broker_configuration_runtime"], topic_dispatch_rate=rate(10)))
    assert {row["read_batch_entries"] for row in rows} == {None}
    assert {row["read_batch_entries"] for row in effective_limits(snapshot())} == {100}


def test_limits_go_to_the_lake_once(tmp_path):
    lake = Lake(tmp_path)
    date = "2023-11-14"
    for at_ms in (NOW_MS, NOW_MS + 3 * DAY_MS, NOW_MS + 4 * DAY_MS):
        # In the lake an answer that nothing is set is the JSON text null.
        rows = [{**row, "body": row["body"] or "null", "date": date} for row in snapshot(at_ms=at_ms)]
        lake.upsert(
            "policies", pa.Table.from_pylist(rows, schema=TABLES["policies"].loose_schema), run_id="r"
        )
    # The range's own snapshot, and the first after its end; not the one after that.
    span = (NOW_MS - 60_000, NOW_MS + 60_000)
    assert resolve_limits(lake, [CLUSTER], *span, run_id="r") == 6
    version = lake.version("limits")
    assert resolve_limits(lake, [CLUSTER], *span, run_id="again") == 6
    assert lake.version("limits") == version
    assert lake.read("limits").num_rows == 6


# -- the ladder -------------------------------------------------------------------------------


def ladder(rows, **key):
    named = {"cluster": CLUSTER, "namespace": NAMESPACE, "topic": TOPIC, "partition": -1, "subscription": SUB}
    return limit_ladder(rows, **(named | key))


def test_a_ladder_has_every_record_in_order_and_one_winner_a_level():
    rows = snapshot(
        topic_subscription_dispatch_rate=rate(msg=70),
        namespace={
            "replication_clusters": ["pulsar-prod"],
            "subscriptionDispatchRate": {"pulsar-prod": rate(size=9)},
        },
        broker_configuration_runtime=runtime(dispatchThrottlingRatePerSubscriptionInMsg="500"),
    )
    rungs = [rung for rung in ladder(rows) if rung.level == "subscription"]
    assert [(rung.set_by, rung.rate_msg, rung.rate_bytes, rung.wins) for rung in rungs] == [
        ("subscription_policy", None, None, False),
        ("topic_policy", 70, None, True),
        ("global_topic_policy", None, None, False),
        ("namespace_policy", None, 9, False),
        ("broker_file", 500, None, False),
    ]
    assert all(rung.is_known for rung in rungs)


def test_a_missing_answer_lets_nothing_below_it_win():
    rows = snapshot(
        without=("global_topic_subscription_dispatch_rate",),
        namespace={
            "replication_clusters": ["pulsar-prod"],
            "subscriptionDispatchRate": {"pulsar-prod": rate(msg=9)},
        },
    )
    rungs = [rung for rung in ladder(rows) if rung.level == "subscription"]
    assert [(rung.set_by, rung.is_known) for rung in rungs if not rung.is_known] == [
        ("global_topic_policy", False)
    ]
    assert not any(rung.wins for rung in rungs)


def test_the_winners_of_a_ladder_are_the_effective_limits():
    answers = {
        "topic_dispatch_rate": rate(msg=10),
        "subscription_dispatch_rate": rate(size=10, period=5),
        "namespace": {
            "replication_clusters": ["pulsar-prod"],
            "topicDispatchRate": {"pulsar-prod": rate(msg=7)},
        },
        "broker_configuration_runtime": runtime(dispatchThrottlingRateInMsg="3"),
    }
    compared = 0
    for left_out in (*((name,) for name in answers), (), tuple(answers)):
        rows = snapshot(**{name: body for name, body in answers.items() if name not in left_out})
        effective = {row["level"]: row for row in effective_limits(rows)}
        for level, row in effective.items():
            winners = [rung for rung in ladder(rows) if rung.level == level and rung.wins]
            compared += len(winners)
            told = [(w.set_by, w.rate_msg, w.rate_bytes, w.period_s) for w in winners] or [
                ("none", None, None, 1)
            ]
            assert told == [(row["set_by"], row["rate_msg"], row["rate_bytes"], row["period_s"])]
    assert compared > 5
