"""Runs of one cause. In: verdicts of one subscription. Out: ranges with one cause each.

Windows may overlap (5 minutes every minute). A window counts for the time that no window before it
covers, so stretches never overlap and their lengths add up. ``data.py`` says the same in SQL for
all subscriptions at once; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class CauseRun:
    """One stretch [start_ms, end_ms) in which every window gave the same cause and limiter.

    Attributes
    ----------
    confidence_min, confidence_max : float
        Of its windows.
    backlog_entries : float or None
        Ready backlog at its end.
    windows : int
        Number of its verdicts.
    follows_gap : bool
        Nothing is known about the time just before: it may have begun earlier.
    """

    start_ms: int
    end_ms: int
    cause: str
    limiter: str | None
    confidence_min: float
    confidence_max: float
    backlog_entries: float | None
    windows: int
    follows_gap: bool


def runs(verdicts: Iterable[dict]) -> list[CauseRun]:
    """Stretches of one cause, oldest first.

    Parameters
    ----------
    verdicts : iterable of dict
        Rows of ``verdicts`` of one subscription partition.
    """
    # One stretch is gathered at a time: a week of windows is ten thousand of them.
    found: list[CauseRun] = []
    open_: dict | None = None
    for row in sorted(verdicts, key=lambda row: (row["window_end_ms"], row["window_start_ms"])):
        end_ms, confidence = row["window_end_ms"], row["confidence"]
        before_ms = None if open_ is None else open_["end_ms"]
        start_ms = row["window_start_ms"] if before_ms is None else max(row["window_start_ms"], before_ms)
        if start_ms >= end_ms:
            continue
        if (
            open_ is not None
            and before_ms == start_ms
            and (open_["cause"], open_["limiter"]) == (row["cause"], row["limiter"])
        ):
            open_["end_ms"], open_["backlog_entries"] = end_ms, row["backlog_entries"]
            open_["confidence_min"] = min(open_["confidence_min"], confidence)
            open_["confidence_max"] = max(open_["confidence_max"], confidence)
            open_["windows"] += 1
            continue
        if open_ is not None:
            found.append(CauseRun(**open_))
        open_ = {
            "start_ms": start_ms,
            "end_ms": end_ms,
            "cause": row["cause"],
            "limiter": row["limiter"],
            "confidence_min": confidence,
            "confidence_max": confidence,
            "backlog_entries": row["backlog_entries"],
            "windows": 1,
            "follows_gap": before_ms is None or before_ms < start_ms,
        }
    if open_ is not None:
        found.append(CauseRun(**open_))
    return found
