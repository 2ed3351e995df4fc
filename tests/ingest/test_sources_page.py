"""The page of the sources tells all metrics and questions that there are."""

from __future__ import annotations

import re
from pathlib import Path

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.labels import LabelMapping, normalise
from throttlescope.ingest.core.metrics import METRICS, needs_labels

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "sources.md").read_text()


def test_every_metric_has_its_line() -> None:
    lines = re.findall(r"^\| `((?:pulsar|scrape)_\w+|up)` \| (.+) \|$", PAGE, re.M)
    expected = [(m.name, f"{m.level} | {m.unit} | {m.kind} | {m.doc}") for m in METRICS.values()]
    assert [line for line in lines if line[1].count(" | ") == 3] == expected


def test_every_question_has_its_line() -> None:
    scopes = re.findall(r"^\| `(\w+)` \| (?:`/|`\.\.\.)", PAGE, re.M)
    assert sorted(scopes) == sorted(TABLES["policies"].column("scope").words)


def test_the_label_table_is_true() -> None:
    """The left side of each line, normalised, is the right side."""
    base = {"__name__": "pulsar_rate_in", "cluster": "c", "namespace": "t/n"}
    for topic, partition, expected in (
        ("persistent://t/n/x-partition-3", None, ("persistent://t/n/x", "3")),
        ("persistent://t/n/x", "3", ("persistent://t/n/x", "3")),
        ("persistent://t/n/x", None, ("persistent://t/n/x", "-1")),
        ("persistent://t/n/x-partition-3", "-1", ("persistent://t/n/x-partition-3", "-1")),
        ("segment://t/n/x/0000-7fff-3", None, ("topic://t/n/x", "3")),
    ):
        found = base | {"topic": topic} | ({"partition": partition} if partition else {})
        labels = dict(normalise(tuple(sorted(found.items())), LabelMapping()).labels)
        assert (labels["topic"], labels["partition"]) == expected
        assert f'topic="{topic}"' in PAGE


def test_units_and_kinds_of_metrics() -> None:
    for name, metric in METRICS.items():
        assert metric.kind in ("counter", "count_60s", "gauge", "gauge_60s")
        # A counter's name says so, and nothing else's does.
        cumulative = name.endswith(
            ("_total", "_events", "_times", "_count", "total_msg_expired")
        ) and name not in (
            "pulsar_subscription_consumers_count",
            "pulsar_entry_size_count",
            "pulsar_replication_connected_count",
            # Set to 0 by the broker every 60 s.
            "pulsar_publish_rate_limit_times",
        )
        assert (metric.kind == "counter") == cumulative, name
        assert needs_labels(name) == () or needs_labels(name)[0] == "namespace"
    assert needs_labels("not_ours") == ()
