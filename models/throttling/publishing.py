"""Effect of a publish limit and a blocked producer on arrival times. In: due times; out: accepted times.

Since 3.2 (PIP-322) a token bucket pauses the producer's connection, the message that emptied it is accepted; before, a checker counted
every few milliseconds and reading went on at the next full second. Nothing is ever rejected or lost: what is not accepted
waits in the producer, and a producer whose queue is full waits with it.
"""

from __future__ import annotations

import numpy as np

from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.scenario import Producer, Scenario, Topic
from throttlescope.models.throttling.world import Log

_SECOND_US = 1_000_000


def throttled_times(
    due_us: np.ndarray, log: Log, scenario: Scenario, topic: Topic, producer: Producer, machine: Machine
) -> np.ndarray:
    """Accepted times of entries that are due at given times.

    Parameters
    ----------
    due_us
        Sorted times of the schedule.
    log
        Messages and bytes of the entries.
    scenario, topic, producer
        The broker's version chooses the form of throttling; the topic has the limit, the producer its way of sending.
    machine
        A producer that sends in step waits ``send_us`` and ``notify_us`` for each receipt.

    Returns
    -------
    ndarray
        Accepted times before the log's end; entries that wait longer are not in it.
    """
    rate = topic.publish_rate
    receipt_us = machine.send_us + machine.notify_us
    sync = producer.send == "sync"
    gates = []
    if rate is not None:
        polled = scenario.broker.numbers < (3, 2, 0)
        tick_us = scenario.broker.settings.topic_publisher_throttling_tick_time_millis * 1000
        for limit, amounts in ((rate.msg, None), (rate.bytes, log)):
            if limit is not None:
                gates.append((Polled(limit, tick_us) if polled else Bucket(limit), amounts))
    accepted = np.empty(len(due_us), np.int64)
    free_us = 0
    count = 0
    for entry, due in enumerate(due_us):
        at = max(int(due), free_us)
        # A connection is read again only when no limit holds it.
        for gate, _ in gates:
            at = max(at, gate.open_us(at))
        if at >= log.end_us:
            break
        for gate, amounts in gates:
            gate.take(at, log.msgs if amounts is None else amounts.bytes_of(entry))
        accepted[count] = at
        count += 1
        free_us = at + receipt_us if sync else at
    return accepted[:count]


class Bucket:
    """3.2 and later: tokens of one second, a pause until the balance is back at one percent of it."""

    def __init__(self, limit: int) -> None:
        self.limit, self.tokens, self.last_us, self.paused_until_us = limit, limit, 0, 0

    def open_us(self, at_us: int) -> int:
        return max(at_us, self.paused_until_us)

    def take(self, at_us: int, amount: int) -> None:
        new = (at_us - self.last_us) * self.limit // _SECOND_US
        self.last_us += -(-new * _SECOND_US // self.limit)
        self.tokens = min(self.limit, self.tokens + new) - amount
        if self.tokens <= 0:
            target = max(1, self.limit // 100)
            self.paused_until_us = at_us + -(-(target - self.tokens) * _SECOND_US // self.limit)


class Polled:
    """Before 3.2: counted per second, checked every tick, reading goes on at the next full second."""

    def __init__(self, limit: int, tick_us: int) -> None:
        self.limit, self.tick_us = limit, tick_us
        self.second, self.count, self.closed_from_us = 0, 0, 1 << 62

    def open_us(self, at_us: int) -> int:
        if at_us // _SECOND_US == self.second and at_us >= self.closed_from_us:
            return (self.second + 1) * _SECOND_US
        return at_us

    def take(self, at_us: int, amount: int) -> None:
        second = at_us // _SECOND_US
        if second != self.second:
            self.second, self.count, self.closed_from_us = second, 0, 1 << 62
        self.count += amount
        # Only more than the limit closes, and only the next check sees it.
        if self.count > self.limit:
            self.closed_from_us = min(self.closed_from_us, (at_us // self.tick_us + 1) * self.tick_us)
