"""The truth table: what one limiter's reading and the consumers' queues say together. In: their three words. Out: an answer.

A limiter is at, near, possibly at, or far from its limit; its counter is continuous, ticking, sparse, silent or unseen;
the consumers' queues are full, busy, between, empty or unknown. The first row that matches answers. All words are lists of the
words in :mod:`limiters` and :mod:`consumers`; ``*`` means any. ``docs/background/diagnosis.md`` prints this table.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from throttlescope.models.diagnosis.consumer_queues import QUEUES, Queue
from throttlescope.models.diagnosis.limiters import ACTIVITIES, ZONES, Activity, Zone
from throttlescope.models.messages.catalogue import Message, render

#: Causes of rows in which the limiter holds the subscription back.
BINDING = ("throttled", "both")


class Row(NamedTuple):
    """One row: the words it is for, the cause that applies (``unknown``: not decided), and its grade."""

    zones: str
    activities: str
    queues: str
    cause: str
    grade: str

    @property
    def because(self) -> Message:
        """Why it answers this."""
        words = ".".join(cell.replace("*", "any").replace(" ", "+") for cell in self[:3])
        return Message(f"truth_table.{words}")

    @property
    def why(self) -> str:
        """The same in words."""
        return render(self.because)


TABLE: tuple[Row, ...] = (
    # A limiter that throttled no read, or fewer than a binding one must, does not limit the subscription.
    Row("*", "silent sparse", "empty", "unknown", ""),
    Row("at", "silent", "full", "slow_consumers", "B"),
    Row("at", "silent", "*", "slow_consumers", "C"),
    Row("*", "silent", "full", "slow_consumers", "A"),
    Row("*", "silent", "*", "slow_consumers", "B"),
    # Far from the limit, or no limit at all: it is not this limiter, unless its counter says so. A counter that never rests
    # and means something is the broker's own statement; a use that may be incomplete does not overrule it, full queues do.
    Row("far", "continuous", "full", "slow_consumers", "B"),
    Row("far", "continuous", "*", "unknown", ""),
    Row("far", "*", "full", "slow_consumers", "A"),
    Row("far", "*", "empty", "unknown", ""),
    Row("far", "*", "*", "slow_consumers", "C"),
    Row("at", "sparse", "full", "slow_consumers", "B"),
    Row("at", "sparse", "*", "unknown", ""),
    Row("*", "sparse", "full", "slow_consumers", "B"),
    Row("*", "sparse", "*", "slow_consumers", "C"),
    # At the limit.
    Row("at", "continuous ticking", "full", "both", "C"),
    Row("at", "unseen", "full", "unknown", ""),
    Row("at", "continuous", "*", "throttled", "A"),
    Row("at", "ticking", "empty", "throttled", "A"),
    Row("at", "unseen", "empty", "throttled", "B"),
    Row("at", "*", "*", "throttled", "B"),
    # Near it: what a saturated limiter delivers when using its tokens up takes a while.
    Row("near", "continuous", "full", "unknown", ""),
    Row("near", "continuous", "*", "throttled", "B"),
    Row("near", "*", "full", "slow_consumers", "B"),
    # A limit that one read uses up leaves consumers that could do more idle until its next period.
    Row("near", "ticking", "busy", "slow_consumers", "C"),
    Row("near", "ticking", "empty", "throttled", "B"),
    Row("near", "unseen", "empty", "throttled", "C"),
    Row("near", "ticking", "unknown", "throttled", "D"),
    Row("near", "*", "between busy", "unknown", ""),
    Row("near", "*", "*", "unknown", ""),
    # Half of it and more: possible only where tokens take as long to use up as the pause lasts.
    Row("possible", "continuous", "full", "slow_consumers", "B"),
    Row("possible", "*", "full", "slow_consumers", "A"),
    Row("possible", "continuous ticking", "empty", "throttled", "C"),
    Row("possible", "continuous", "*", "unknown", ""),
    Row("possible", "*", "empty", "unknown", ""),
    Row("possible", "*", "between busy", "slow_consumers", "C"),
    Row("possible", "*", "*", "slow_consumers", "D"),
    # The limit is not known, or cannot be measured in this window: the counters have to do.
    Row("unknown", "continuous", "full", "unknown", ""),
    Row("unknown", "continuous", "empty", "throttled", "B"),
    Row("unknown", "continuous", "*", "throttled", "C"),
    Row("unknown", "ticking", "full", "slow_consumers", "C"),
    Row("unknown", "ticking", "empty", "throttled", "C"),
    Row("unknown", "unseen", "full", "slow_consumers", "C"),
    Row("unknown", "*", "*", "unknown", ""),
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
