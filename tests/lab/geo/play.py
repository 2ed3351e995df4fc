"""The clock of a geo scenario: in, a scenario on a running pair; out, what was changed when, what was asked, and what the clients counted."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pulsar
import requests

from tests.lab.geo.control import (
    LOCAL_SUBSCRIPTION,
    apply,
    create_topics,
    policy_rows,
    separate_connections,
    stats_rows,
)
from tests.lab.geo.model import TENANT, TOPIC, GeoScenario, GeoStep, ReplicatedTopic
from tests.lab.geo.pair import Pair
from tests.lab.geo.schema_producer import SchemaProducer
from tests.lab.loadprocess import LoadProcess
from tests.lab.pressure import Pressure
from tests.lab.prometheus import Prometheus
from tests.lab.run import SNAPSHOT_DELAY_S, follow_states, versions
from throttlescope.models.throttling.scenario import Scenario

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


@dataclass
class GeoPlayed:
    """What a scenario left behind.

    Attributes
    ----------
    changes
        One row per topic and state: ``topic`` (None: all), ``state``, ``begin_ms``, ``applied_ms``, ``error``.
    interventions
        One row per step: the step's fields, ``topic``, ``state``, ``at_ms``, ``applied_ms``.
    load_average
        Of the machine, once a minute.
    """

    scenario: GeoScenario
    start_ms: int = 0
    end_ms: int = 0
    about: dict[str, Any] = field(default_factory=dict)
    changes: list[dict[str, Any]] = field(default_factory=list)
    interventions: list[dict[str, Any]] = field(default_factory=list)
    policies: list[dict[str, Any]] = field(default_factory=list)
    topic_stats: list[dict[str, Any]] = field(default_factory=list)
    internal_stats: list[dict[str, Any]] = field(default_factory=list)
    reports: dict[str, dict[str, Any]] = field(default_factory=dict)
    pressure: list[dict[str, Any]] = field(default_factory=list)
    load_average: list[float] = field(default_factory=list)


class GeoPlay:
    """Plays one scenario."""

    def __init__(
        self,
        scenario: GeoScenario,
        pair: Pair,
        prometheus: Prometheus,
        loads: dict[str, LoadProcess],
        logger: pulsar.FileLogger,
        say: Callable[[str], None],
    ) -> None:
        self.scenario, self.pair, self.prometheus, self.loads = scenario, pair, prometheus, loads
        self.played, self.say = GeoPlayed(scenario), say
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
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Create topics, make the first changes, connect, and start the load at one moment."""
        self.played.about = {
            "versions": versions(self.pair.east.admin, self.prometheus),
            "clusters": {
                cluster.web_address: self.scenario.label(cluster.name) for cluster in self.pair.clusters
            },
        }
        create_topics(self.pair, self.scenario.topics)
        for step in self.scenario.first:
            apply(self.pair, None, step)
        for topic in self.scenario.topics:
            for step in topic.first:
                apply(self.pair, topic, step)
        time.sleep(SNAPSHOT_DELAY_S)
        with ThreadPoolExecutor(4) as pool:
            names = [topic.name for topic in self.scenario.topics]
            list(pool.map(lambda name: self.loads[name].command(name, "connect"), names))
        separate_connections(self.pair, self.scenario.topics)
        start_s = time.time() + 5
        self.played.start_ms = round(start_s * 1000)
        for name, load in self.loads.items():
            load.command(name, "start", at_s=start_s)
        for producer in self._schema_producers.values():
            producer.start()
        processes = {load.name: load.pid for load in self.loads.values()}
        self._pressure = Pressure({**self.pair.pids, "prometheus": self.prometheus.pid, **processes})
        self._snapshot(policies=True)
        self.say(f"{self.scenario.name}: {len(self.scenario.topics)} topics start")

    def follow(self) -> GeoPlayed:
        """Do everything at its time, and return what was left behind."""
        scenario = self.scenario
        self.played.end_ms = follow_states(scenario, self.played.start_ms, self._change, self._every_minute)
        self._snapshot(policies=True, stats=True)
        for producer in self._schema_producers.values():
            producer.stop()
        for name, load in self.loads.items():
            self.played.reports[name] = load.command(name, "stop")
        for name, producer in self._schema_producers.items():
            self.played.reports[name]["producers"] = {TOPIC: producer.report()}
        self.played.pressure = self._pressure.rows
        return self.played

    def _every_minute(self) -> None:
        self._pressure.sample()
        self.played.load_average.append(round(os.getloadavg()[0], 2))
        self._snapshot(stats=True)

    def _change(self, state: str) -> None:
        scenario = self.scenario
        general = scenario.cause if state == "cause" else scenario.relief
        if general:
            self._steps(None, state, general)
        with ThreadPoolExecutor(4) as pool:
            own = {topic: topic.cause if state == "cause" else topic.relief for topic in scenario.topics}
            list(pool.map(lambda item: self._steps(item[0], state, item[1]), own.items()))
        self.say(f"{scenario.name}: {state}")
        time.sleep(SNAPSHOT_DELAY_S)
        self._snapshot(policies=True)

    def _steps(self, topic: ReplicatedTopic | None, state: str, steps: Iterable[GeoStep]) -> None:
        name = topic.name if topic else None
        begin_ms, error = _now_ms(), None
        try:
            for step in steps:
                at_ms = _now_ms()
                if step.action == "change_schema":
                    self._schema_producers[name or ""].change_schema()
                else:
                    apply(self.pair, topic, step)
                if step.action == "start_cluster":
                    self._pressure.restarted(step.cluster, self.pair.cluster(step.cluster).pid)
                row = step.model_dump(mode="json", exclude_none=True)
                row |= {"cluster": self.scenario.label(step.cluster), "topic": name, "state": state}
                self.played.interventions.append({"at_ms": at_ms, "applied_ms": _now_ms(), **row})
        except (requests.RequestException, RuntimeError, OSError) as failure:
            # Its topic has no truth then; the others go on.
            error = f"{type(failure).__name__}: {failure}"
            self.say(f"{self.scenario.name}: {name}: {error[:200]}")
        self.played.changes.append(
            {"topic": name, "state": state, "begin_ms": begin_ms, "applied_ms": _now_ms(), "error": error}
        )

    def _snapshot(self, *, stats: bool = False, policies: bool = False) -> None:
        # A snapshot that fails, as next to a stop, leaves a gap and voids nothing.
        with self._lock:
            for cluster in self.pair.clusters:
                try:
                    if stats and cluster.alive:
                        topic_stats, internal = stats_rows(cluster, self.scenario)
                        self.played.topic_stats += topic_stats
                        self.played.internal_stats += internal
                    if policies and cluster.alive:
                        self.played.policies += policy_rows(cluster, self.scenario)
                except (requests.RequestException, ValueError, KeyError) as error:
                    self.say(f"{self.scenario.name}: no snapshot of {cluster.name}: {str(error)[:160]}")


def _now_ms() -> int:
    return round(time.time() * 1000)
