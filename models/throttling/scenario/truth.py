"""What is true of a scenario and what must be seen for it to count: in, the author's claims; out, checked parts.

Only the lab and the accuracy figures act on these; the simulator computes a scenario with or without them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from throttlescope.models.throttling.scenario.limits import Level
from throttlescope.models.throttling.scenario.model import Model

Side = Literal["throttle", "consumer_capacity", "both", "neither", "unknown"]
Cause = Literal[
    "healthy", "throttled", "micro_burst_throttled", "slow_consumers", "both", "no_consumers", "blocked_on_unacked",
    "redelivery", "key_shared_blocked", "delayed_delivery", "hung_consumers", "publish_burst", "cold_reads",
    "topic_moved", "healed_by_loss", "phantom_backlog", "filter_rejects", "read_limit", "unknown",
]  # fmt: skip
LimiterName = Literal[
    "broker.msg", "broker.bytes", "topic.msg", "topic.bytes", "subscription.msg", "subscription.bytes"
]

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


class Truth(Model):
    """What is true of one subscription during a state."""

    subscription: str
    side: Side
    cause: Cause
    limiter: LimiterName | None = None

    @model_validator(mode="after")
    def _fits(self) -> Truth:
        expected = SIDE_OF_CAUSE.get(self.cause)
        if expected is not None and expected != self.side:
            raise ValueError(f"side: {self.cause} belongs to {expected}, not to {self.side}")
        if self.cause == "throttled" and self.limiter is None:
            raise ValueError("limiter: throttled needs one")
        return self


class Grows(Model):
    """Confirm: the backlog at the end of the state exceeds that at its beginning by at least ``by_entries``."""

    check: Literal["grows"]
    state: str
    subscription: str
    by_entries: int


class Drains(Model):
    """Confirm: the backlog falls below ``below_entries`` within ``within_s`` and stays there until the state ends."""

    check: Literal["drains"]
    state: str
    subscription: str
    below_entries: int
    within_s: float


class StaysBelow(Model):
    """Confirm: the backlog stays below ``below_entries`` from 60 s after the state's beginning until its end."""

    check: Literal["stays_below"]
    state: str
    subscription: str
    below_entries: int


class Ticks(Model):
    """Confirm: the throttle counter of a reason and unit rises by at least ``at_least`` events during the state."""

    check: Literal["ticks"]
    state: str
    subscription: str
    reason: Level
    unit: Literal["msg", "bytes"]
    at_least: int = Field(ge=1)


Check = Annotated[Grows | Drains | StaysBelow | Ticks, Field(discriminator="check")]
