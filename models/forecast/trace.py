"""What a forecast goes on: a backlog over time. In: minutes of ``signals``, or series of samples. Out: a :class:`Trace`.

Points are as they were observed. What is missing is left out, never filled; arrivals that were not counted are NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS

#: A backlog of so few entries, or of what comes in two periods of a limit, is none: deliveries come period by period.
DRAINED_ENTRIES, DRAINED_PERIODS = 100, 2
#: Points whose arrivals say what comes in now.
_RECENT_POINTS = 40


@dataclass(frozen=True, eq=False)
class Trace:
    """One subscription partition over time.

    Attributes
    ----------
    times_ms : ndarray of int64
        Rising; when the values were read.
    ready_entries, backlog_entries : ndarray of float64
        Entries that could be delivered, and all that are not acknowledged (delayed ones too).
    in_entries : ndarray of float64
        Entries published to the topic partition since the point before; NaN where that is not known.
    period_s : float
        Longest period of a limit that holds; 1 where none does.
    """

    times_ms: np.ndarray
    ready_entries: np.ndarray
    backlog_entries: np.ndarray
    in_entries: np.ndarray
    period_s: float = 1.0

    def until(self, at_ms: int) -> Trace:
        """What was known at a time: nothing later is in it."""
        count = int(np.searchsorted(self.times_ms, at_ms, side="right"))
        cut = (self.times_ms, self.ready_entries, self.backlog_entries, self.in_entries)
        return Trace(*(values[:count] for values in cut), self.period_s)

    @property
    def step_s(self) -> float:
        """Usual distance of the newest points; 60 where there is only one."""
        steps = np.diff(self.times_ms[-_RECENT_POINTS:])
        return float(np.median(steps)) / SECOND_MS if len(steps) else MINUTE_MS / SECOND_MS

    @property
    def in_entries_per_s(self) -> float | None:
        """The recent publish rate; None where no arrivals are known."""
        spans = np.diff(self.times_ms[-_RECENT_POINTS - 1 :]) / SECOND_MS
        entries = self.in_entries[-len(spans) :] if len(spans) else np.empty(0)
        known = ~np.isnan(entries)
        return float(entries[known].sum() / spans[known].sum()) if known.any() else None

    @property
    def drained_below_entries(self) -> int:
        """A ready backlog of at most so many entries is none."""
        per_s = self.in_entries_per_s or 0.0
        return max(DRAINED_ENTRIES, math.ceil(DRAINED_PERIODS * max(1.0, self.period_s) * per_s))


def trace_of_minutes(columns: Mapping[str, np.ndarray]) -> Trace:
    """The trace of one subscription partition from its minutes.

    Parameters
    ----------
    columns : mapping
        Columns of ``signals`` in the order of their minutes, float64 with NaN for NULL. A minute's values stood at its end.

    Notes
    -----
    Arrivals are a minute's at the rate that was counted: after a missed scrape the difference is that of several minutes.
    """
    known = ~np.isnan(columns["backlog_entries"])
    mine = {name: values[known] for name, values in columns.items()}
    backlog, ready, per_entry = (
        mine["backlog_entries"],
        mine["backlog_ready_entries"],
        mine["messages_per_entry"],
    )
    # Where nothing tells how many messages make an entry, one does; fewer cannot.
    per_entry = np.where(per_entry >= 1, per_entry, 1.0)
    periods = [1.0]
    for level in LEVELS:
        limits = [mine[f"limit_{level}_{unit}"] for unit in UNITS]
        if len(backlog) and not all(np.isnan(limit[-1]) for limit in limits):
            periods.append(float(mine[f"limit_{level}_period_s"][-1]))
    return Trace(
        mine["minute_ms"].astype(np.int64) + MINUTE_MS,
        np.where(np.isnan(ready), backlog, ready),
        backlog,
        mine["in_msg_delta"] * MINUTE_MS / mine["in_span_ms"] / per_entry,
        float(np.nanmax(periods)),
    )
