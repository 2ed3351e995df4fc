"""Event queue. In: actions and their times; out: the actions run in the order of time.

Times are whole microseconds from the beginning of the run. Things of one microsecond are done by rank, and within a rank
in the order in which they were added, so that the same scenario always gives the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count
from typing import Any


class Rank(IntEnum):
    """Order within one microsecond: a new window counts from zero, and a look sees all that was processed before it."""

    WINDOW = 0
    REOPEN = 1
    PROCESSED = 2
    LOOK = 3
    SEND = 4
    PUSH = 5


class Agenda:
    """A clock that jumps from one thing to do to the next.

    Attributes
    ----------
    now_us : int
        The moment of what is being done.
    """

    def __init__(self) -> None:
        self.now_us = 0
        self._heap: list[tuple[int, Rank, int, Callable[..., None], tuple[Any, ...]]] = []
        self._number = count()

    def add(self, at_us: int, rank: Rank, action: Callable[..., None], *arguments: Any) -> None:
        """Do ``action(*arguments)`` at ``at_us``, which is now or later."""
        if at_us < self.now_us:
            raise AssertionError(f"{at_us} us is past at {self.now_us} us")
        heappush(self._heap, (at_us, rank, next(self._number), action, arguments))

    def run(self, end_us: int) -> None:
        """Do everything before ``end_us``."""
        while self._heap and self._heap[0][0] < end_us:
            self.now_us, _, _, action, arguments = heappop(self._heap)
            action(*arguments)
