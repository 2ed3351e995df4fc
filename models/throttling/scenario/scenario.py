"""The whole scenario: in, its parts; out, a :class:`Scenario` whose references hold."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from throttlescope.models.throttling.scenario.broker import Broker
from throttlescope.models.throttling.scenario.limits import Limit, LimitPlace
from throttlescope.models.throttling.scenario.load import NAME, Producer, PublishRate, Subscription, Topic
from throttlescope.models.throttling.scenario.model import Model
from throttlescope.models.throttling.scenario.timeline import (
    Intervention,
    SetBacklogQuota,
    SetDelay,
    SetRate,
    SetRedelivery,
    SetTtl,
    State,
    TouchPolicy,
)
from throttlescope.models.throttling.scenario.truth import Check, Drains, Loses, Truth

#: A state that carries truth lasts at least this long, except in the smoke scenarios of the test suite.
MINIMUM_STATE_S = 660


class Scenario(Model):
    """One experiment: what runs, what is changed when, and (for the lab) what is true and must be seen for it to count."""

    format: Literal[1]
    name: str = Field(pattern=NAME)
    tenant: str = Field("lab", pattern=NAME)
    about: str = ""
    family: str = Field("none", pattern=r"^[a-z0-9_]+$")
    size: str = Field("one", pattern=r"^[a-z0-9_]+$")
    kept_aside: bool = False
    profile: Literal["helm", "default"] = "helm"
    scrape_interval_s: int = Field(15, ge=1)
    broker: Broker = Broker()
    topics: tuple[Topic, ...] = Field(min_length=1)
    limits: tuple[Limit, ...] = ()
    #: The publish limit of the resource group to which the namespace belongs.
    resource_group: PublishRate | None = None
    subscriptions: tuple[Subscription, ...] = Field(min_length=1)
    producers: tuple[Producer, ...] = ()
    timeline: tuple[State, ...] = Field(min_length=1)
    confirm: tuple[Check, ...] = ()

    @model_validator(mode="after")
    def _references(self) -> Scenario:
        topics = {topic.name for topic in self.topics}
        subscriptions = {subscription.name for subscription in self.subscriptions}
        states = [state.name for state in self.timeline]
        _unique("topics", [topic.name for topic in self.topics])
        _unique("subscriptions", [subscription.name for subscription in self.subscriptions])
        _unique("producers (one per topic)", [producer.topic for producer in self.producers])
        _unique("timeline", states)
        _unique("limits (one per place)", [str(_place(limit)) for limit in self.limits])
        interventions = [step for state in self.timeline for step in state.interventions]
        for item in (*self.limits, *self.producers, *interventions):
            _known("topic", getattr(item, "topic", None), topics)
        for number, subscription in enumerate(self.subscriptions):
            try:
                subscription.match(self.topics)
            except ValueError as error:
                raise ValueError(f"subscriptions.{number}.{error}") from error
            for topic in subscription.reads:
                _known("topic", topic, topics)
        self._segments_fit(interventions)
        for item in (
            *self.limits,
            *interventions,
            *self.confirm,
            *(t for s in self.timeline for t in s.truth),
        ):
            _known("subscription", getattr(item, "subscription", None), subscriptions)
        volatile = {topic.name for topic in self.topics if not topic.persistent}
        for limit in self.limits:
            if limit.level != "broker" and limit.topic in volatile:
                raise ValueError(
                    f"limits: {limit.topic} is not persistent, no {limit.level} limit binds there"
                )
        of_namespace = {topic.publish_rate for topic in self.topics if _of_namespace(topic)}
        if of_namespace and (len(of_namespace) > 1 or not all(_of_namespace(topic) for topic in self.topics)):
            raise ValueError(
                "topics: publish_rate: one that is set at the namespace is the same for every topic; repeat it"
            )
        for check in self.confirm:
            _known("state", check.state, set(states))
            self._has(f"confirm: {check.check}", check.subscription, check.partition)
        for state in self.timeline:
            for number, truth in enumerate(state.truth):
                place = f"timeline.{state.name}.truth.{number}"
                for partition in truth.partitions or ():
                    self._has(place, truth.subscription, partition)
                self._has_needed_check(place, state.name, truth)
        for producer in self.producers:
            if producer.hot is not None:
                partitions = self.topic(producer.topic).partitions
                if partitions < 2 or producer.hot.partition >= partitions:
                    raise ValueError(
                        f"producers: hot: {producer.topic} has {partitions} partitions,"
                        f" got partition {producer.hot.partition}"
                    )
        for step in interventions:
            if isinstance(step, (SetRate, SetDelay)):
                _known("topic of a producer", step.topic, {producer.topic for producer in self.producers})
            if isinstance(step, SetRedelivery) and self.subscription(step.subscription).redelivery is None:
                raise ValueError(f"set_redelivery: {step.subscription} has no redelivery to change")
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

    def _segments_fit(self, interventions: list[Intervention]) -> None:
        """Scalable topics take namespace and broker limits only, and have consumers of their own kinds."""
        scalable = {topic.name for topic in self.topics if topic.segments}
        if not scalable:
            return
        if self.broker.numbers < (5, 0, 0):
            raise ValueError(
                f"topics: {', '.join(sorted(scalable))}: segments need Pulsar 5.0, got broker.version {self.broker.version}"
            )
        for step in (*self.limits, *interventions):
            if (
                isinstance(step, (LimitPlace, SetTtl, SetBacklogQuota, TouchPolicy))
                and step.topic in scalable
            ):
                raise ValueError(
                    f"limits: {step.topic} is a scalable topic, which takes no topic policies; set the limit at namespace or broker"
                )
        for item in self.subscriptions:
            if item.type == "Key_Shared" and scalable & set(item.reads):
                raise ValueError(
                    f"subscriptions: {item.name}: a scalable topic has queue consumers (write Shared) and stream consumers"
                    " (write Failover), got Key_Shared"
                )

    def _has(self, place: str, subscription: str, partition: int | None) -> None:
        if partition is None:
            return
        for topic in self.subscription(subscription).reads:
            if partition not in self.partitions_of(topic):
                raise ValueError(f"{place}: {topic} has no partition {partition}")

    def _has_needed_check(self, place: str, state: str, truth: Truth) -> None:
        """A truth about a part of a state needs the check that sees where the part ends or begins."""
        needed = {"until_drained": Drains, "until_loss": Loses, "since_loss": Loses}.get(truth.part)
        if needed is not None and not any(
            isinstance(check, needed) and (check.state, check.subscription) == (state, truth.subscription)
            for check in self.confirm
        ):
            raise ValueError(
                f"{place}: part {truth.part} needs a check {needed.__name__.lower()} of {state}, {truth.subscription}"
            )

    @property
    def namespace(self) -> str:
        """The Pulsar namespace of the scenario."""
        return f"{self.tenant}/{self.name}"

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

    def topic(self, name: str) -> Topic:
        """Return the topic of that name."""
        return next(topic for topic in self.topics if topic.name == name)

    def partitions_of(self, topic: str) -> list[int]:
        """Return the numbers of a topic's partitions or segments, ``[-1]`` when it has neither."""
        count = self.topic(topic).partitions or self.topic(topic).segments
        return list(range(count)) if count else [-1]


def _of_namespace(topic: Topic) -> bool:
    return topic.publish_rate is not None and topic.publish_rate.set_at == "namespace"


def _place(limit: Limit) -> tuple:
    return limit.level, limit.set_at, limit.topic, limit.subscription


def _unique(field: str, names: list[str]) -> None:
    if len(set(names)) != len(names):
        raise ValueError(f"{field}: names must be unique, got {names}")


def _known(field: str, name: str | None, known: set[str]) -> None:
    if name is not None and name not in known:
        raise ValueError(f"{field}: {name!r} is not defined")
