"""Matchers that look for the partition inside ``topic``: an answer of a lake warns of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.app.commands import throttlescope
from tests.transforms.lakes import lake_of
from throttlescope.app.server.app import create_app
from throttlescope.transforms.promql.engine import Engine
from throttlescope.transforms.promql.source import Series

START_MS = 1_700_000_000_000
TIMES_MS = START_MS + 60_000 * np.arange(10)
TOPIC = "persistent://t/n/x"


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """Two partitions as a broker names them by default, a topic without any, and a metric that is none of Pulsar's."""
    found = [
        Series({"__name__": name, "cluster": "c", "namespace": "t/n", "topic": topic}, TIMES_MS, np.ones(10))
        for name, topic in (
            ("pulsar_storage_size", f"{TOPIC}-partition-0"),
            ("pulsar_storage_size", f"{TOPIC}-partition-1"),
            ("pulsar_storage_size", "persistent://t/n/y"),
            ("kafka_lag", f"{TOPIC}-partition-1"),
        )
    ]
    return lake_of(tmp_path_factory.mktemp("partitions") / "lake", found)


@pytest.fixture(scope="module")
def client(lake):
    return create_app(lake.root).server.test_client()


WARNED = [
    f'pulsar_storage_size{{topic="{TOPIC}-partition-1"}}',
    f'sum(rate({{topic="{TOPIC}-partition-0"}}[5m]))',
    'pulsar_storage_size{topic=~".*-partition-.*"}',
    f'pulsar_storage_size{{topic=~"persistent://t/n/y|{TOPIC}-partition-0"}}',
    f'pulsar_storage_size{{topic!="{TOPIC}-partition-1"}}',
    'count(pulsar_storage_size{topic!~".*-partition-[0-9]+"})',
    'pulsar_storage_size{topic=~".*x.+1"}',
]


@pytest.mark.parametrize("text", WARNED)
def test_partition_inside_topic_is_warned_of(lake, text):
    (warning,) = Engine(lake).range(text, START_MS, START_MS + 300_000, 60_000).warnings
    assert 'partition="' in warning
    assert f'topic="{TOPIC}"' in warning


@pytest.mark.parametrize(
    "text",
    [
        "sum by (topic) (pulsar_storage_size)",
        f'pulsar_storage_size{{topic="{TOPIC}"}}',
        f'pulsar_storage_size{{topic="{TOPIC}",partition="1"}}',
        f'pulsar_storage_size{{topic!="{TOPIC}"}}',
        f'pulsar_storage_size{{topic=~"{TOPIC}(-partition-[0-9]+)?"}}',
        'pulsar_storage_size{topic=~"persistent://t/.*"}',
        # No such partition anywhere: there is nothing to mean.
        f'pulsar_storage_size{{topic="{TOPIC}-partition-7"}}',
        f'kafka_lag{{topic="{TOPIC}-partition-1"}}',
    ],
)
def test_other_matchers_have_no_warning(lake, text):
    assert Engine(lake).range(text, START_MS, START_MS + 300_000, 60_000).warnings == ()


def test_suggested_matchers_select_the_partition(lake):
    (warning,) = Engine(lake).instant(WARNED[0], START_MS).warnings
    suggested = warning.split("write ")[1].split(" for ")[0]
    answer = Engine(lake).instant(f"pulsar_storage_size{{{suggested}}}", START_MS)
    assert [dict(labels)["partition"] for labels in answer.value.labels] == ["1"]


@pytest.mark.parametrize(
    ("address", "parameters"),
    [
        ("query", {"query": WARNED[0], "time": START_MS // 1000}),
        ("series", {"match[]": WARNED[0]}),
        ("labels", {"match[]": WARNED[0]}),
        ("label/topic/values", {"match[]": WARNED[0]}),
    ],
)
def test_http_api_warns(client, address, parameters):
    body = client.get(f"/api/v1/{address}", query_string=parameters).get_json()
    assert body["status"] == "success"
    assert len(body["warnings"]) == 1
    assert 'partition="1"' in body["warnings"][0]


@pytest.mark.long
def test_command_warns(lake):
    outcome = throttlescope("promql", WARNED[0], "--lake", lake.root, "--at", "2023-11-14T22:15:00Z")
    assert outcome.code == 0
    assert 'partition="1"' in outcome.err
