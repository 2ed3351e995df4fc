"""The clock of a group: in, scenarios on a running broker; out, every change at its time and one outcome per scenario."""

from __future__ import annotations

import heapq
import json
import math
import platform
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulsar
import requests

from tests.lab.admin import Admin
from tests.lab.broker import Broker
from tests.lab.judge import Evidence, Outcome, judge, read_back
from tests.lab.loadprocess import LoadProcess
from tests.lab.parts import java_binary
from tests.lab.pressure import Pressure
from tests.lab.prometheus import Prometheus
from tests.lab.recording import LAB_VERSION
from tests.lab.snapshots import policy_rows, stats_rows
from throttlescope.models.throttling.scenario import (
    Hang,
    Intervention,
    LiftLimit,
    Scenario,
    Seek,
    SetAck,
    SetBacklogQuota,
    SetConsumers,
    SetDelay,
    SetLimit,
    SetRate,
    SetRedelivery,
    SetTtl,
    TouchPolicy,
    Unload,
)

_DONE_BY_CLIENTS = (SetConsumers, SetAck, SetRedelivery, SetRate, SetDelay, Hang)

STATS_EVERY_S = 60
#: Topic policies reach the topic through a system topic; the snapshot after a change waits for that.
SNAPSHOT_DELAY_S = 5


@dataclass
class Running:
    """A scenario that runs, and what it has left behind so far."""

    scenario: Scenario
    load: LoadProcess
    evidence: Evidence


class Run:
    """The clock of a group: does every change of every scenario at its absolute time."""

    def __init__(
        self,
        group: str,
        broker: Broker,
        prometheus: Prometheus,
        out_dir: Path,
        scratch_dir: Path,
        say: Callable[[str], None],
        done: Callable[[Outcome], None],
        *,
        count_cpu: bool = True,
        with_ages: bool = False,
    ) -> None:
        self._count_cpu, self.with_ages = count_cpu, with_ages
        self.group, self.broker, self.prometheus = group, broker, prometheus
        self.out_dir, self.scratch_dir, self.say, self.done = out_dir, scratch_dir, say, done
        self.admin = Admin(broker.admin_url, broker.cluster)
        self.running: dict[str, Running] = {}
        self.start_s = 0.0
        self.pressure: Pressure | None = None
        self._about: dict[str, Any] = {}
        # The queue of what happens when: (epoch seconds, order, what).
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = 0
        self._lock = threading.Lock()

    def add(self, scenario: Scenario, load: LoadProcess, scenario_yaml: str) -> None:
        """Take a scenario in, with the load process that runs it and the text of its file."""
        self.running[scenario.name] = Running(scenario, load, Evidence(scenario, scenario_yaml))

    def prepare(self) -> None:
        """Create topics, set limits, connect, and start the load at one moment."""
        self._about = {
            "versions": versions(self.admin, self.prometheus),
            "instance": self.broker.web_address,
            "pulsar_cluster": self.broker.cluster,
            "group": {
                "name": self.group,
                "rate_msg": sum(item.scenario.rate_msg for item in self.running.values()),
                "side_by_side": len(self.running),
            },
        }
        self.admin.create_tenant()
        for item in self.running.values():
            self.admin.create_topics(item.scenario)
            for limit in item.scenario.limits:
                self.admin.set_limit(item.scenario, limit)
        time.sleep(SNAPSHOT_DELAY_S)
        with ThreadPoolExecutor(8) as pool:
            list(
                pool.map(lambda item: item.load.command(item.scenario.name, "connect"), self.running.values())
            )
        for item in self.running.values():
            item.evidence.policies += policy_rows(self.admin, item.scenario, self.broker.web_address)
        self.start_s = time.time() + 5
        for item in self.running.values():
            item.load.command(item.scenario.name, "start", at_s=self.start_s)
        names = {item.load.name: item.load.pid for item in self.running.values()}
        self.pressure = Pressure({"broker": self.broker.pid, "prometheus": self.prometheus.pid, **names})
        live = {
            "prometheus": self.prometheus.url,
            "admin": self.broker.admin_url,
            "instance": self.broker.web_address,
            "start_ms": round(self.start_s * 1000),
            "namespaces": {name: item.scenario.namespace for name, item in self.running.items()},
        }
        (self.scratch_dir / "live.json").write_text(json.dumps(live, indent=1) + "\n")
        self.say(f"{self.group}: {len(self.running)} scenarios start")

    def follow(self, tick: Callable[[float], None]) -> None:
        """Do everything at its time until the last scenario has been written."""
        first_s = self.start_s + STATS_EVERY_S
        if self.with_ages:
            # A row of signals speaks of a minute's end.
            first_s = math.ceil(self.start_s / STATS_EVERY_S) * STATS_EVERY_S
        self._at(first_s, lambda: self._every_minute(first_s))
        for item in self.running.values():
            self._plan(item)
        # Snapshots and recordings are written beside the clock, which must not wait for them.
        with ThreadPoolExecutor(4) as self._pool:
            while True:
                tick(time.time() - self.start_s)
                with self._lock:
                    if not self.running or not self._due:
                        break
                    due_s = self._due[0][0]
                    what = heapq.heappop(self._due)[2] if due_s <= time.time() else None
                if what is None:
                    time.sleep(min(0.5, max(0.01, due_s - time.time())))
                else:
                    what()

    def _at(self, when_s: float, what: Callable[[], None]) -> None:
        with self._lock:
            self._order += 1
            heapq.heappush(self._due, (when_s, self._order, what))

    def _plan(self, item: Running) -> None:
        at_s = self.start_s
        item.evidence.changes.append((item.scenario.timeline[0].name, round(at_s * 1000), round(at_s * 1000)))
        for before, state in zip(item.scenario.timeline, item.scenario.timeline[1:], strict=False):
            at_s += before.duration_s
            self._at(at_s, lambda name=state.name: self._pool.submit(self._guarded, item, self._change, name))
        at_s += item.scenario.timeline[-1].duration_s
        self._at(at_s, lambda: self._pool.submit(self._guarded, item, self._finish, None))

    def _every_minute(self, due_s: float) -> None:
        assert self.pressure is not None
        self.pressure.sample()
        for item in list(self.running.values()):
            self._pool.submit(self._snapshot, item, stats=True)
        if self.running:
            next_s = (due_s if self.with_ages else time.time()) + STATS_EVERY_S
            self._at(next_s, lambda: self._every_minute(next_s))

    def _guarded(self, item: Running, what: Callable[[Running, Any], None], argument: Any) -> None:
        try:
            what(item, argument)
        except Exception as error:  # one scenario's trouble must not end the others
            item.evidence.failure = (
                item.evidence.failure or f"{what.__name__.strip('_')}: {type(error).__name__}: {error}"
            )
            self.say(f"{item.scenario.name}: {item.evidence.failure}")
            if what == self._finish and self.running.pop(item.scenario.name, None):
                self.done(Outcome(item.scenario, "voided", [item.evidence.failure]))

    def _snapshot(self, item: Running, *, stats: bool = False, policies: bool = False) -> None:
        # A snapshot that fails, as beside an unload, leaves a gap and voids nothing.
        try:
            if stats:
                item.evidence.topic_stats += stats_rows(self.admin, item.scenario, with_ages=self.with_ages)
            if policies:
                item.evidence.policies += policy_rows(self.admin, item.scenario, self.broker.web_address)
        except (requests.RequestException, ValueError) as error:
            self.say(f"{item.scenario.name}: no snapshot: {error}")

    def _change(self, item: Running, state_name: str) -> None:
        state = next(state for state in item.scenario.timeline if state.name == state_name)
        begin_ms = round(time.time() * 1000)
        for step in state.interventions:
            at_ms = round(time.time() * 1000)
            intervene(self.admin, item.load, item.scenario, step)
            applied_ms = round(time.time() * 1000)
            row = {
                "at_ms": at_ms,
                "applied_ms": applied_ms,
                "state": state_name,
                **step.model_dump(mode="json"),
            }
            item.evidence.interventions.append(row)
        item.evidence.changes.append((state_name, begin_ms, round(time.time() * 1000)))
        self.say(f"{item.scenario.name}: {state_name}")
        self._at(
            time.time() + SNAPSHOT_DELAY_S,
            lambda: self._pool.submit(self._snapshot, item, policies=True),
        )

    def _finish(self, item: Running, _: None) -> None:
        end_ms = round(time.time() * 1000)
        scenario = item.scenario
        self._snapshot(item, stats=True, policies=True)
        item.evidence.report = item.load.command(scenario.name, "stop")
        start_ms = round(self.start_s * 1000)
        series = read_back(self.prometheus.url, scenario, start_ms, end_ms)
        assert self.pressure is not None
        names = ("broker", "prometheus", item.load.name)
        pressure = [row for row in self.pressure.rows if row["process"] in names]
        outcome = judge(
            item.evidence,
            series,
            pressure,
            self._about,
            start_ms,
            end_ms,
            self.out_dir,
            count_cpu=self._count_cpu,
        )
        self.running.pop(scenario.name, None)
        self.done(outcome)


def intervene(admin: Admin, load: LoadProcess, scenario: Scenario, step: Intervention) -> None:
    """Make one change of a scenario; returns when it has taken effect."""
    if isinstance(step, SetLimit):
        admin.set_limit(scenario, step)
    elif isinstance(step, LiftLimit):
        admin.lift_limit(scenario, step)
    elif isinstance(step, _DONE_BY_CLIENTS):
        load.command(scenario.name, step.action, timeout_s=120, **step.model_dump(exclude={"action"}))
    elif isinstance(step, SetTtl):
        admin.set_ttl(scenario, step.topic, step.ttl_s)
    elif isinstance(step, SetBacklogQuota):
        admin.set_backlog_quota(scenario, step.topic, step.backlog_quota)
    elif isinstance(step, Unload):
        admin.unload(scenario, step.topic)
    elif isinstance(step, Seek):
        admin.seek(scenario, step)
    elif isinstance(step, TouchPolicy):
        admin.touch_policy(scenario, step.topic)
    else:
        raise TypeError(f"nothing plays {step.action}")


def versions(admin: Admin, prometheus: Prometheus) -> dict[str, str]:
    """Return what was run, by part."""
    build = requests.get(f"{prometheus.url}/api/v1/status/buildinfo", timeout=10).json()["data"]
    java = subprocess.run(
        [str(java_binary()), "-version"], capture_output=True, text=True, check=False
    ).stderr
    return {
        "broker": admin.get_text("/admin/v2/brokers/version") or "unknown",
        "prometheus": build["version"],
        "client": f"pulsar-client {pulsar.__version__}",
        "java": java.splitlines()[0] if java else "unknown",
        "python": platform.python_version(),
        "lab": LAB_VERSION,
    }


def follow_states(
    scenario: Any, start_ms: int, change: Callable[[str], None], every_minute: Callable[[], None]
) -> int:
    """Do everything at its time, and return when it was over, in milliseconds.

    Parameters
    ----------
    scenario
        Is well for ``well_s``, has its cause for ``cause_s`` and is relieved until ``duration_s``.
    change
        Called with ``cause`` and ``relieved`` when these begin.
    every_minute
        Called between the changes, which are at whole minutes.
    """
    start_s = start_ms / 1000
    due: list[tuple[float, Callable[[], None]]] = [
        (start_s + scenario.well_s, lambda: change("cause")),
        (start_s + scenario.well_s + scenario.cause_s, lambda: change("relieved")),
    ]
    first_s = start_s + STATS_EVERY_S / 2
    minutes = int(scenario.duration_s // STATS_EVERY_S)
    due += [(first_s + STATS_EVERY_S * number, every_minute) for number in range(minutes)]
    with ThreadPoolExecutor(4) as pool:
        pending = []
        for at_s, what in sorted(due, key=lambda item: item[0]):
            time.sleep(max(0.0, at_s - time.time()))
            pending.append(pool.submit(what))
        time.sleep(max(0.0, start_s + scenario.duration_s - time.time()))
        end_ms = round(time.time() * 1000)
        for one in pending:
            one.result()
    return end_ms
