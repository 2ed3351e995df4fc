"""Topic-partition throttling: in, the usage of every partition; out, closed and opened channels.

Production: a task looks every 50 ms whether more than the quota of the current second was processed, and closes the
partition's read channels; they open when the next second begins. Consumption: more than the quota in a window of one second
stops pushing for one second. Neither looks before a message passes, so both let more than their quota through.
"""

from __future__ import annotations

from throttlescope.models.throttling.tdmq.agenda import Agenda, Rank
from throttlescope.models.throttling.tdmq.records import Threshold
from throttlescope.models.throttling.tdmq.scenario import WINDOW_US, PartitionScenario
from throttlescope.models.throttling.tdmq.throttle_gates import TdmqGate


class PartitionThrottle:
    """The throttle of all partitions; they share nothing.

    Parameters
    ----------
    gates : list of TdmqGate
        Of production and of consumption.
    thresholds : dict
        Filled with the quotas, for each window.
    """

    def __init__(
        self,
        scenario: PartitionScenario,
        agenda: Agenda,
        gates: list[TdmqGate],
        thresholds: dict[tuple[int, int, str], Threshold],
    ) -> None:
        self._agenda = agenda
        self._producing = [gate for gate in gates if "production" in gate.used]
        self._consuming = [gate for gate in gates if "consumption" in gate.used]
        self._thresholds = {
            name: Threshold(quota.tps, quota.bandwidth_bytes) for name, quota in scenario.quotas.items()
        }
        self._check_us = scenario.check_ms * 1000
        self._each_push = scenario.consumption_checked == "each_push"
        self._log = thresholds

    def start(self) -> None:
        self._agenda.add(0, Rank.WINDOW, self._begin_window)
        self._agenda.add(self._check_us, Rank.LOOK, self._check_production)

    def _begin_window(self) -> None:
        now_us = self._agenda.now_us
        self._agenda.add(now_us + WINDOW_US, Rank.WINDOW, self._begin_window)
        if not self._each_push:
            for gate in self._consuming:
                self._check_consumption(gate)
        for gate in (*self._producing, *self._consuming):
            gate.begin_window()
            for quota in gate.used:
                self._log[now_us, gate.place, quota] = self._thresholds[quota]
        for gate in self._producing:
            if not gate.is_open:
                gate.open(now_us)

    def _check_production(self) -> None:
        self._agenda.add(self._agenda.now_us + self._check_us, Rank.LOOK, self._check_production)
        for gate in self._producing:
            if gate.is_open and self._exceeded(gate, "production"):
                gate.close("production", self._agenda.now_us)

    def counted(self, gate: TdmqGate, quota: str) -> None:
        """Stop pushing if consumption is looked at after each push; production is looked at by the task only."""
        if quota == "consumption" and self._each_push:
            self._check_consumption(gate)

    def _check_consumption(self, gate: TdmqGate) -> None:
        if gate.is_open and self._exceeded(gate, "consumption"):
            gate.close("consumption", self._agenda.now_us)
            self._agenda.add(self._agenda.now_us + WINDOW_US, Rank.REOPEN, self._open, gate)

    def _open(self, gate: TdmqGate) -> None:
        gate.open(self._agenda.now_us)

    def _exceeded(self, gate: TdmqGate, quota: str) -> bool:
        used, threshold = gate.used[quota], self._thresholds[quota]
        return (threshold.msg is not None and used.msg > threshold.msg) or (
            threshold.bytes is not None and used.bytes > threshold.bytes
        )
