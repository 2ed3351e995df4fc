"""Subscriptions by cause over time. In: a snapshot, clusters and a range. Out: counts of a few dozen bins, and which of them were judged at all.

Counts are of moments that were there: of each bin the window end at which most subscriptions had a problem, so that a stack is
never taller than it was, and no spike is lost. Only windows with a problem are read; where there are none, the files
say whether the bin was judged. The slow twin is ``tests/naive/timeline.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from throttlescope.app.web.data.limit_use import NOW_MS
from throttlescope.app.web.data.snapshot import Snapshot
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS

#: Lengths of a bin; the first with which a range has at most :data:`MOST_BINS`.
STEPS_MS = (
    *(minutes * MINUTE_MS for minutes in (1, 2, 5, 10, 15, 20, 30)),
    *(hours * BLOCK_MS for hours in (1, 2, 3, 6, 12, 24)),
)
MOST_BINS = 72


@dataclass(frozen=True)
class Bin:
    """Subscriptions with a problem in [start_ms, start_ms + step).

    Attributes
    ----------
    at_ms : int or None
        The moment that is counted, the end of a window; None: no subscription had a problem.
    causes : dict of str to int
        Subscription partitions by cause at that moment, healthy ones left out.
    backlog_entries : float
        Ready backlog of all of them.
    was_judged : bool
        Whether any cluster has verdicts of that time.
    """

    start_ms: int
    at_ms: int | None
    causes: dict[str, int]
    backlog_entries: float
    was_judged: bool

    @property
    def total(self) -> int:
        return sum(self.causes.values())


@dataclass(frozen=True)
class CauseTimeline:
    """Bins of one range, oldest first, all of one length."""

    step_ms: int
    bins: tuple[Bin, ...]


def step_of(start_ms: int, end_ms: int) -> int:
    """How long a bin is at least; windows that are further apart make it longer."""
    return next((step for step in STEPS_MS if (end_ms - start_ms) <= step * MOST_BINS), STEPS_MS[-1])


def timeline(
    cursor, snapshot: Snapshot, clusters: Sequence[str], start_ms: int, end_ms: int
) -> CauseTimeline:
    """Counts of windows that end in (start_ms, end_ms]."""
    files = [
        file
        for file in snapshot.files["verdicts"]
        if (not clusters or file.partition["cluster"] in clusters)
        and file.minimum["window_end_ms"] <= end_ms
        and file.maximum["window_end_ms"] > start_ms
    ]
    cursor.execute(
        "CREATE OR REPLACE TEMP TABLE moments AS "  # noqa: S608
        f"SELECT window_end_ms, cause, count(*) AS subscriptions, sum(backlog_entries) AS entries FROM {snapshot.source('verdicts', files)} "
        "WHERE cause <> 'healthy' AND window_end_ms > ? AND window_end_ms <= ? GROUP BY ALL",
        [start_ms, end_ms],
    )
    step_ms = max(step_of(start_ms, end_ms), _apart_ms(cursor))
    rows = cursor.execute(
        """
        WITH totals AS (
            SELECT window_end_ms, (window_end_ms - 1) // $step AS bin, sum(subscriptions) AS total FROM moments GROUP BY ALL
        ), fullest AS (
            SELECT bin, first(window_end_ms ORDER BY total DESC, window_end_ms DESC) AS window_end_ms FROM totals GROUP BY bin
        )
        SELECT bin, window_end_ms, cause, subscriptions, coalesce(entries, 0) FROM moments JOIN fullest USING (window_end_ms)
        """,
        {"step": step_ms},
    ).fetchall()
    found: dict[int, list] = {}
    for number, *row in rows:
        found.setdefault(number, []).append(row)
    judged = [(file.minimum["window_start_ms"], file.maximum["window_end_ms"]) for file in files]
    return CauseTimeline(
        step_ms,
        tuple(
            _bin(number * step_ms, found.get(number, ()), _touches(judged, number * step_ms, step_ms))
            for number in range(start_ms // step_ms, (end_ms - 1) // step_ms + 1)
        ),
    )


def _bin(start_ms: int, rows: Sequence[Sequence], was_judged: bool) -> Bin:
    return Bin(
        start_ms,
        rows[0][0] if rows else None,
        {cause: subscriptions for _, cause, subscriptions, _ in rows},
        sum(entries for *_, entries in rows),
        was_judged,
    )


def _touches(spans: Sequence[tuple[int, int]], start_ms: int, step_ms: int) -> bool:
    return any(first < start_ms + step_ms and last > start_ms for first, last in spans)


def _apart_ms(cursor) -> int:
    """How far most window ends are apart, as far as that is usual: with shorter bins every other one would be empty."""
    apart = cursor.execute(
        "SELECT mode(apart) FROM (SELECT window_end_ms - lag(window_end_ms) OVER (ORDER BY window_end_ms) AS apart "
        "FROM (SELECT DISTINCT window_end_ms FROM moments))"
    ).fetchall()[0][0]
    return min(apart or MINUTE_MS, NOW_MS)
