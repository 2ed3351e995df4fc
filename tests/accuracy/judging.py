"""Recordings judged. In: folders and an alteration. Out: settled windows, and the times to a right verdict."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.accuracy.recorded import Recorded, read
from tests.accuracy.signals import signals_of
from throttlescope.models.evaluation import Settled, judge, settled_windows
from throttlescope.models.evaluation.delays import Delay, delays


@dataclass
class Found:
    """What came out of some recordings.

    Attributes
    ----------
    truth_rows, truth_rows_used : int
        Ranges of truth, and those in which a settled window lies.
    """

    windows: list[Settled] = field(default_factory=list)
    delays: list[Delay] = field(default_factory=list)
    recordings: int = 0
    truth_rows: int = 0
    truth_rows_used: int = 0


def judge_all(
    folders: Iterable[Path], alter: Callable[[Recorded], Recorded | None] = lambda recorded: recorded
) -> Found:
    """Judge recordings one by one; those of which an alteration makes nothing are left out."""
    found = Found()
    for folder in folders:
        altered = alter(_read(folder))
        if altered is None or not altered.truth.num_rows:
            continue
        judged = judge(signals_of(altered))
        windows, used, _ = settled_windows(judged, altered.truth)
        found.windows += windows
        found.delays += delays(judged, altered.truth)
        found.recordings += 1
        found.truth_rows += altered.truth.num_rows
        found.truth_rows_used += used
    return found


@functools.lru_cache(maxsize=256)
def _read(folder: Path) -> Recorded:
    return read(folder)
