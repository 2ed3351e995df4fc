"""Two runs at one lake. In: a stage of a run. Out: what it gives, once no other run wrote the same hours meanwhile.

Who loses a race has committed nothing. It looks again what has to be computed: mostly less, because the other run has done it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from throttlescope.ingest.lake import ConflictError

#: Overlapping backfills meet once or twice at the same hours, then one of them is ahead.
TRIES = 6
#: Losers wait so long at most before the first repetition, then longer: both at once would meet again.
_LONGEST_WAIT_S = 2.0

T = TypeVar("T")


def until_won(stage: Callable[[], T], note: Callable[[str], object]) -> T:
    """Do a stage, and again where another run was faster.

    Parameters
    ----------
    stage : callable
        Looks at the lake anew each time, and may be done twice.
    note : callable
        Is told that it is done again.

    Raises
    ------
    ConflictError
        Others won every time.
    """
    for number in range(1, TRIES):
        try:
            return stage()
        except ConflictError:
            note("another run wrote the same hours; looking again")
            time.sleep(random.uniform(0.1, _LONGEST_WAIT_S) * number)  # noqa: S311
    return stage()


def until_unmoved(stage: Callable[[], T], version: Callable[[], object], again: Callable[[], object]) -> T:
    """Do a stage, and again where other runs went on meanwhile; the last time it stays as it is.

    For tables of few rows that are put together from what several runs judged: there nobody loses a race, but who writes later
    may have looked earlier. A run that still goes on does the stage itself behind that.

    Parameters
    ----------
    version : callable
        Moves when another run has computed something, and not by the stage itself.
    again : callable
        Called before the stage is done again.
    """
    for _ in range(1, TRIES):
        before = version()
        done = stage()
        if version() == before:
            break
        again()
    return done
