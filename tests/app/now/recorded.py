"""A recording in the place of the two sources. In: a recording's folder. Out: what reads it instead of a Prometheus and an admin API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from throttlescope.app.config import load_settings
from throttlescope.app.services.diagnose_now.admin import TopicAdminData
from throttlescope.app.services.diagnose_now.sources import Sources
from throttlescope.ingest.core.labels import LabelMapping, normalise
from throttlescope.ingest.core.selector import Selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.sources.consumer_stats import consumer_stats
from throttlescope.ingest.sources.prometheus import PrometheusSource
from throttlescope.ingest.sources.recording import Recording, read_recording
from throttlescope.transforms.promql.source import Series

RECORDINGS = Path(__file__).parents[2] / "recordings" / "diagnosis"


@dataclass(frozen=True)
class Recorded:
    """One recording of the development set."""

    name: str

    @cached_property
    def recording(self) -> Recording:
        return read_recording(RECORDINGS / self.name)

    @property
    def topic(self) -> str:
        return f"persistent://lab/{self.name}/orders"

    def state(self, name: str) -> tuple[int, int]:
        """First and last moment of a state's truth: the first one is ``first``, the last one ``last``."""
        spans = sorted({(row["start_ms"], row["end_ms"]) for row in self.recording.truth.to_pylist()})
        return spans[0] if name == "first" else spans[-1]

    def series(self) -> Iterator[Series]:
        """Everything that was scraped, with normalised labels."""
        recording = self.recording
        for batch in recording.source.read(Selector(()), recording.start_ms, recording.end_ms, Meter()):
            for one in batch:
                labels = dict(normalise(one.labels, LabelMapping()).labels)
                yield Series(labels, one.timestamps_ms, one.values, one.stale_ms)

    def policies(self) -> list[dict]:
        """Answers of brokers whose cluster has the name that its samples have been given here."""
        rows = self.recording.policies.to_pylist()
        for row in rows:
            if row["scope"] == "broker_configuration_runtime":
                row["body"] = json.dumps(json.loads(row["body"]) | {"clusterName": self.name})
        return rows

    def said(self, until_ms: int) -> TopicAdminData:
        """What the admin API would have said of the topic up to a moment."""
        return TopicAdminData(
            [row for row in self.policies() if row["observed_ms"] < until_ms],
            self.recording.topic_stats.filter(
                [at < until_ms for at in self.recording.topic_stats["observed_ms"].to_pylist()]
            ),
            tuple(
                one
                for partition, body in self.newest_stats(until_ms).items()
                for one in consumer_stats(partition, body)
            ),
        )

    def newest_stats(self, until_ms: int) -> dict[int, str]:
        """By partition the body of the newest answer about the topic's stats before a moment."""
        found = {}
        for line in (self.recording.folder / "topic_stats.jsonl").read_text().splitlines():
            row = json.loads(line)
            if row["topic"] == self.topic and row["observed_ms"] < until_ms:
                found[row["partition"]] = row["body"]
        return found

    def take_the_place_of_the_sources(self, monkeypatch, said: TopicAdminData | None = None):
        """Let ``diagnose_now`` read this recording; with what the admin API said, if it was asked."""
        opened = PrometheusSource(self.recording.source, None)
        monkeypatch.setattr(Sources, "prometheus", lambda self, deadline: opened)
        monkeypatch.setattr(
            "throttlescope.app.services.diagnose_now.diagnose.read_topic_admin", lambda admin, topic: said
        )


def settings(*, admin: bool = True, **more):
    """Settings with one cluster without a name of its own; nobody answers at its addresses."""
    cluster = {"prometheus": {"url": "http://127.0.0.1:9"}}
    if admin:
        cluster["pulsar_admin"] = {"urls": ["http://127.0.0.1:9"]}
    return load_settings(None, {"clusters": {"pulsar": cluster}, **more})
