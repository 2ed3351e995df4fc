"""The slow twin of ``app/web/data/timeline.py``: window by window. In: rows of ``verdicts``. Out: per bin the moment that is counted, and its causes."""

from __future__ import annotations

from collections import Counter


def fullest_moments(
    rows: list[dict], start_ms: int, end_ms: int, step_ms: int
) -> dict[int, tuple[int, dict[str, int]]]:
    """By the start of each bin in which any subscription had a problem: the latest of its moments with most of them, and their causes."""
    moments: dict[int, Counter] = {}
    for row in rows:
        if row["cause"] != "healthy" and start_ms < row["window_end_ms"] <= end_ms:
            moments.setdefault(row["window_end_ms"], Counter())[row["cause"]] += 1
    found: dict[int, tuple[int, dict[str, int]]] = {}
    for at_ms in sorted(moments):
        bin_ms = (at_ms - 1) // step_ms * step_ms
        if bin_ms not in found or sum(moments[at_ms].values()) >= sum(found[bin_ms][1].values()):
            found[bin_ms] = (at_ms, dict(moments[at_ms]))
    return found
