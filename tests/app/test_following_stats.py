"""Stats while a run goes on: taken in rounds, kept until they are stored, and used by the minutes that they were taken for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tests.transforms.lakes import stats_row
from throttlescope.app.pipeline.follow.signals import HourlySignals
from throttlescope.app.pipeline.follow.stats import StatsWatch
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.core.metrics import BACKLOG, PUBLISH_PAUSES
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, block_start
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.sources.pulsar_admin import AdminSnapshot, AdminTopic, Failure
from throttlescope.transforms.promql.source import Series
from throttlescope.transforms.sample_window import SampleWindow

T = 1_700_000_000_000
ONE = AdminTopic("persistent://t/n/one", (0, 1))


class Admin:
    """Answers every sample with one row, or not at all."""

    def __init__(self):
        self.sampled_topics, self.failure, self.error = [], None, None

    def sample(self, cluster, topics, **bounds):
        self.sampled_topics.append((cluster, topics, bounds))
        if self.error is not None:
            raise self.error
        rows = []
        if self.failure is None:
            at_ms = T + len(self.sampled_topics)
            rows = [
                stats_row(
                    at_ms=at_ms, cluster=cluster, namespace="t/n", topic=topics[0].name, partition=0, subscription="s"
                )
            ]  # fmt: skip
        stats = TABLES["topic_stats"].conform(
            pa.Table.from_pylist(rows, schema=TABLES["topic_stats"].loose_schema)
        )
        policies = TABLES["policies"].schema.empty_table()
        return AdminSnapshot(policies, stats, 1, 1, [] if self.failure is None else [self.failure])


@pytest.fixture
def watch(tmp_path):
    messages = []
    watch = StatsWatch(Lake(tmp_path), Admin(), "test", messages.append)
    watch.messages = messages
    return watch


def look(watch, topics=(ONE,)):
    watch.look("prod", topics)
    watch.end(30)


def test_rows_are_kept_until_stored(watch):
    look(watch)
    look(watch)
    assert watch.rows().column("observed_ms").to_pylist() == [T + 1, T + 2]
    watch.store()
    assert watch.rows().num_rows == 0
    look(watch)
    assert watch.rows().num_rows == 1
    watch.store()
    assert watch.lake.read("topic_stats").num_rows == 3


def test_rounds_keep_the_call_budget(watch):
    look(watch)
    many = [AdminTopic(f"persistent://t/n/{n}", (-1,)) for n in range(40)]
    look(watch, many)
    look(watch, ())
    assert [bounds["rounds"] for _, _, bounds in watch.admin.sampled_topics] == [3, 1]
    assert all(bounds["max_calls"] == 60 for _, _, bounds in watch.admin.sampled_topics)


@pytest.mark.parametrize("broken", ["failure", "error"])
def test_failing_rounds_are_reported_once(watch, broken):
    fault = Failure("topic_stats", ONE.name, "500") if broken == "failure" else SourceError("no answer")
    setattr(watch.admin, broken, fault)
    look(watch)
    look(watch)
    setattr(watch.admin, broken, None)
    look(watch)
    look(watch)
    assert len(watch.messages) == 2
    assert watch.messages[1] == "stats of topics are read again"
    assert watch.rows().num_rows == 2


def test_unstored_stats_count_as_evidence(watch):
    """Rows that are not stored yet are used, and storing them changes nothing."""
    hour_ms = block_start(T)
    labels = {
        "cluster": "prod", "namespace": "t/n", "topic": ONE.name, "partition": "0", "subscription": "s",
        "instance": "b:1",
    }  # fmt: skip
    times_ms = np.arange(hour_ms, T, 15_000)
    window = SampleWindow()
    window.put_before(
        BACKLOG,
        {"one": Series({"__name__": BACKLOG, **labels}, times_ms, np.full(len(times_ms), 9.0))},
        hour_ms + BLOCK_MS,
    )
    look(watch)
    signals = HourlySignals(watch.lake, window, "test", watch)
    signals.build([hour_ms])

    def sampled():
        rows = watch.lake.read("signals").to_pylist()
        return {row["minute_ms"]: row["stats_samples"] for row in rows if row["stats_samples"]}

    before = sampled()
    assert list(before.values()) == [1]
    assert abs(next(iter(before)) + MINUTE_MS - T) <= MINUTE_MS
    watch.store()
    signals.build([hour_ms])
    assert sampled() == before


def test_window_names_paused_topics():
    times_ms = np.arange(T - 600_000, T, 15_000)
    window = SampleWindow()
    assert window.topics_with_pauses("prod", 0) is None
    for topic, values in {"loud": [0.0] * 30 + [7.0] * 10, "was": [9.0] * 30 + [0.0] * 10}.items():
        name = f"persistent://t/n/{topic}"
        labels = {"__name__": PUBLISH_PAUSES, "cluster": "prod", "topic": name, "partition": "-1"}
        window.put_before(PUBLISH_PAUSES, {topic: Series(labels, times_ms, np.array(values))}, T + BLOCK_MS)
    found = window.topics_with_pauses("prod", T - 120_000)
    assert found == [AdminTopic("persistent://t/n/loud", (-1,))]
    assert window.topics_with_pauses("other", 0) == []


def test_paused_topics_are_sampled_too(watch):
    loud = AdminTopic("persistent://t/n/loud", (-1,))
    watch.look("prod", (ONE,), publishers=[loud])
    watch.end(30)
    assert watch.admin.sampled_topics[0][2]["publishers"] == [loud]
