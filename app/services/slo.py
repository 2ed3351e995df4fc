"""What would have met an age objective. In: a lake and the options of a command. Out: :class:`SloQuestion` with its `SloResult`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from throttlescope.app.services.whatif.replay import ReplayInputs
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS, SECOND_MS, format_time, parse_duration
from throttlescope.ingest.lake import Lake
from throttlescope.models.messages.catalogue import Message, message
from throttlescope.models.recommendation import Recommendation
from throttlescope.models.recommendation.slo import ArrivalMinutes, SloResult, keep_age, read_minutes
from throttlescope.models.recommendation.slo.arrivals import SHARE
from throttlescope.models.recommendation.slo.recommendations import not_enough, recommendations
from throttlescope.models.throttling.replay import Ground, read_observed

MOST_MS = 31 * DAY_MS
LEAST_PERCENT = 50
#: The half hour before the largest backlog is replayed.
WORST_MS = 30 * MINUTE_MS


@dataclass(frozen=True, eq=False)
class SloQuestion:
    """An objective, and what would have met it."""

    kept: SloResult
    recommendations: tuple[Recommendation, ...]
    not_helping: tuple[Message, ...]


@dataclass(frozen=True)
class AgeObjective:
    """The oldest message is at most ``age_s`` old in ``share`` of the minutes of ``over_ms``."""

    age_s: float
    over_ms: int
    share: float = SHARE

    @classmethod
    def of(cls, keep: str, over: str, share_percent: float) -> AgeObjective:
        """From the options of a command.

        Raises
        ------
        InputError
            One of them is out of range or not understood.
        """
        if not LEAST_PERCENT <= share_percent < 100:
            raise InputError(
                "--share: out of range",
                got=f"{share_percent:g}",
                expected=f"per cent of the minutes, from {LEAST_PERCENT} to less than 100, such as 99.9",
            )
        return cls(*durations(keep, over), share_percent / 100)


def durations(keep: str, over: str) -> tuple[float, int]:
    """The age in seconds and the range in milliseconds.

    Raises
    ------
    InputError
        One of them is no duration, or out of range: ages have a resolution of one minute.
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
        raise InputError(
            "--keep-p99-age: out of range, ages have a resolution of one minute",
            got=keep,
            expected="from 1m to 1d",
        )
    if not 60 * MINUTE_MS <= found["--over"] <= MOST_MS:
        raise InputError("--over", got=over, expected="from 1h to 31d")
    return found["--keep-p99-age"] / SECOND_MS, found["--over"]


def find_keeping(
    lake: Lake, found: ReplayInputs, objective: AgeObjective, note: Callable[[str], None]
) -> SloQuestion:
    """Read the range before the requested moment and sweep the levers over it.

    Raises
    ------
    InputError
        There are no minutes, or the window cannot be replayed.
    """
    cluster = found.observed.cluster
    start_ms = found.at_ms - objective.over_ms
    minutes = read_minutes(lake, cluster, found.name, start_ms, found.at_ms, objective.share)
    note(f"{int(minutes.known.sum()):,} of {len(minutes.known):,} minutes of {found.name}")
    ground = Ground(found.observed, found.history)
    worst, why = _worst(lake, found, minutes)
    kept = keep_age(ground, minutes, objective.age_s, worst=worst, notes=why)
    return SloQuestion(kept, recommendations(kept, ground), not_enough(kept))


def _worst(
    lake: Lake, found: ReplayInputs, minutes: ArrivalMinutes
) -> tuple[Ground | None, tuple[Message, ...]]:
    """The half hour before the largest backlog, at scrape resolution; where it has no samples, the requested window."""
    if np.isnan(minutes.backlog_msg).all() or np.nanmax(minutes.backlog_msg) <= 0:
        return None, (message("advice.slo.no_backlog"),)
    peak_ms = minutes.start_ms + (int(np.nanargmax(minutes.backlog_msg)) + 1) * MINUTE_MS
    try:
        window = read_observed(lake, str(found.name), peak_ms - WORST_MS, peak_ms, found.observed.cluster)
    except InputError as error:
        why = message("advice.slo.worst_not_replayed", until=format_time(peak_ms), reason=error.what)
        return Ground(found.observed, found.history), (why,)
    return Ground(window, window), ()
