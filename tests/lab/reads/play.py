"""Plays a scenario of the read budget: in, a scenario on a running cluster; out, what was changed when, and what was requested and counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.lab.admin import Admin
from tests.lab.cluster import Cluster
from tests.lab.loadprocess import LoadProcess
from tests.lab.prometheus import Prometheus
from tests.lab.reads.model import TENANT, ReadsScenario, ReadsTopic
from tests.lab.run import intervene, versions
from tests.lab.snapshots import broker_rows, namespace_rows, stats_rows
from tests.lab.staged.play import StagedPlay
from tests.lab.thinning import thin_policy, thin_stats
from throttlescope.models.throttling.scenario import Intervention

BUDGET = "managedLedgerMaxReadsInFlightSizeInMB"


class ReadsPlay(StagedPlay):
    """Plays one scenario: storage gets slow with the cause, and the budget is lifted in the end."""

    def __init__(
        self,
        scenario: ReadsScenario,
        cluster: Cluster,
        prometheus: Prometheus,
        loads: Mapping[str, LoadProcess],
        say: Callable[[str], None],
    ) -> None:
        super().__init__(scenario, prometheus, loads, say)
        self.cluster, self.broker = cluster, cluster.brokers[0]
        self.admin = Admin(cluster.admin_url, cluster.name)
        self._plans = {topic.name: scenario.load(topic) for topic in scenario.topics}

    def _create(self) -> None:
        self.played.about = {"versions": versions(self.admin, self.prometheus)}
        self.admin.create_tenant(TENANT)
        for plan in self._plans.values():
            self.admin.create_topics(plan)

    def _servers(self) -> dict[str, int]:
        assert self.cluster.network is not None
        return {**self.cluster.pids, "network": self.cluster.network.pid}

    def _steps(
        self, topic: ReadsTopic | None, state: str
    ) -> Sequence[Callable[[], dict[str, Any]] | Intervention]:
        if topic is not None:
            return super()._steps(topic, state)
        return [self._slow_storage if state == "cause" else self._lift_budget]

    def _apply(self, topic: ReadsTopic | None, step: Any) -> dict[str, Any]:
        if topic is None:
            return step()
        intervene(self.admin, self.loads[topic.name], self._plans[topic.name], step)
        return step.model_dump(mode="json", exclude_none=True)

    def _slow_storage(self) -> dict[str, Any]:
        assert self.cluster.network is not None
        self.cluster.network.shape(self.scenario.delay_ms)
        return {"action": "shape_network", "delay_ms": self.scenario.delay_ms}

    def _lift_budget(self) -> dict[str, Any]:
        self.cluster.reconfigure(self.broker, {BUDGET: "0"})
        self.pressure.restarted(self.broker.name, self.broker.pid)
        return {"action": "restart_broker", BUDGET: 0}

    def _snapshot(self, *, policies: bool, stats: bool) -> None:
        # Stats show what a restart did: they are requested each time.
        with self._with_gaps():
            for plan in self._plans.values():
                self.played.topic_stats += [thin_stats(row) for row in stats_rows(self.admin, plan)]
            if not policies:
                return
            address = self.broker.web_address
            rows = [thin_policy(row) for row in broker_rows(self.admin, address)]
            for plan in self._plans.values():
                rows += namespace_rows(self.admin, plan, address)
            self.played.policies += rows
