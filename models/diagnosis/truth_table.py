"""The truth table: what one limiter's reading and the consumers' queues say together. In: their three words. Out: an answer.

A limiter is at, near, possibly at, or far from its limit; its counter is continuous, ticking, sparse, silent or unseen;
the consumers' queues are full, busy, between, empty or unknown. The first row that matches answers. All words are lists of the
words in :mod:`limiters` and :mod:`consumers`; ``*`` stands for any. ``docs/background/diagnosis.md`` prints this table.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from throttlescope.models.diagnosis.consumers import QUEUES, Queue
from throttlescope.models.diagnosis.limiters import ACTIVITIES, ZONES, Activity, Zone


class Row(NamedTuple):
    """One row: the words it is for, the cause that holds (``unknown``: nobody can say), its grade, and why."""

    zones: str
    activities: str
    queues: str
    cause: str
    grade: str
    why: str


TABLE: tuple[Row, ...] = (
    # A limiter that lowered no plan, or fewer than a binding one must, does not hold the subscription back.
    Row("*", "silent sparse", "empty", "unknown", "",
        "the consumers have room and no limiter holds them back: neither side explains the backlog"),
    Row("at", "silent", "full", "slow_consumers", "B",
        "the consumers are at their capacity, which happens to be near the limit; no plan was lowered"),
    Row("at", "silent", "*", "slow_consumers", "C", "no plan was lowered, so the limiter does not hold it"),
    Row("*", "silent", "full", "slow_consumers", "A", "no plan was lowered, and the broker waits for consumers"),
    Row("*", "silent", "*", "slow_consumers", "B", "no plan was lowered although messages were dispatched"),
    # Far from the limit, or no limit at all: it is not this limiter, unless its counter says so. A counter that never rests
    # and means something is the broker's own statement; a use that may be incomplete does not overrule it, full queues do.
    Row("far", "continuous", "full", "slow_consumers", "B", "little of the limit is used, and the broker waits for consumers"),
    Row("far", "continuous", "*", "unknown", "",
        "the counter never rests although little of the limit is used: use or limit may be others than were read"),
    Row("far", "*", "full", "slow_consumers", "A", "far from every limit, and the broker waits for consumers"),
    Row("far", "*", "empty", "unknown", "",
        "the consumers have room and no limit is near: neither side explains the backlog"),
    Row("far", "*", "*", "slow_consumers", "C", "far from every limit; how full the queues are is not clear"),
    Row("at", "sparse", "full", "slow_consumers", "B",
        "the consumers are at their capacity near the limit; the limiter lowers a plan only now and then"),
    Row("at", "sparse", "*", "unknown", "",
        "the limit is used up, but fewer plans were lowered than by a limiter that holds"),
    Row("*", "sparse", "full", "slow_consumers", "B", "too few plans were lowered, and the broker waits"),
    Row("*", "sparse", "*", "slow_consumers", "C", "too few plans were lowered to hold a subscription"),
    # At the limit.
    Row("at", "continuous ticking", "full", "both", "C",
        "the limit is used up and the consumers are at their capacity too: lifting one alone changes little"),
    Row("at", "unseen", "full", "unknown", "", "limit and consumers are both at their end; no counter decides"),
    Row("at", "continuous", "*", "throttled", "A", "the limit is used up, and its counter proves it"),
    Row("at", "ticking", "empty", "throttled", "A", "the limit is used up while the consumers have room"),
    Row("at", "unseen", "empty", "throttled", "B", "the limit is used up while the consumers have room"),
    Row("at", "*", "*", "throttled", "B", "the limit is used up; the queues do not contradict"),
    # Near it: what a saturated limiter delivers when using its tokens up takes a while.
    Row("near", "continuous", "full", "unknown", "", "near the limit, and the queues are full: both are possible"),
    Row("near", "continuous", "*", "throttled", "B", "near the limit, and its counter proves the pauses"),
    Row("near", "*", "full", "slow_consumers", "B", "below the limit, and the broker waits for consumers"),
    # A limit that one read uses up leaves consumers that could do more idle until its next period.
    Row("near", "ticking", "busy", "slow_consumers", "C",
        "below the limit, and the consumers are never idle: they take what they can, at a constant rate"),
    Row("near", "ticking", "empty", "throttled", "B", "near the limit while the consumers have room"),
    Row("near", "unseen", "empty", "throttled", "C", "near the limit while the consumers have room"),
    Row("near", "ticking", "unknown", "throttled", "D",
        "near the limit and its counter never rests; consumers would have to be as fast by chance"),
    Row("near", "*", "between busy", "unknown", "",
        "near the limit, and the consumers' queues are neither full nor empty: both are possible"),
    Row("near", "*", "*", "unknown", "", "near the limit, and how full the consumers' queues are was not measured"),
    # Half of it and more: possible only where tokens take as long to use up as the pause lasts.
    Row("possible", "continuous", "full", "slow_consumers", "B", "well below the limit, and the broker waits"),
    Row("possible", "*", "full", "slow_consumers", "A", "well below the limit, and the broker waits"),
    Row("possible", "continuous ticking", "empty", "throttled", "C",
        "well below the limit, but the consumers have room and its counter never rests"),
    Row("possible", "continuous", "*", "unknown", "", "the counter never rests, but the limit is not used up"),
    Row("possible", "*", "empty", "unknown", "", "the consumers have room, and the limit is not used up"),
    Row("possible", "*", "between busy", "slow_consumers", "C", "well below the limit"),
    Row("possible", "*", "*", "slow_consumers", "D", "well below the limit; nothing else is known"),
    # The limit is not known, or cannot be measured in this window: the counters have to do.
    Row("unknown", "continuous", "full", "unknown", "", "the counter says limiter, the full queues say consumers"),
    Row("unknown", "continuous", "empty", "throttled", "B",
        "the limiter is used up again and again while the consumers have room"),
    Row("unknown", "continuous", "*", "throttled", "C", "the limiter is used up again and again"),
    Row("unknown", "ticking", "full", "slow_consumers", "C",
        "the broker waits for the consumers; the ticking counter may mean nothing"),
    Row("unknown", "ticking", "empty", "throttled", "C",
        "the consumers have room and the counter never rests; without the limit it may mean nothing"),
    Row("unknown", "unseen", "full", "slow_consumers", "C", "the broker waits for the consumers"),
    Row("unknown", "*", "*", "unknown", "", "without the limit neither side can be told"),
)  # fmt: skip


@cache
def answer(zone: Zone, activity: Activity, queue: Queue) -> Row:
    """The first row for these three words.

    >>> answer("at", "continuous", "empty").cause
    'throttled'
    >>> answer("far", "ticking", "full").cause
    'slow_consumers'
    """
    for row in TABLE:
        if _has(row.zones, zone) and _has(row.activities, activity) and _has(row.queues, queue):
            return row
    raise AssertionError(f"the truth table has no row for {zone}, {activity}, {queue}")


def combinations() -> list[tuple[Zone, Activity, Queue]]:
    """Every combination that a window can show."""
    return [
        (zone, activity, queue) for zone in ZONES for activity in ACTIVITIES for queue in QUEUES
    ]  # fmt: skip


def _has(words: str, word: str) -> bool:
    return words == "*" or word in words.split()
