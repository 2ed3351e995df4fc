"""Per-partition stats: a real broker's answer, and what is missing in older ones."""

from __future__ import annotations

import json

import pytest

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.errors import InputError
from throttlescope.ingest.sources.recording import list_shipped
from throttlescope.ingest.topic_stats import THROTTLE_FIELDS, stats_rows, stats_table


@pytest.fixture
def answer() -> dict:
    """What a real broker said about a Shared subscription under a limit."""
    lines = (list_shipped()["sub-msg-large"] / "topic_stats.jsonl").read_text().splitlines()
    return json.loads(json.loads(lines[3])["body"])


def rows_of(answer: object) -> list[dict]:
    body = answer if isinstance(answer, str) else json.dumps(answer)
    return stats_rows("c", "lab/x", "persistent://lab/x/orders", 0, 1_795_170_696_658, body)


def test_a_real_answer(answer: dict) -> None:
    (row,) = rows_of(answer)
    sub = answer["subscriptions"]["billing"]
    assert row["subscription"] == "billing"
    assert row["subscription_type"] == sub["type"]
    assert (
        row["throttled_msg_events_subscription"] == sub["dispatchThrottledMsgEventsBySubscriptionLimit"] > 0
    )
    assert row["throttled_bytes_events_broker"] == sub["dispatchThrottledBytesEventsByBrokerLimit"]
    assert row["backlog_entries"] == sub["msgBacklog"] > 0
    assert row["consumers"] == len(sub["consumers"])
    permits = [consumer["availablePermits"] for consumer in sub["consumers"]]
    assert (row["permits_min"], row["permits_max"]) == (min(permits), max(permits))
    assert row["owner_broker"] == answer["ownerBroker"]
    assert row["date"] == "2026-11-20"
    assert stats_table([row]).schema == TABLES["topic_stats"].schema


def test_every_throttle_count_has_its_column(answer: dict) -> None:
    sub = answer["subscriptions"]["billing"]
    for number, name in enumerate(THROTTLE_FIELDS.values(), start=100):
        sub[name] = number
    (row,) = rows_of(answer)
    assert [row[column] for column in THROTTLE_FIELDS] == list(range(100, 106))
    assert set(THROTTLE_FIELDS) < {column.name for column in TABLES["topic_stats"].columns}


def test_no_consumer_is_no_number(answer: dict) -> None:
    sub = answer["subscriptions"]["billing"]
    sub["consumers"], sub["type"] = [], "None"
    (row,) = rows_of(answer)
    assert (row["consumers"], row["permits_min"], row["permits_max"], row["messages_per_entry"]) == (
        0,
        None,
        None,
        None,
    )
    assert row["subscription_type"] is None


def test_messages_per_entry_is_the_mean_of_those_that_know_it(answer: dict) -> None:
    consumers = answer["subscriptions"]["billing"]["consumers"]
    consumers[:] = [dict(consumers[0], avgMessagesPerEntry=n, availablePermits=n) for n in (0, 10, 20)]
    (row,) = rows_of(answer)
    assert row["messages_per_entry"] == 15.0
    assert (row["permits_min"], row["permits_max"]) == (0, 20)


def test_a_topic_without_subscriptions_and_a_topic_that_is_gone(answer: dict) -> None:
    assert rows_of(answer | {"subscriptions": {}}) == []
    assert rows_of("null") == rows_of("") == []
    assert stats_table([]).num_rows == 0


@pytest.mark.parametrize("body", ["{", "[]", '{"reason": "no"}', '"text"', '{"subscriptions": []}'])
def test_other_answers_are_refused(body: str) -> None:
    with pytest.raises(InputError, match="stats"):
        rows_of(body)


def test_an_older_broker_is_named(answer: dict) -> None:
    del answer["subscriptions"]["billing"]["dispatchThrottledMsgEventsByTopicLimit"]
    with pytest.raises(InputError, match=r"dispatchThrottledMsgEventsByTopicLimit.*4\.1.*upgrade"):
        rows_of(answer)
