"""Which consumers are on a connection that the broker pauses: worked cases of who shares a connection with whom."""

from __future__ import annotations

import json

import pytest

from throttlescope.ingest.sources.connections import add_pauses, connections_of

START_MS = 1_795_000_000_000
APP, OTHER, THIRD = "10.0.0.1:4711", "10.0.0.2:4711", "10.0.0.3:4711"


def body(pauses=0, publishers=(), **subscriptions) -> str:
    return json.dumps(
        {
            "publishRateLimitedTimes": pauses,
            "publishers": [{"address": f"/{one}", "msgRateIn": 20.0} for one in publishers],
            "subscriptions": {
                name: {"consumers": [{"address": one and f"/{one}"} for one in addresses]}
                for name, addresses in subscriptions.items()
            },
        }
    )


def marked(*, all_paused_seen=True, apart_ms=0, **topics) -> dict[str, tuple]:
    """Subscription of ``orders`` to consumers on paused connections, pauses and the topic that pauses."""
    answers = {name: topics[name] for name in topics}
    seen = [
        connections_of("c", name, -1, START_MS + (0 if name == "orders" else apart_ms), text)
        for name, text in answers.items()
    ]
    rows = [
        {
            "cluster": "c",
            "topic": "orders",
            "partition": -1,
            "observed_ms": START_MS,
            "subscription": name,
        }
        for name in json.loads(answers["orders"])["subscriptions"]
    ]
    add_pauses(rows, [one for one in seen if one is not None], all_paused_seen=all_paused_seen)
    return {
        row["subscription"]: (row["consumers_paused"], row["connection_pauses"], row["pausing_topic"])
        for row in rows
    }


def test_consumer_shares_connection_of_paused_producer():
    found = marked(
        orders=body(0, [THIRD], billing=[APP], audit=[OTHER]),
        imports=body(240, [APP]),
    )
    assert found == {"billing": (1, 240, "imports"), "audit": (0, 0, None)}


def test_consumers_on_both_kinds_are_counted():
    found = marked(orders=body(0, [THIRD], billing=[APP, OTHER, APP]), imports=body(7, [APP]))
    assert found["billing"] == (2, 7, "imports")


def test_uncounted_topic_proves_connection_unpaused():
    """A pause counts on every topic that is published through a connection: one without a count was not paused on it."""
    found = marked(
        orders=body(0, [THIRD], billing=[APP]), imports=body(9, [APP, OTHER]), metrics=body(0, [APP])
    )
    assert found["billing"] == (0, 0, None)


def test_count_that_other_connection_explains_is_unknown():
    found = marked(
        orders=body(0, [THIRD], billing=[OTHER]), imports=body(9, [APP]), metrics=body(9, [APP, OTHER])
    )
    assert found["billing"] == (None, None, None)


def test_alike_connections_are_all_paused():
    found = marked(orders=body(0, [THIRD], billing=[APP, OTHER]), imports=body(900, [APP, OTHER]))
    assert found["billing"] == (2, 900, "imports")


def test_topic_pauses_its_own_consumers():
    assert marked(orders=body(31, [APP], billing=[APP]))["billing"] == (1, 31, "orders")


@pytest.mark.parametrize(
    ("topics", "more"),
    [
        ({"orders": body(0, [THIRD], billing=[APP])}, {"all_paused_seen": False}),
        ({"orders": body(0, [THIRD], billing=[None]), "imports": body(9, [APP])}, {}),
        ({"orders": body(0, [THIRD], billing=[APP]), "imports": body(9, [APP])}, {"apart_ms": 61_000}),
        ({"orders": json.dumps({"subscriptions": {"billing": {"consumers": [{"address": APP}]}}})}, {}),
    ],
    ids=["not all read", "no address", "read a minute apart", "broker does not count"],
)
def test_what_was_not_seen_is_unknown(topics, more):
    assert marked(**topics, **more)["billing"] == (None, None, None)


@pytest.mark.parametrize("text", ["", "null", "[]", "{", '{"subscriptions": []}', '{"publishers": 3}'])
def test_answer_without_stats_has_no_connections(text):
    assert connections_of("c", "orders", -1, START_MS, text) is None


def test_strange_fields_are_left_out():
    text = json.dumps(
        {
            "publishRateLimitedTimes": True,
            "publishers": [3, {"address": 4}, {"address": APP, "msgRateIn": "many"}],
            "subscriptions": {"a": 3, "b": {"consumers": {"x": 1}}},
        }
    )
    found = connections_of("c", "orders", -1, START_MS, text)
    assert (found.pauses, found.publishers, found.consumers) == (None, {APP: 0.0}, {"b": ()})
