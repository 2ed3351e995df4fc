"""How long until a verdict is right. In: judged windows, settled or not, and truth. Out: the time after each change.

A range of truth begins :data:`SETTLING_MS` after the moment from which it holds: an intervention, a first loss, the end of a drain,
or the start of the scenario. The time runs from that moment to the end of the first window whose cause is right, and whose next
windows are right as well. Windows end on whole minutes, so the time is never zero.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

import pyarrow as pa

from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS
from throttlescope.models.evaluation.judged import JudgedWindow
from throttlescope.models.evaluation.settled import truth_ranges

#: So much later than the change itself a range of truth begins.
SETTLING_MS = MINUTE_MS
#: So many windows in a row have to be right.
IN_A_ROW = 3


@dataclass(frozen=True, slots=True)
class Delay:
    """Time to a right verdict after one change.

    Attributes
    ----------
    is_new : bool
        No window of the subscription ended before the change: it came with the state, and windows fill first.
    after_s : float or None
        None: never in this state.
    """

    recording: str
    family: str
    kept_aside: bool
    cause: str
    is_new: bool
    after_s: float | None


@dataclass(frozen=True)
class Delays:
    """Several of them.

    Attributes
    ----------
    never : int
        Changes after which the verdict did not become right in time.
    median_s, p90_s : float or None
        Of all, those never right counted as later than all others; None where such a one is met.
    """

    changes: int
    never: int
    median_s: float | None
    p90_s: float | None


def delays(judged: Iterable[JudgedWindow], truth: pa.Table) -> list[Delay]:
    """The time after each change, one for every range of truth that a window ends in."""
    windows: dict[tuple, list[JudgedWindow]] = defaultdict(list)
    for one in judged:
        windows[tuple(one.key)].append(one)
    found = []
    for key, rows in truth_ranges(truth).items():
        mine = sorted(windows[key], key=lambda one: (one.end_ms, one.start_ms))
        for row in rows:
            change_ms = row["start_ms"] - SETTLING_MS
            inside = [one for one in mine if change_ms < one.end_ms <= row["end_ms"]]
            if len(inside) < IN_A_ROW:
                continue
            right_ms = _right_from_ms(inside, row["cause"])
            found.append(
                Delay(
                    recording=row["recording"],
                    family=row["family"],
                    kept_aside=row["kept_aside"],
                    cause=row["cause"],
                    is_new=mine[0].end_ms > change_ms,
                    after_s=None if right_ms is None else (right_ms - change_ms) / SECOND_MS,
                )
            )
    return found


def _right_from_ms(windows: Sequence[JudgedWindow], cause: str) -> int | None:
    in_a_row = 0
    for n, window in enumerate(windows):
        in_a_row = in_a_row + 1 if window.cause == cause else 0
        if in_a_row == IN_A_ROW:
            return windows[n - IN_A_ROW + 1].end_ms
    return None


def summary(found: Sequence[Delay]) -> Delays:
    """Median and 90th percentile (the smallest time that so many of all do not exceed)."""
    ordered = sorted((one.after_s for one in found), key=lambda after_s: (after_s is None, after_s or 0.0))

    def quantile(share: float) -> float | None:
        return ordered[ceil(share * len(ordered)) - 1] if ordered else None

    return Delays(
        changes=len(found),
        never=sum(one.after_s is None for one in found),
        median_s=quantile(0.5),
        p90_s=quantile(0.9),
    )
