"""The clock of a scenario of the read budget: in, a scenario on a running cluster; out, what was changed when, and what was asked and counted."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import requests

from tests.lab.admin import Admin
from tests.lab.cluster import Cluster
from tests.lab.fleet.play import thin_policy, thin_stats
from tests.lab.loadprocess import LoadProcess
from tests.lab.pressure import Pressure
from tests.lab.prometheus import Prometheus
from tests.lab.reads.model import TENANT, ReadsScenario, ReadsTopic
from tests.lab.run import SNAPSHOT_DELAY_S, follow_states, intervene, versions
from tests.lab.snapshots import broker_rows, namespace_rows, stats_rows

BUDGET = "managedLedgerMaxReadsInFlightSizeInMB"


@dataclass
class ReadsPlayed:
    """What a scenario left behind.

    Attributes
    ----------
    changes
        One row per topic and state: ``topic`` (None: all), ``state``, ``begin_ms``, ``applied_ms``, ``error``.
    interventions
        One row per step: the step's fields, ``topic`` (None: all), ``state``, ``at_ms``, ``applied_ms``.
    load_average
        Of the machine, once a minute.
    """

    scenario: ReadsScenario
    start_ms: int = 0
    end_ms: int = 0
    about: dict[str, Any] = field(default_factory=dict)
    changes: list[dict[str, Any]] = field(default_factory=list)
    interventions: list[dict[str, Any]] = field(default_factory=list)
    policies: list[dict[str, Any]] = field(default_factory=list)
    topic_stats: list[dict[str, Any]] = field(default_factory=list)
    reports: dict[str, dict[str, Any]] = field(default_factory=dict)
    pressure: list[dict[str, Any]] = field(default_factory=list)
    load_average: list[float] = field(default_factory=list)


class ReadsPlay:
    """Plays one scenario."""

    def __init__(
        self,
        scenario: ReadsScenario,
        cluster: Cluster,
        prometheus: Prometheus,
        load: LoadProcess,
        say: Callable[[str], None],
    ) -> None:
        self.scenario, self.cluster, self.prometheus, self.load = scenario, cluster, prometheus, load
        self.broker = cluster.brokers[0]
        self.admin = Admin(cluster.admin_url, cluster.name)
        self.played, self.say = ReadsPlayed(scenario), say
        self._loads = {topic.name: scenario.load(topic) for topic in scenario.topics}
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Create topics, connect, and start the load at one moment."""
        self.played.about = {"versions": versions(self.admin, self.prometheus)}
        self.admin.create_tenant(TENANT)
        for load in self._loads.values():
            self.admin.create_topics(load)
        for name in self._loads:
            self.load.command(name, "connect")
        start_s = time.time() + 5
        self.played.start_ms = round(start_s * 1000)
        for name in self._loads:
            self.load.command(name, "start", at_s=start_s)
        assert self.cluster.network is not None
        own = {
            "prometheus": self.prometheus.pid,
            "network": self.cluster.network.pid,
            self.load.name: self.load.pid,
        }
        self._pressure = Pressure({**self.cluster.pids, **own})
        self._snapshot(policies=True)
        self.say(f"{self.scenario.name}: {len(self._loads)} topics start")

    def follow(self) -> ReadsPlayed:
        """Do everything at its time, and return what was left behind."""
        start_ms = self.played.start_ms
        self.played.end_ms = follow_states(self.scenario, start_ms, self._change, self._every_minute)
        self._snapshot(policies=True)
        for name in self._loads:
            self.played.reports[name] = self.load.command(name, "stop")
        self.played.pressure = self._pressure.rows
        return self.played

    def _every_minute(self) -> None:
        self._pressure.sample()
        self.played.load_average.append(round(os.getloadavg()[0], 2))
        self._snapshot()

    def _change(self, state: str) -> None:
        self._guarded(None, state, self._slow_storage if state == "cause" else self._lift_budget)
        with ThreadPoolExecutor(4) as pool:
            steps = lambda topic: self._guarded(topic, state, lambda: self._steps(topic, state))  # noqa: E731
            list(pool.map(steps, self.scenario.topics))
        self.say(f"{self.scenario.name}: {state}")
        time.sleep(SNAPSHOT_DELAY_S)
        self._snapshot(policies=True)

    def _slow_storage(self) -> None:
        assert self.cluster.network is not None
        at_ms, delay_ms = _now_ms(), self.scenario.delay_ms
        self.cluster.network.shape(delay_ms)
        self._note(None, "cause", at_ms, {"action": "shape_network", "delay_ms": delay_ms})

    def _lift_budget(self) -> None:
        at_ms = _now_ms()
        self.cluster.reconfigure(self.broker, {BUDGET: "0"})
        self._pressure.restarted(self.broker.name, self.broker.pid)
        self._note(None, "relieved", at_ms, {"action": "restart_broker", BUDGET: 0})

    def _steps(self, topic: ReadsTopic, state: str) -> None:
        load = self._loads[topic.name]
        for step in next(one for one in load.timeline if one.name == state).interventions:
            at_ms = _now_ms()
            intervene(self.admin, self.load, load, step)
            self._note(topic, state, at_ms, step.model_dump(mode="json", exclude_none=True))

    def _note(self, topic: ReadsTopic | None, state: str, at_ms: int, step: dict[str, Any]) -> None:
        row = {"topic": topic.name if topic else None, "state": state}
        self.played.interventions.append({"at_ms": at_ms, "applied_ms": _now_ms(), **step, **row})

    def _guarded(self, topic: ReadsTopic | None, state: str, what: Callable[[], None]) -> None:
        begin_ms, error = _now_ms(), None
        name = topic.name if topic else None
        try:
            what()
        except (requests.RequestException, RuntimeError, OSError) as failure:
            # Its topic has no truth then; the others go on.
            error = f"{type(failure).__name__}: {failure}"
            self.say(f"{self.scenario.name}: {name}: {error[:200]}")
        row = {"topic": name, "state": state, "begin_ms": begin_ms, "applied_ms": _now_ms(), "error": error}
        self.played.changes.append(row)

    def _snapshot(self, *, policies: bool = False) -> None:
        # A snapshot that fails, as next to a restart, leaves a gap and voids nothing.
        with self._lock:
            try:
                for load in self._loads.values():
                    rows = stats_rows(self.admin, load)
                    self.played.topic_stats += [thin_stats(row) for row in rows]
                if not policies:
                    return
                address = self.broker.web_address
                rows = [thin_policy(row) for row in broker_rows(self.admin, address)]
                for load in self._loads.values():
                    rows += namespace_rows(self.admin, load, address)
                self.played.policies += rows
            except (requests.RequestException, ValueError, KeyError) as error:
                self.say(f"{self.scenario.name}: no snapshot: {str(error)[:160]}")


def _now_ms() -> int:
    return round(time.time() * 1000)
