"""Dispatch limits in a scenario. In: level, policy and rates. Out: one validated limit."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from throttlescope.models.throttling.scenario.model import Model

Level = Literal["broker", "topic", "subscription"]

#: No machine dispatches faster; a larger number is a typing error.
MAX_RATE = 10**10
MAX_PERIOD_S = 86_400
#: Rate times period: so that microseconds times tokens stay within 64 bits.
MAX_PER_PERIOD = 9 * 10**12


class LimitPlace(Model):
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

    msg: int | None = Field(None, gt=0, le=MAX_RATE)
    bytes: int | None = Field(None, gt=0, le=MAX_RATE)
    period_s: int = Field(1, ge=1, le=MAX_PERIOD_S)
    relative_to_publish: bool = False

    @model_validator(mode="after")
    def _limits_something(self) -> Limit:
        if self.msg is None and self.bytes is None:
            raise ValueError("msg, bytes: a limit needs at least one of them")
        for name, rate in (("msg", self.msg), ("bytes", self.bytes)):
            if (rate or 0) * self.period_s > MAX_PER_PERIOD:
                raise ValueError(
                    f"{name}: {rate} times a period of {self.period_s} s is above {MAX_PER_PERIOD}; no limit is that large"
                )
        if self.level == "broker" and self.period_s != 1:
            raise ValueError("period_s: a broker limit always has a period of 1 s")
        if self.level == "broker" and self.relative_to_publish:
            raise ValueError("relative_to_publish: a broker limit is never relative to a publish rate")
        return self
