"""Questions of one shard and one day together. In: a lake and questions. Out: pieces of work that read each file once, and their answers.

A file of ``samples`` holds one metric, hour and shard; all series of a topic are in one shard. Episode by episode
the same files would be opened again and again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.labels import shard_of
from throttlescope.ingest.core.times import DAY_MS, block_start
from throttlescope.ingest.lake import DataFile, Lake, read_files
from throttlescope.models.episodes.levers.lifted import HISTORY_MS, answer
from throttlescope.models.episodes.levers.question import LeverQuestion
from throttlescope.models.throttling.replay.admin import TopicFacts, version
from throttlescope.models.throttling.replay.series import BROKER_METRICS, METRICS, of_topics, series_of

_CATALOGUE = ["series_id", "metric_name", "labels"]


@dataclass(frozen=True, eq=False)
class ShardWork:
    """Questions of one cluster's shard and UTC day, and what their answers are read from.

    Attributes
    ----------
    series_files, sample_files : tuple of DataFile
        The shard's files of ``series``, and its and the brokers' files of ``samples``.
    brokers : pyarrow.Table
        Rows of ``series`` of the cluster's brokers.
    facts : mapping
        What the admin API reported, by topic.
    """

    cluster: str
    questions: tuple[LeverQuestion, ...]
    series_files: tuple[DataFile, ...]
    sample_files: tuple[DataFile, ...]
    brokers: pa.Table
    facts: Mapping[str, TopicFacts]


def works_of(lake: Lake, cluster: str, questions: Iterable[LeverQuestion]) -> list[ShardWork]:
    """Cut the questions of a cluster into pieces of work."""
    grouped: dict[tuple[int, int], list[LeverQuestion]] = {}
    for question in sorted(questions, key=lambda one: (one.key, one.at_ms)):
        shard = shard_of(cluster, question.key.namespace, question.key.topic)
        grouped.setdefault((shard, question.at_ms // DAY_MS), []).append(question)
    if not grouped:
        return []
    facts = _facts_by_topic(lake, cluster, {one.key.topic for mine in grouped.values() for one in mine})
    of_brokers = (pc.field("cluster") == cluster) & pc.field("metric_name").isin(BROKER_METRICS)
    brokers = lake.read("series", where=of_brokers)
    broker_shards = set(brokers["shard"].to_pylist())
    series_files: dict[str, list[DataFile]] = {}
    for file in lake.files("series"):
        series_files.setdefault(file.partition["shard"], []).append(file)
    times_ms = [one.at_ms for mine in grouped.values() for one in mine]
    files = lake.files(
        "samples",
        partition={"metric_name": METRICS},
        between={"block_start_ms": (block_start(min(times_ms) - HISTORY_MS), max(times_ms))},
    )
    found = []
    for (shard, _), mine in sorted(grouped.items()):
        low_ms, high_ms = (
            block_start(min(one.at_ms for one in mine) - HISTORY_MS),
            max(one.at_ms for one in mine),
        )
        wanted = [
            file
            for file in files
            if low_ms <= file.minimum["block_start_ms"] < high_ms
            and file.minimum.get("cluster", cluster) == cluster
            and (
                file.minimum["shard"] == shard
                or (
                    file.partition["metric_name"] in BROKER_METRICS and file.minimum["shard"] in broker_shards
                )
            )
        ]
        topics = {one.key.topic for one in mine}
        found.append(
            ShardWork(
                cluster,
                tuple(mine),
                tuple(series_files.get(str(shard), ())),
                tuple(wanted),
                brokers.select(_CATALOGUE),
                {topic: facts[topic] for topic in topics},
            )
        )
    return found


def answers_of(work: ShardWork) -> Iterator[tuple[str, dict[str, Any]]]:
    """The id of each episode and the value of its ``counterfactual``."""
    topics = {question.key.topic for question in work.questions}
    where = (pc.field("cluster") == work.cluster) & pc.field("metric_name").isin(METRICS)
    shard = read_files("series", list(work.series_files), columns=_CATALOGUE, where=where)
    catalogue = pa.concat_tables([of_topics(shard, topics), work.brokers])
    times_ms = [question.at_ms for question in work.questions]
    series = series_of(work.sample_files, catalogue, min(times_ms) - HISTORY_MS, max(times_ms))
    brokers = [item for item in series if "topic" not in item.labels]
    by_topic: dict[str, list] = {}
    for item in series:
        by_topic.setdefault(item.labels.get("topic", ""), []).append(item)
    for question in work.questions:
        topic = question.key.topic
        yield question.episode_id, answer(question, by_topic.get(topic, []) + brokers, work.facts[topic])


def _facts_by_topic(lake: Lake, cluster: str, topics: set[str]) -> dict[str, TopicFacts]:
    where = (pc.field("cluster") == cluster) & pc.field("topic").isin(sorted(topics))
    rows: dict[str, dict[str, list]] = {}
    for table in ("limits", "topic_stats"):
        for row in lake.read(table, where=where).to_pylist():
            rows.setdefault(row["topic"], {}).setdefault(table, []).append(row)
    broker_version = version(lake, cluster)
    return {topic: _facts_of(rows.get(topic, {}), broker_version) for topic in topics}


def _facts_of(rows: Mapping[str, Sequence[Mapping]], broker_version: str | None) -> TopicFacts:
    return TopicFacts(rows.get("limits", ()), rows.get("topic_stats", ()), broker_version)
