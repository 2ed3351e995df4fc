"""Per-partition stats: a real broker's answer, and what is missing in older ones."""

from __future__ import annotations

import json

import pytest

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.sources.recording import list_shipped
from throttlescope.ingest.sources.topic_stats import THROTTLE_FIELDS, stats_rows, stats_table


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


def test_messages_per_entry_averages_known_values(answer: dict) -> None:
    consumers = answer["subscriptions"]["billing"]["consumers"]
    consumers[:] = [dict(consumers[0], avgMessagesPerEntry=n, availablePermits=n) for n in (0, 10, 20)]
    (row,) = rows_of(answer)
    assert row["messages_per_entry"] == 15.0
    assert (row["permits_min"], row["permits_max"]) == (0, 20)


def test_empty_and_deleted_topics_have_no_rows(answer: dict) -> None:
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


def test_active_consumer_alone_has_permits_that_count(answer: dict) -> None:
    sub = answer["subscriptions"]["billing"]
    one = sub["consumers"][0]
    sub["type"], sub["activeConsumerName"] = "Failover", "b"
    sub["consumers"] = [
        dict(one, consumerName=name, availablePermits=n) for name, n in (("a", 900), ("b", -3))
    ]
    (row,) = rows_of(answer)
    assert (row["active_permits"], row["consumers_without_permits"]) == (-3, 1)
    sub["consumers"] = [dict(one, consumerName="b", availablePermits=n) for n in (900, -3)]
    assert rows_of(answer)[0]["active_permits"] is None
    sub["type"] = "Shared"
    assert rows_of(answer)[0]["active_permits"] is None


def test_rates_and_flags_of_consumers(answer: dict) -> None:
    sub = answer["subscriptions"]["billing"]
    one = sub["consumers"][0]
    sub["consumers"] = [
        dict(one, messageAckRate=rate, blockedConsumerOnUnackedMsgs=blocked)
        for rate, blocked in ((4.0, True), (1.5, False))
    ]
    sub["msgInReplay"], sub["isReplicated"] = 7, True
    (row,) = rows_of(answer)
    assert (row["ack_msg_rate_min"], row["ack_msg_rate_max"], row["consumers_blocked"]) == (1.5, 4.0, 1)
    assert (row["replay_entries"], row["replicated"]) == (7, True)


def test_backlog_age_is_of_subscription(answer: dict) -> None:
    def age() -> float | None:
        return rows_of(answer)[0]["backlog_age_s"]

    sub = answer["subscriptions"]["billing"]
    answer |= {"oldestBacklogMessageAgeSeconds": 57, "oldestBacklogMessageSubscriptionName": "billing"}
    assert age() == 57
    # The topic's is another's.
    answer["oldestBacklogMessageSubscriptionName"] = "audit"
    assert age() is None
    # Since PIP-492 each subscription has its own; -1 is not known.
    sub["oldestBacklogMessageAgeSeconds"] = 90
    assert age() == 90
    sub["oldestBacklogMessageAgeSeconds"] = -1
    assert age() is None


@pytest.mark.parametrize(
    ("earliest_ms", "age_s"),
    [
        (1_795_170_696_658 - 75_500, 75.5),
        # 0: not requested; -1: nothing waits.
        (0, 57),
        (-1, 57),
        # A producer's clock may be ahead of the broker's.
        (1_795_170_696_658 + 4_000, 0),
    ],
)
def test_age_of_the_oldest_entry_comes_first(answer: dict, earliest_ms: int, age_s: float) -> None:
    answer |= {"oldestBacklogMessageAgeSeconds": 57, "oldestBacklogMessageSubscriptionName": "billing"}
    answer["subscriptions"]["billing"]["earliestMsgPublishTimeInBacklog"] = earliest_ms
    assert rows_of(answer)[0]["backlog_age_s"] == age_s
