"""The drain that a replay forecasts. In: a row of a trend's forecast, and a replay's answer. Out: another row of ``forecasts``.

A trend continues the recorded backlog; a replay simulates limits and consumers as far as they are known. Its interval goes from the best
to the worst that the samples allow. It is not calibrated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.forecast.consequences import drained, in_words
from throttlescope.models.messages.catalogue import message
from throttlescope.models.throttling.replay import ReplayAnswer

METHOD = "replay-1"


def replay_row(answer: ReplayAnswer, trend: Mapping[str, Any]) -> dict[str, Any]:
    """The outlook of a replay without changes, as a row like that of the trend of the same subscription and time.

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
        # The capacity of the consumers was never observed: only the earliest time is known.
        state = "unknown"
    else:
        state = "never"
    factor = (fitted or outlook.best).held_by
    happens = message("forecast.drain.capacity_unknown") if state == "unknown" else drained(state)

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
        **in_words(
            [happens],
            [message("forecast.basis.replay", factor=factor, horizon_h=outlook.best.horizon_s / 3600)],
        ),
        "method_version": METHOD,
    }
