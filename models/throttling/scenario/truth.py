"""Ground truth of a scenario, and the checks for it to count. In: the author's claims; out: checked parts.

Only the lab and the accuracy figures act on these; the simulator computes a scenario with or without them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from throttlescope.ingest.contracts.vocabulary import CAUSES
from throttlescope.models.diagnosis.causes import CAUSES as CAUSE_RECORDS
from throttlescope.models.throttling.scenario.limits import Level
from throttlescope.models.throttling.scenario.model import Model

Side = Literal["throttle", "consumer_capacity", "both", "neither", "unknown"]
Cause = Literal[CAUSES]
LimiterName = Literal[
    "broker.msg", "broker.bytes", "topic.msg", "topic.bytes", "subscription.msg", "subscription.bytes"
]

#: Which side a cause belongs to, where there is only one answer.
SIDE_OF_CAUSE: dict[str, str] = {cause.name: cause.side for cause in CAUSE_RECORDS if cause.side_is_fixed}

#: Causes that a limiter has to be named for.
_WITH_LIMITER = {cause.name for cause in CAUSE_RECORDS if cause.names_limiter}


class Truth(Model):
    """What is true of one subscription during a state, on the named partitions or (without names) on all.

    ``part`` says during which part of the state: after a drain if there is one (``whole``), until the backlog has drained, or
    before or after the first messages are lost. Drain and loss are those that the state's own checks saw.
    """

    subscription: str
    side: Side
    cause: Cause
    limiter: LimiterName | None = None
    partitions: tuple[int, ...] | None = Field(None, min_length=1)
    part: Literal["whole", "until_drained", "until_loss", "since_loss"] = "whole"

    @model_validator(mode="after")
    def _fits(self) -> Truth:
        expected = SIDE_OF_CAUSE.get(self.cause)
        if expected is not None and expected != self.side:
            raise ValueError(f"side: {self.cause} belongs to {expected}, not to {self.side}")
        if self.cause in _WITH_LIMITER and self.limiter is None:
            raise ValueError(f"limiter: {self.cause} needs one")
        return self


class _Check(Model):
    """A subscription during a state, one partition of it or (without ``partition``) all of them together."""

    state: str
    subscription: str
    partition: int | None = Field(None, ge=0)


class Grows(_Check):
    """Confirm: the backlog at the end of the state exceeds that at its beginning by at least ``by_entries``."""

    check: Literal["grows"]
    by_entries: int


class Drains(_Check):
    """Confirm: the backlog falls below ``below_entries`` within ``within_s`` and stays there until the state ends."""

    check: Literal["drains"]
    below_entries: int
    within_s: float


class StaysBelow(_Check):
    """Confirm: the backlog stays below ``below_entries`` from 60 s after the state's beginning until its end."""

    check: Literal["stays_below"]
    below_entries: int


class Ticks(_Check):
    """Confirm: the throttle counter of a reason and unit rises by at least ``at_least`` events during the state."""

    check: Literal["ticks"]
    reason: Level
    unit: Literal["msg", "bytes"]
    at_least: int = Field(ge=1)


class Peaks(_Check):
    """Confirm: the backlog comes up to ``above_entries`` and goes back below ``below_entries``, ``at_least`` times."""

    check: Literal["peaks"]
    above_entries: int
    below_entries: int
    at_least: int = Field(1, ge=1)

    @model_validator(mode="after")
    def _fits(self) -> Peaks:
        if self.below_entries > self.above_entries:
            raise ValueError("below_entries: a peak ends below where it begins")
        return self


class Loses(_Check):
    """Confirm: at least so many entries leave the backlog unacknowledged, by expiry or by the backlog quota."""

    check: Literal["loses"]
    by: Literal["expiry", "quota"]
    at_least_entries: int = Field(ge=1)


class Shows(_Check):
    """Confirm: a series of the subscription is ``at_least`` so much in ``share`` of the scrapes from 60 s after the state's beginning."""

    check: Literal["shows"]
    metric: str = Field(pattern=r"^pulsar_[a-z_]+$")
    at_least: float
    share: float = Field(0.9, gt=0, le=1)


Check = Annotated[Grows | Drains | StaysBelow | Ticks | Peaks | Loses | Shows, Field(discriminator="check")]
