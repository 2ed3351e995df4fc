"""What a fleet is: in, its parts; out, a checked :class:`Fleet` whose references hold.

Each namespace is a :class:`~throttlescope.models.throttling.scenario.Scenario` of one state: its topics, producers, subscriptions and first
limits. Faults and operations are what happens on the fleet's own clock, so that they overlap. Everything has an effect; an unknown field
is refused.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import yaml
from pydantic import Field, model_validator

from throttlescope.models.throttling.scenario import BrokerSettings, Intervention, Scenario, Truth
from throttlescope.models.throttling.scenario.model import Model

#: Fields of a scenario that would have no effect in a fleet.
_NOT_OF_A_NAMESPACE = {"family", "size", "kept_aside", "profile", "scrape_interval_s", "broker", "confirm"}


class Effect(Truth):
    """What a stage of a fault does to a subscription, and what has to be seen of it.

    Without ``namespace`` the fault's own. ``grows_per_s`` is the least growth of the backlog in entries per second, of all partitions that
    are named (or of all) together; 0 where the backlog is only still there. Without it the subscription shares a limit, and whether the
    limit bound it is decided by what was seen: a backlog that grew and drained after the limit was lifted, or none at all.
    """

    grows_per_s: float | None = Field(None, ge=0)


class Stage(Model):
    """A part of a fault: what is changed ``at_s`` and what is true from then on until the next stage or the end."""

    at_s: float = Field(gt=0)
    steps: tuple[Intervention, ...] = Field(min_length=1)
    effects: tuple[Effect, ...] = ()


class BrokerLimit(Model):
    """A broker limit in force from ``at_s``: a share of what the busiest broker dispatched in the minutes before."""

    share: float = Field(gt=0, lt=1)
    unit: Literal["msg", "bytes"]


class Fault(Model):
    """One fault: its stages, and the ``end`` that proves it: what is changed ``until_s`` and lets the backlog drain ``within_s``.

    Without ``namespace`` it is a limit of the brokers, which all subscriptions share.
    """

    name: str
    kind: str = Field(pattern=r"^[a-z0-9_]+$")
    namespace: str | None = None
    broker_limit: BrokerLimit | None = None
    at_s: float | None = None
    stages: tuple[Stage, ...] = ()
    until_s: float
    end: tuple[Intervention, ...] = ()
    within_s: float = Field(gt=0)

    @model_validator(mode="after")
    def _fits(self) -> Fault:
        if (self.namespace is None) == (self.broker_limit is None):
            raise ValueError("namespace, broker_limit: give exactly one of them")
        if self.broker_limit is not None and (self.at_s is None or self.stages or self.end):
            raise ValueError("broker_limit: it has a time at_s and neither stages nor end")
        if self.namespace is not None and (self.at_s is not None or not self.stages or not self.end):
            raise ValueError("stages, end: a fault of a namespace has both, and its times are theirs")
        times = [*(stage.at_s for stage in self.stages), self.until_s]
        if any(before >= after for before, after in pairwise(times)):
            raise ValueError(f"stages: times rise, got {times}")
        return self

    @property
    def start_s(self) -> float:
        """When its first change is made."""
        return self.at_s if self.at_s is not None else self.stages[0].at_s


class Operation(Model):
    """What operators do and what must not look like a fault.

    ``unload`` reloads a topic's bundle; ``move`` brings it to another broker and, with ``back_after_s``, back again;
    ``restart`` (by SIGTERM), ``kill`` (by SIGKILL) and ``rolling_restart`` take brokers away for ``away_s``, ``new_instance`` too, and the
    broker comes back under another ``instance`` label; ``touch_policy`` saves a policy that binds nothing; ``miss_scrapes``
    stops Prometheus for ``away_s``. What a broker had is moved back to it when it has returned.
    """

    at_s: float = Field(gt=0)
    kind: Literal[
        "unload", "move", "restart", "kill", "rolling_restart", "new_instance", "touch_policy", "miss_scrapes"
    ]
    namespace: str | None = None
    topic: str | None = None
    broker: int | None = Field(None, ge=0)
    away_s: float | None = Field(None, gt=0)
    back_after_s: float | None = Field(None, gt=0)

    @model_validator(mode="after")
    def _fits(self) -> Operation:
        wanted = {
            "unload": {"namespace", "topic"},
            "move": {"namespace", "topic"},
            "touch_policy": {"namespace", "topic"},
            "restart": {"broker", "away_s"},
            "kill": {"broker", "away_s"},
            "new_instance": {"broker", "away_s"},
            "rolling_restart": {"away_s"},
            "miss_scrapes": {"away_s"},
        }[self.kind]
        names = ("namespace", "topic", "broker", "away_s", "back_after_s")
        given = {name for name in names if getattr(self, name) is not None}
        if self.kind == "move":
            given.discard("back_after_s")
        if given != wanted:
            raise ValueError(f"{self.kind}: needs {sorted(wanted)}, got {sorted(given)}")
        return self


class Fleet(Model):
    """A cluster, what runs on it, and what happens to it."""

    format: Literal[1]
    name: str
    seed: int
    kept_aside: bool = False
    version: str = Field(pattern=r"^\d+\.\d+\.\d+(-M\d+)?$")
    profile: Literal["helm", "default"]
    scrape_interval_s: int = Field(ge=1)
    brokers: int = Field(ge=2, le=3)
    settings: BrokerSettings = BrokerSettings()
    duration_s: float = Field(gt=0)
    namespaces: tuple[Scenario, ...] = Field(min_length=1)
    faults: tuple[Fault, ...] = ()
    operations: tuple[Operation, ...] = ()

    @model_validator(mode="after")
    def _references(self) -> Fleet:
        by_name = {scenario.namespace: scenario for scenario in self.namespaces}
        if len(by_name) != len(self.namespaces):
            raise ValueError("namespaces: names must be unique")
        for scenario in self.namespaces:
            idle = sorted(scenario.model_fields_set & _NOT_OF_A_NAMESPACE)
            if idle or len(scenario.timeline) > 1 or scenario.timeline[0].truth:
                raise ValueError(
                    f"namespaces.{scenario.name}: {', '.join(idle) or 'timeline'}: the fleet says what happens when, and on what"
                )
        for fault in self.faults:
            if fault.until_s + fault.within_s > self.duration_s:
                raise ValueError(f"faults.{fault.name}: the fleet ends before it may have drained")
            if fault.namespace is None:
                continue
            scenario = by_name.get(fault.namespace)
            if scenario is None:
                raise ValueError(f"faults.{fault.name}: no namespace {fault.namespace}")
            for step in (*(step for stage in fault.stages for step in stage.steps), *fault.end):
                _known(
                    fault.name, scenario, getattr(step, "topic", None), getattr(step, "subscription", None)
                )
            for effect in (effect for stage in fault.stages for effect in stage.effects):
                _known(fault.name, scenario, None, effect.subscription)
        for operation in self.operations:
            if operation.namespace is not None:
                if operation.namespace not in by_name:
                    raise ValueError(f"operations: no namespace {operation.namespace}")
                _known(operation.kind, by_name[operation.namespace], operation.topic, None)
            if operation.broker is not None and operation.broker >= self.brokers:
                raise ValueError(f"operations: there is no broker {operation.broker}")
        return self

    def namespace(self, name: str) -> Scenario:
        """Return the namespace of that name, as ``tenant/namespace``."""
        return next(scenario for scenario in self.namespaces if scenario.namespace == name)

    @property
    def subscriptions(self) -> int:
        """How many subscriptions there are."""
        return sum(len(scenario.subscriptions) for scenario in self.namespaces)

    @property
    def rate_msg(self) -> float:
        """Messages published per second at the beginning."""
        return sum(scenario.rate_msg for scenario in self.namespaces)

    def to_yaml(self) -> str:
        """The text of its file."""
        body = self.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)
        return yaml.safe_dump(
            body | {"format": self.format}, sort_keys=False, width=130, default_flow_style=None
        )


def _known(place: str, scenario: Scenario, topic: str | None, subscription: str | None) -> None:
    if topic is not None and topic not in {one.name for one in scenario.topics}:
        raise ValueError(f"{place}: {scenario.namespace} has no topic {topic}")
    if subscription is not None and subscription not in {one.name for one in scenario.subscriptions}:
        raise ValueError(f"{place}: {scenario.namespace} has no subscription {subscription}")
