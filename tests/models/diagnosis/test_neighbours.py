"""Who used a shared limit, worked out by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.diagnosis.neighbours import quota_neighbours
from throttlescope.models.diagnosis.window import SubscriptionKey

START_MS = 1_700_000_040_000 - 1_700_000_040_000 % 60_000
ORDERS = "persistent://acme/shop/orders"
CLICKS = "persistent://acme/shop/clicks"


def key(subscription: str, topic: str = ORDERS, cluster: str = "prod") -> SubscriptionKey:
    return SubscriptionKey(cluster, "acme/shop", topic, -1, subscription)


def minutes(of: SubscriptionKey, per_s: float | None, count: int = 5, broker="b1", **more) -> list[dict]:
    brokers = broker if isinstance(broker, list) else [broker] * count
    return [
        of._asdict()
        | {
            "minute_ms": START_MS + 60_000 * number,
            "broker": brokers[number],
            "out_msg_delta": None if per_s is None else 60 * per_s,
            "out_bytes_delta": None if per_s is None else 60_000 * per_s,
            "delta_span_ms": 60_000,
            **more,
        }
        for number in range(count)
    ]


def uses(rows: list[dict], limiter: str, selected: SubscriptionKey | None = None, length_ms: int = 300_000):
    table = pa.Table.from_pylist(rows, schema=TABLES["signals"].loose_schema)
    return quota_neighbours(table, selected or key("billing"), limiter, START_MS, START_MS + length_ms)


def summary(found) -> list[tuple]:
    return [(item.key.subscription, item.use_per_s, item.share, item.is_selected) for item in found]


def test_topic_limit_is_shared_by_its_subscriptions():
    rows = (
        minutes(key("billing"), 10)
        + minutes(key("audit"), 30)
        + minutes(key("clicks", CLICKS), 500)
        + minutes(key("billing", cluster="other"), 70)
    )
    assert summary(uses(rows, "topic.msg")) == [("audit", 30, 0.75, False), ("billing", 10, 0.25, True)]
    assert [item.use_per_s for item in uses(rows, "topic.bytes")] == [30_000, 10_000]


def test_partitions_have_limits_of_their_own():
    other = key("audit")._replace(partition=3)
    assert summary(uses(minutes(key("billing"), 10) + minutes(other, 30), "topic.msg")) == [
        ("billing", 10, 1, True)
    ]


def test_broker_limit_is_shared_per_minute():
    """By the subscriptions that the broker serves in that minute."""
    moved = minutes(key("clicks", CLICKS), 50, broker=["b2", "b2", "b2", "b1", "b1"])
    rows = minutes(key("billing"), 10) + moved + minutes(key("far", CLICKS), 900, broker="b2")
    found = uses(rows, "broker.msg")
    assert summary(found) == [("clicks", 50, 50 / 60, False), ("billing", 10, 10 / 60, True)]
    assert [item.minutes for item in found] == [2, 5]


def test_a_subscriptions_own_limit_is_nobody_elses():
    rows = minutes(key("billing"), 10) + minutes(key("audit"), 30)
    assert summary(uses(rows, "subscription.msg")) == [("billing", 10, 1, True)]


def test_only_the_range_counts():
    rows = minutes(key("billing"), 10) + minutes(key("audit"), 30, count=2)
    found = uses(rows, "topic.msg", length_ms=120_000)
    assert [item.minutes for item in found] == [2, 2]


def test_entry_limit_counts_entries():
    rows = minutes(key("billing"), 10, limit_counts="entries", messages_per_entry=5.0)
    assert summary(uses(rows, "topic.msg")) == [("billing", 2, 1, True)]


def test_unknown_use_is_last_not_zero():
    rows = minutes(key("billing"), 10) + minutes(key("audit"), None)
    assert summary(uses(rows, "topic.msg")) == [("billing", 10, 1, True), ("audit", None, None, False)]


def test_without_a_broker_nobody_is_known():
    assert uses(minutes(key("billing"), 10, broker=None), "broker.msg") == []
    assert uses(minutes(key("audit"), 10), "topic.msg") == []


def test_refused():
    rows = minutes(key("billing"), 10)
    with pytest.raises(InputError, match="no such limiter"):
        uses(rows, "tenant.msg")
    with pytest.raises(InputError):
        uses(rows, "topic.msg", length_ms=0)
