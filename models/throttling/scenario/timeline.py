"""Timeline of a scenario. In: interventions and states; out: checked parts of a timeline."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from throttlescope.models.throttling.scenario.limits import Limit, LimitPlace
from throttlescope.models.throttling.scenario.load import MAX_RATE_MSG, BacklogQuota
from throttlescope.models.throttling.scenario.model import Model
from throttlescope.models.throttling.scenario.truth import Truth


class SetLimit(Limit):
    """Intervention: set or replace a limit."""

    action: Literal["set_limit"]


class LiftLimit(LimitPlace):
    """Intervention: remove a limit."""

    action: Literal["lift_limit"]


class SetConsumers(Model):
    """Intervention: change the number of consumers or their processing time; absent keeps what is."""

    action: Literal["set_consumers"]
    subscription: str
    consumers: int | None = Field(None, ge=0, le=10_000)
    processing_ms: float | None = Field(None, ge=0, le=86_400_000)


class Hang(Model):
    """Intervention: so many consumers stop processing without leaving; 0 lets all go on."""

    action: Literal["hang"]
    subscription: str
    consumers: int = Field(ge=0)


class SetRate(Model):
    """Intervention: change the rate of the topic's producer."""

    action: Literal["set_rate"]
    topic: str
    rate_msg: float = Field(ge=0, le=MAX_RATE_MSG)


class Unload(Model):
    """Intervention: unload a topic, as a broker does when a bundle moves."""

    action: Literal["unload"]
    topic: str


class Seek(Model):
    """Intervention: reset the subscription to the end (``latest``), the beginning, or some seconds back."""

    action: Literal["seek"]
    subscription: str
    to: Literal["earliest", "latest", "seconds_back"]
    seconds_back: float | None = Field(None, gt=0)

    @model_validator(mode="after")
    def _fits(self) -> Seek:
        if (self.seconds_back is not None) != (self.to == "seconds_back"):
            raise ValueError("seconds_back: given exactly when to is seconds_back")
        return self


class SetAck(Model):
    """Intervention: the consumers leave and as many come that acknowledge so, as when their program is replaced."""

    action: Literal["set_ack"]
    subscription: str
    ack: Literal["individual", "none"]


class SetRedelivery(Model):
    """Intervention: from now on this share of the messages is given back at their first deliveries."""

    action: Literal["set_redelivery"]
    subscription: str
    nack_share: float = Field(ge=0, le=1)


class SetDelay(Model):
    """Intervention: from now on messages are to be delivered so much later; 0 means at once."""

    action: Literal["set_delay"]
    topic: str
    deliver_after_ms: int = Field(ge=0)


class SetTtl(Model):
    """Intervention: set the topic's message TTL, or remove it where ``ttl_s`` is absent."""

    action: Literal["set_ttl"]
    topic: str
    ttl_s: int | None = Field(None, ge=1)


class SetBacklogQuota(Model):
    """Intervention: set the topic's backlog quota, or remove it where ``backlog_quota`` is absent."""

    action: Literal["set_backlog_quota"]
    topic: str
    backlog_quota: BacklogQuota | None = None


class TouchPolicy(Model):
    """Intervention: save a policy of the topic that has nothing to do with limits."""

    action: Literal["touch_policy"]
    topic: str


Intervention = Annotated[
    SetLimit
    | LiftLimit
    | SetConsumers
    | SetAck
    | SetRedelivery
    | Hang
    | SetRate
    | SetDelay
    | SetTtl
    | SetBacklogQuota
    | Unload
    | Seek
    | TouchPolicy,
    Field(discriminator="action"),
]


class State(Model):
    """A part of the timeline; its interventions are done at its beginning."""

    name: str
    duration_s: float = Field(gt=0, le=10 * 366 * 86_400)
    interventions: tuple[Intervention, ...] = ()
    truth: tuple[Truth, ...] = ()

    @model_validator(mode="after")
    def _once(self) -> State:
        seen: dict[tuple, str] = {}
        for step in self.interventions:
            for what in _touched(step):
                if what in seen:
                    raise ValueError(
                        f"interventions: {seen[what]} and {step.action} both change {' '.join(map(str, what))}"
                        " at the same moment; keep one"
                    )
                seen[what] = step.action
        return self


def _touched(step: Intervention) -> list[tuple]:
    if isinstance(step, (SetLimit, LiftLimit)):
        return [("limit", step.level, step.set_at, step.topic or "", step.subscription or "")]
    if isinstance(step, SetConsumers):
        return [
            (name, "of", step.subscription)
            for name in ("consumers", "processing_ms")
            if getattr(step, name) is not None
        ]
    if isinstance(step, SetAck):
        # The consumers are replaced: their number cannot change at the same moment.
        return [("ack", "of", step.subscription), ("consumers", "of", step.subscription)]
    if isinstance(step, SetRedelivery):
        return [("nack_share", "of", step.subscription)]
    if isinstance(step, SetRate):
        return [("rate_msg", "of", step.topic)]
    if isinstance(step, Hang):
        return [("hanging", "of", step.subscription)]
    if isinstance(step, Seek):
        return [("position", "of", step.subscription)]
    return [(step.action, step.topic)]
