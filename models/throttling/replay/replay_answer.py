"""What a replay knows, as records. In: nothing; out: :class:`ReplayAnswer` and its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from throttlescope.models.messages.catalogue import Message
from throttlescope.models.throttling.replay.capacity import Capacity
from throttlescope.models.throttling.replay.change import Change
from throttlescope.models.throttling.replay.observed import Observed
from throttlescope.models.throttling.replay.speed import Speed

#: Two drain times that differ by no more than this are the same, and so are two growths, as a share of what is dispatched: a replay
#: is not more exact than that.
SAME_S, SAME_SHARE = 5.0, 0.05
#: A replay that is off by so much of the window's peak says little about what comes after it.
FAR_OFF_SHARE = 0.2

Effect = Literal["none", "sooner", "later", "open"]
_EFFECTS: dict[int, Effect] = {-1: "sooner", 0: "none", 1: "later"}


@dataclass(frozen=True)
class Arrivals:
    """Messages per second published to the selected partitions: mean of the window, 10 % and 90 % of its minutes.

    ``lower_bound``: a publish limit slowed the producers down, more would have been published. None: not recorded.
    """

    msg_per_s: float
    low_msg_per_s: float
    high_msg_per_s: float
    lower_bound: bool | None


@dataclass(frozen=True, eq=False)
class Outlook:
    """One simulated future of the selected partitions, all together.

    Attributes
    ----------
    drain_s : float or None
        Seconds until the backlog is drained; None: not within ``horizon_s``.
    backlog_entries : ndarray of int64
        At the end of every ``every_s`` seconds, up to ``horizon_s``: what was simulated.
    growth_entries_per_s : float
        Mean until it is drained (or to the end); below 0 the backlog falls.
    out_msg_per_s : float
        Mean until it is drained (or to the end).
    held_by : str
        What holds the drain: a limiter (``subscription.msg``), ``consumers``, or ``reads``, the broker's own speed; ``arrivals``
        where there is nothing to drain.
    used : mapping
        Use of every limiter and of ``consumers`` until it is drained (or to the end), as shares of what they allow.
    """

    drain_s: float | None
    horizon_s: int
    every_s: int
    backlog_entries: np.ndarray
    growth_entries_per_s: float
    out_msg_per_s: float
    held_by: str
    used: Mapping[str, float] = field(default_factory=dict)

    @property
    def next_brake(self) -> tuple[str, float] | None:
        """What would hold it next, and at how many messages per second: all are used more alike as more is dispatched.

        None where nothing else is known, as no other limit is set and what consumers can do was never seen.
        """
        others = {name: share for name, share in self.used.items() if name != self.held_by and share > 0}
        if not others or self.held_by in ("reads", "arrivals"):
            return None
        name = max(others, key=others.__getitem__)
        return name, self.out_msg_per_s / others[name]


@dataclass(frozen=True)
class Forecast:
    """The same future with what was fitted, and with the best and the worst that the samples allow; ``fitted`` is None where the
    consumers' capacity was never seen."""

    fitted: Outlook | None
    best: Outlook
    worst: Outlook

    @property
    def all(self) -> tuple[Outlook, ...]:
        """The outlooks that there are, the likeliest first."""
        return (self.best, self.worst) if self.fitted is None else (self.fitted, self.best, self.worst)

    @property
    def earliest_s(self) -> float | None:
        """The earliest drain of all; None: never."""
        return min((item.drain_s for item in self.all if item.drain_s is not None), default=None)

    @property
    def latest_s(self) -> float | None:
        """The latest drain of all; None: one of them does not drain."""
        times = [item.drain_s for item in self.all]
        return None if None in times else max(times)


@dataclass(frozen=True, eq=False)
class ReplayAnswer:
    """What a replay knows.

    Attributes
    ----------
    capacity : Capacity
        Of the consumers that there are, or that the change says.
    speed : Speed
        How fast the broker reads, and with it the window replayed.
    backlog_entries : int
        At the window's end.
    as_is, changed : Forecast
        Without and with the change.
    drained_below_entries : int
        What counts as drained.
    notes : list of Message
        Gaps, restarts and everything else that makes the answer less sure.
    """

    observed: Observed
    change: Change
    capacity: Capacity
    arrivals: Arrivals
    speed: Speed
    backlog_entries: int
    as_is: Forecast
    changed: Forecast
    drained_below_entries: int
    notes: list[Message] = field(default_factory=list)

    @property
    def is_far_off(self) -> bool:
        """Whether the window was replayed too badly to say anything about what comes after it. Without a backlog nothing can be missed."""
        had_backlog = float(self.observed.backlog_entries.max()) > self.drained_below_entries
        return had_backlog and self.speed.error_share >= FAR_OFF_SHARE

    @property
    def effect(self) -> Effect:
        """What the change does: ``none``, the backlog is gone ``sooner`` or ``later`` (or shrinks, or grows, faster), or
        ``open``, where that depends on what was never seen."""
        if self.as_is.fitted is not None and self.changed.fitted is not None:
            return _EFFECTS[_sign(self.as_is.fitted, self.changed.fitted)]
        signs = {_sign(self.as_is.best, self.changed.best), _sign(self.as_is.worst, self.changed.worst)}
        # What consumers could do was never seen: in the worst case they can do no more than was.
        if signs == {0}:
            return "none"
        open_ = self.changed.best.drain_s is not None and self.changed.worst.drain_s is None
        return "open" if open_ or len(signs) > 1 else _EFFECTS[signs.pop()]


def _sign(before: Outlook, after: Outlook) -> int:
    """-1 where the second is sooner, 1 where it is later, 0 where they are the same."""
    if before.drain_s is None and after.drain_s is None:
        ends = [float(item.growth_entries_per_s) for item in (before, after)]
        near = SAME_SHARE * max(abs(value) for value in (*ends, before.out_msg_per_s, after.out_msg_per_s))
    elif before.drain_s is None or after.drain_s is None:
        return 1 if after.drain_s is None else -1
    else:
        ends = [before.drain_s, after.drain_s]
        near = max(SAME_S, SAME_SHARE * ends[0])
    return 0 if abs(ends[1] - ends[0]) <= near else -1 if ends[1] < ends[0] else 1
