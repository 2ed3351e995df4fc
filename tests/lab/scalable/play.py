"""Plays a scenario of scalable topics: in, a scenario on a running broker; out, what was changed when, and what was requested and counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.lab.admin import Admin
from tests.lab.broker import Broker
from tests.lab.loadprocess import LoadProcess
from tests.lab.parts import SCALABLE_CLIENT, SCALABLE_VERSION
from tests.lab.prometheus import Prometheus
from tests.lab.run import versions
from tests.lab.scalable.control import apply, create_topics, layout, layout_rows, policy_rows
from tests.lab.scalable.model import ScalableScenario, ScalableStep, ScalableTopic
from tests.lab.staged.play import StagedPlay


class ScalablePlay(StagedPlay):
    """Plays one scenario; ``about["segments"]`` gets, by topic, the hash range of every segment that it had."""

    def __init__(
        self,
        scenario: ScalableScenario,
        broker: Broker,
        prometheus: Prometheus,
        loads: Mapping[str, LoadProcess],
        say: Callable[[str], None],
    ) -> None:
        super().__init__(scenario, prometheus, loads, say)
        self.broker, self.admin = broker, Admin(broker.admin_url, broker.cluster)

    def _create(self) -> None:
        client = f"{SCALABLE_CLIENT} {SCALABLE_VERSION}"
        self.played.about = {
            "versions": versions(self.admin, self.prometheus) | {"client": client},
            "segments": {},
        }
        create_topics(self.admin, self.scenario.topics)
        for topic in self.scenario.topics:
            for step in topic.first:
                apply(self.admin, topic, step)

    def _servers(self) -> dict[str, int]:
        return {"broker": self.broker.pid}

    def _apply(self, topic: ScalableTopic | None, step: ScalableStep) -> dict[str, Any]:
        if step.action == "set_processing":
            assert topic is not None
            self.loads[topic.name].command(topic.name, "set_processing", processing_ms=step.processing_ms)
        else:
            apply(self.admin, topic, step)
        return step.model_dump(mode="json", exclude_none=True)

    def _snapshot(self, *, policies: bool, stats: bool) -> None:
        # This version has no stats of segments; layouts have those of topics.
        request = policy_rows if policies else layout_rows
        with self._with_gaps():
            self.played.policies += request(self.admin, self.scenario, self.broker.web_address)
            for topic in self.scenario.topics:
                known = self.played.about["segments"].setdefault(topic.name, {})
                known.update(layout(self.admin, topic))
