"""The gate behind the admin API: answers that limits must not be resolved from are found, and unexpected answers are reported."""

import json

import pytest

from tests.ingest.quality.rows import HOUR, answer, block, failures, hold, limit, limits, stats
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.quality import check_policies
from throttlescope.ingest.sources.policy_answers import SCOPES, answer_fault


def checked(lake, end_ms=HOUR + BLOCK_MS):
    return check_policies(None, lake, ["c"], HOUR, end_ms, "run-1")


def lake_with(folder, answers=(), limit_rows=(), stats_rows=()):
    lake = Lake(folder)
    for table, rows in (("policies", answers), ("limits", limit_rows), ("topic_stats", stats_rows)):
        if rows:
            hold(lake, table, rows)
    return lake


@pytest.mark.long
def test_good_answers_and_limits_pass(tmp_path):
    result = checked(lake_with(tmp_path, [answer()], limits(), [stats()]))
    assert result.failures() == []
    assert [row["table"] for row in result.rows.to_pylist() if row["check"] == "rows_present"] == [
        "policies", "limits", "topic_stats",
    ]  # fmt: skip


def test_missing_admin_api_is_no_fault(tmp_path):
    result = checked(Lake(tmp_path))
    assert result.failures() == []
    assert {row["observed"] for row in result.rows.to_pylist()} == {
        "0 answers: the admin API was not queried", "0 subscriptions: the admin API was not queried",
    }  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize(
    ("check", "stops", "rows"),
    [
        ("answer_key_unique", True, {"answers": [answer(), answer(broker="other:8080")]}),
        ("answers_readable", True, {"answers": [answer(body='"<html>"')]}),
        ("limit_key_unique", True, {"limit_rows": [*limits(), limit(rate_msg=7)]}),
        ("rates_above_zero", True, {"limit_rows": limits(rate_msg=0)}),
        ("rates_above_zero", True, {"limit_rows": limits(rate_bytes=-1)}),
        ("period_above_zero", True, {"limit_rows": limits(period_s=0)}),
        ("set_by_sets", True, {"limit_rows": limits(set_by="none")}),
        ("set_by_sets", True, {"limit_rows": limits(rate_msg=None)}),
        ("levels_complete", False, {"limit_rows": limits()[:2]}),
        ("stats_key_unique", True, {"stats_rows": [stats(), stats(unacked_msg=3)]}),
        ("stats_not_negative", False, {"stats_rows": [stats(backlog_entries=-2)]}),
        ("permits_in_order", True, {"stats_rows": [stats(permits_min=3)]}),
        ("permits_in_order", True, {"stats_rows": [stats(permits_min=None)]}),
    ],
)
def test_unusable_answers_are_found(tmp_path, check, stops, rows):
    """Answers that limits must not be resolved from."""
    result = checked(lake_with(tmp_path, **rows))
    found = set(failures(result))
    # A repeated limit has more rows than levels, and is no level that is missing.
    assert found == {check}
    assert result.stopped is stops


@pytest.mark.long
def test_day_without_answers_is_reported(tmp_path):
    """For a cluster with samples."""
    lake = lake_with(tmp_path, [answer()])
    assert checked(lake, HOUR + 3 * DAY_MS).failures() == []
    hold(lake, "samples", [block("a", hour=24)])
    assert checked(lake, HOUR + DAY_MS).failures() == []
    late = checked(lake, HOUR + 3 * DAY_MS)
    row = failures(late)["policy_age"]
    assert (row["severity"], row["observed"]) == ("warning", "25 hours since the newest answer in 1 answers")
    assert json.loads(row["example"])["observed"] == "2026-11-20T08:00:00Z"


@pytest.mark.parametrize(
    ("scope", "body", "fault"),
    [
        ("topic_dispatch_rate", "null", None),
        ("topic_dispatch_rate", '{"dispatchThrottlingRateInMsg": 5}', None),
        (
            "topic_dispatch_rate",
            '{"dispatchThrottlingRateInMsg": "5"}',
            "dispatchThrottlingRateInMsg is a text",
        ),
        ("topic_dispatch_rate", '{"ratePeriodInSecond": true}', "ratePeriodInSecond is true or false"),
        ("global_topic_dispatch_rate", "[]", "a list instead of an object"),
        ("topic_message_ttl", "60", None),
        ("topic_message_ttl", "60.5", "a number instead of a whole number"),
        (
            "namespace",
            '{"topicDispatchRate": {"c": {"dispatchThrottlingRateInByte": 1.5}}}',
            "topicDispatchRate of c: ",
        ),
        ("namespace", '{"topicDispatchRate": []}', None),
        ("namespace", '{"topicDispatchRate": [1]}', "topicDispatchRate: a list instead of an object"),
        ("topic_subscriptions", '["a", 1]', "a list instead of a list of names"),
        ("partition_count", '{"partitions": "4"}', "partitions is no whole number"),
        ("topic_owner", "5", "a number instead of"),
        ("topic_publish_rate", '{"publishThrottlingRateInMsg": 20, "publishThrottlingRateInByte": -1}', None),
        (
            "topic_publish_rate",
            '{"publishThrottlingRateInMsg": "20"}',
            "publishThrottlingRateInMsg is a text",
        ),
        ("broker_version", "null", "null"),
        ("broker_configuration_runtime", '"<html>"', "a text instead of an object"),
        ("namespace", "<html>", "no JSON"),
        ("weather", "{}", "no such question"),
    ],
)
def test_what_an_answer_has_to_look_like(scope, body, fault):
    found = answer_fault(scope, body)
    assert found is None if fault is None else fault in found


def test_every_request_scope_has_a_form():
    assert set(SCOPES) == set(TABLES["policies"].column("scope").words)
