"""Effect of a publish limit and a blocked producer on arrival times. In: due times; out: accepted times.

Since 3.2 (PIP-322) a token bucket pauses the producer's connection, the message that emptied it is accepted; before, a checker counted
every few milliseconds and reading went on at the next full second. Nothing is ever rejected or lost: what is not accepted
waits in the producer, and a producer whose queue is full waits with it.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.scenario import Scenario, Topic
from throttlescope.models.throttling.world import Log

_SECOND_US = 1_000_000
#: Pulsar's bucket takes new tokens when more than so long has passed. That of versions with engine B works in slots, which are not modelled.
_STEP_US = 16_000
#: A timer of the broker takes at least so long.
_TIMER_US = 50


@dataclass
class Publisher:
    """The producer of a topic partition: when its entries are due, and what lets them pass."""

    #: ``listed_us`` are the times at which they are due.
    log: Log
    gates: list[Bucket | Polled]
    #: It waits for every receipt.
    waits: bool


class PublishLimits:
    """The publish limits of a scenario, as gates: of topics, of brokers and of the namespace's resource group.

    A resource group's limit holds for all its topics together, also on several brokers.
    """

    def __init__(self, scenario: Scenario) -> None:
        settings = scenario.broker.settings
        self._polled = scenario.broker.numbers < (3, 2, 0)
        self._topic_tick_us = settings.topic_publisher_throttling_tick_time_millis * 1000
        self._broker_tick_us = settings.broker_publisher_throttling_tick_time_millis * 1000
        self._broker = (
            settings.broker_publisher_throttling_max_message_rate or None,
            settings.broker_publisher_throttling_max_byte_rate or None,
        )
        group = scenario.resource_group
        self._group = (None, None) if group is None else (group.msg, group.bytes)
        self._shared: dict[object, list[Bucket | Polled]] = {}

    def limits(self, topic: Topic) -> bool:
        """Whether anything limits what is published to a topic."""
        return topic.publish_rate is not None or any(self._broker) or any(self._group)

    def shared_by(self, topic: Topic) -> object:
        """Topics with the same answer share a limit; None where a topic shares none."""
        if any(self._group):
            return "resource group"
        return ("broker", topic.broker) if any(self._broker) else None

    def gates(self, topic: Topic) -> list[Bucket | Polled]:
        """The gates for one partition of a topic: its own ones, and those that it shares."""
        rate = topic.publish_rate
        found = [] if rate is None else self._new((rate.msg, rate.bytes), self._topic_tick_us)
        for owner, limits in ((("broker", topic.broker), self._broker), ("resource group", self._group)):
            if owner not in self._shared:
                self._shared[owner] = self._new(limits, self._broker_tick_us)
            found += self._shared[owner]
        return found

    def _new(self, limits: tuple[int | None, int | None], tick_us: int) -> list[Bucket | Polled]:
        if not any(limits):
            return []
        return [Polled(*limits, tick_us=tick_us) if self._polled else Bucket(*limits)]


def throttled_times(publishers: Sequence[Publisher], machine: Machine) -> list[np.ndarray]:
    """Accepted times of entries that are due at given times.

    Parameters
    ----------
    publishers
        The producers that share a limit, or one that shares none. Of those that may go on at the same time who was stopped first is first.
    machine
        A producer that waits for receipts waits ``send_us`` and ``notify_us`` for each.

    Returns
    -------
    list of ndarray
        Accepted times before the log's end, by producer; entries that wait longer are not in it.
    """
    receipt_us = machine.send_us + machine.notify_us
    due = [item.log.listed_us for item in publishers]
    accepted: list[list[int]] = [[] for _ in publishers]
    # When each may go on, its turn, and who it is. A producer is stopped by what it sends: the turn of that is its place among the stopped ones.
    turns = itertools.count(len(due))
    waiting = [(int(times[0]), who, who) for who, times in enumerate(due) if len(times)]
    heapq.heapify(waiting)
    while waiting:
        at, turn, who = heapq.heappop(waiting)
        publisher = publishers[who]
        log = publisher.log
        # A connection is read again only when no limit holds it.
        opens = at
        for gate in publisher.gates:
            opens = max(opens, gate.open_us(opens, who))
        if opens >= log.end_us:
            continue
        if opens > at:
            heapq.heappush(waiting, (opens, turn, who))
            continue
        entry = len(accepted[who])
        for gate in publisher.gates:
            gate.take(at, log.msgs, log.bytes_of(entry), who)
        accepted[who].append(at)
        if entry + 1 < len(due[who]):
            next_us = max(int(due[who][entry + 1]), at + receipt_us if publisher.waits else at)
            heapq.heappush(waiting, (next_us, next(turns), who))
    return [np.array(times, np.int64) for times in accepted]


class Bucket:
    """3.2 and later: tokens of one second, a pause until one percent of them is back; who is paused goes on together.

    A second has a million ticks. Tests count nanoseconds, and compare every state with that of Pulsar's own class.
    """

    def __init__(self, msg: int | None = None, size: int | None = None, *, second: int = _SECOND_US) -> None:
        self.meters = [None if limit is None else Tokens(limit, second) for limit in (msg, size)]
        self._shortest = second * _TIMER_US // _SECOND_US
        self._paused: set[int] = set()
        self._until = 0

    def open_us(self, at_us: int, who: int = 0) -> int:
        """When a producer's connection is read again, from a time on."""
        self._resume(at_us)
        return self._until if who in self._paused else at_us

    def take(self, at_us: int, msgs: int, size: int = 0, who: int = 0) -> None:
        """Charge what a producer sent, which pauses its connection if nothing is left."""
        self._resume(at_us)
        left = [
            meter.charge(amount, at_us)
            for meter, amount in zip(self.meters, (msgs, size), strict=True)
            if meter is not None
        ]
        if min(left) <= 0:
            if not self._paused:
                self._pause(at_us)
            self._paused.add(who)

    def _resume(self, at_us: int) -> None:
        while self._paused and self._until <= at_us:
            # Others may have used up what came in meanwhile, or no step was over.
            if not self._pause(self._until):
                self._paused.clear()

    def _pause(self, at_us: int) -> int:
        wait = max(meter.wait(at_us) for meter in self.meters if meter is not None)
        self._until = at_us + max(self._shortest, wait)
        return wait


@dataclass
class Tokens:
    """A meter of a publish limit. New tokens come when a step is over, or the time of one where that is longer."""

    limit: int
    second: int
    pending: int = 0
    last: int = 0
    rest: int = 0

    def __post_init__(self) -> None:
        self.tokens = self.limit

    def charge(self, amount: int, now: int) -> int:
        """Charge an amount; the balance that it leaves."""
        one, step = self.second // self.limit, self.second * _STEP_US // _SECOND_US
        if now > self.last + (one - self.rest - 1 if one > step else step):
            elapsed = now - self.last + self.rest
            new = elapsed * self.limit // self.second
            self.rest, self.last = elapsed - new * self.second // self.limit, now
            if new:
                self.tokens = min(self.tokens + new - self.pending, self.limit) - amount
                self.pending = 0
                return self.tokens
        self.pending += amount
        return self.tokens - self.pending

    def wait(self, now: int) -> int:
        """How long until one percent is there."""
        return max(0, max(1, self.limit // 100) - self.charge(0, now)) * self.second // self.limit


class Polled:
    """Before 3.2: counted per second, checked every tick, reading goes on at the next full second."""

    def __init__(self, msg: int | None = None, size: int | None = None, *, tick_us: int) -> None:
        self._limits, self._tick_us = (msg, size), tick_us
        self._second, self._counts, self._closed_from_us = 0, [0, 0], 1 << 62

    def open_us(self, at_us: int, who: int = 0) -> int:
        """When connections are read again, from a time on; all of them stop together."""
        if at_us // _SECOND_US == self._second and at_us >= self._closed_from_us:
            return (self._second + 1) * _SECOND_US
        return at_us

    def take(self, at_us: int, msgs: int, size: int = 0, who: int = 0) -> None:
        """Count what a producer sent."""
        second = at_us // _SECOND_US
        if second != self._second:
            self._second, self._counts, self._closed_from_us = second, [0, 0], 1 << 62
        self._counts = [self._counts[0] + msgs, self._counts[1] + size]
        # Only more than the limit closes, and only the next check sees it.
        if any(
            limit is not None and count > limit
            for limit, count in zip(self._limits, self._counts, strict=True)
        ):
            self._closed_from_us = min(self._closed_from_us, (at_us // self._tick_us + 1) * self._tick_us)
