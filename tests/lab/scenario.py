"""The scenario schema: in, a YAML file; out, a checked :class:`Scenario`, or one line that names the wrong field.

A field that nothing acts on is refused, never ignored: every model forbids extra fields, and what contradicts itself
(a broker limit with a topic, a truth for an unknown subscription) is refused here, before anything starts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

Side = Literal["throttle", "consumer_capacity", "both", "neither", "unknown"]
Cause = Literal[
    "healthy", "throttled", "micro_burst_throttled", "slow_consumers", "both", "no_consumers", "blocked_on_unacked",
    "redelivery", "key_shared_blocked", "delayed_delivery", "hung_consumers", "publish_burst", "cold_reads",
    "topic_moved", "healed_by_loss", "phantom_backlog", "filter_rejects", "read_limit", "unknown",
]  # fmt: skip
Limiter = Literal[
    "broker.msg", "broker.bytes", "topic.msg", "topic.bytes", "subscription.msg", "subscription.bytes"
]
Level = Literal["broker", "topic", "subscription"]

#: Which side a cause belongs to, where there is only one answer.
SIDE_OF_CAUSE: dict[str, str] = {
    "healthy": "neither",
    "throttled": "throttle",
    "micro_burst_throttled": "throttle",
    "slow_consumers": "consumer_capacity",
    "no_consumers": "consumer_capacity",
    "both": "both",
    "topic_moved": "neither",
}

#: A state that carries truth lasts at least this long, except in the smoke scenarios of the test suite.
MINIMUM_STATE_S = 660


class ScenarioError(ValueError):
    """A scenario file that cannot be run; the message names file and field."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Topic(_Model):
    """A topic; ``partitions`` 0 means not partitioned."""

    name: str = Field(pattern=r"^[a-z0-9-]+$")
    partitions: int = Field(0, ge=0, le=16)


class LimitPlace(_Model):
    """Where a limit is set: its level, and at which policy it is written.

    ``set_at`` is ``broker`` for broker limits; ``topic`` or ``namespace`` for topic limits; ``subscription``,
    ``topic`` or ``namespace`` for subscription limits.
    """

    level: Level
    set_at: Literal["broker", "namespace", "topic", "subscription"]
    topic: str | None = None
    subscription: str | None = None

    @model_validator(mode="after")
    def _fits(self) -> LimitPlace:
        allowed = {
            "broker": ("broker",),
            "topic": ("topic", "namespace"),
            "subscription": ("subscription", "topic", "namespace"),
        }[self.level]
        if self.set_at not in allowed:
            raise ValueError(
                f"set_at: a {self.level} limit is set at {' or '.join(allowed)}, not at {self.set_at}"
            )
        if (self.topic is not None) != (self.set_at in ("topic", "subscription")):
            raise ValueError(f"topic: set_at {self.set_at} and topic {self.topic!r} do not fit together")
        if (self.subscription is not None) != (self.set_at == "subscription"):
            raise ValueError(
                f"subscription: set_at {self.set_at} and {self.subscription!r} do not fit together"
            )
        return self


class Limit(LimitPlace):
    """A dispatch rate: ``msg`` messages and ``bytes`` bytes per ``period_s`` seconds; absent means no limit."""

    msg: int | None = Field(None, gt=0)
    bytes: int | None = Field(None, gt=0)
    period_s: int = Field(1, ge=1)

    @model_validator(mode="after")
    def _limits_something(self) -> Limit:
        if self.msg is None and self.bytes is None:
            raise ValueError("msg, bytes: a limit needs at least one of them")
        if self.level == "broker" and self.period_s != 1:
            raise ValueError("period_s: a broker limit always has a period of 1 s")
        return self


class Subscription(_Model):
    """A subscription and its consumers; it is created before the load starts even without consumers."""

    name: str = Field(pattern=r"^[a-z0-9-]+$")
    topic: str
    type: Literal["Exclusive", "Failover", "Shared", "Key_Shared"]
    consumers: int = Field(ge=0)
    processing_ms: float = Field(ge=0)
    receiver_queue: int = Field(1000, ge=1)
    ack: Literal["individual", "cumulative"] = "individual"

    @model_validator(mode="after")
    def _fits(self) -> Subscription:
        if self.type == "Exclusive" and self.consumers > 1:
            raise ValueError("consumers: an Exclusive subscription has at most one")
        if self.ack == "cumulative" and self.type in ("Shared", "Key_Shared"):
            raise ValueError(f"ack: cumulative is not allowed on {self.type}")
        return self


class Batching(_Model):
    """The producer's batching: an entry closes at ``max_messages`` or after ``max_delay_ms``."""

    max_messages: int = Field(ge=2)
    max_delay_ms: int = Field(ge=1)


class Producer(_Model):
    """A producer; ``steps`` multiplies the rate by the factor from the given second of the scenario on."""

    topic: str
    rate_msg: float = Field(ge=0)
    size_bytes: int = Field(ge=0)
    batching: Batching | None = None
    shape: Literal["constant", "steps"] = "constant"
    steps: list[tuple[float, float]] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Producer:
        if (self.steps is not None) != (self.shape == "steps"):
            raise ValueError("steps: given exactly when shape is steps")
        return self


class SetLimit(Limit):
    """Intervention: set or replace a limit."""

    action: Literal["set_limit"]


class LiftLimit(LimitPlace):
    """Intervention: remove a limit."""

    action: Literal["lift_limit"]


class SetConsumers(_Model):
    """Intervention: change the number of consumers or their processing time; absent keeps what is."""

    action: Literal["set_consumers"]
    subscription: str
    consumers: int | None = Field(None, ge=0)
    processing_ms: float | None = Field(None, ge=0)


class SetRate(_Model):
    """Intervention: change the rate of the topic's producer."""

    action: Literal["set_rate"]
    topic: str
    rate_msg: float = Field(ge=0)


class Unload(_Model):
    """Intervention: unload a topic, as a broker does when a bundle moves."""

    action: Literal["unload"]
    topic: str


Intervention = Annotated[
    SetLimit | LiftLimit | SetConsumers | SetRate | Unload, Field(discriminator="action")
]


class Truth(_Model):
    """What is true of one subscription during a state; ``partitions`` absent means all of its partitions."""

    subscription: str
    side: Side
    cause: Cause
    limiter: Limiter | None = None

    @model_validator(mode="after")
    def _fits(self) -> Truth:
        expected = SIDE_OF_CAUSE.get(self.cause)
        if expected is not None and expected != self.side:
            raise ValueError(f"side: {self.cause} belongs to {expected}, not to {self.side}")
        if self.cause == "throttled" and self.limiter is None:
            raise ValueError("limiter: throttled needs one")
        return self


class State(_Model):
    """A part of the timeline; its interventions are done at its beginning."""

    name: str
    duration_s: float = Field(gt=0)
    interventions: list[Intervention] = []
    truth: list[Truth] = []


class Grows(_Model):
    """Confirm: the backlog at the end of the state exceeds that at its beginning by at least ``by_entries``."""

    check: Literal["grows"]
    state: str
    subscription: str
    by_entries: int


class Drains(_Model):
    """Confirm: the backlog falls below ``below_entries`` within ``within_s`` and stays there until the state ends."""

    check: Literal["drains"]
    state: str
    subscription: str
    below_entries: int
    within_s: float


class StaysBelow(_Model):
    """Confirm: the backlog stays below ``below_entries`` from 60 s after the state's beginning until its end."""

    check: Literal["stays_below"]
    state: str
    subscription: str
    below_entries: int


class Ticks(_Model):
    """Confirm: the throttle counter of a reason and unit rises by at least ``at_least`` events during the state."""

    check: Literal["ticks"]
    state: str
    subscription: str
    reason: Level
    unit: Literal["msg", "bytes"]
    at_least: int = Field(ge=1)


Check = Annotated[Grows | Drains | StaysBelow | Ticks, Field(discriminator="check")]


class Scenario(_Model):
    """One experiment: what runs, what is changed when, what is true, and what must be seen for it to count."""

    format: Literal[1]
    name: str = Field(pattern=r"^[a-z0-9-]+$")
    about: str
    family: str = Field(pattern=r"^[a-z0-9_]+$")
    size: str = Field(pattern=r"^[a-z0-9_]+$")
    kept_aside: bool
    profile: Literal["helm", "default"]
    scrape_interval_s: int = Field(ge=1)
    topics: list[Topic] = Field(min_length=1)
    limits: list[Limit] = []
    subscriptions: list[Subscription] = Field(min_length=1)
    producers: list[Producer]
    timeline: list[State] = Field(min_length=1)
    confirm: list[Check] = Field(min_length=1)

    @model_validator(mode="after")
    def _references(self) -> Scenario:
        topics = {topic.name for topic in self.topics}
        subscriptions = {subscription.name for subscription in self.subscriptions}
        states = [state.name for state in self.timeline]
        _unique("topics", [topic.name for topic in self.topics])
        _unique("subscriptions", [subscription.name for subscription in self.subscriptions])
        _unique("producers (one per topic)", [producer.topic for producer in self.producers])
        _unique("timeline", states)
        interventions = [step for state in self.timeline for step in state.interventions]
        for item in (*self.limits, *self.subscriptions, *self.producers, *interventions):
            _known("topic", getattr(item, "topic", None), topics)
        for item in (
            *self.limits,
            *interventions,
            *self.confirm,
            *(t for s in self.timeline for t in s.truth),
        ):
            _known("subscription", getattr(item, "subscription", None), subscriptions)
        for check in self.confirm:
            _known("state", check.state, set(states))
        for step in interventions:
            if isinstance(step, SetRate):
                _known("topic of a producer", step.topic, {producer.topic for producer in self.producers})
        if self.timeline[0].interventions:
            raise ValueError(
                "timeline: the first state has no interventions; it starts from limits and consumers"
            )
        if self.size != "smoke":
            for state in self.timeline:
                if state.truth and state.duration_s < MINIMUM_STATE_S:
                    raise ValueError(
                        f"timeline.{state.name}.duration_s: a state with truth lasts {MINIMUM_STATE_S} s"
                    )
        return self

    @property
    def namespace(self) -> str:
        """The Pulsar namespace of the scenario."""
        return f"lab/{self.name}"

    @property
    def duration_s(self) -> float:
        """Length of the whole timeline."""
        return sum(state.duration_s for state in self.timeline)

    @property
    def rate_msg(self) -> float:
        """Messages published per second at the beginning, the measure of the load that the scenario adds."""
        return sum(producer.rate_msg for producer in self.producers)

    @property
    def disturbs_others(self) -> bool:
        """Whether the scenario needs a broker of its own."""
        interventions = [step for state in self.timeline for step in state.interventions]
        return any(getattr(item, "level", None) == "broker" for item in (*self.limits, *interventions))

    def subscription(self, name: str) -> Subscription:
        """Return the subscription of that name."""
        return next(subscription for subscription in self.subscriptions if subscription.name == name)

    def partitions_of(self, topic: str) -> list[int]:
        """Return the partition numbers of a topic, ``[-1]`` when it is not partitioned."""
        count = next(item.partitions for item in self.topics if item.name == topic)
        return list(range(count)) if count else [-1]


def load_scenario(path: Path) -> Scenario:
    """Read and check one scenario file.

    Raises
    ------
    ScenarioError
        One line with file, field and reason.
    """
    try:
        scenario = Scenario.model_validate(yaml.safe_load(path.read_text()))
    except (yaml.YAMLError, ValidationError) as error:
        raise ScenarioError(f"{path.name}: {_one_line(error)}") from error
    if scenario.name != path.stem:
        raise ScenarioError(f"{path.name}: name: {scenario.name} is not the file's name")
    return scenario


def load_scenarios(folder: Path) -> list[Scenario]:
    """Read every scenario of a folder, in the order of their names."""
    return [load_scenario(path) for path in sorted(folder.glob("*.yaml"))]


def _unique(field: str, names: list[str]) -> None:
    if len(set(names)) != len(names):
        raise ValueError(f"{field}: names must be unique, got {names}")


def _known(field: str, name: str | None, known: set[str]) -> None:
    if name is not None and name not in known:
        raise ValueError(f"{field}: {name!r} is not defined")


def _one_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        parts = []
        for item in error.errors():
            place = ".".join(str(part) for part in item["loc"])
            words = (
                "no such field (refused, nothing acts on it)"
                if item["type"] == "extra_forbidden"
                else item["msg"]
            )
            parts.append(f"{place}: {words}" if place else words)
        return "; ".join(parts)
    return " ".join(str(error).split())
