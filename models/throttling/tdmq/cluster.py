"""Cluster-level distributed throttling: in, the usage of every node; out, closed and opened channels.

Windows are one second, the same on all nodes. A node's threshold is its own use plus what the cluster has left. When a node
has used it up, all its channels of that direction close until the next window.
"""

from __future__ import annotations

from throttlescope.models.throttling.tdmq.agenda import Agenda, Rank
from throttlescope.models.throttling.tdmq.records import Threshold
from throttlescope.models.throttling.tdmq.scenario import WINDOW_US, ClusterScenario
from throttlescope.models.throttling.tdmq.throttle_gates import TdmqGate


def node_threshold(limit: int | None, own_use: int, cluster_use: int) -> int | None:
    """What a node may use in this window: its own use plus what the cluster has left; None without a limit.

    Source: TDMQ's page, question 2, case 1. It gives no figure for a cluster that has used more than its limit; nothing is
    left then.

    Examples
    --------
    >>> node_threshold(1000, own_use=150, cluster_use=750)
    400
    """
    return None if limit is None else own_use + max(0, limit - cluster_use)


class ClusterThrottle:
    """The throttle of all nodes.

    Parameters
    ----------
    gates : list of TdmqGate
        Of production and of consumption; all gates that count a quota share it.
    thresholds : dict
        Filled with the last threshold of each window, node and quota.
    """

    def __init__(
        self,
        scenario: ClusterScenario,
        agenda: Agenda,
        gates: list[TdmqGate],
        thresholds: dict[tuple[int, int, str], Threshold],
    ) -> None:
        self._agenda = agenda
        self._gates = gates
        self._quotas = scenario.quotas
        self._known_at_us = [at_ms * 1000 for at_ms in scenario.usage_known_at_ms]
        self._log = thresholds
        self._window_us = 0

    def start(self) -> None:
        self._agenda.add(0, Rank.WINDOW, self._begin_window)

    def _begin_window(self) -> None:
        self._window_us = self._agenda.now_us
        self._agenda.add(self._window_us + WINDOW_US, Rank.WINDOW, self._begin_window)
        # At the start the use is zero, and every node knows that: the rule gives each the whole limit.
        for at_us in self._known_at_us:
            if at_us:
                self._agenda.add(self._window_us + at_us, Rank.LOOK, self._learn_usage)
        for gate in self._gates:
            gate.begin_window()
        self._set_thresholds()
        for gate in self._gates:
            if not gate.is_open:
                gate.open(self._agenda.now_us)

    def _learn_usage(self) -> None:
        self._set_thresholds()
        for gate in self._gates:
            for quota in gate.used:
                self.counted(gate, quota)

    def _set_thresholds(self) -> None:
        for quota, limit in self._quotas.items():
            gates = [gate for gate in self._gates if quota in gate.used]
            msg = sum(gate.used[quota].msg for gate in gates)
            size_bytes = sum(gate.used[quota].bytes for gate in gates)
            for gate in gates:
                # A closed node stays closed until the next window: its threshold is the one that closed it.
                if gate.is_open or (self._window_us, gate.place, quota) not in self._log:
                    own = gate.used[quota]
                    self._log[self._window_us, gate.place, quota] = Threshold(
                        node_threshold(limit.tps, own.msg, msg),
                        node_threshold(limit.bandwidth_bytes, own.bytes, size_bytes),
                    )

    def counted(self, gate: TdmqGate, quota: str) -> None:
        """Close the node's channels if the quota is used up."""
        threshold = self._log[self._window_us, gate.place, quota]
        used = gate.used[quota]
        if gate.is_open and (
            (threshold.msg is not None and used.msg >= threshold.msg)
            or (threshold.bytes is not None and used.bytes >= threshold.bytes)
        ):
            gate.close(quota, self._agenda.now_us)
