"""State of the twin. In: the specs of a world; out: mutable records of dispatchers, ports, workers and entries."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass, field, fields

from throttlescope.models.throttling.limiters import Meter, new_meter
from throttlescope.models.throttling.world import NEVER_US, Dispatcher, Log, Port, Rates, Worker


@dataclass(eq=False)
class Item:
    """An entry on its way: its number, how often it was redelivered, and which of its messages are acknowledged already."""

    entry: int
    redeliveries: int = 0
    acked_messages: int = 0
    port: int = -1
    epoch: int = 0
    left: int = 0
    #: The client's time-out for it has not fired, and it is not done.
    timed: bool = False
    #: It was given back while the client still works on it.
    given_back: bool = False


@dataclass
class RetryLog(Log):
    """The retry-letter topic of a run: what clients published to it, and how often each message had been reconsumed."""

    times_us: list[int] = field(default_factory=list)
    attempts: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, log: Log) -> RetryLog:
        """An empty one, like a log of the world."""
        return cls(**{item.name: getattr(log, item.name) for item in fields(log)})

    def published(self, before_us: int) -> int:
        """Entries that were published before a time."""
        return bisect_left(self.times_us, before_us)

    def time_us(self, entry: int) -> int:
        """When an entry is published; never unless it was."""
        return self.times_us[entry] if entry < len(self.times_us) else NEVER_US


@dataclass
class LimiterState:
    """The two meters of a limiter object; None where a meter does not exist."""

    engine: str
    rates: Rates
    msg: Meter | None = None
    bytes: Meter | None = None

    def renew(self, rates: Rates, now_us: int, average: tuple[int, int] = (0, 0)) -> None:
        """Take new rates as the engine does: A keeps what was used, the others start full.

        A window starts with the configured rate, and adds the publish rate to it from its first tick on.
        """
        self.rates = rates
        for unit, rate, extra in (("msg", rates.msg, average[0]), ("bytes", rates.bytes, average[1])):
            follows = rate > 0 and rates.relative
            value = rate + extra if follows and self.engine in ("B", "C") else rate
            old = getattr(self, unit)
            if not rate:
                setattr(self, unit, None)
            elif self.engine == "A" and old is not None:
                old.change(value, rates.period_us, now_us)
            else:
                setattr(self, unit, new_meter(self.engine, value, rates.period_us, now_us))
            if follows:
                getattr(self, unit).follow(rate + extra, now_us)

    def follow(self, average: tuple[int, int], now_us: int) -> None:
        """Take a new publish rate into account, without a new meter."""
        if self.rates.relative:
            if self.msg is not None:
                self.msg.follow(self.rates.msg + average[0], now_us)
            if self.bytes is not None:
                self.bytes.follow(self.rates.bytes + average[1], now_us)


@dataclass(eq=False)
class PortState:
    """One consumer as the broker sees it, and how many messages its client took since its last request."""

    spec: Port
    connected: bool = False
    permits: int = 0
    parked: int = 0
    unacked: int = 0
    blocked: bool = False
    taken: int = 0
    #: Items of an older epoch are read again elsewhere; requests of an older session have no connection any more.
    epoch: int = 0
    session: int = 0
    messages_per_entry: float = 0.0
    pending: dict[int, Item] = field(default_factory=dict)
    #: Given back at the client, with the times from which on they are due; the timer under which they wait.
    nacked: list[tuple[int, Item]] = field(default_factory=list)
    nack_timer_us: int | None = None


@dataclass(eq=False)
class WorkerState:
    """One client: its queue, and the message that it works on."""

    spec: Worker
    processing_us: int
    joined: bool = False
    hung: bool = False
    queue: deque[Item] = field(default_factory=deque)
    current: Item | None = None
    busy_until_us: int = 0
    hung_left_us: int = 0
    turn: int = 0


@dataclass(eq=False)
class DispatcherState:
    """One subscription of one topic partition, as its broker runs it."""

    spec: Dispatcher
    log: Log
    position: int = 0
    again: list[Item] = field(default_factory=list)
    replay: dict[int, Item] = field(default_factory=dict)
    delayed: list[tuple[int, int]] = field(default_factory=list)
    reading: list[Item] | None = None
    replaying: list[Item] | None = None
    armed: int = 0
    arm_us: int | None = None
    sends: deque[tuple[int, int, int]] = field(default_factory=deque)
    timer_us: int | None = None
    tick_us: int | None = None
    last_tick_us: int = 0
    backoff_us: int = 1_000
    poll_asked: bool = False
    poll_waits: bool = False
    #: Clients that requested redelivery since the last requested poll: each request has passes of its own.
    asked_by: set[int] = field(default_factory=set)
    #: Requests for redelivery so far.
    requests: int = 0
    #: A pass of the read routine runs until then; a request meanwhile makes one more after it.
    pass_until_us: int = 0
    follows_up: bool = False
    round_robin: int = 0
    total_permits: int = 0
    unacked: int = 0
    blocked: bool = False
    active: bool = True
    gone: int = 0
    expired_below: int = 0
    #: Acknowledged by a client that had given them back; copies of them may still be on their way.
    acked_late: set[int] = field(default_factory=set)
    turn: int = 0
    counts: dict[str, int] = field(default_factory=dict)

    def is_waited_for(self, entry: int) -> bool:
        """Whether the subscription still needs an entry: it has neither expired nor been acknowledged late."""
        return entry >= self.expired_below and entry not in self.acked_late
