"""What flows in the fluid model: in, nothing but numbers; out, worlds, what waits in a subscription, and who takes it."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field

from throttlescope.models.throttling.scenario import Subscription


@dataclass(frozen=True)
class World:
    """What of a limit and of the consumers' capacity comes through, who gets how much of a shared limit, and an entry's extra bytes."""

    limiter: float
    limiter_exclusive: float
    consumers: float
    of_shared: float
    extra_bytes: int
    check_phase_s: int


#: The lab's measurements lie between the first and the last.
LITTLE = World(0.85, 0.85, 0.96, 0.2, 35, 53)
MIDDLE = World(0.96, 1.0, 0.98, 0.5, 31, 30)
MUCH = World(1.06, 1.15, 1.0, 0.8, 28, 7)


@dataclass
class Queue:
    """One subscription partition: what waits to be due, what can be taken (publish second, messages), and its counters."""

    later: list[tuple[float, int, float]] = field(default_factory=list)
    ready: deque[list[float]] = field(default_factory=deque)
    expired: float = 0
    evictions: int = 0
    events: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))

    @property
    def delayed(self) -> float:
        return sum(count for _, _, count in self.later)

    @property
    def backlog(self) -> float:
        return self.delayed + sum(count for _, count in self.ready)

    def take(self, amount: float) -> float:
        taken = 0.0
        while self.ready and taken < amount:
            part = min(self.ready[0][1], amount - taken)
            taken += part
            self.ready[0][1] -= part
            if self.ready[0][1] <= 1e-9:
                self.ready.popleft()
        return taken


@dataclass
class Reader:
    """The consumers of a subscription as they are now."""

    spec: Subscription
    takes_ms: list[float]
    further_ms: float
    hanging: int = 0
    ack: str = "individual"
    nack_share: float = 0.0
    #: Unacknowledged for good, and given back for ever.
    held: float = 0.0
    poison: float = 0.0
    #: Messages of keys whose consumer takes none.
    waiting: float = 0.0
    redelivered_per_s: float = 0.0

    @property
    def capacity(self) -> float:
        active = self.takes_ms[: len(self.takes_ms) - self.hanging]
        if self.spec.type == "Failover":
            active = active[:1]
        return sum(1000 / takes if takes else 1e9 for takes in active)

    @property
    def stuck(self) -> int:
        """How many of the consumers take next to nothing while others go on."""
        fastest = min(self.takes_ms, default=0)
        return self.hanging + sum(takes >= 50 * fastest > 0 for takes in self.takes_ms)
