"""What a scenario of the read budget is: in, its parts; out, a checked :class:`ReadsScenario`.

One broker reads from storage that is ``delay_ms`` away in each direction, and may have ``budget_mb`` of reads in flight. All topics have the same
timeline: ``well`` (no delay), ``cause`` (the delay, the budget), ``relieved`` (the delay, no budget: the broker was restarted without it).
What a topic does at the beginning of the last two are its own steps.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from tests.lab.staged.model import TOPIC, StagedScenario, StagedTopic
from throttlescope.models.throttling.scenario import Intervention, Scenario, Subscription
from throttlescope.models.throttling.scenario.load import Producer
from throttlescope.models.throttling.scenario.model import Model
from throttlescope.models.throttling.scenario.truth import SIDE_OF_CAUSE, Side

TENANT, SUBSCRIPTION = "reads", "billing"


class ReadsTruth(Model):
    """What is true of a subscription during ``cause``, from ``settle_s`` after its steps on."""

    side: Side
    cause: Literal["read_limit", "throttled", "slow_consumers", "healthy"]
    limiter: Literal["subscription.msg"] | None = None
    settle_s: float = Field(60, ge=0)

    @model_validator(mode="after")
    def _fits(self) -> ReadsTruth:
        if (expected := SIDE_OF_CAUSE.get(self.cause, self.side)) != self.side:
            raise ValueError(f"side: {self.cause} belongs to {expected}, not to {self.side}")
        if (self.cause == "throttled") != (self.limiter is not None):
            raise ValueError("limiter: given exactly when the cause is throttled")
        return self


class ReadsTopic(StagedTopic):
    """A topic, its subscription, and what happens to them.

    ``grows_per_s`` is the growth of its backlog during ``cause`` that the rates give, in entries per second; without it the backlog stays below
    ``below_entries``.
    """

    tenant: ClassVar[str] = TENANT

    producer: Producer
    subscription: Subscription
    cause: tuple[Intervention, ...] = ()
    relief: tuple[Intervention, ...] = ()
    truth: ReadsTruth
    grows_per_s: float | None = Field(None, gt=0)
    below_entries: int = Field(200, gt=0)

    @model_validator(mode="after")
    def _fits(self) -> ReadsTopic:
        if (self.truth.cause == "healthy") != (self.grows_per_s is None):
            raise ValueError("grows_per_s: given exactly when the subscription is not healthy")
        return self

    @property
    def rate_msg(self) -> float:
        """Messages published per second."""
        return self.producer.rate_msg


class ReadsScenario(StagedScenario):
    """A broker with a budget of reads in flight, its topics, and what happens to them."""

    budget_mb: int = Field(ge=1)
    delay_ms: float = Field(gt=0)
    well_s: float = Field(60, gt=0)
    cause_s: float = Field(540, gt=0)
    relieved_s: float = Field(180, gt=0)
    topics: tuple[ReadsTopic, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _loads_are_scenarios(self) -> ReadsScenario:
        for topic in self.topics:
            self.load(topic)
        return self

    def load(self, topic: ReadsTopic) -> Scenario:
        """What clients do with a topic, and the changes that concern it alone."""
        states = (
            ("well", self.well_s, ()),
            ("cause", self.cause_s, topic.cause),
            ("relieved", self.relieved_s, topic.relief),
        )
        return Scenario.model_validate(
            {
                "format": 1,
                "name": topic.name,
                "tenant": TENANT,
                "topics": [{"name": TOPIC}],
                "subscriptions": [topic.subscription],
                "producers": [topic.producer],
                "timeline": [
                    {"name": name, "duration_s": duration_s, "interventions": steps}
                    for name, duration_s, steps in states
                ],
            }
        )
