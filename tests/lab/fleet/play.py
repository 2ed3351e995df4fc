"""The clock of a fleet: in, a fleet on a running cluster; out, what was changed when, what was asked, and what the clients counted.

Faults and operations are done at their own times in threads of their own, so that a slow one delays no other. What goes wrong with a fault
is noted with it; what goes wrong with an operation ends the fleet.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import math
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from tests.lab.admin import Admin
from tests.lab.cluster import Cluster, ClusterBroker
from tests.lab.fleet.model import Fault, Fleet, Operation
from tests.lab.loadprocess import LoadProcess
from tests.lab.pressure import Pressure
from tests.lab.prometheus import Prometheus
from tests.lab.run import SNAPSHOT_DELAY_S, STATS_EVERY_S, intervene, versions
from tests.lab.snapshots import broker_rows, namespace_rows, physical_topics, stats_rows
from tests.lab.soundness import cpu_reasons, waits
from tests.lab.targets import ScrapeTargets
from tests.lab.thinning import thin_policy, thin_stats
from throttlescope.models.throttling.scenario import Scenario

BUNDLES = 4
#: What is requested of a topic without a backlog, and of policies without a change.
QUIET_EVERY_S = 600
POLICIES_EVERY_S = 300
#: From so many entries on a topic's stats are asked every minute.
BACKLOG_ENTRIES = 50
RETURN_AFTER_S = 20
MOVE_TRIES = 3


@dataclass
class Played:
    """What a fleet left behind.

    Attributes
    ----------
    stages
        One row per stage and end of a fault: ``fault``, ``stage`` (None: the end), ``begin_ms``, ``applied_ms``, ``error``, ``steps``.
    operations
        One row per operation and per move that follows from it: ``kind``, ``at_ms``, ``done_ms``, ``broker``, ``instance``, and the
        physical ``topics`` that it concerned (None: all).
    reports
        Last report of every namespace's load.
    """

    fleet: Fleet
    start_ms: int = 0
    end_ms: int = 0
    about: dict[str, Any] = field(default_factory=dict)
    stages: list[dict[str, Any]] = field(default_factory=list)
    operations: list[dict[str, Any]] = field(default_factory=list)
    policies: list[dict[str, Any]] = field(default_factory=list)
    topic_stats: list[dict[str, Any]] = field(default_factory=list)
    reports: dict[str, dict[str, Any]] = field(default_factory=dict)
    pressure: list[dict[str, Any]] = field(default_factory=list)
    failure: str | None = None


class Play:
    """Plays one fleet."""

    def __init__(
        self,
        fleet: Fleet,
        cluster: Cluster,
        prometheus: Prometheus,
        targets: ScrapeTargets,
        loads: dict[str, LoadProcess],
        scratch_dir: Path,
        say: Callable[[str], None],
        *,
        count_cpu: bool,
    ) -> None:
        self.count_cpu = count_cpu
        self.fleet, self.cluster, self.prometheus, self.targets = fleet, cluster, prometheus, targets
        self.loads, self.scratch_dir, self.say = loads, scratch_dir, say
        self.admin = Admin(cluster.admin_url, cluster.name)
        self.played = Played(fleet)
        #: Label of each broker's scrapes, by the broker's name.
        self.instances = {broker.name: broker.web_address for broker in cluster.brokers}
        self.start_s = 0.0
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._lock = threading.Lock()
        self._operating = threading.Lock()
        self._pending: list[Future[None]] = []
        #: Physical topic (``tenant/ns/name``) to its bundle, and bundle to the broker that it belongs to.
        self._bundles: dict[str, tuple[str, str]] = {}
        self._home: dict[tuple[str, str], ClusterBroker] = {}

    # -- before --------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Create everything, spread it over the brokers, connect, and start the load at one moment."""
        self.played.about = {
            "versions": versions(self.admin, self.prometheus),
            "pulsar_cluster": self.cluster.name,
            "instances": dict(self.instances),
            "brokers": len(self.cluster.brokers),
        }
        for tenant in dict.fromkeys(scenario.tenant for scenario in self.fleet.namespaces):
            self.admin.create_tenant(tenant)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(self._create, self.fleet.namespaces))
        self._spread()
        time.sleep(SNAPSHOT_DELAY_S)
        with ThreadPoolExecutor(4) as pool:
            connect = lambda scenario: self._load(scenario).command(scenario.name, "connect", timeout_s=180)  # noqa: E731
            list(pool.map(connect, self.fleet.namespaces))
        self._policies()
        self.start_s = time.time() + 5
        self.played.start_ms = round(self.start_s * 1000)
        for scenario in self.fleet.namespaces:
            self._load(scenario).command(scenario.name, "start", at_s=self.start_s)
        names = {load.name: load.pid for load in self.loads.values()}
        self.pressure = Pressure({**self.cluster.pids, "prometheus": self.prometheus.pid, **names})
        self.say(f"{self.fleet.name}: {self.fleet.subscriptions} subscriptions start")

    def _create(self, scenario: Scenario) -> None:
        self.admin.create_topics(scenario, bundles=BUNDLES)
        for limit in scenario.limits:
            self.admin.set_limit(scenario, limit)

    def _load(self, scenario: Scenario) -> LoadProcess:
        return self.loads[scenario.name]

    def _spread(self) -> None:
        """Give bundles to the brokers in turn, the busiest first."""
        busy: dict[tuple[str, str], float] = {}
        for scenario in self.fleet.namespaces:
            for topic in scenario.topics:
                rate = next((one.rate_msg for one in scenario.producers if one.topic == topic.name), 0.0)
                partitions = physical_topics(scenario, topic.name)
                for name, _ in partitions:
                    physical = f"{scenario.namespace}/{name}"
                    bundle = (scenario.namespace, self._bundle(physical))
                    self._bundles[physical] = bundle
                    busy[bundle] = busy.get(bundle, 0.0) + rate / len(partitions)
        load = {broker.name: 0.0 for broker in self.cluster.brokers}
        for bundle in sorted(busy, key=lambda one: -busy[one]):
            broker = min(self.cluster.brokers, key=lambda one: load[one.name])
            load[broker.name] += busy[bundle] + 1
            self._home[bundle] = broker
            self._bring(bundle, broker)

    def _bundle(self, physical: str) -> str:
        answer = requests.get(
            f"{self.cluster.admin_url}/lookup/v2/topic/persistent/{physical}/bundle", timeout=30
        )
        answer.raise_for_status()
        return answer.text

    def _topics_of(self, bundle: tuple[str, str]) -> list[str]:
        return sorted(physical for physical, mine in self._bundles.items() if mine == bundle)

    def _bring(self, bundle: tuple[str, str], broker: ClusterBroker) -> bool:
        """Move a bundle to a broker unless it is there; says whether it moved."""
        physical = self._topics_of(bundle)[0]
        if self.cluster.owner(physical) is broker:
            return False
        for more in reversed(range(MOVE_TRIES)):
            try:
                self.cluster.unload_bundle(bundle[0], physical.rsplit("/", 1)[-1], broker)
                break
            except (requests.RequestException, RuntimeError):
                # A client's lookup can be first, and the bundle goes where the load manager likes.
                if self.cluster.owner(physical) is broker:
                    break
                if not more:
                    raise
                time.sleep(2)
        return True

    # -- the clock -----------------------------------------------------------------------------

    def follow(self) -> Played:
        """Do everything at its time, and stop the load at the end."""
        for fault in self.fleet.faults:
            for number, stage in enumerate(fault.stages):
                self._at(stage.at_s, lambda fault=fault, number=number: self._stage(fault, number))
            if fault.at_s is not None:
                self._at(fault.at_s, lambda fault=fault: self._stage(fault, 0))
            self._at(fault.until_s, lambda fault=fault: self._stage(fault, None))
        for operation in self.fleet.operations:
            self._at(operation.at_s, lambda operation=operation: self._operate(operation))
        for at_s in range(STATS_EVERY_S, round(self.fleet.duration_s), STATS_EVERY_S):
            self._at(at_s, lambda at_s=at_s: self._minute(at_s))
        done = threading.Event()
        self._at(self.fleet.duration_s, done.set)
        with ThreadPoolExecutor(24) as pool:
            while not done.is_set():
                due_s, what = (self._due[0][0], self._due[0][2]) if self._due else (math.inf, done.set)
                wait_s = self.start_s + due_s - time.time()
                if wait_s > 0:
                    done.wait(min(0.5, wait_s))
                else:
                    heapq.heappop(self._due)
                    self._pending.append(pool.submit(self._guarded, what))
                if self.played.failure:
                    break
        self._stop()
        return self.played

    def _at(self, at_s: float, what: Callable[[], None]) -> None:
        heapq.heappush(self._due, (at_s, next(self._order), what))

    def _guarded(self, what: Callable[[], None]) -> None:
        try:
            what()
        except Exception as error:
            self.played.failure = self.played.failure or f"{type(error).__name__}: {error}"
            self.say(f"{self.fleet.name}: {self.played.failure}")

    def _stop(self) -> None:
        self.played.end_ms = round(time.time() * 1000)
        for scenario in self.fleet.namespaces:
            with contextlib.suppress(RuntimeError):
                self.played.reports[scenario.name] = self._load(scenario).command(scenario.name, "stop")
        self.pressure.sample()
        self.played.pressure = self.pressure.rows

    # -- faults --------------------------------------------------------------------------------

    def _stage(self, fault: Fault, number: int | None) -> None:
        begin_ms, error = _now_ms(), None
        steps: list[dict[str, Any]] = []
        try:
            if fault.broker_limit is not None:
                steps = self._broker_limit(fault, number)
            else:
                scenario = self.fleet.namespace(str(fault.namespace))
                for step in fault.stages[number].steps if number is not None else fault.end:
                    at_ms = _now_ms()
                    self._with_admin(
                        lambda step=step: intervene(self.admin, self._load(scenario), scenario, step)
                    )
                    steps.append(
                        {
                            "at_ms": at_ms,
                            "applied_ms": _now_ms(),
                            **step.model_dump(mode="json", exclude_none=True),
                        }
                    )
        except Exception as caught:
            error = f"{type(caught).__name__}: {caught}"
        self.played.stages.append(
            {
                "fault": fault.name,
                "stage": number,
                "begin_ms": begin_ms,
                "applied_ms": _now_ms(),
                "error": error,
                "steps": steps,
            }
        )
        what = "ends" if number is None else f"stage {number}"
        self.say(
            f"{self.fleet.name} {time.time() - self.start_s:5.0f} s: {fault.name} {what}{f': {error}' if error else ''}"
        )
        time.sleep(SNAPSHOT_DELAY_S)
        if fault.broker_limit is not None:
            self._snapshot(brokers=True)
        elif fault.namespace is not None:
            self._snapshot(namespaces=[fault.namespace])

    def _broker_limit(self, fault: Fault, number: int | None) -> list[dict[str, Any]]:
        assert fault.broker_limit is not None
        unit = fault.broker_limit.unit
        word = {"msg": "Msg", "bytes": "Byte"}[unit]
        metric = {"msg": "pulsar_out_messages_total", "bytes": "pulsar_out_bytes_total"}[unit]
        value = 0
        if number is not None:
            own = f'{metric}{{subscription!="",consumer_name="",consumer_id=""}}'
            rates = self.prometheus.query(f"sum by (instance) (rate({own}[5m]))")
            value = max(1, round(fault.broker_limit.share * max(float(row["value"][1]) for row in rates)))
        at_ms = _now_ms()
        path = f"/brokers/configuration/dispatchThrottlingRateIn{word}/{value}"
        self._with_admin(lambda: self.admin.call("POST", path))
        step = {"at_ms": at_ms, "applied_ms": _now_ms(), "level": "broker", "set_at": "broker"}
        return [step | ({"action": "set_limit", unit: value} if value else {"action": "lift_limit"})]

    def _with_admin(self, what: Callable[[], None], tries: int = 6) -> None:
        """Do something through whichever broker answers; one that just went away is not the end."""
        for more in reversed(range(tries)):
            self.admin.admin_url = self.cluster.admin_url
            try:
                what()
                return
            except (requests.RequestException, RuntimeError):
                if not more:
                    raise
                time.sleep(3)

    # -- operations ----------------------------------------------------------------------------

    def _operate(self, operation: Operation) -> None:
        # One at a time: a move needs brokers that stay.
        with self._operating:
            self.say(f"{self.fleet.name} {time.time() - self.start_s:5.0f} s: {operation.kind}")
            if operation.kind in ("unload", "move"):
                self._move(operation)
            elif operation.kind == "touch_policy":
                scenario = self.fleet.namespace(str(operation.namespace))
                at_ms = _now_ms()
                self._with_admin(lambda: self.admin.touch_policy(scenario, str(operation.topic)))
                topics = [
                    f"{scenario.namespace}/{name}"
                    for name, _ in physical_topics(scenario, str(operation.topic))
                ]
                self._note(operation.kind, at_ms, topics)
            elif operation.kind == "miss_scrapes":
                at_ms = _now_ms()
                self.prometheus.pause()
                try:
                    time.sleep(operation.away_s or 0)
                finally:
                    self.prometheus.resume()
                self._note(operation.kind, at_ms, None)
            elif operation.kind == "rolling_restart":
                for broker in self.cluster.brokers:
                    self._take_away(operation, broker)
            else:
                self._take_away(operation, self.cluster.brokers[operation.broker or 0])

    def _note(self, kind: str, at_ms: int, topics: list[str] | None, **more: Any) -> None:
        self.played.operations.append(
            {"kind": kind, "at_ms": at_ms, "done_ms": _now_ms(), "topics": topics, **more}
        )

    def _move(self, operation: Operation) -> None:
        scenario = self.fleet.namespace(str(operation.namespace))
        physical = f"{scenario.namespace}/{physical_topics(scenario, str(operation.topic))[0][0]}"
        bundle = self._bundles[physical]
        topics = self._topics_of(bundle)
        if operation.kind == "unload":
            at_ms = _now_ms()
            self._with_admin(lambda: self.admin.call("PUT", f"/namespaces/{bundle[0]}/{bundle[1]}/unload"))
            self._note("unload", at_ms, topics)
            return
        owner = self.cluster.owner(physical)
        other = next(broker for broker in self.cluster.brokers if broker is not owner and broker.alive)
        self._noted_move(bundle, other)
        if operation.back_after_s is not None:
            time.sleep(operation.back_after_s)
            self._noted_move(bundle, owner)
        self._snapshot(namespaces=[scenario.namespace])

    def _noted_move(self, bundle: tuple[str, str], broker: ClusterBroker) -> None:
        at_ms, error = _now_ms(), {}
        try:
            if not self._bring(bundle, broker):
                return
        except (requests.RequestException, RuntimeError, StopIteration) as caught:
            # It was unloaded all the same, and is somewhere.
            error = {"error": f"{type(caught).__name__}: {caught}"}
        self._note("move", at_ms, self._topics_of(bundle), broker=broker.name, **error)

    def _take_away(self, operation: Operation, broker: ClusterBroker) -> None:
        mine = [bundle for bundle, home in self._home.items() if home is broker]
        topics = sorted(topic for bundle in mine for topic in self._topics_of(bundle))
        at_ms = _now_ms()
        self.cluster.stop(broker, graceful=operation.kind != "kill")
        stopped_ms = _now_ms()
        time.sleep(operation.away_s or 0)
        if operation.kind == "new_instance":
            address, port = broker.web_address.split(":")
            last = address.rsplit(".", 1)[-1]
            # As a new pod has another address.
            self.instances[broker.name] = f"10.42.{last}.{17 + len(self.played.operations)}:{port}"
            self.targets.write({one.web_address: self.instances[one.name] for one in self.cluster.brokers})
        self.cluster.start(broker)
        self.pressure.restarted(broker.name, broker.pid)
        self._note(
            operation.kind,
            at_ms,
            topics,
            stopped_ms=stopped_ms,
            broker=broker.name,
            instance=self.instances[broker.name],
        )
        self._snapshot(brokers=True)
        time.sleep(RETURN_AFTER_S)
        for bundle in mine:
            self._noted_move(bundle, broker)
        self._snapshot(namespaces=sorted({bundle[0] for bundle in mine}))

    # -- snapshots -----------------------------------------------------------------------------

    def _minute(self, at_s: int) -> None:
        self.pressure.sample()
        if self.count_cpu and (reasons := cpu_reasons(waits(self.pressure.rows), at_the_end=False)):
            # The rest of half an hour would change nothing.
            self.played.failure = "; ".join(reasons)
            return
        try:
            with_backlog = self._with_backlog()
            quiet = at_s % QUIET_EVERY_S == 0
            for scenario in self.fleet.namespaces:
                wanted = {
                    name
                    for topic in scenario.topics
                    for name, _ in physical_topics(scenario, topic.name)
                    if quiet or f"{scenario.namespace}/{name}" in with_backlog
                }
                if wanted:
                    self.admin.admin_url = self.cluster.admin_url
                    self.played.topic_stats += [
                        thin_stats(row) for row in stats_rows(self.admin, scenario, wanted)
                    ]
                if at_s % POLICIES_EVERY_S == 0 and wanted:
                    topics = {name.split("-partition-")[0] for name in wanted}
                    self.played.policies += namespace_rows(self.admin, scenario, self._asked_at(), topics)
        except (requests.RequestException, RuntimeError, ValueError, StopIteration) as error:
            # A snapshot that fails, as beside a restart, leaves a gap and voids nothing.
            self.say(f"{self.fleet.name}: no snapshot: {str(error)[:120]}")

    def _with_backlog(self) -> set[str]:
        """Physical topics, ``tenant/ns/name``, with a backlog."""
        found = set()
        for row in self.prometheus.query(f"pulsar_subscription_back_log > {BACKLOG_ENTRIES}"):
            topic, partition = row["metric"]["topic"], row["metric"].get("partition", "-1")
            name = topic.removeprefix("persistent://")
            found.add(name if partition == "-1" else f"{name}-partition-{partition}")
        return found

    def _asked_at(self) -> str:
        return self.cluster.admin_url.removeprefix("http://")

    def _policies(self) -> None:
        self._snapshot(brokers=True, namespaces=[scenario.namespace for scenario in self.fleet.namespaces])

    def _snapshot(self, *, brokers: bool = False, namespaces: Iterable[str] = ()) -> None:
        try:
            if brokers:
                for broker in self.cluster.brokers:
                    if broker.alive:
                        rows = broker_rows(Admin(broker.admin_url, self.cluster.name), broker.web_address)
                        self.played.policies += [thin_policy(row) for row in rows]
            for name in namespaces:
                admin = Admin(self.cluster.admin_url, self.cluster.name)
                self.played.policies += namespace_rows(admin, self.fleet.namespace(name), self._asked_at())
        except (requests.RequestException, RuntimeError, ValueError, StopIteration) as error:
            self.say(f"{self.fleet.name}: no snapshot: {str(error)[:120]}")


def _now_ms() -> int:
    return round(time.time() * 1000)
