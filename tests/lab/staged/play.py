"""The clock of a scenario of three states: in, a scenario on running servers; out, what was changed when, and what was requested and counted."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import requests

from tests.lab.loadprocess import LoadProcess
from tests.lab.pressure import Pressure
from tests.lab.prometheus import Prometheus
from tests.lab.run import SNAPSHOT_DELAY_S, follow_states


@dataclass
class StagedPlayed:
    """What a scenario left behind.

    Attributes
    ----------
    about
        What ``recording.json`` says of the servers, and whatever else the family wants there.
    changes
        One row per topic and state: ``topic`` (None: all), ``state``, ``begin_ms``, ``applied_ms``, ``error``.
    interventions
        One row per step: ``at_ms``, ``applied_ms``, the step's fields, ``topic`` (None: all), ``state``.
    more
        Rows of further files of the recording, by the file's name.
    load_average
        Of the machine, once a minute.
    """

    scenario: Any
    start_ms: int = 0
    end_ms: int = 0
    about: dict[str, Any] = field(default_factory=dict)
    changes: list[dict[str, Any]] = field(default_factory=list)
    interventions: list[dict[str, Any]] = field(default_factory=list)
    policies: list[dict[str, Any]] = field(default_factory=list)
    topic_stats: list[dict[str, Any]] = field(default_factory=list)
    more: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    reports: dict[str, dict[str, Any]] = field(default_factory=dict)
    pressure: list[dict[str, Any]] = field(default_factory=list)
    load_average: list[float] = field(default_factory=list)


class StagedPlay(ABC):
    """Plays one scenario. A family says how its topics are created, how a step is made, and what a snapshot requests.

    Parameters
    ----------
    loads
        By topic, the process that runs its clients.
    """

    def __init__(
        self,
        scenario: Any,
        prometheus: Prometheus,
        loads: Mapping[str, LoadProcess],
        say: Callable[[str], None],
    ) -> None:
        self.scenario, self.prometheus, self.loads, self.say = scenario, prometheus, loads, say
        self.played = StagedPlayed(scenario)
        self.pressure: Pressure
        self._lock = threading.Lock()

    @abstractmethod
    def _create(self) -> None:
        """Create topics, make the first changes, and say in ``played.about`` on what they are."""

    @abstractmethod
    def _servers(self) -> dict[str, int]:
        """Process ids of servers by name; Prometheus and the loads are known."""

    @abstractmethod
    def _apply(self, topic: Any, step: Any) -> dict[str, Any]:
        """Make one change, of the whole scenario where ``topic`` is None, and return what is noted of it."""

    @abstractmethod
    def _snapshot(self, *, policies: bool, stats: bool) -> None:
        """Request policies, stats, or both; each part :meth:`_with_gaps`."""

    def _steps(self, topic: Any, state: str) -> Sequence[Any]:
        """Steps of a topic, or of the whole scenario (None), at the beginning of a state."""
        of = self.scenario if topic is None else topic
        return of.cause if state == "cause" else of.relief

    def _connect(self) -> None:
        """Connect all clients; a fresh JVM, or a busy machine, takes its time."""
        connect = lambda name: self.loads[name].command(name, "connect", timeout_s=180)  # noqa: E731
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(connect, self.loads))

    def _start(self, at_s: float) -> None:
        """Let all producers start at a time."""
        for name, load in self.loads.items():
            load.command(name, "start", at_s=at_s)

    def _stop(self) -> None:
        """Stop all clients, and keep what they counted."""
        for name, load in self.loads.items():
            self.played.reports[name] = load.command(name, "stop")

    def prepare(self) -> None:
        """Create topics, make the first changes, connect, and start the load at one moment."""
        self._create()
        self._connect()
        start_s = time.time() + 5
        self.played.start_ms = round(start_s * 1000)
        self._start(start_s)
        loads = {load.name: load.pid for load in self.loads.values()}
        self.pressure = Pressure({**self._servers(), "prometheus": self.prometheus.pid, **loads})
        self._take(policies=True)
        self.say(f"{self.scenario.name}: {len(self.scenario.topics)} topics start")

    def follow(self) -> StagedPlayed:
        """Do everything at its time, and return what was left behind."""
        start_ms = self.played.start_ms
        self.played.end_ms = follow_states(self.scenario, start_ms, self._change, self._every_minute)
        self._take(policies=True, stats=True)
        self._stop()
        self.played.pressure = self.pressure.rows
        return self.played

    def _every_minute(self) -> None:
        self.pressure.sample()
        self.played.load_average.append(round(os.getloadavg()[0], 2))
        self._take(stats=True)

    def _change(self, state: str) -> None:
        if self._steps(None, state):
            self._enter(None, state)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda topic: self._enter(topic, state), self.scenario.topics))
        self.say(f"{self.scenario.name}: {state}")
        time.sleep(SNAPSHOT_DELAY_S)
        self._take(policies=True)

    def _enter(self, topic: Any, state: str) -> None:
        """Make the changes that begin a state of a topic, or of all."""
        of = {"topic": topic.name if topic else None, "state": state}
        begin_ms, error = now_ms(), None
        try:
            for step in self._steps(topic, state):
                at_ms = now_ms()
                row = self._apply(topic, step)
                self.played.interventions.append({"at_ms": at_ms, "applied_ms": now_ms(), **row, **of})
        except (requests.RequestException, RuntimeError, OSError) as failure:
            # Its topic has no truth then; the others go on.
            error = f"{type(failure).__name__}: {failure}"
            self.say(f"{self.scenario.name}: {of['topic']}: {error[:200]}")
        self.played.changes.append({**of, "begin_ms": begin_ms, "applied_ms": now_ms(), "error": error})

    def _take(self, *, policies: bool = False, stats: bool = False) -> None:
        with self._lock:
            self._snapshot(policies=policies, stats=stats)

    @contextlib.contextmanager
    def _with_gaps(self, of: str = "") -> Iterator[None]:
        """A snapshot that fails, as next to a restart, leaves a gap and voids nothing."""
        try:
            yield
        except (requests.RequestException, ValueError, KeyError) as error:
            self.say(f"{self.scenario.name}: no snapshot{of and f' of {of}'}: {str(error)[:160]}")


def now_ms() -> int:
    """The time."""
    return round(time.time() * 1000)
