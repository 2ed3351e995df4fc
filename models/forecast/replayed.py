"""The drain that a replay foresees. In: a row of a trend's forecast, and a replay's answer. Out: a row of ``forecasts`` beside it.

A trend knows what the backlog did; a replay knows why, as far as limits and consumers are known. Its interval goes from the best to
the worst that the samples allow. It is not calibrated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.forecast.consequences import drained
from throttlescope.models.throttling.replay import ReplayAnswer

METHOD = "replay-1"


def replay_row(answer: ReplayAnswer, trend: Mapping[str, Any]) -> dict[str, Any]:
    """Put a replay's outlook, with nothing changed, beside the trend of the same subscription and time.

    Parameters
    ----------
    answer : ReplayAnswer
        Of a window that ends when the trend's forecast was made.
    trend : mapping
        The row of ``forecasts`` of the kind ``drain``.
    """
    outlook, at_ms = answer.as_is, trend["made_at_ms"]
    fitted = outlook.fitted
    drain_s = None if fitted is None else fitted.drain_s
    if drain_s is not None:
        state = "expected"
    elif fitted is None and outlook.best.drain_s is not None:
        # What the consumers can do was never seen: only the earliest time is known.
        state = "unknown"
    else:
        state = "never"
    holds = (fitted or outlook.best).held_by

    def at(seconds: float | None) -> int | None:
        return None if seconds is None or state == "never" else at_ms + round(seconds * SECOND_MS)

    return {
        **trend,
        "method": "replay",
        "state": state,
        "predicted_ms": at(drain_s),
        "low_ms": at(outlook.best.drain_s),
        "high_ms": at(outlook.worst.drain_s) if state == "expected" else None,
        "probability": None,
        "now": float(answer.backlog_entries),
        "threshold": float(answer.drained_below_entries),
        "change_per_s": (fitted or outlook.best).growth_entries_per_s,
        "window_start_ms": int(answer.observed.times_ms[0]),
        "points": len(answer.observed.times_ms),
        "consequence": drained(state)
        if state != "unknown"
        else "What the consumers can do was never seen; the start of the interval is the earliest.",
        "basis": f"Limits and consumers replayed as they are, held by {holds}: from the best to the worst that the samples allow, not "
        f"calibrated. Looked {outlook.best.horizon_s / 3600:g} h ahead at most.",
        "method_version": METHOD,
    }
