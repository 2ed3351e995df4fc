"""Runs scenarios that share a broker: in, a group; out, one outcome per scenario, its recording written when it counts.

One broker, one Prometheus and a few load processes; every change of every scenario happens at its absolute time.
"""

from __future__ import annotations

import contextlib
import heapq
import json
import platform
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pulsar
import requests

from tests.lab.admin import Admin
from tests.lab.broker import Broker, running_broker
from tests.lab.confirm import Span, confirm, truth_rows
from tests.lab.loadprocess import LoadProcess, running_load
from tests.lab.parts import java_binary
from tests.lab.pressure import Pressure
from tests.lab.prometheus import Prometheus, running_prometheus
from tests.lab.readback import EQUAL, REGEX, Series, read_series
from tests.lab.recording import LAB_VERSION, Recording, write_recording
from tests.lab.scenario import (
    Intervention,
    LiftLimit,
    Scenario,
    SetConsumers,
    SetLimit,
    SetRate,
    Unload,
)  # fmt: skip
from tests.lab.snapshots import policy_rows, stats_rows
from tests.lab.soundness import void_reasons

STATS_EVERY_S = 60
#: Topic policies reach the topic through a system topic; the snapshot after a change waits for that.
SNAPSHOT_DELAY_S = 5
PRIORITY = -10
BROKER_SERIES = "pulsar_broker_.*|pulsar_version_info|up|scrape_.*"
MAX_LOAD_PROCESSES = 4
RATE_PER_LOAD_PROCESS = 900


@dataclass(frozen=True)
class Group:
    """Scenarios that run on one broker at the same time."""

    name: str
    scenarios: tuple[Scenario, ...]

    @property
    def rate_msg(self) -> float:
        """Messages published per second."""
        return sum(scenario.rate_msg for scenario in self.scenarios)

    @property
    def duration_s(self) -> float:
        """Length of the longest timeline."""
        return max(scenario.duration_s for scenario in self.scenarios)


@dataclass
class Outcome:
    """What became of a scenario: ``kept``, ``dropped`` (effect not seen) or ``voided`` (unsound machinery)."""

    scenario: Scenario
    status: str
    reasons: list[str] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    folder: Path | None = None


@dataclass
class _Progress:
    """What is known of a running scenario."""

    scenario: Scenario
    load: LoadProcess
    text: str
    policies: list[dict[str, Any]] = field(default_factory=list)
    topic_stats: list[dict[str, Any]] = field(default_factory=list)
    interventions: list[dict[str, Any]] = field(default_factory=list)
    changes: list[tuple[str, int, int]] = field(default_factory=list)
    failure: str | None = None
    report: dict[str, Any] = field(default_factory=dict)


def run_group(
    group: Group,
    scenario_files: dict[str, Path],
    out_dir: Path,
    scratch_dir: Path,
    *,
    say: Callable[[str], None],
    tick: Callable[[float], None],
    done: Callable[[Outcome], None],
    hold_s: float = 0,
) -> None:
    """Run one group to its end.

    Parameters
    ----------
    group, scenario_files
        What runs, and the file of every scenario by name.
    out_dir, scratch_dir
        Where recordings go, and where the servers keep their files.
    say, tick, done
        Called with a line for the log, with the seconds since the start, and with every outcome.
    hold_s
        Keep broker and Prometheus alive this long after the last recording.
    """
    scratch_dir.mkdir(parents=True, exist_ok=True)
    lifetime_s = group.duration_s + hold_s + 900
    first = group.scenarios[0]
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(
            running_broker(
                first.profile, scratch_dir=scratch_dir, max_lifetime_s=lifetime_s, priority=PRIORITY
            )
        )
        say(f"{group.name}: broker at {broker.admin_url}")
        target = {
            "job_name": "pulsar",
            "metrics_path": "/metrics/",
            "static_configs": [{"targets": [broker.web_address]}],
        }
        prometheus = stack.enter_context(
            running_prometheus(
                [target],
                scratch_dir=scratch_dir,
                scrape_interval_s=first.scrape_interval_s,
                max_lifetime_s=lifetime_s,
                priority=PRIORITY,
            )
        )
        say(f"{group.name}: prometheus at {prometheus.url}")
        loads = _spread(group)
        processes = [
            stack.enter_context(
                running_load(
                    f"load-{number}",
                    part,
                    broker.service_url,
                    scratch_dir,
                    max_lifetime_s=lifetime_s,
                    priority=PRIORITY,
                )
            )
            for number, part in enumerate(loads)
        ]
        run = _Run(group, broker, prometheus, out_dir, scratch_dir, say, done)
        for process, part in zip(processes, loads, strict=True):
            for scenario in part:
                run.add(scenario, process, scenario_files[scenario.name].read_text())
        run.prepare()
        run.follow(tick)
        if hold_s:
            say(f"{group.name}: held for {hold_s:.0f} s: {prometheus.url} {broker.admin_url}")
            time.sleep(hold_s)


def _spread(group: Group) -> list[list[Scenario]]:
    count = max(1, min(MAX_LOAD_PROCESSES, round(group.rate_msg / RATE_PER_LOAD_PROCESS + 0.5)))
    parts: list[list[Scenario]] = [[] for _ in range(count)]
    for scenario in sorted(group.scenarios, key=lambda item: -item.rate_msg):
        min(parts, key=lambda part: sum(item.rate_msg for item in part)).append(scenario)
    return [part for part in parts if part]


class _Run:
    def __init__(
        self,
        group: Group,
        broker: Broker,
        prometheus: Prometheus,
        out_dir: Path,
        scratch_dir: Path,
        say: Callable[[str], None],
        done: Callable[[Outcome], None],
    ) -> None:
        self.group, self.broker, self.prometheus = group, broker, prometheus
        self.out_dir, self.scratch_dir, self.say, self.done = out_dir, scratch_dir, say, done
        self.admin = Admin(broker.admin_url, broker.cluster)
        self.running: dict[str, _Progress] = {}
        self.start_s = 0.0
        self.pressure: Pressure | None = None
        self._versions = _versions(self.admin, prometheus)
        # The queue of what happens when: (epoch seconds, order, what).
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = 0
        self._lock = threading.Lock()

    def add(self, scenario: Scenario, load: LoadProcess, text: str) -> None:
        self.running[scenario.name] = _Progress(scenario, load, text)

    def prepare(self) -> None:
        """Create topics, set limits, connect, and start the load at one moment."""
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
            item.policies += policy_rows(self.admin, item.scenario, self.broker.web_address)
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
        self.say(f"{self.group.name}: {len(self.running)} scenarios start")

    def follow(self, tick: Callable[[float], None]) -> None:
        """Do everything at its time until the last scenario has been written."""
        self._at(self.start_s + STATS_EVERY_S, self._every_minute)
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

    def _plan(self, item: _Progress) -> None:
        at_s = self.start_s
        item.changes.append((item.scenario.timeline[0].name, round(at_s * 1000), round(at_s * 1000)))
        for before, state in zip(item.scenario.timeline, item.scenario.timeline[1:], strict=False):
            at_s += before.duration_s
            self._at(at_s, lambda name=state.name: self._pool.submit(self._guarded, item, self._change, name))
        at_s += item.scenario.timeline[-1].duration_s
        self._at(at_s, lambda: self._pool.submit(self._guarded, item, self._finish, None))

    def _every_minute(self) -> None:
        assert self.pressure is not None
        self.pressure.sample()
        for item in list(self.running.values()):
            self._pool.submit(self._guarded, item, self._take_stats, None)
        if self.running:
            self._at(time.time() + STATS_EVERY_S, self._every_minute)

    def _guarded(self, item: _Progress, what: Callable[[_Progress, Any], None], argument: Any) -> None:
        try:
            what(item, argument)
        except Exception as error:
            item.failure = item.failure or f"{what.__name__.strip('_')}: {type(error).__name__}: {error}"
            self.say(f"{item.scenario.name}: {item.failure}")
            if what == self._finish and self.running.pop(item.scenario.name, None):
                self.done(Outcome(item.scenario, "voided", [item.failure]))

    def _take_stats(self, item: _Progress, _: None) -> None:
        item.topic_stats += stats_rows(self.admin, item.scenario)

    def _change(self, item: _Progress, state_name: str) -> None:
        state = next(state for state in item.scenario.timeline if state.name == state_name)
        begin_ms = round(time.time() * 1000)
        for step in state.interventions:
            at_ms = round(time.time() * 1000)
            self._intervene(item, step)
            applied_ms = round(time.time() * 1000)
            row = {
                "at_ms": at_ms,
                "applied_ms": applied_ms,
                "state": state_name,
                **step.model_dump(mode="json"),
            }
            item.interventions.append(row)
        item.changes.append((state_name, begin_ms, round(time.time() * 1000)))
        self.say(f"{item.scenario.name}: {state_name}")
        self._at(
            time.time() + SNAPSHOT_DELAY_S,
            lambda: self._pool.submit(self._guarded, item, self._take_policies, None),
        )

    def _take_policies(self, item: _Progress, _: None) -> None:
        item.policies += policy_rows(self.admin, item.scenario, self.broker.web_address)

    def _intervene(self, item: _Progress, step: Intervention) -> None:
        name = item.scenario.name
        if isinstance(step, SetLimit):
            self.admin.set_limit(item.scenario, step)
        elif isinstance(step, LiftLimit):
            self.admin.lift_limit(item.scenario, step)
        elif isinstance(step, SetConsumers):
            arguments = step.model_dump(exclude={"action"})
            item.load.command(name, "set_consumers", **arguments)
        elif isinstance(step, SetRate):
            item.load.command(name, "set_rate", topic=step.topic, rate_msg=step.rate_msg)
        elif isinstance(step, Unload):
            self.admin.unload(item.scenario, step.topic)

    def _finish(self, item: _Progress, _: None) -> None:
        end_ms = round(time.time() * 1000)
        scenario = item.scenario
        self._take_stats(item, None)
        self._take_policies(item, None)
        item.report = item.load.command(scenario.name, "stop")
        series = self._read(scenario, end_ms)
        outcome = self._judge(item, series, end_ms)
        self.running.pop(scenario.name, None)
        self.done(outcome)

    def _read(self, scenario: Scenario, end_ms: int) -> list[Series]:
        start_ms = round(self.start_s * 1000)
        own = read_series(self.prometheus.url, [(EQUAL, "namespace", scenario.namespace)], start_ms, end_ms)
        broker = read_series(self.prometheus.url, [(REGEX, "__name__", BROKER_SERIES)], start_ms, end_ms)
        return [*own, *broker]

    def _judge(self, item: _Progress, series: list[Series], end_ms: int) -> Outcome:
        scenario, start_ms = item.scenario, round(self.start_s * 1000)
        if item.failure:
            return Outcome(scenario, "voided", [item.failure])
        spans = _spans(item.changes, end_ms)
        assert self.pressure is not None
        names = ("broker", "prometheus", item.load.name)
        rows = [
            r for r in self.pressure.rows if r["process"] in names and start_ms <= int(r["at_ms"]) <= end_ms
        ]
        reasons, measured = void_reasons(scenario, spans, series, rows, item.report)
        confirmation = confirm(scenario, spans, series)
        if reasons:
            return Outcome(scenario, "voided", reasons, confirmation.seen)
        if confirmation.failures:
            return Outcome(scenario, "dropped", confirmation.failures, confirmation.seen)
        about = {
            "versions": self._versions,
            "profile": scenario.profile,
            "family": scenario.family,
            "size": scenario.size,
            "kept_aside": scenario.kept_aside,
            "scrape_interval_s": scenario.scrape_interval_s,
            "instance": self.broker.web_address,
            "pulsar_cluster": self.broker.cluster,
            "group": {
                "name": self.group.name,
                "rate_msg": self.group.rate_msg,
                "side_by_side": len(self.group.scenarios),
            },
            "start_ms": start_ms,
            "end_ms": end_ms,
            "states": [
                {
                    "name": span.name,
                    "start_ms": span.start_ms,
                    "end_ms": span.end_ms,
                    "drained_ms": confirmation.drained_ms.get(span.name),
                }
                for span in spans
            ],
            "confirmed": confirmation.seen,
            "measured": measured,
        }
        truth = truth_rows(scenario, spans, confirmation.drained_ms)
        recording = Recording(
            scenario.name,
            about,
            series,
            item.policies,
            item.topic_stats,
            item.interventions,
            truth,
            item.text,
        )
        folder = write_recording(recording, self.out_dir)
        return Outcome(scenario, "kept", [], confirmation.seen, folder)


def _spans(changes: list[tuple[str, int, int]], end_ms: int) -> list[Span]:
    ends = [begin_ms for _, begin_ms, _ in changes[1:]] + [end_ms]
    return [Span(name, applied_ms, end) for (name, _, applied_ms), end in zip(changes, ends, strict=True)]


def _versions(admin: Admin, prometheus: Prometheus) -> dict[str, str]:
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
