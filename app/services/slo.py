"""What would have kept an age, from options to an answer. In: a lake and what is asked. Out: :class:`SloQuestion` with its `SloResult`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from throttlescope.app.services.whatif.replay import ReplayInputs
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS, SECOND_MS, format_time, parse_duration
from throttlescope.ingest.lake import Lake
from throttlescope.models.recommendation.advice import Recommendation
from throttlescope.models.recommendation.slo import ArrivalMinutes, SloResult, keep_age, read_minutes
from throttlescope.models.recommendation.slo.text import not_enough, recommendations
from throttlescope.models.throttling.replay import Ground, read_observed

MOST_MS = 31 * DAY_MS
#: The half hour before the largest backlog is replayed.
WORST_MS = 30 * MINUTE_MS


@dataclass(frozen=True, eq=False)
class SloQuestion:
    """An objective, what was read for it, and what would have kept it."""

    kept: SloResult
    recommendations: tuple[Recommendation, ...]
    not_helping: tuple[str, ...]


def durations(keep: str, over: str) -> tuple[float, int]:
    """The age in seconds and the range in milliseconds.

    Raises
    ------
    InputError
        One of them is no duration, or cannot be looked at: ages are told by the minute.
    """
    found = {}
    for option, text in (("--keep-p99-age", keep), ("--over", over)):
        try:
            found[option] = parse_duration(text)
        except InputError:
            raise InputError(
                f"{option}: not a duration", got=text or "nothing", expected="such as 5m or 14d"
            ) from None
    if not MINUTE_MS <= found["--keep-p99-age"] <= DAY_MS:
        raise InputError("--keep-p99-age: ages are told by the minute", got=keep, expected="from 1m to 1d")
    if not 60 * MINUTE_MS <= found["--over"] <= MOST_MS:
        raise InputError("--over", got=over, expected="from 1h to 31d")
    return found["--keep-p99-age"] / SECOND_MS, found["--over"]


def ask(
    lake: Lake, found: ReplayInputs, target_s: float, over_ms: int, note: Callable[[str], None]
) -> SloQuestion:
    """Read the range before the moment asked for and sweep the levers over it.

    Raises
    ------
    InputError
        There are no minutes, or the window cannot be replayed.
    """
    cluster = found.observed.cluster
    minutes = read_minutes(lake, cluster, found.name, found.at_ms - over_ms, found.at_ms)
    note(f"{int(minutes.known.sum()):,} of {len(minutes.known):,} minutes of {found.name}")
    ground = Ground(found.observed, found.history)
    worst, why = _worst(lake, found, minutes)
    kept = keep_age(ground, minutes, target_s, worst=worst, notes=why)
    return SloQuestion(kept, recommendations(kept, ground), not_enough(kept))


def _worst(lake: Lake, found: ReplayInputs, minutes: ArrivalMinutes) -> tuple[Ground | None, tuple[str, ...]]:
    """The half hour before the largest backlog, at scrape resolution; where it has no samples, the window that was asked for."""
    if np.isnan(minutes.backlog_msg).all() or np.nanmax(minutes.backlog_msg) <= 0:
        return None, ("no backlog was recorded: there is nothing to hold the fluid against",)
    peak_ms = minutes.start_ms + (int(np.nanargmax(minutes.backlog_msg)) + 1) * MINUTE_MS
    try:
        window = read_observed(lake, str(found.name), peak_ms - WORST_MS, peak_ms, found.observed.cluster)
    except InputError as error:
        why = f"the half hour of the largest backlog, to {format_time(peak_ms)}, cannot be replayed: {error.what}"
        return Ground(found.observed, found.history), (why,)
    return Ground(window, window), ()
