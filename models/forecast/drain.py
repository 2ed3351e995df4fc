"""When a backlog is gone. In: a trace and a time. Out: a :class:`Drain`, with its interval or with "never at this rate".

The newest straight stretch of the ready backlog is extended to where it counts as drained. The forecast is the time at
which a sample would show it: half a sample later than the line on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.forecast.calibration import ForecastCalibration, Times
from throttlescope.models.forecast.line import TrendLine, newest_line
from throttlescope.models.forecast.trace import Trace

State = Literal["expected", "never", "unknown"]

#: Points that a stretch needs before it says how things go on.
LEAST_POINTS = 3
#: A stretch whose points are off its line by so much of its fall is no line: on fleets four in ten of such backlogs never drained.
MOST_SCATTER_SHARE = 0.1
#: The newest point says that a falling backlog has turned where it rose by so much of what the line would have it fall.
TURNED_SHARE = 0.25
#: A newest point older than so many of their usual distances says nothing about now.
STALE_STEPS = 5


@dataclass(frozen=True, slots=True)
class Drain:
    """One forecast.

    Attributes
    ----------
    state : str
        ``never``: at this rate the backlog stays or grows. ``unknown``: there is no trend to go by.
    line : TrendLine or None
        The stretch that it goes on.
    line_start_ms : int or None
    now_entries : float
    below_entries : int
        Drained is a ready backlog of at most so many.
    step_s : float
        Distance of two samples.
    predicted_s : float or None
        What the line alone says, before the calibration.
    times : Times or None
        Only where it is expected.
    """

    made_at_ms: int
    state: State
    now_entries: float
    below_entries: int
    step_s: float
    line: TrendLine | None = None
    line_start_ms: int | None = None
    predicted_s: float | None = None
    times: Times | None = None

    @property
    def reach(self) -> float | None:
        """Predicted time over the length of the stretch that it rests on."""
        return None if self.predicted_s is None else self.predicted_s / self.line.span_s


def time_to_drain(trace: Trace, at_ms: int, calibration: ForecastCalibration) -> Drain | None:
    """Forecast when the ready backlog is gone.

    Parameters
    ----------
    trace : Trace
        What is later than ``at_ms`` in it is not looked at.
    at_ms : int
        When the forecast is made.
    calibration : ForecastCalibration
        Makes the interval.

    Returns
    -------
    Drain or None
        None where there is nothing to drain, or no point at all.
    """
    known = trace.until(at_ms)
    if not len(known.times_ms):
        return None
    now, below, step_s = float(known.ready_entries[-1]), known.drained_below_entries, known.step_s
    if now <= below:
        return None
    unknown = Drain(at_ms, "unknown", now, below, step_s)
    if at_ms - known.times_ms[-1] > STALE_STEPS * step_s * SECOND_MS:
        return unknown
    line = newest_line(known.times_ms / SECOND_MS, known.ready_entries)
    if line is None or line.points < LEAST_POINTS:
        return unknown
    start_ms = int(known.times_ms[line.first])
    if line.slope_per_s >= 0 or line.is_steady:
        return Drain(at_ms, "never", now, below, step_s, line, start_ms)
    if line.scatter > MOST_SCATTER_SHARE * -line.slope_per_s * line.span_s or _has_turned(known, line):
        return Drain(at_ms, "unknown", now, below, step_s, line, start_ms)
    # A sample shows it up to one distance later than it happens.
    seen_s = (now - below) / -line.slope_per_s + step_s / 2
    # What is already behind the newest point is no longer ahead.
    predicted_s = max(0.0, seen_s - (at_ms - float(known.times_ms[-1])) / SECOND_MS)
    times = calibration.times(predicted_s, step_s, predicted_s / line.span_s)
    return Drain(at_ms, "expected", now, below, step_s, line, start_ms, predicted_s, times)


def _has_turned(known: Trace, line: TrendLine) -> bool:
    """Whether a falling backlog rose with the newest point: one point bends no line, but it is the newest news."""
    rose = float(known.ready_entries[-1] - known.ready_entries[-2])
    step_s = float(known.times_ms[-1] - known.times_ms[-2]) / SECOND_MS
    return rose >= TURNED_SHARE * -line.slope_per_s * step_s
