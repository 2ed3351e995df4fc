"""Plays a geo scenario: in, a scenario on a running pair; out, what was changed when, what was requested, and what the clients counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import pulsar

from tests.lab.geo.control import (
    LOCAL_SUBSCRIPTION,
    apply,
    create_topics,
    policy_rows,
    separate_connections,
    stats_rows,
)
from tests.lab.geo.model import TENANT, GeoScenario, GeoStep, ReplicatedTopic
from tests.lab.geo.pair import Pair
from tests.lab.geo.schema_producer import SchemaProducer
from tests.lab.loadprocess import LoadProcess
from tests.lab.prometheus import Prometheus
from tests.lab.run import SNAPSHOT_DELAY_S, versions
from tests.lab.staged.model import TOPIC
from tests.lab.staged.play import StagedPlay
from throttlescope.models.throttling.scenario import Scenario

INTERNAL_STATS = "internal_stats.jsonl"
#: Local consumers are fast: the replicator is the subject.
_LOCAL = {"name": LOCAL_SUBSCRIPTION, "topic": TOPIC, "type": "Shared", "consumers": 1, "processing_ms": 0}


def load_of(scenario: GeoScenario, topic: ReplicatedTopic) -> Scenario:
    """What clients do with a topic on the cluster that sends."""
    producer = topic.producer.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    if topic.schema_name is not None:
        # Its messages come from a :class:`SchemaProducer`.
        producer["rate_msg"] = 0
    return Scenario.model_validate(
        {
            "format": 1,
            "name": topic.name,
            "tenant": TENANT,
            "topics": [{"name": TOPIC}],
            "subscriptions": [_LOCAL],
            "producers": [producer] if topic.schema_name is None else [],
            "timeline": [{"name": "all", "duration_s": scenario.duration_s}],
        }
    )


class GeoPlay(StagedPlay):
    """Plays one scenario."""

    def __init__(
        self,
        scenario: GeoScenario,
        pair: Pair,
        prometheus: Prometheus,
        loads: Mapping[str, LoadProcess],
        logger: pulsar.FileLogger,
        say: Callable[[str], None],
    ) -> None:
        super().__init__(scenario, prometheus, loads, say)
        self.pair = pair
        self.played.more = {INTERNAL_STATS: []}
        self._schema_producers = {
            topic.name: SchemaProducer(
                pair.cluster(topic.source).service_url,
                topic.full_name,
                topic.producer.rate_msg,
                topic.producer.size_bytes or 0,
                logger,
            )
            for topic in scenario.topics
            if topic.schema_name is not None
        }

    def _create(self) -> None:
        instances = {self.scenario.label(cluster.name): cluster.web_address for cluster in self.pair.clusters}
        self.played.about = {
            "versions": versions(self.pair.east.admin, self.prometheus),
            "clusters": sorted(instances),
            "instances": instances,
        }
        create_topics(self.pair, self.scenario.topics)
        for step in self.scenario.first:
            apply(self.pair, None, step)
        for topic in self.scenario.topics:
            for step in topic.first:
                apply(self.pair, topic, step)
        time.sleep(SNAPSHOT_DELAY_S)

    def _servers(self) -> dict[str, int]:
        return self.pair.pids

    def _connect(self) -> None:
        super()._connect()
        separate_connections(self.pair, self.scenario.topics)

    def _start(self, at_s: float) -> None:
        super()._start(at_s)
        for producer in self._schema_producers.values():
            producer.start()

    def _stop(self) -> None:
        for producer in self._schema_producers.values():
            producer.stop()
        super()._stop()
        for name, producer in self._schema_producers.items():
            self.played.reports[name]["producers"] = {TOPIC: producer.report()}

    def _apply(self, topic: ReplicatedTopic | None, step: GeoStep) -> dict[str, Any]:
        if step.action == "change_schema":
            assert topic is not None
            self._schema_producers[topic.name].change_schema()
        else:
            apply(self.pair, topic, step)
        if step.action == "start_cluster":
            self.pressure.restarted(step.cluster, self.pair.cluster(step.cluster).pid)
        return step.model_dump(mode="json", exclude_none=True) | {
            "cluster": self.scenario.label(step.cluster)
        }

    def _snapshot(self, *, policies: bool, stats: bool) -> None:
        for cluster in self.pair.clusters:
            if not cluster.alive:
                continue
            with self._with_gaps(cluster.name):
                if stats:
                    topic_stats, internal = stats_rows(cluster, self.scenario)
                    self.played.topic_stats += topic_stats
                    self.played.more[INTERNAL_STATS] += internal
                if policies:
                    self.played.policies += policy_rows(cluster, self.scenario)
