"""Deadlines as the broker resolves them: chains, units, requests without an answer, and what was known when."""

from __future__ import annotations

import pytest

from tests.models.forecast.minutes import HOUR_MS, TOPIC
from tests.models.forecast.policies import NOT_ASKED, policies, quota
from throttlescope.ingest.core.times import DAY_MS
from throttlescope.transforms.deadlines import DeadlineLimit, Retention, deadlines_of, slim

SIZE, AGE = "destination_storage", "message_age"


def resolved(at_ms: int = HOUR_MS, topic: str = TOPIC, **answers):
    return deadlines_of(policies(**answers), topic, at_ms)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, DeadlineLimit(None, "broker_file")),
        ({"runtime": {"ttlDurationDefaultInSeconds": "900"}}, DeadlineLimit(900.0, "broker_file")),
        ({"namespace": {"message_ttl_in_seconds": 600}}, DeadlineLimit(600.0, "namespace_policy")),
        (
            {"namespace": {"message_ttl_in_seconds": 600}, "global_topic_message_ttl": 500},
            DeadlineLimit(500.0, "global_topic_policy"),
        ),
        ({"global_topic_message_ttl": 500, "topic_message_ttl": 400}, DeadlineLimit(400.0, "topic_policy")),
        # 0 is a value: it switches an inherited TTL off.
        ({"namespace": {"message_ttl_in_seconds": 600}, "topic_message_ttl": 0}, DeadlineLimit(None, "topic_policy")),
        (
            {"runtime": {"ttlDurationDefaultInSeconds": "900"}, "namespace": {"message_ttl_in_seconds": 0}},
            DeadlineLimit(None, "namespace_policy"),
        ),
        ({"namespace": {"message_ttl_in_seconds": 600}, "topic_message_ttl": NOT_ASKED}, None),
        ({"topic_message_ttl": 400, "global_topic_message_ttl": NOT_ASKED}, DeadlineLimit(400.0, "topic_policy")),
        ({"namespace": NOT_ASKED}, None),
        # Such a broker refuses to answer for topics, and keeps nothing for them.
        (
            {"runtime": {"topicLevelPoliciesEnabled": "false", "ttlDurationDefaultInSeconds": "7"}, "topic_message_ttl": NOT_ASKED,
             "global_topic_message_ttl": NOT_ASKED},
            DeadlineLimit(7.0, "broker_file"),
        ),
    ],
)  # fmt: skip
def test_the_first_ttl_of_the_chain_wins(answers, expected) -> None:
    assert resolved(**answers).ttl == expected


@pytest.mark.parametrize(
    ("answers", "size", "age"),
    [
        ({}, DeadlineLimit(None, "broker_file", "producer_request_hold"), DeadlineLimit(None, "broker_file", "producer_request_hold")),
        # The broker's default is one record for both.
        (
            {"runtime": {"backlogQuotaDefaultLimitBytes": "5", "backlogQuotaDefaultLimitSecond": "9"}},
            DeadlineLimit(5.0, "broker_file", "producer_request_hold"),
            DeadlineLimit(9.0, "broker_file", "producer_request_hold"),
        ),
        (
            {"runtime": {"backlogQuotaDefaultLimitGB": "2", "backlogQuotaDefaultLimitBytes": "5"}},
            DeadlineLimit(2.0 * 1024**3, "broker_file", "producer_request_hold"),
            DeadlineLimit(None, "broker_file", "producer_request_hold"),
        ),
        # Each type has its own chain.
        (
            {"namespace": {"backlog_quota_map": {SIZE: quota(size=100)}}, "topic_backlog_quotas": {AGE: quota(time=60, policy="producer_exception")}},
            DeadlineLimit(100.0, "namespace_policy", "consumer_backlog_eviction"),
            DeadlineLimit(60.0, "topic_policy", "producer_exception"),
        ),
        # A record wins whole, also with a limit below 0.
        (
            {"namespace": {"backlog_quota_map": {SIZE: quota(size=100)}}, "global_topic_backlog_quotas": {SIZE: quota(size=-1)}},
            DeadlineLimit(None, "global_topic_policy", "consumer_backlog_eviction"),
            DeadlineLimit(None, "broker_file", "producer_request_hold"),
        ),
        ({"namespace": {"backlog_quota_map": {SIZE: {"limit": 77, "policy": "producer_exception"}}}},
         DeadlineLimit(77.0, "namespace_policy", "producer_exception"), DeadlineLimit(None, "broker_file", "producer_request_hold")),
        ({"topic_backlog_quotas": NOT_ASKED}, None, None),
    ],
)  # fmt: skip
def test_the_first_quota_of_each_type_wins(answers, size, age) -> None:
    found = resolved(**answers)
    assert (found.quota_size, found.quota_age) == (size, age)


def test_unchecked_quota_is_no_deadline() -> None:
    found = resolved(
        runtime={"backlogQuotaCheckEnabled": "false"}, topic_backlog_quotas={SIZE: quota(size=100)}
    )
    assert found.quota_size == DeadlineLimit(None, "topic_policy", "consumer_backlog_eviction")


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, Retention(0, 0, "broker_file")),
        (
            {"namespace": {"retention_policies": {"retentionTimeInMinutes": 60, "retentionSizeInMB": 512}}},
            Retention(60, 512, "namespace_policy"),
        ),
        (
            {"topic_retention": {"retentionTimeInMinutes": -1, "retentionSizeInMB": -1}},
            Retention(-1, -1, "topic_policy"),
        ),
        ({"topic_retention": NOT_ASKED}, None),
    ],
)
def test_retention(answers, expected) -> None:
    assert resolved(**answers).retention == expected


def test_how_often_the_broker_looks() -> None:
    found = resolved(
        runtime={
            "messageExpiryCheckIntervalInMinutes": "1",
            "backlogQuotaCheckIntervalInSeconds": "30",
            "preciseTimeBasedBacklogQuotaCheck": "true",
            "managedLedgerMaxLedgerRolloverTimeMinutes": "10",
        }
    )
    assert (found.expiry_check_ms, found.quota_check_ms) == (60_000, 30_000)
    assert (found.precise_age, found.ledger_rollover_ms) == (True, 600_000)
    # What a broker does not tell is what Pulsar comes with.
    silent = policies()
    silent[0]["body"] = '{"ttlDurationDefaultInSeconds": "0"}'
    found = deadlines_of(silent, TOPIC, HOUR_MS)
    assert (found.expiry_check_ms, found.quota_check_ms, found.precise_age) == (300_000, 60_000, False)
    # No default is made up for a threshold.
    assert found.quota_size is None
    assert found.retention == Retention(0, 0, "broker_file")


def test_pulsars_own_topics_have_none() -> None:
    assert resolved(topic="persistent://acme/shop/__change_events") is None
    assert resolved(topic="persistent://pulsar/system/x") is None


def test_without_a_brokers_configuration_nothing_is_known() -> None:
    assert deadlines_of(policies()[1:], TOPIC, HOUR_MS) is None
    assert deadlines_of([], TOPIC, HOUR_MS) is None


def test_newest_answer_before_time_is_used() -> None:
    rows = [
        *policies(topic_message_ttl=100, observed_ms=HOUR_MS),
        *policies(topic_message_ttl=200, observed_ms=HOUR_MS + 1000),
        *policies(topic_message_ttl=300, observed_ms=HOUR_MS + 2000),
    ]
    for at_ms, ttl, later in (
        (HOUR_MS - 1, 100, True),
        (HOUR_MS, 100, False),
        (HOUR_MS + 1500, 200, False),
        (HOUR_MS + 10**6, 300, False),
    ):
        for order in (rows, rows[::-1]):
            found = deadlines_of(order, TOPIC, at_ms)
            assert (found.ttl.value, found.observed_later) == (ttl, later)
    assert deadlines_of(rows, TOPIC, HOUR_MS + 8 * DAY_MS) is None


def test_deadlines_survive_serialisation_to_tasks() -> None:
    rows = policies(topic_message_ttl=100, runtime={"somethingElse": "x" * 1000})
    rows.append({**rows[0], "scope": "topic_owner", "key": TOPIC})
    small = slim(rows)
    assert deadlines_of(small, TOPIC, HOUR_MS) == deadlines_of(rows, TOPIC, HOUR_MS)
    assert len(str(small)) < len(str(rows)) - 1000
