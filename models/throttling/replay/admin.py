"""What the admin API reported about a topic. In: a lake, or rows, a topic and a time; out: rows of ``limits`` and ``topic_stats``, the version."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from throttlescope.ingest.lake import Lake
from throttlescope.models.throttling.replay.observed import LimitKey


@dataclass(frozen=True, eq=False)
class TopicFacts:
    """What is known of a topic besides its samples.

    Attributes
    ----------
    limits, topic_stats : list of dict
        Rows of the two tables of the topic, of any time.
    broker_version : str or None
        The version that the cluster's brokers gave last.
    """

    limits: Sequence[Mapping]
    topic_stats: Sequence[Mapping]
    broker_version: str | None

    def of_replicator(self, subscription: str) -> TopicFacts:
        """Limits of a replicator alone: it shares none with the topic's subscriptions, and has no stats of their kind."""
        limits = [row for row in self.limits if row["subscription"] == subscription]
        return TopicFacts(limits, (), self.broker_version)

    def limit_rows(self, end_ms: int) -> dict[LimitKey, Sequence[Mapping]]:
        """Rows of ``limits`` as they were read before a time, oldest first; where all are younger, the first ones after it."""
        found: dict[LimitKey, list[Mapping]] = {}
        for row in newest(self.limits, end_ms):
            found.setdefault((row["level"], row["partition"], row["subscription"]), []).append(row)
        return found


def topic_facts(lake: Lake, cluster: str, topic: str) -> TopicFacts:
    """What a lake has of a topic."""
    where = (pc.field("cluster") == cluster) & (pc.field("topic") == topic)
    limits, stats = (lake.read(table, where=where).to_pylist() for table in ("limits", "topic_stats"))
    return TopicFacts(limits, stats, version(lake, cluster))


def newest(rows: Iterable[Mapping], end_ms: int) -> list[Mapping]:
    """Rows of a topic from before a time, oldest first; where all are younger, those of the first reading after it."""
    rows = sorted(rows, key=lambda row: row["observed_ms"])
    before = [row for row in rows if row["observed_ms"] < end_ms]
    return before or [row for row in rows if row["observed_ms"] == rows[0]["observed_ms"]]


def version(lake: Lake, cluster: str) -> str | None:
    """The version that the cluster's brokers gave last."""
    where = (pc.field("cluster") == cluster) & (pc.field("scope") == "broker_version")
    rows = [row for row in lake.read("policies", where=where).to_pylist() if row["body"]]
    if not rows:
        return None
    found = re.search(r"\d+\.\d+\.\d+", max(rows, key=lambda row: row["observed_ms"])["body"])
    return found[0] if found else None
