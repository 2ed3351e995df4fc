"""Stored forecasts, ready to be judged. In: rows of ``forecasts``. Out: the :class:`Drain` that each was, and what came of a deadline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS
from throttlescope.models.forecast.calibration import Times
from throttlescope.models.forecast.drain import Drain
from throttlescope.models.forecast.line import TrendLine


def drain_of(row: Mapping[str, Any]) -> Drain:
    """The drain that a stored row foretold, with the interval that it had then.

    Parameters
    ----------
    row : mapping
        A row of ``forecasts`` of the kind ``drain`` and the method ``trend``. It was made of minutes.
    """
    at_ms, step_s = row["made_at_ms"], MINUTE_MS / SECOND_MS
    line = predicted_s = times = None
    if row["window_start_ms"] is not None:
        line = TrendLine(
            0, row["points"], (at_ms - row["window_start_ms"]) / SECOND_MS, row["change_per_s"], 0.0
        )
    if row["state"] == "expected":
        predicted_s = (row["now"] - row["threshold"]) / -row["change_per_s"] + step_s / 2

        def after(name: str) -> float | None:
            return None if row[name] is None else (row[name] - at_ms) / SECOND_MS

        times = Times(after("predicted_ms"), after("low_ms"), after("high_ms"), row["probability"])
    return Drain(
        at_ms,
        row["state"],
        row["now"],
        int(row["threshold"]),
        step_s,
        line,
        row["window_start_ms"],
        predicted_s,
        times,
    )


@dataclass(frozen=True, slots=True)
class LossOutcome:
    """A stored forecast of a loss by TTL, and what came.

    Attributes
    ----------
    came_ms : int or None
        End of the first minute after it in which messages expired; None: none yet.
    inside : bool or None
        Whether that was inside its interval, a minute being as exact as this is known; None: undecided, or nothing was
        expected.
    """

    made_at_ms: int
    came_ms: int | None
    inside: bool | None


def loss_outcome(row: Mapping[str, Any], lost_ms: Sequence[int], end_ms: int) -> LossOutcome:
    """Compare a stored deadline with the minutes in which messages expired.

    Quotas are not compared: by its policy a quota may stop producers, which no signal shows.

    Parameters
    ----------
    row : mapping
        A row of ``forecasts`` of the kind ``ttl``.
    lost_ms : sequence of int
        Ends of minutes in which messages of the subscription partition expired; rising.
    end_ms : int
        Until when that is known.
    """
    came_ms = next((lost for lost in lost_ms if lost > row["made_at_ms"]), None)
    inside = None
    if row["state"] == "expected":
        last_ms = None if row["high_ms"] is None else row["high_ms"] + MINUTE_MS
        if came_ms is not None:
            inside = row["low_ms"] <= came_ms and (last_ms is None or came_ms <= last_ms)
        elif last_ms is not None and end_ms > last_ms:
            inside = False
    return LossOutcome(row["made_at_ms"], came_ms, inside)
