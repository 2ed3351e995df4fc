"""Pulsar's own topics and subscriptions: Python and PromQL agree on them, and users' names that look alike are users' own."""

from __future__ import annotations

import duckdb
import pytest

from throttlescope.ingest.core.system_names import (
    SYSTEM_SUBSCRIPTION,
    SYSTEM_TOPIC,
    is_system,
    is_system_topic,
)

SYSTEM = [
    "persistent://acme/shop/__change_events",
    "persistent://acme/shop/__change_events-partition-2",
    "persistent://acme/shop/__transaction_buffer_snapshot",
    "persistent://acme/shop/orders-billing__transaction_pending_ack",
    "persistent://pulsar/system/__transaction_log_0",
    "persistent://pulsar/system/transaction_coordinator_assign",
    "persistent://pulsar/system/transaction_coordinator_assign-partition-15",
    "non-persistent://pulsar/system/loadbalancer-broker-load-data",
    "persistent://pulsar/broker-0.acme:8080/healthcheck",
    "persistent://pulsar/standalone/localhost:8080/healthcheck",
    "persistent://public/functions/assignments",
    "persistent://public/functions/coordinate",
    "persistent://public/functions/metadata",
]
OF_USERS = [
    "persistent://acme/shop/orders",
    "persistent://acme/shop/healthcheck",
    "persistent://acme/__shop/orders",
    "persistent://acme/shop/my__orders",
    "persistent://acme/shop/orders__transaction_pending_ack_report",
    "persistent://acme/pulsar/system",
    "persistent://public/functions/orders",
    "persistent://public/default/assignments",
    "persistent://pulsar-team/system/orders",
]


@pytest.mark.parametrize("topic", SYSTEM)
def test_system_topics(topic):
    assert is_system_topic(topic)
    assert is_system(topic, "billing")


@pytest.mark.parametrize("topic", OF_USERS)
def test_topics_of_users(topic):
    assert not is_system_topic(topic)
    assert not is_system(topic, "billing")
    # A function's subscription is named after the function.
    assert not is_system(topic, "public/default/enrich")
    assert is_system(topic, "__compaction")


def test_sql_reads_the_patterns_as_python_does():
    for topic in [*SYSTEM, *OF_USERS]:
        found = duckdb.execute("SELECT regexp_full_match(?, ?)", [topic, SYSTEM_TOPIC]).fetchone()[0]
        assert found is is_system_topic(topic)
    # What PromQL and SQL would have to escape is not in them.
    assert not set("\"\\'") & set(SYSTEM_TOPIC + SYSTEM_SUBSCRIPTION)
