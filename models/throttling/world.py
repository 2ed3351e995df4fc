"""A scenario laid out for computation: logs, limiters, dispatchers, clients and what changes when.

In: nothing; out: the records that :mod:`compile` fills, the twin reads as they are and the kernel reads packed into arrays.
Times are whole microseconds from the scenario's start, sizes bytes as stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

NEVER_US = 1 << 62

_MASK = (1 << 64) - 1


#: Equally likely values of an exponential distribution with mean 1, in units of 1/65536.
EXPONENTIAL = np.round(-np.log1p(-(np.arange(4096) + 0.5) / 4096) * 65_536).astype(np.int64)


def mixed(number: int, salt: int) -> int:
    """A number of 32 bits that looks random and is the same every time (the finalizer of splitmix64)."""
    z = (number * 0x9E3779B97F4A7C15 + salt * 0xBF58476D1CE4E5B9 + 0x94D049BB133111EB) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return (z ^ (z >> 31)) >> 32


@dataclass(frozen=True)
class Segment:
    """Entries at even distances: entry ``first + k`` is published at ``start_us + floor(k * 10**9 / per_1000_s)``."""

    start_us: int
    first: int
    per_1000_s: int


@dataclass
class Log:
    """One topic partition: when its entries are published and what they are.

    Either ``segments`` (even distances) or ``listed_us`` (any times, sorted); ``end_us`` ends the publishing.
    """

    topic: str
    partition: int
    segments: list[Segment]
    end_us: int
    listed_us: np.ndarray | None
    msgs: int
    #: Bytes of an entry, and up to which 32-bit number it is drawn.
    sizes: list[tuple[int, int]]
    estimate_bytes: int
    keys: int = 0
    deliver_after_us: int = 0
    persistent: bool = True
    #: Entries come in lots, so far apart: each at the next whole multiple of its own time; 0: at its own time.
    tick_us: int = 0
    ttl_us: int = 0
    salt: int = 0
    #: A retry-letter topic: clients publish to it what they reconsume later.
    is_retry: bool = False

    def published(self, before_us: int) -> int:
        """Entries that were published before a time."""
        if self.tick_us:
            before_us = (before_us - 1) // self.tick_us * self.tick_us + 1
        if self.listed_us is not None:
            return int(np.searchsorted(self.listed_us, before_us, side="left"))
        count = 0
        for number, item in enumerate(self.segments):
            end = self.segments[number + 1].start_us if number + 1 < len(self.segments) else self.end_us
            if before_us <= item.start_us:
                break
            until = min(before_us, end)
            count = item.first - (-(until - item.start_us) * item.per_1000_s // 10**9)
        return count

    def time_us(self, entry: int) -> int:
        """When an entry is published; :data:`NEVER_US` if never."""
        at_us = self._own_time_us(entry)
        return -(-at_us // self.tick_us) * self.tick_us if self.tick_us and at_us < NEVER_US else at_us

    def _own_time_us(self, entry: int) -> int:
        if self.listed_us is not None:
            return int(self.listed_us[entry]) if entry < len(self.listed_us) else NEVER_US
        found = None
        for item in self.segments:
            if item.first > entry:
                break
            if item.per_1000_s:
                found = item
        if found is None or entry >= self.published(self.end_us):
            return NEVER_US
        return found.start_us + (entry - found.first) * 10**9 // found.per_1000_s

    def bytes_of(self, entry: int) -> int:
        """Stored bytes of an entry."""
        if len(self.sizes) == 1:
            return self.sizes[0][0]
        drawn = mixed(entry, self.salt)
        return next(size for size, below in self.sizes if drawn < below)

    def key_of(self, entry: int) -> int:
        """Number of the entry's key."""
        return mixed(entry, self.salt + 1) % self.keys if self.keys else mixed(entry, self.salt + 1)


@dataclass(frozen=True)
class Rates:
    """What a limiter's two meters allow per period; 0 means that the meter does not exist."""

    msg: int = 0
    bytes: int = 0
    period_us: int = 1_000_000
    relative: bool = False


@dataclass
class Limiter:
    """A limiter object: its level, its rates at the start, and the log whose publish rate it may follow."""

    level: Literal["broker", "topic", "subscription"]
    rates: Rates
    log: int = -1


@dataclass
class Dispatcher:
    """One subscription of one topic partition."""

    subscription: str
    log: int
    kind: Literal["single", "shared", "key_shared"]
    limiters: tuple[int, int, int]
    max_unacked_consumer: int
    max_unacked_subscription: int
    nack_below: int = 0
    nack_times: int = 0
    nack_delay_us: int = 0
    #: What a client gives back goes when so long no other message was given back; 0: at its own time.
    nack_timer_us: int = 0
    max_redeliver: int = -1
    acks: bool = True
    #: An acknowledgement covers all earlier entries.
    cumulative: bool = False
    #: An entry is given back so long after the client took its first message; 0: never.
    ack_timeout_us: int = 0
    #: What is reconsumed later: as ``nack_below`` and ``nack_times``, and the dispatcher of the retry-letter topic.
    retry_below: int = 0
    retry_times: int = 0
    max_reconsume: int = -1
    retry_dispatcher: int = -1
    batch_index_ack: bool = False
    #: Every message's processing time is drawn for itself.
    drawn: bool = False
    ports: list[int] = field(default_factory=list)
    #: The first entry that it has not had at the start: earlier ones are gone.
    first: int = 0
    #: Which of the connected ports is the active one, counted round the ring (single-active only).
    active_offset: int = 0

    @property
    def exact(self) -> bool:
        """Whether the fate of single entries matters, so that they cannot be counted in ranges."""
        return (
            self.nack_below > 0
            or self.retry_below > 0
            or self.ack_timeout_us > 0
            or not self.acks
            or self.drawn
            or self.kind == "key_shared"
        )


@dataclass
class Port:
    """One consumer of one client on one dispatcher."""

    worker: int
    dispatcher: int
    queue: int


@dataclass
class Worker:
    """One client process: it works on one message at a time, whatever partition it came from."""

    subscription: str
    processing_us: int
    ports: list[int] = field(default_factory=list)
    #: Processing times are drawn, ``processing_us`` is their mean.
    exponential: bool = False
    joined: bool = True


StepKind = Literal["rates", "processing", "join", "leave", "hang", "resume", "unload", "seek"]


@dataclass(frozen=True)
class Step:
    """A change at a time: of a limiter, a worker, a log or a dispatcher, by its number."""

    at_us: int
    kind: StepKind
    number: int
    value: int = 0
    rates: Rates = Rates()


@dataclass
class Rules:
    """What holds for the whole broker."""

    engine: Literal["A0", "A", "B", "C"]
    read_batch: int
    read_bytes: int
    #: Younger entries are read from the broker's cache.
    cache_us: int
    round_robin: int
    precise: bool
    per_entry: bool
    limits_caught_up: bool
    estimate_extra_bytes: int
    retry_backoff: bool
    delay_tick_us: int
    stats_us: int
    expiry_us: int
    backlogged_entries: int
    keeps_cursor_active: bool
    #: A read request during a running pass only asks for one follow-up pass (not on single-active dispatchers).
    merges_reads: bool
    #: A request for redelivery of single entries also requests no more messages, which asks for a second pass.
    redelivery_requests_flow: bool
    #: A key whose hash moved waits until its old owner's messages are acknowledged.
    drains_hashes: bool
    #: Key_Shared stops reading ahead when so many entries wait: per consumer, and at most.
    look_ahead_per_consumer: int
    look_ahead: int


@dataclass
class World:
    """Everything that a simulation needs in addition to the machine and the seed."""

    rules: Rules
    logs: list[Log]
    limiters: list[Limiter]
    dispatchers: list[Dispatcher]
    ports: list[Port]
    workers: list[Worker]
    steps: list[Step]
    duration_us: int
