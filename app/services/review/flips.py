"""Changes of verdicts. In: rows of ``verdicts`` of a range. Out: :class:`VerdictFlips`.

Twice: as the verdicts came, and after the hysteresis with which episodes show them. Unlike those of an evaluation, whose windows lie in
one known state, some of these changes are real: the second figure is closer to how often something happened, the first to how
restless an alert on single windows would have been.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from throttlescope.app.services.review.query import KEY, ReviewQuery
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.models.episodes.steady import spells, steady

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Wavering:
    """One subscription partition and its changes of cause."""

    cluster: str
    namespace: str
    topic: str
    partition: int
    subscription: str
    flips: int
    steady_flips: int


@dataclass(frozen=True)
class VerdictFlips:
    """Changes of the cause from one window to the next.

    Attributes
    ----------
    windows, subscription_partitions : int
    hours : float
        Time between the ends of windows that overlap or touch, summed over subscription partitions.
    per_hour, steady_per_hour : float or None
        None without time.
    between : dict of str to int
        ``from -> to``, most frequent first, as the verdicts came.
    most : list of Wavering
        Those with most changes.
    """

    windows: int
    subscription_partitions: int
    hours: float
    flips: int
    steady_flips: int
    per_hour: float | None
    steady_per_hour: float | None
    between: dict[str, int]
    most: list[Wavering]


def flips_of(query: ReviewQuery) -> VerdictFlips:
    """Count changes in a range. Only subscription partitions with a change are looked at window by window."""
    ordered = f"""
        SELECT {KEY}, cause, lag(cause) OVER w AS cause_before, window_start_ms, window_end_ms,
            max(window_end_ms) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_ms
        FROM verdicts WHERE {query.windows()}
        WINDOW w AS (PARTITION BY {KEY} ORDER BY window_end_ms, window_start_ms)
    """  # noqa: S608
    (total,) = query.rows(f"""
        WITH ordered AS ({ordered})
        SELECT count(*) AS windows, count(DISTINCT ({KEY})) AS subscription_partitions,
            coalesce(sum(window_end_ms - covered_ms) FILTER (window_start_ms <= covered_ms), 0) AS length_ms
        FROM ordered
    """)  # noqa: S608
    restless = f"""
        WITH ordered AS ({ordered}), restless AS (
            SELECT DISTINCT {KEY} FROM ordered WHERE cause != cause_before AND window_start_ms <= covered_ms
        )
        SELECT {KEY}, window_start_ms, window_end_ms, cause, limiter, confidence
        FROM verdicts SEMI JOIN restless USING ({KEY}) WHERE {query.windows()} ORDER BY {KEY}
    """  # noqa: S608
    between: Counter[str] = Counter()
    waverings = []
    for key, windows in groupby(query.stream(restless), key=_key):
        changes, steady_flips = _changes(list(windows))
        between.update(changes)
        waverings.append(Wavering(*key, len(changes), steady_flips))
    flips, steady_flips = (sum(getattr(one, name) for one in waverings) for name in ("flips", "steady_flips"))
    hours = float(total["length_ms"]) / BLOCK_MS
    return VerdictFlips(
        windows=total["windows"],
        subscription_partitions=total["subscription_partitions"],
        hours=hours,
        flips=flips,
        steady_flips=steady_flips,
        per_hour=flips / hours if hours else None,
        steady_per_hour=steady_flips / hours if hours else None,
        between=dict(between.most_common(query.most)),
        most=heapq.nsmallest(query.most, waverings, key=lambda one: (-one.flips, one.cluster, _name(one))),
    )


def _changes(windows: Sequence[dict[str, Any]]) -> tuple[list[str], int]:
    """Changes of one subscription partition as they came, and how many are left after the hysteresis."""
    start_ms = min(row["window_start_ms"] for row in windows)
    found = spells(windows, start_ms, max(row["window_end_ms"] for row in windows))
    labels = steady(found)
    changes, steady_flips = [], 0
    for (before, steady_before), (after, steady_after) in pairwise(zip(found, labels, strict=True)):
        # In a gap the verdict is unknown.
        if after.start_ms != before.end_ms:
            continue
        if after.blamed.cause != before.blamed.cause:
            changes.append(f"{before.blamed.cause} -> {after.blamed.cause}")
        steady_flips += steady_after.cause != steady_before.cause
    return changes, steady_flips


def _key(row: dict[str, Any]) -> tuple:
    return tuple(row[name] for name in SUBSCRIPTION_KEY_NAMES)


def _name(one: Wavering) -> tuple:
    return (one.topic, one.partition, one.subscription)
