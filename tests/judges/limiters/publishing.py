"""The publish limiter: entries that are due, and when they are accepted. In: rows of operations. Out: accepted times by Pulsar and by us.

The simulator makes accepted times from due ones (``publishing.throttled_times``), and lets tokens come continuously and not in steps. So the
same entries are played by Pulsar's class, with producers that send when their connection is read, and by the simulator, and the times
are compared.

:func:`play_stepped` is neither: it is Pulsar's rule written down once more, with its steps. Where it equals Pulsar's class in every state, nothing but
the steps and the rounding to microseconds is left that could make the simulator differ.
"""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from tests.judges.limiters.operations import NEW, SECOND_NS
from tests.judges.limiters.play import NO_ANSWER, NONE
from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.publishing import Bucket, Publisher, throttled_times
from throttlescope.models.throttling.world import Log

#: Pulsar's bucket takes new tokens when more than so long has passed.
STEP_NS = 16_000_000
#: The driver's timers take at least so long.
SHORTEST_NS = 50_000


def lives(operations: np.ndarray) -> list[slice]:
    """Rows of each limiter: its ``NEW``, and its entries."""
    starts = [*np.flatnonzero(operations[:, 0] == NEW).tolist(), len(operations)]
    return [slice(start, end) for start, end in itertools.pairwise(starts)]


def _end_ns(operations: np.ndarray, life: slice) -> int:
    return int(operations[life.stop, 1] if life.stop < len(operations) else operations[-1, 1] + 1000)


class _Entries(Log):
    """A log whose entries have the sizes that were drawn."""

    drawn: list[int]

    def bytes_of(self, entry: int) -> int:
        return self.drawn[entry]


def token_ns(operations: np.ndarray) -> np.ndarray:
    """Time of a token of the slower meter of each row's limiter."""
    found = np.zeros(len(operations), np.int64)
    for life in lives(operations):
        found[life] = SECOND_NS // min(limit for limit in operations[life.start, 2:4].tolist() if limit)
    return found


def at_latest(operations: np.ndarray, accepted_ns: np.ndarray) -> np.ndarray:
    """Accepted times, with the end of its limiter for an entry that waited to it."""
    ends = np.zeros(len(operations), np.int64)
    for life in lives(operations):
        ends[life] = _end_ns(operations, life)
    return np.where(accepted_ns == NONE, ends, accepted_ns)


def play_simulator(operations: np.ndarray) -> np.ndarray:
    """Accepted times in nanoseconds, which the simulator counts in microseconds; -1 where an entry waits to the end of its limiter."""
    accepted = np.full(len(operations), NONE, np.int64)
    for life in lives(operations):
        (_, start_ns, *limits, count, _), entries = operations[life.start].tolist(), operations[life][1:]
        gates = [Bucket(*(limit or None for limit in limits))]
        places, publishers = [], []
        for who in range(count):
            own = np.flatnonzero(entries[:, 2] == who)
            log = _Entries(
                topic="t", partition=-1, segments=[], end_us=(_end_ns(operations, life) - start_ns) // 1000,
                listed_us=(entries[own, 1] - start_ns) // 1000, msgs=int(entries[own[0], 3]) if len(own) else 1, sizes=[], estimate_bytes=0,
            )  # fmt: skip
            log.drawn = entries[own, 4].tolist()
            places.append(life.start + 1 + own)
            publishers.append(Publisher(log, gates, waits=False))
        for own, times in zip(places, throttled_times(publishers, Machine()), strict=True):
            accepted[own[: len(times)]] = times * 1000 + start_ns
    return accepted


@dataclass
class _Meter:
    rate: int
    last_ns: int
    step_ns: int
    tokens: int = field(init=False)
    pending: int = 0
    rest_ns: int = 0
    #: A product has left 64 bits, which wraps around before 4.2.
    beyond: bool = False

    def __post_init__(self) -> None:
        self.tokens = self.rate

    def consume(self, amount: int, now_ns: int) -> int:
        """Charge, and the balance afterwards; new tokens come when a step is over, or the time of one where that is longer."""
        one_ns = SECOND_NS // self.rate
        step_ns = one_ns - self.rest_ns - 1 if one_ns > self.step_ns else self.step_ns
        if now_ns > self.last_ns + step_ns:
            elapsed_ns = now_ns - self.last_ns + self.rest_ns
            self.beyond |= elapsed_ns * self.rate >= 1 << 63
            new = elapsed_ns * self.rate // SECOND_NS
            self.rest_ns, self.last_ns = elapsed_ns - new * SECOND_NS // self.rate, now_ns
            if new:
                gained, self.pending = new - self.pending, 0
                self.tokens = min(self.tokens + gained, self.rate) - amount
                return self.tokens
        self.pending += amount
        return self.tokens - self.pending

    def pause_ns(self, now_ns: int) -> int:
        """How long until the balance is one percent of the rate; 0 where it is."""
        missing = max(1, self.rate // 100) - self.consume(0, now_ns)
        return max(0, missing) * SECOND_NS // self.rate


@dataclass
class _Producer:
    due: deque[tuple[int, int, int, int]] = field(default_factory=deque)
    stopped: int = 0
    sent_ns: int = 0


class _Stepped:
    """A limiter of Pulsar with its producers, from one ``NEW`` to the next."""

    def __init__(self, row: list[int], states: np.ndarray, step_ns: int) -> None:
        _, self._now_ns, *limits, count, _ = row
        self._meters = [_Meter(limit, self._now_ns, step_ns) if limit else None for limit in limits]
        self._producers = [_Producer() for _ in range(count)]
        self._queue: deque[_Producer] = deque()
        self._timer_ns: int | None = None
        self._states = states

    def advance(self, to_ns: int) -> None:
        while self._timer_ns is not None and self._timer_ns <= to_ns:
            self._now_ns, self._timer_ns = self._timer_ns, None
            while not (pause_ns := self._pause_ns()) and self._queue:
                self._queue.popleft().stopped -= 1
            if self._queue:
                self._timer_ns = self._now_ns + max(SHORTEST_NS, pause_ns)
            while waiting := [one for one in self._producers if one.due and not one.stopped]:
                self._send(min(waiting, key=lambda one: max(one.due[0][0], one.sent_ns)))
        self._now_ns = to_ns

    def publish(self, index: int, at_ns: int, who: int, msgs: int, size: int) -> None:
        self.advance(at_ns)
        self._producers[who].due.append((at_ns, index, msgs, size))
        self._send(self._producers[who])

    @property
    def beyond(self) -> bool:
        return any(meter is not None and meter.beyond for meter in self._meters)

    def write(self, index: int, answer: int) -> None:
        for column, meter in enumerate(self._meters):
            left = (
                [NONE] * 4 if meter is None else [meter.tokens, meter.pending, meter.last_ns, meter.rest_ns]
            )
            self._states[index, column] = [answer, *left]

    def _pause_ns(self) -> int:
        return max(meter.pause_ns(self._now_ns) for meter in self._meters if meter is not None)

    def _send(self, producer: _Producer) -> None:
        while producer.due and not producer.stopped:
            _, index, *amounts = producer.due.popleft()
            left = [
                meter.consume(amount, self._now_ns)
                for meter, amount in zip(self._meters, amounts, strict=True)
                if meter is not None
            ]
            if min(left) <= 0:
                producer.stopped += 1
                self._queue.append(producer)
                if len(self._queue) == 1:
                    self._timer_ns = self._now_ns + max(SHORTEST_NS, self._pause_ns())
            producer.sent_ns = self._now_ns
            self.write(index, self._now_ns)


def play_stepped(operations: np.ndarray, *, step_ns: int = STEP_NS) -> tuple[np.ndarray, np.ndarray]:
    """Pulsar's rule: what the driver writes for each operation, in rows of states as in ``play.py``.

    Returns
    -------
    states, beyond : ndarray
        The states; and the rows of limiters in which a product has left 64 bits.
    """
    states = np.full((len(operations), 2, 5), NONE, np.int64)
    beyond = np.zeros(len(operations), bool)
    for life in lives(operations):
        rows = operations[life].tolist()
        limiter = _Stepped(rows[0], states, step_ns)
        limiter.write(life.start, NO_ANSWER)
        for index, (_, at_ns, who, msgs, size, _) in enumerate(rows[1:], life.start + 1):
            limiter.publish(index, at_ns, who, msgs, size)
        if life.stop < len(operations):
            limiter.advance(_end_ns(operations, life) - 1)
        beyond[life] = limiter.beyond
    return states, beyond
