"""What a scenario of the read budget is: in, its parts; out, a checked :class:`ReadsScenario`.

One broker reads from storage that is ``delay_ms`` away in each direction, and may have ``budget_mb`` of reads in flight. All topics have the same
timeline: ``well`` (no delay), ``cause`` (the delay, the budget), ``relieved`` (the delay, no budget: the broker was restarted without it).
What a topic does at the beginning of the last two are its own steps.
"""

from __future__ import annotations

from typing import Literal

import yaml
from pydantic import Field, model_validator

from throttlescope.models.throttling.scenario import Intervention, Scenario, Subscription
from throttlescope.models.throttling.scenario.load import NAME, Producer
from throttlescope.models.throttling.scenario.model import Model
from throttlescope.models.throttling.scenario.truth import SIDE_OF_CAUSE, Side

TENANT, TOPIC, SUBSCRIPTION = "reads", "orders", "billing"


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


class ReadsTopic(Model):
    """A topic in a namespace of its own, its subscription, and what happens to them.

    ``grows_per_s`` is the growth of its backlog during ``cause`` that the rates give, in entries per second; without it the backlog stays below
    ``below_entries``.
    """

    name: str = Field(pattern=NAME)
    family: str = Field(pattern=r"^[a-z0-9_]+$")
    about: str
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
    def namespace(self) -> str:
        """Its Pulsar namespace."""
        return f"{TENANT}/{self.name}"

    @property
    def full_name(self) -> str:
        """The topic's name."""
        return f"persistent://{self.namespace}/{TOPIC}"


class ReadsScenario(Model):
    """A broker with a budget of reads in flight, its topics, and what happens to them."""

    format: Literal[1]
    name: str = Field(pattern=NAME)
    about: str
    seed: int
    kept_aside: bool = False
    profile: Literal["helm", "default"] = "helm"
    scrape_interval_s: int = Field(15, ge=1)
    budget_mb: int = Field(ge=1)
    delay_ms: float = Field(gt=0)
    well_s: float = Field(60, gt=0)
    cause_s: float = Field(540, gt=0)
    relieved_s: float = Field(180, gt=0)
    topics: tuple[ReadsTopic, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _references(self) -> ReadsScenario:
        names = [topic.name for topic in self.topics]
        if len(set(names)) != len(names):
            raise ValueError("topics: names must be unique")
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

    @property
    def duration_s(self) -> float:
        """Length of the whole timeline."""
        return self.well_s + self.cause_s + self.relieved_s

    @property
    def rate_msg(self) -> float:
        """Messages published per second."""
        return sum(topic.producer.rate_msg for topic in self.topics)

    def to_yaml(self) -> str:
        """The text of its file."""
        body = self.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)
        return yaml.safe_dump(
            {"format": self.format, **body}, sort_keys=False, width=130, default_flow_style=None
        )
