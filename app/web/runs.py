"""Runs: how long one cause has held. In: verdicts of one subscription. Out: stretches of one cause each.

Windows may overlap (5 minutes every minute). A window speaks for the time that no window before it
covered, so stretches never overlap and their lengths add up. ``data.py`` says the same in SQL for
all subscriptions at once; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Run:
    """One stretch [start_ms, end_ms) in which every window gave the same cause and limiter.

    Attributes
    ----------
    confidence_min, confidence_max : float
        Of its windows.
    backlog_entries : float or None
        Ready backlog at its end.
    windows : int
        How many verdicts it stands for.
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


def runs(verdicts: Iterable[dict]) -> list[Run]:
    """Stretches of one cause, oldest first.

    Parameters
    ----------
    verdicts : iterable of dict
        Rows of ``verdicts`` of one subscription partition.
    """
    found: list[Run] = []
    for row in sorted(verdicts, key=lambda row: (row["window_end_ms"], row["window_start_ms"])):
        end_ms, confidence = row["window_end_ms"], row["confidence"]
        previous = found[-1] if found else None
        start_ms = (
            row["window_start_ms"] if previous is None else max(row["window_start_ms"], previous.end_ms)
        )
        if start_ms >= end_ms:
            continue
        if previous and previous.end_ms == start_ms and same(previous, row):
            found[-1] = replace(
                previous,
                end_ms=end_ms,
                confidence_min=min(previous.confidence_min, confidence),
                confidence_max=max(previous.confidence_max, confidence),
                backlog_entries=row["backlog_entries"],
                windows=previous.windows + 1,
            )
            continue
        found.append(
            Run(
                start_ms,
                end_ms,
                row["cause"],
                row["limiter"],
                confidence,
                confidence,
                row["backlog_entries"],
                1,
                follows_gap=previous is None or previous.end_ms < start_ms,
            )
        )
    return found


def same(run: Run, row: dict) -> bool:
    """Whether a verdict says what a run says."""
    return run.cause == row["cause"] and run.limiter == row["limiter"]
