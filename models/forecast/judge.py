"""Forecasts against what happened. In: traces and when things were changed. Out: outcomes, and how often they were inside the interval.

A forecast says how it goes on **at this rate**. Where history ends, or somebody changes something, before the backlog is
gone, it is only known that it took longer than until then: such a forecast is **censored**. It is a miss if the interval
had ended by then, else it is undecided. Two figures are given. Of the decided ones, the share that was inside, with
Wilson's interval, and one over whole recordings: forecasts of one recording resemble each other. And over all of them the
Kaplan-Meier estimate of the same share, which neither drops the undecided ones nor calls them right.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.forecast.calibration import ForecastCalibration, Residual
from throttlescope.models.forecast.drain import Drain, time_to_drain
from throttlescope.models.forecast.trace import Trace
from throttlescope.models.intervals import clustered, wilson


@dataclass(frozen=True, slots=True)
class ForecastOutcome:
    """One forecast and what came of it.

    Attributes
    ----------
    recording, family, cause : str
        Where it was made, and the cause of the backlog then, as far as it is known.
    after_s : float or None
        The first sample that shows the backlog gone; None: not until it was censored.
    censored_s : float
        Until when it was watched at most.
    since_change_s : float or None
        Time since something was changed; None where nothing was yet.
    """

    recording: str
    family: str
    cause: str
    drain: Drain
    after_s: float | None
    censored_s: float
    since_change_s: float | None = None

    @property
    def inside(self) -> bool | None:
        """Whether it came true inside the interval; None: undecided, or nothing was expected."""
        times = self.drain.times
        if times is None:
            return None
        high_s = math.inf if times.high_s is None else times.high_s
        if self.after_s is not None:
            return times.low_s <= self.after_s <= high_s
        return False if self.censored_s > high_s else None

    @property
    def residual(self) -> Residual | None:
        """What calibration learns from it; None where nothing was expected, or it was censored too early to tell."""
        drain = self.drain
        if drain.predicted_s is None:
            return None
        if self.after_s is not None:
            error = math.log((self.after_s + drain.step_s) / (drain.predicted_s + drain.step_s))
        elif self.censored_s > drain.predicted_s:
            # It is late already. How late it would have been is not known: the latest possible is the careful guess.
            error = math.inf
        else:
            return None
        return Residual(self.recording, self.family, drain.reach, error)


@dataclass(frozen=True)
class Coverage:
    """How often the outcome was inside the interval.

    Attributes
    ----------
    forecasts, recordings : int
        With an interval, the undecided ones included.
    inside, decided : int
    wilson, clustered : pair of float or None
        95 % intervals of inside / decided.
    kaplan_meier : float or None
        The same share with the undecided ones weighed in.
    before, after : int
        Came true before the interval began, or had not when it ended.
    open_intervals : int
        Had no end.
    median_error_share : float or None
        Of |predicted median - measured| / measured, of those that came true.
    median_width : float or None
        Of high / low, both one sample later.
    """

    forecasts: int
    recordings: int
    inside: int
    decided: int
    wilson: tuple[float, float] | None
    clustered: tuple[float, float] | None
    kaplan_meier: float | None
    before: int
    after: int
    open_intervals: int
    median_error_share: float | None
    median_width: float | None


def outcomes(
    trace: Trace,
    calibration: ForecastCalibration,
    *,
    every_ms: int,
    changes_ms: Sequence[int] = (),
    recording: str = "",
    family: str = "",
    cause_at: Callable[[int], str] = lambda at_ms: "",
) -> list[ForecastOutcome]:
    """Make a forecast at every so many milliseconds of a trace, and see what came of it.

    Parameters
    ----------
    every_ms : int
        Forecasts are made at the first point of every so long a span.
    changes_ms : sequence of int
        When something was changed: a limit, the consumers, the load. Forecasts that were made before are censored there.
    cause_at : callable
        The cause of the backlog at a time.
    """
    found, last = [], None
    for at_ms in trace.times_ms.tolist():
        if at_ms // every_ms == last:
            continue
        last = at_ms // every_ms
        drain = time_to_drain(trace, at_ms, calibration)
        if drain is None:
            continue
        found.append(outcome(drain, trace, changes_ms, recording, family, cause_at(at_ms)))
    return found


def outcome(
    drain: Drain,
    trace: Trace,
    changes_ms: Sequence[int] = (),
    recording: str = "",
    family: str = "",
    cause: str = "",
) -> ForecastOutcome:
    """What came of one forecast.

    Parameters
    ----------
    trace : Trace
        Of the same subscription partition, as far as history goes.
    changes_ms : sequence of int
        When something was changed.
    """
    at_ms = drain.made_at_ms
    end_ms = int(trace.times_ms[-1]) if len(trace.times_ms) else at_ms
    until_ms = min((change for change in changes_ms if at_ms < change <= end_ms), default=max(end_ms, at_ms))
    later = (trace.times_ms > at_ms) & (trace.times_ms <= until_ms)
    gone = trace.times_ms[later & (trace.ready_entries <= drain.below_entries)]
    before = [float(at_ms - change) / SECOND_MS for change in changes_ms if change <= at_ms]
    return ForecastOutcome(
        recording,
        family,
        cause,
        drain,
        float(gone[0] - at_ms) / SECOND_MS if len(gone) else None,
        float(until_ms - at_ms) / SECOND_MS,
        min(before, default=None),
    )


def coverage(
    judged: Iterable[ForecastOutcome], calibration_of: Callable[[ForecastOutcome], ForecastCalibration]
) -> Coverage:
    """How often the outcome was inside the interval.

    Parameters
    ----------
    calibration_of : callable
        The calibration that each one's interval was made with.
    """
    with_interval = [one for one in judged if one.drain.times is not None]
    of: dict[str, list[bool]] = defaultdict(list)
    errors, widths = [], []
    for one in with_interval:
        times, step_s = one.drain.times, one.drain.step_s
        if one.inside is not None:
            of[one.recording].append(one.inside)
        if one.after_s is not None and times.median_s is not None:
            errors.append(abs(times.median_s - one.after_s) / one.after_s)
        if times.high_s is not None:
            widths.append((times.high_s + step_s) / (times.low_s + step_s))
    decided = [one for one in with_interval if one.inside is not None]
    inside = sum(one.inside for one in decided)
    before = sum(one.after_s is not None and one.after_s < one.drain.times.low_s for one in decided)
    return Coverage(
        forecasts=len(with_interval),
        recordings=len({one.recording for one in with_interval}),
        inside=inside,
        decided=len(decided),
        wilson=wilson(inside, len(decided)),
        clustered=clustered([sum(hits) for hits in of.values()], [len(hits) for hits in of.values()]),
        kaplan_meier=kaplan_meier_inside(with_interval, calibration_of),
        before=before,
        after=len(decided) - inside - before,
        open_intervals=sum(one.drain.times.high_s is None for one in with_interval),
        median_error_share=median(errors) if errors else None,
        median_width=median(widths) if widths else None,
    )


def kaplan_meier_inside(
    judged: Sequence[ForecastOutcome], calibration_of: Callable[[ForecastOutcome], ForecastCalibration]
) -> float | None:
    """Share inside the interval, with censored forecasts counted for as long as they were watched.

    Every time is brought to its forecast's own scale, log((time + d) / (predicted + d)) less the end of the interval, so that all
    intervals begin and end at the same place: 0 before it, 1 inside, 2 behind.
    """
    if not judged:
        return None
    zones, came = [], []
    for one in judged:
        band = calibration_of(one).band(one.drain.reach)
        time_s = one.censored_s if one.after_s is None else one.after_s
        residual = math.log((time_s + one.drain.step_s) / (one.drain.predicted_s + one.drain.step_s))
        # Inside its zone a censored time keeps its place, between 0 and 1 of the zone.
        high = math.inf if one.drain.times.high_s is None else band.high
        zones.append(_place(residual, band.low, high))
        came.append(one.after_s is not None)
    order = sorted(range(len(zones)), key=lambda n: (zones[n], not came[n]))
    surviving, at_risk, low, high = 1.0, len(zones), None, None
    for n in order:
        if low is None and zones[n] >= 1:
            low = surviving
        if high is None and zones[n] >= 2:
            high = surviving
        if came[n]:
            surviving *= 1 - 1 / at_risk
        at_risk -= 1
    low = surviving if low is None else low
    high = surviving if high is None else high
    return low - high


def _place(residual: float, low: float, high: float) -> float:
    """0 to 1 before the interval, 1 to 2 inside, 2 to 3 behind; rising with the residual in each."""
    if residual < low:
        return float(np.exp(residual - low)) * (1 - 1e-9)
    if residual > high:
        return 3.0 - float(np.exp(high - residual)) * (1 - 1e-9)
    if math.isinf(low) or math.isinf(high):
        return 1.0 + 1.0 / (1.0 + float(np.exp(-residual))) * (1 - 1e-9)
    return 1.0 + (residual - low) / max(high - low, 1e-12) * (1 - 1e-9)
