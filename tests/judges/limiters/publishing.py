"""The publish limiter: entries that are due, and when they are accepted. In: rows of operations. Out: accepted times and states by the simulator.

Here an operation is an entry that a producer has to send. Pulsar's class is played with producers that send what is due when their connection is
read; the simulator makes accepted times from due ones (``publishing.throttled_times``), on a clock of nanoseconds or of its own microseconds.
"""

from __future__ import annotations

import itertools

import numpy as np

from tests.judges.limiters.operations import NEW, SECOND_NS
from tests.judges.limiters.play import NO_ANSWER, NONE
from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.publishing import Bucket, Publisher, Tokens, throttled_times
from throttlescope.models.throttling.world import Log


class _Entries(Log):
    """A log whose entries have the sizes that were drawn."""

    drawn: list[int]

    def bytes_of(self, entry: int) -> int:
        return self.drawn[entry]


class _Watched(Tokens):
    """A meter that notes when a product leaves 64 bits."""

    beyond = False

    def charge(self, amount: int, now: int) -> int:
        self.beyond |= (now - self.last + self.rest) * self.limit >= 1 << 63
        return super().charge(amount, now)


class _Recorded(Bucket):
    """A limiter whose state is noted after every entry, by producer."""

    def __init__(self, limits: tuple[int | None, ...], producers: int, second: int) -> None:
        super().__init__(*limits, second=second)
        self.meters = [None if limit is None else _Watched(limit, second) for limit in limits]
        self.noted: list[list[np.ndarray]] = [[] for _ in range(producers)]

    def take(self, at_us: int, msgs: int, size: int = 0, who: int = 0) -> None:
        super().take(at_us, msgs, size, who)
        self.noted[who].append(self.state(at_us))

    def state(self, answer: int) -> np.ndarray:
        """The answer and the meters, as a row of ``play.py``."""
        return np.array(
            [
                [answer, *([NONE] * 4 if one is None else (one.tokens, one.pending, one.last, one.rest))]
                for one in self.meters
            ],
            np.int64,
        )

    @property
    def beyond(self) -> bool:
        """Whether a product has left 64 bits, which wraps around before 4.2."""
        return any(one is not None and one.beyond for one in self.meters)


def play_publishing(operations: np.ndarray, *, tick_ns: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Play operations on the simulator's publish limits, whose clock counts ``tick_ns``.

    Returns
    -------
    states, beyond : ndarray
        Rows of states as in ``play.py``, where the answer is the accepted time and what was never accepted has no state; times count from the
        start of their limiter. And whether a row's limiter has left 64 bits.
    """
    states = np.full((len(operations), 2, 5), NONE, np.int64)
    beyond = np.zeros(len(operations), bool)
    starts = [*np.flatnonzero(operations[:, 0] == NEW).tolist(), len(operations)]
    for start, end in itertools.pairwise(starts):
        _, born_ns, *limits, producers, _ = operations[start].tolist()
        end_ns = operations[end, 1] if end < len(operations) else operations[-1, 1] + tick_ns
        entries = operations[start + 1 : end]
        gate = _Recorded(tuple(limit or None for limit in limits), producers, SECOND_NS // tick_ns)
        states[start] = gate.state(NO_ANSWER)
        own = [np.flatnonzero(entries[:, 2] == who) for who in range(producers)]
        publishers = [
            Publisher(_log(entries[rows], born_ns, int(end_ns), tick_ns), [gate], waits=False) for rows in own
        ]
        throttled_times(publishers, Machine())
        for rows, noted in zip(own, gate.noted, strict=True):
            if noted:
                states[start + 1 + rows[: len(noted)]] = noted
        beyond[start:end] = gate.beyond
    return states, beyond


def _log(entries: np.ndarray, born_ns: int, end_ns: int, tick_ns: int) -> Log:
    log = _Entries(
        topic="t", partition=-1, segments=[], end_us=(end_ns - born_ns) // tick_ns, listed_us=(entries[:, 1] - born_ns) // tick_ns,
        msgs=int(entries[0, 3]) if len(entries) else 1, sizes=[], estimate_bytes=0,
    )  # fmt: skip
    log.drawn = entries[:, 4].tolist()
    return log


def born_ns(operations: np.ndarray) -> np.ndarray:
    """When the limiter of each row was made."""
    first = np.where(operations[:, 0] == NEW, np.arange(len(operations)), 0)
    return operations[np.maximum.accumulate(first), 1]


def from_start(operations: np.ndarray, pulsar: np.ndarray) -> np.ndarray:
    """Pulsar's states with times from the start of their limiter, as the simulator's."""
    found = pulsar.copy()
    for column in (0, 3):
        times = found[:, :, column]
        found[:, :, column] = np.where(times >= 0, times - born_ns(operations)[:, None], times)
    return found
