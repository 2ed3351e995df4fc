"""What a scenario of scalable topics is: in, its parts; out, a checked :class:`ScalableScenario` whose references hold.

Steps of the scenario concern the whole broker. The subject of a truth is a segment. A split or a merge seals segments and makes new ones:
``kept`` segments are neither, ``sealed`` ones are the old, ``successors`` the new.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from tests.lab.staged.model import StagedScenario, StagedTopic
from throttlescope.models.throttling.scenario.load import MAX_MESSAGE_BYTES
from throttlescope.models.throttling.scenario.model import Model
from throttlescope.models.throttling.scenario.truth import SIDE_OF_CAUSE, Side

TENANT = "scalable"
SUBSCRIPTION = "billing"
Role = Literal["kept", "sealed", "successors"]
#: Causes that a script can play, and the side of each.
SIDES: dict[str, Side] = {
    "throttled": "throttle",
    "slow_consumers": "consumer_capacity",
    "segment_blocked": "neither",
    "healthy": "neither",
}
_FIELDS = {
    "set_limit": {"level"},
    "lift_limit": {"level"},
    "split": {"segments"},
    "merge": {"segments"},
    "set_processing": {"processing_ms"},
}
_SEGMENTS = {"split": 1, "merge": 2}


class ScalableStep(Model):
    """One change. A limit of ``topic`` or ``subscription`` is set at the namespace: a scalable topic has no policies of its own."""

    action: Literal[tuple(_FIELDS)]  # type: ignore[valid-type]
    level: Literal["subscription", "topic", "broker"] | None = None
    msg: int | None = Field(None, gt=0)
    bytes: int | None = Field(None, gt=0)
    segments: tuple[int, ...] | None = None
    processing_ms: float | None = Field(None, ge=0)

    @model_validator(mode="after")
    def _fits(self) -> ScalableStep:
        wanted = set(_FIELDS[self.action])
        given = {
            name
            for name in ("level", "msg", "bytes", "segments", "processing_ms")
            if getattr(self, name) is not None
        }
        if self.action == "set_limit":
            if not given & {"msg", "bytes"}:
                raise ValueError("set_limit: needs msg or bytes")
            given -= {"msg", "bytes"}
        if given != wanted:
            raise ValueError(f"{self.action}: needs {sorted(wanted)}, got {sorted(given)}")
        if self.segments is not None and len(self.segments) != _SEGMENTS[self.action]:
            raise ValueError(f"{self.action}: needs {_SEGMENTS[self.action]} segments")
        return self


class SegmentTruth(Model):
    """What is true of a topic's segments of one role during ``cause``, from ``settle_s`` after its steps on.

    ``grows_per_s`` is the least growth of a segment's backlog in entries per second; ``drains`` is a backlog that shrinks, and the truth ends
    when it is gone; without either the backlog stays below ``below_entries``.
    """

    side: Side
    cause: Literal[tuple(SIDES)]  # type: ignore[valid-type]
    limiter: (
        Literal["subscription.msg", "subscription.bytes", "topic.msg", "topic.bytes", "broker.msg"] | None
    ) = None
    grows_per_s: float | None = Field(None, gt=0)
    drains: bool = False
    below_entries: int = Field(200, gt=0)
    settle_s: float = Field(60, ge=0)

    @model_validator(mode="after")
    def _fits(self) -> SegmentTruth:
        expected = SIDES[self.cause]
        if expected != self.side or SIDE_OF_CAUSE.get(self.cause, expected) != self.side:
            raise ValueError(f"side: {self.cause} belongs to {expected}, not to {self.side}")
        if (self.cause == "throttled") != (self.limiter is not None):
            raise ValueError("limiter: given exactly when the cause is throttled")
        if (self.cause == "healthy") != (self.grows_per_s is None and not self.drains):
            raise ValueError("grows_per_s, drains: given exactly when the segment is not healthy")
        return self


class ScalableTopic(StagedTopic):
    """A scalable topic, its load, and what happens to it.

    ``segments`` are those of its first layout. ``kind`` is the type of its consumers: queue (Shared on every segment) or stream (Exclusive per
    segment). Each takes ``processing_ms`` for a message. Messages have no keys, so every active segment gets the same share.
    """

    tenant: ClassVar[str] = TENANT
    scheme: ClassVar[str] = "topic"

    segments: int = Field(ge=1, le=8)
    kind: Literal["queue", "stream"] = "queue"
    consumers: int = Field(1, ge=1, le=16)
    processing_ms: float = Field(0, ge=0)
    rate_msg: float = Field(gt=0)
    size_bytes: int = Field(gt=0, le=MAX_MESSAGE_BYTES)
    batch_messages: int = Field(1, ge=1)
    first: tuple[ScalableStep, ...] = ()
    cause: tuple[ScalableStep, ...] = ()
    relief: tuple[ScalableStep, ...] = ()
    truth: dict[Role, SegmentTruth]
    drains_within_s: float = Field(200, gt=0)

    @model_validator(mode="after")
    def _fits(self) -> ScalableTopic:
        for step in (*self.first, *self.cause, *self.relief):
            if step.level == "broker":
                raise ValueError(f"{step.action}: a step of the scenario, not of a topic")
        changed = {number for step in self.cause for number in step.segments or ()}
        if changed - set(range(self.segments)):
            raise ValueError(f"segments: the first layout has 0 to {self.segments - 1}")
        roles = {"sealed", "successors"} if changed else set()
        if len(changed) < self.segments:
            roles.add("kept")
        if extra := set(self.truth) - roles:
            raise ValueError(f"truth: no segment is {sorted(extra)}")
        return self

    @property
    def load(self) -> dict[str, object]:
        """What its clients do, as the load program wants it."""
        names = (
            "name",
            "segments",
            "kind",
            "consumers",
            "processing_ms",
            "rate_msg",
            "size_bytes",
            "batch_messages",
        )
        return {
            "topic": self.full_name,
            "subscription": SUBSCRIPTION,
            **{name: getattr(self, name) for name in names},
        }

    def role(self, segment: int) -> Role:
        """What a segment is from the beginning of ``cause`` on."""
        if segment >= self.segments:
            return "successors"
        return "sealed" if any(segment in (step.segments or ()) for step in self.cause) else "kept"


class ScalableScenario(StagedScenario):
    """A broker, its scalable topics, and what happens to them."""

    well_s: float = Field(180, gt=0)
    cause_s: float = Field(450, gt=0)
    relieved_s: float = Field(390, gt=0)
    cause: tuple[ScalableStep, ...] = ()
    relief: tuple[ScalableStep, ...] = ()
    topics: tuple[ScalableTopic, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _steps_concern_the_broker(self) -> ScalableScenario:
        if any(step.level != "broker" for step in (*self.cause, *self.relief)):
            raise ValueError("cause, relief: steps of the scenario concern the broker")
        return self
