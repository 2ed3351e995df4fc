"""Limits of publishing with their use, totals, resource groups and full quotas: from a small lake, in the terminal and on the page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.transforms.lakes import lake_of, table_of
from throttlescope.app.presentation.publishing import document, tables
from throttlescope.app.queries.publishing import read_publishing
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages.limits.page import publishing_part
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import date_of
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.source import Series

START_MS = 1_795_000_000_000 // 3_600_000 * 3_600_000
NOW_MS = START_MS + 600_000
BROKER = "b1:8080"
RUNTIME = {
    "clusterName": "east",
    "maxPublishRatePerTopicInMessages": "0",
    "maxPublishRatePerTopicInBytes": "0",
    "brokerPublisherThrottlingMaxMessageRate": "500",
    "brokerPublisherThrottlingMaxByteRate": "0",
}
TOPICS = {  # topic, partition: msg/s, bytes/s, pauses, backlog, quota
    ("acme/shop/orders", "-1"): (48.0, 9600.0, 120.0, 0.0, -1.0),
    ("acme/shop/bulk", "0"): (10.0, 2000.0, 0.0, 0.0, -1.0),
    ("acme/shop/bulk", "1"): (30.0, 6000.0, 0.0, 0.0, -1.0),
    ("acme/logs/full", "-1"): (0.0, 0.0, 0.0, 9000.0, 8000.0),
    ("acme/logs/evicts", "-1"): (5.0, 500.0, 0.0, 9000.0, 8000.0),
}
METRICS = (
    "pulsar_rate_in", "pulsar_throughput_in", "pulsar_publish_rate_limit_times", "pulsar_storage_backlog_size",
    "pulsar_storage_backlog_quota_limit",
)  # fmt: skip


def policy(scope: str, key: str, body) -> dict:
    text = body if isinstance(body, str) else json.dumps(body)
    return {
        "cluster": "c",
        "scope": scope,
        "key": key,
        "body": text,
        "broker": BROKER,
        "observed_ms": NOW_MS,
        "date": date_of(NOW_MS),
    }


def rate(msg=-1, size=-1) -> dict:
    return {"publishThrottlingRateInMsg": msg, "publishThrottlingRateInByte": size}


def quota(policy_name: str) -> dict:
    return {"destination_storage": {"limitSize": 8000, "limitTime": -1, "policy": policy_name}}


POLICIES = [
    policy("broker_configuration_runtime", BROKER, RUNTIME),
    policy("broker_dynamic_configuration", BROKER, {"brokerPublisherThrottlingMaxMessageRate": "500"}),
    policy("namespace", "acme/shop", {"resource_group_name": "small"}),
    policy("namespace", "acme/logs", {"backlog_quota_map": quota("producer_exception")}),
    policy("resource_group", "small", {"publishRateInMsgs": 200, "publishRateInBytes": None, "dispatchRateInMsgs": 9}),
    policy("topic_publish_rate", "persistent://acme/shop/orders", rate(50)),
    policy("global_topic_publish_rate", "persistent://acme/shop/orders", "null"),
    policy("topic_publish_rate", "persistent://acme/shop/bulk", rate(-1, 8000)),
    policy("global_topic_publish_rate", "persistent://acme/shop/bulk", "null"),
    # Its global record was not answered: what it may publish is not known.
    policy("topic_publish_rate", "persistent://acme/logs/full", "null"),
    *(policy(f"{one}topic_backlog_quotas", "persistent://acme/logs/full", "null") for one in ("", "global_")),
    policy("topic_backlog_quotas", "persistent://acme/logs/evicts", quota("consumer_backlog_eviction")),
]  # fmt: skip


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    series = []
    for (topic, partition), values in TOPICS.items():
        for name, value in zip(METRICS, values, strict=True):
            labels = {
                "__name__": name,
                "cluster": "c",
                "instance": BROKER,
                "namespace": topic.rpartition("/")[0],
                "topic": f"persistent://{topic}",
                "partition": partition,
            }
            times = np.arange(START_MS, NOW_MS + 1, 60_000)
            changed = np.full(len(times), value)
            changed[:3] = value + 1000
            series.append(Series(labels, times, changed, np.empty(0, np.int64)))
    found = lake_of(tmp_path_factory.mktemp("lake"), series)
    found.upsert("policies", table_of("policies", POLICIES), run_id="test")
    return found


def of(lake: Lake, owner: str):
    (found,) = [one for one in read_publishing(lake).limits if one.owner.endswith(owner)]
    return found


def test_topic_use_is_of_its_busiest_partition(lake) -> None:
    orders, bulk = of(lake, "/orders"), of(lake, "/bulk")
    assert (orders.rate_msg, orders.use_msg_per_s, orders.share_msg, orders.pauses) == (50, 48.0, 0.96, 120)
    assert (bulk.rate_bytes, bulk.use_bytes_per_s, bulk.share_bytes) == (8000, 6000.0, 0.75)
    assert (bulk.partitions, bulk.share_msg, bulk.set_by) == (2, None, "topic_policy")


def test_unanswered_limit_is_not_known(lake) -> None:
    full = of(lake, "/full")
    assert (full.set_by, full.rate_msg, full.share) == (None, None, None)
    assert read_publishing(lake).limits[-1].owner == full.owner


def test_broker_and_group_use_is_a_sum(lake) -> None:
    broker, group = of(lake, BROKER), of(lake, "small")
    assert (broker.rate_msg, broker.use_msg_per_s, broker.set_by) == (500, 93.0, "broker_dynamic")
    assert (group.rate_msg, group.use_msg_per_s, group.namespaces) == (200, 88.0, ("acme/shop",))


def test_totals_say_how_many_limits_were_read(lake) -> None:
    found = read_publishing(lake)
    shop = next(one for one in found.namespaces if one.name == "acme/shop")
    assert (shop.use_msg_per_s, shop.limit_msg_per_s, shop.limit_bytes_per_s) == (88.0, 50, 16_000)
    assert (shop.topics, shop.topics_read, shop.topics_limited, shop.pauses) == (2, 2, 2, 120)
    (acme,) = found.tenants
    assert (acme.name, acme.use_msg_per_s, acme.topics, acme.topics_read) == ("acme", 93.0, 4, 2)


def test_full_quota_stops_producers(lake) -> None:
    """One that evicts stops nobody."""
    (stopped,) = read_publishing(lake).stopped
    assert (stopped.topic, stopped.policy) == ("persistent://acme/logs/full", "producer_exception")
    assert (stopped.rate_msg_per_s, stopped.share, stopped.set_by) == (0.0, 1.125, "namespace_policy")


def test_document_is_plain_json(lake) -> None:
    found = document(read_publishing(lake, "c"))
    assert json.loads(json.dumps(found))["limits"][0]["share_msg"] == 0.96


def test_unknown_cluster_is_an_input_error(lake, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing about publishing"):
        read_publishing(lake, "other")
    with pytest.raises(InputError, match="nothing about publishing"):
        read_publishing(Lake(tmp_path))


@pytest.mark.long
def test_page_has_every_table(lake) -> None:
    reader = LakeReader(lake)
    titles = [one.title for one in tables(read_publishing(lake))]
    text = str(publishing_part(reader, LimitsAddress()))
    assert len(titles) == 5
    assert all(title in text for title in titles)
    assert "acme/logs/full" in text
    assert "publishing only" in text
    only = str(publishing_part(reader, LimitsAddress(namespaces=("acme/logs",))))
    assert "acme/logs/full" in only
    assert "acme/shop/orders" not in only
    assert publishing_part(reader, LimitsAddress(clusters=("other",))) is not None
    assert publishing_part(LakeReader(lake.root + "-none"), LimitsAddress()) is None
