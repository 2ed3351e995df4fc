"""Windows that the truth covers whole. In: judged windows and truth. Out: pairs of what is true and what was said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.evaluation.judged import JudgedWindow


@dataclass(frozen=True, slots=True)
class Settled:
    """One window that lies whole inside one range of truth.

    Attributes
    ----------
    state : tuple
        Subscription partition and start of the range: the state of a scenario that the window belongs to.
    judged : JudgedWindow
    """

    recording: str
    family: str
    kept_aside: bool
    state: tuple
    true_side: str
    true_cause: str
    true_limiter: str | None
    judged: JudgedWindow

    @property
    def is_throttled(self) -> bool:
        """A limiter really holds the backlog, alone or not."""
        return self.true_side in THROTTLED_SIDES

    @property
    def is_healthy(self) -> bool:
        return self.true_cause == "healthy"


#: Sides that say that a limiter binds.
THROTTLED_SIDES = ("throttle", "both")


def truth_ranges(truth: pa.Table) -> dict[tuple, list[dict[str, Any]]]:
    """Rows of ``truth`` by subscription partition, in order of time.

    Raises
    ------
    InputError
        There is no truth, or two ranges of a subscription partition overlap.
    """
    if truth.num_rows == 0:
        raise InputError(
            "There is no truth to compare with",
            fix="ingest recordings, which bring theirs, or give --truth FILE",
        )
    ranges: dict[tuple, list[dict[str, Any]]] = defaultdict(list)
    for row in truth.to_pylist():
        ranges[tuple(row[name] for name in SUBSCRIPTION_KEY_NAMES)].append(row)
    for key, rows in ranges.items():
        rows.sort(key=lambda row: row["start_ms"])
        for before, after in pairwise(rows):
            if after["start_ms"] < before["end_ms"]:
                raise InputError(
                    "Two ranges of truth overlap", got=f"{key[2]}#{key[4]} at {after['start_ms']} ms"
                )
    return dict(ranges)


def settled_windows(judged: Iterable[JudgedWindow], truth: pa.Table) -> tuple[list[Settled], int, int]:
    """Pair windows with the range of truth that holds them whole.

    Returns
    -------
    windows : list of Settled
        In the order of their recordings, states and times, whatever the order of the rows.
    truth_rows_used : int
        Ranges that hold at least one window.
    not_settled : int
        Windows that no range holds.

    Raises
    ------
    InputError
        There is no truth, or its ranges overlap.
    """
    ranges = truth_ranges(truth)
    settled: list[Settled] = []
    not_settled = 0
    for window in judged:
        true = next(
            (
                row
                for row in ranges.get(tuple(window.key), ())
                if row["start_ms"] <= window.start_ms and window.end_ms <= row["end_ms"]
            ),
            None,
        )
        if true is None:
            not_settled += 1
            continue
        settled.append(
            Settled(
                recording=true["recording"],
                family=true["family"],
                kept_aside=true["kept_aside"],
                state=(*window.key, true["start_ms"]),
                true_side=true["side"],
                true_cause=true["cause"],
                true_limiter=true["limiter"],
                judged=window,
            )
        )
    settled.sort(key=lambda one: (one.recording, one.state, one.judged.start_ms, one.judged.end_ms))
    return settled, len({one.state for one in settled}), not_settled
