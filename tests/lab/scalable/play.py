"""The clock of a scenario of scalable topics: in, a scenario on a running broker; out, what was changed when, and what was asked and counted."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import requests

from tests.lab.admin import Admin
from tests.lab.broker import Broker
from tests.lab.loadprocess import LoadProcess
from tests.lab.parts import SCALABLE_CLIENT, SCALABLE_VERSION
from tests.lab.pressure import Pressure
from tests.lab.prometheus import Prometheus
from tests.lab.run import SNAPSHOT_DELAY_S, follow_states, versions
from tests.lab.scalable.control import apply, create_topics, layout, layout_rows, policy_rows
from tests.lab.scalable.model import ScalableScenario, ScalableStep, ScalableTopic


@dataclass
class ScalablePlayed:
    """What a scenario left behind.

    Attributes
    ----------
    changes
        One row per topic and state: ``topic`` (None: all), ``state``, ``begin_ms``, ``applied_ms``, ``error``.
    interventions
        One row per step: the step's fields, ``topic``, ``state``, ``at_ms``, ``applied_ms``.
    segments
        By topic, the hash range of every segment that it had.
    load_average
        Of the machine, once a minute.
    """

    scenario: ScalableScenario
    start_ms: int = 0
    end_ms: int = 0
    about: dict[str, Any] = field(default_factory=dict)
    changes: list[dict[str, Any]] = field(default_factory=list)
    interventions: list[dict[str, Any]] = field(default_factory=list)
    segments: dict[str, dict[int, str]] = field(default_factory=dict)
    policies: list[dict[str, Any]] = field(default_factory=list)
    reports: dict[str, dict[str, Any]] = field(default_factory=dict)
    pressure: list[dict[str, Any]] = field(default_factory=list)
    load_average: list[float] = field(default_factory=list)


class ScalablePlay:
    """Plays one scenario."""

    def __init__(
        self,
        scenario: ScalableScenario,
        broker: Broker,
        prometheus: Prometheus,
        load: LoadProcess,
        say: Callable[[str], None],
    ) -> None:
        self.scenario, self.broker, self.prometheus, self.load = scenario, broker, prometheus, load
        self.admin = Admin(broker.admin_url, broker.cluster)
        self.played, self.say = ScalablePlayed(scenario), say
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Create topics, make the first changes, connect, and start the load at one moment."""
        client = f"{SCALABLE_CLIENT} {SCALABLE_VERSION}"
        self.played.about = {"versions": versions(self.admin, self.prometheus) | {"client": client}}
        create_topics(self.admin, self.scenario.topics)
        for topic in self.scenario.topics:
            for step in topic.first:
                apply(self.admin, topic, step)
        for topic in self.scenario.topics:
            self.load.command(topic.name, "connect")
        start_s = time.time() + 5
        self.played.start_ms = round(start_s * 1000)
        for topic in self.scenario.topics:
            self.load.command(topic.name, "start", at_s=start_s)
        pids = {"broker": self.broker.pid, "prometheus": self.prometheus.pid, self.load.name: self.load.pid}
        self._pressure = Pressure(pids)
        self._snapshot(policies=True)
        self.say(f"{self.scenario.name}: {len(self.scenario.topics)} topics start")

    def follow(self) -> ScalablePlayed:
        """Do everything at its time, and return what was left behind."""
        scenario = self.scenario
        self.played.end_ms = follow_states(scenario, self.played.start_ms, self._change, self._every_minute)
        self._snapshot(policies=True)
        for topic in scenario.topics:
            self.played.reports[topic.name] = self.load.command(topic.name, "stop")
        self.played.pressure = self._pressure.rows
        return self.played

    def _every_minute(self) -> None:
        self._pressure.sample()
        self.played.load_average.append(round(os.getloadavg()[0], 2))
        self._snapshot()

    def _change(self, state: str) -> None:
        scenario = self.scenario
        general = scenario.cause if state == "cause" else scenario.relief
        if general:
            self._steps(None, state, general)
        with ThreadPoolExecutor(4) as pool:
            own = [(topic, topic.cause if state == "cause" else topic.relief) for topic in scenario.topics]
            list(pool.map(lambda item: self._steps(item[0], state, item[1]), own))
        self.say(f"{scenario.name}: {state}")
        time.sleep(SNAPSHOT_DELAY_S)
        self._snapshot(policies=True)

    def _steps(self, topic: ScalableTopic | None, state: str, steps: Iterable[ScalableStep]) -> None:
        name = topic.name if topic else None
        begin_ms, error = _now_ms(), None
        try:
            for step in steps:
                at_ms = _now_ms()
                if step.action == "set_processing":
                    self.load.command(name or "", "set_processing", processing_ms=step.processing_ms)
                else:
                    apply(self.admin, topic, step)
                row = step.model_dump(mode="json", exclude_none=True) | {"topic": name, "state": state}
                self.played.interventions.append({"at_ms": at_ms, "applied_ms": _now_ms(), **row})
        except (requests.RequestException, RuntimeError, OSError) as failure:
            # Its topic has no truth then; the others go on.
            error = f"{type(failure).__name__}: {failure}"
            self.say(f"{self.scenario.name}: {name}: {error[:200]}")
        row = {"topic": name, "state": state, "begin_ms": begin_ms, "applied_ms": _now_ms(), "error": error}
        self.played.changes.append(row)

    def _snapshot(self, *, policies: bool = False) -> None:
        # A snapshot that fails leaves a gap and voids nothing.
        with self._lock:
            try:
                ask = policy_rows if policies else layout_rows
                self.played.policies += ask(self.admin, self.scenario, self.broker.web_address)
                for topic in self.scenario.topics:
                    known = self.played.segments.setdefault(topic.name, {})
                    known.update(layout(self.admin, topic))
            except (requests.RequestException, ValueError, KeyError) as error:
                self.say(f"{self.scenario.name}: no snapshot: {str(error)[:160]}")


def _now_ms() -> int:
    return round(time.time() * 1000)
