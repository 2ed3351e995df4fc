"""One series judged. In: counts per minute of the judged days, and what is usual on them. Out: its anomalies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from throttlescope.models.anomaly.baseline import (
    Baseline,
    UsualLevels,
    baseline_of,
    hourly,
    per_minute,
    residual_of,
)
from throttlescope.models.anomaly.calendar import Calendar
from throttlescope.models.anomaly.cusum import CusumRun, joined, runs
from throttlescope.models.anomaly.gaps import long_gaps
from throttlescope.models.anomaly.levels import DAY_HOURS, new_level, wander
from throttlescope.models.anomaly.rules import AnomalyRules
from throttlescope.models.anomaly.spread import DAY_MINUTES, HOUR_MINUTES
from throttlescope.models.anomaly.transform import restored, stabilised


@dataclass(frozen=True)
class SeriesAnomaly:
    """One anomaly of one series; minutes count from the calendar's beginning, values are counts per minute.

    Attributes
    ----------
    value, expected, low, high : float
        At ``worst``, the minute that strayed furthest; the band is usual there.
    points, masked_share
        Minutes that the baseline of its first day rests on, and the share of known ones that were masked from it.
    adopted : bool
        It ended because it became the new level.
    """

    side: int
    start: int
    alarm: int
    end: int
    open: bool
    score: float
    worst: int
    value: float | None
    expected: float | None
    low: float | None
    high: float | None
    points: int
    masked_share: float
    adopted: bool


@dataclass(frozen=True)
class Deviations:
    """How far each minute of the judged days strays.

    Attributes
    ----------
    expected, residual : ndarray of float64, shape (minutes,)
        On the scale of :mod:`transform`.
    sigma : dict of int to ndarray of float64, shape (minutes,)
        By side.
    """

    expected: np.ndarray
    residual: np.ndarray
    sigma: dict[int, np.ndarray]


def judge(
    counts: np.ndarray,
    calendar: Calendar,
    first_day: int,
    rules: AnomalyRules,
    *,
    sides: Sequence[int] = (1, -1),
    masked: np.ndarray | None = None,
    unjudged: np.ndarray | None = None,
) -> tuple[list[SeriesAnomaly], Baseline]:
    """Anomalies of the days from ``first_day`` on, and the baseline that they are judged by; parameters as of :func:`~baseline.baseline_of`."""
    none = np.zeros(len(counts), bool)
    masked, unjudged = none if masked is None else masked, none if unjudged is None else unjudged
    baseline = baseline_of(counts, calendar, first_day, rules, sides, masked=masked, unjudged=unjudged)
    begin = baseline.begin
    found = judge_days(
        counts[begin:], baseline, rules, sides, masked=masked[begin:], unjudged=unjudged[begin:]
    )
    return found, baseline


def judge_days(
    counts: np.ndarray,
    baseline: Baseline,
    rules: AnomalyRules,
    sides: Sequence[int],
    *,
    masked: np.ndarray,
    unjudged: np.ndarray,
) -> list[SeriesAnomaly]:
    """Anomalies of the judged days.

    Parameters
    ----------
    counts : ndarray of float64, shape (minutes of the judged days,)
        Counts per minute, or a gauge; NaN where unknown.
    sides : sequence of int
        1 upwards, -1 downwards.
    masked, unjudged : ndarray of bool, shape (minutes of the judged days,)
        Incidents, which are not learned; minutes after a restart or a move, which are neither learned nor judged.
    """
    if baseline.levels is None:
        return []
    levels = baseline.levels
    strays = deviations(counts, levels, rules, unjudged=unjudged)
    last = _newly_adopted(counts, levels, rules, masked | unjudged if levels.masks_hold else unjudged)
    found = []
    for side in sides:
        z = side * strays.residual / strays.sigma[side]
        strayed = [
            run
            for number, slack in enumerate(rules.slacks)
            for run in runs(z, slack, np.repeat(levels.alarm[side][:, number], DAY_MINUTES), rules)
        ]
        adopted = {int(hour) * HOUR_MINUTES for hour in levels.adopted[side]}
        adopted |= {len(counts)} if last * side > 0 else set()
        gaps = []
        if side < 0 and baseline.gaps is not None:
            gaps = long_gaps(
                counts > 0, ~np.isnan(counts), baseline.gaps, baseline.ready, rules.least_missed, rules,
                masked=masked, unjudged=unjudged,
            )  # fmt: skip
            adopted |= {gap.end for gap in gaps if gap.adopted}
        stops = [CusumRun(gap.start, gap.alarm, gap.end, gap.score, gap.open) for gap in gaps]
        # Where the sum sees it as well, its score counts: what a busy series misses is a number without end.
        stops = [replace(stop, score=0.0) if _touches(stop, strayed) else stop for stop in stops]
        for run in joined(strayed + stops, rules.join_minutes):
            one = _described(side, run, counts, strays, baseline, rules, adopted)
            if not _touches(run, strayed):
                # Its worst minute is none that strays: only a long time without anything is unusual.
                usual = float(baseline.gaps.usual[run.start // HOUR_MINUTES])
                one = replace(one, worst=run.start, value=0.0, expected=usual, low=None, high=None)
            found.append(shifted(one, baseline.begin))
    return sorted(found, key=lambda one: (one.start, -one.side))


def deviations(
    counts: np.ndarray, levels: UsualLevels, rules: AnomalyRules, *, unjudged: np.ndarray
) -> Deviations:
    """How far the minutes of the judged days stray; parameters as of :func:`judge_days`."""
    steady = np.where(unjudged, np.nan, stabilised(counts))
    residual, strayed = residual_of(steady, levels.expected, levels.moved, levels.former)
    hours = np.concatenate([levels.strayed, strayed])
    offset = np.repeat(wander(hours, levels.hourly_sigma, rules)[len(levels.strayed) :], HOUR_MINUTES)
    return Deviations(
        per_minute(levels.expected, levels.moved)[-len(counts) :] + offset,
        residual - offset,
        {side: np.repeat(sigma, HOUR_MINUTES) for side, sigma in levels.sigma.items()},
    )


def shifted(one: SeriesAnomaly, by: int) -> SeriesAnomaly:
    """The anomaly with its minutes counted from so many minutes earlier."""
    return replace(
        one, start=one.start + by, alarm=one.alarm + by, end=one.end + by, worst=one.worst + by
    )  # fmt: skip


def _newly_adopted(counts: np.ndarray, levels: UsualLevels, rules: AnomalyRules, out: np.ndarray) -> float:
    """By how much the last day's level is new at its end, which no baseline knows yet; 0 where it is not."""
    learned = np.where(out, np.nan, stabilised(counts))[-DAY_MINUTES:]
    residual = hourly(learned) - levels.expected[-DAY_HOURS:]
    return new_level(residual, levels.hourly_sigma[-1], rules)


def _touches(run: CusumRun, others: Sequence[CusumRun]) -> bool:
    return any(other.start < run.end and run.start < other.end for other in others)


def _described(
    side: int,
    run: CusumRun,
    counts: np.ndarray,
    strays: Deviations,
    baseline: Baseline,
    rules: AnomalyRules,
    adopted: set[int],
) -> SeriesAnomaly:
    span = slice(run.start, run.end)
    strayed = np.nan_to_num(side * strays.residual[span], nan=-np.inf)
    worst = run.start + int(np.argmax(strayed))
    expected, sigma = strays.expected[worst], strays.sigma[side][worst]
    other = strays.sigma.get(-side, strays.sigma[side])[worst]
    above, below = (sigma, other) if side > 0 else (other, sigma)
    day = run.start // DAY_MINUTES
    return SeriesAnomaly(
        side, run.start, run.alarm, run.end, run.open, run.score, worst,
        _number(counts[worst]),
        _number(restored(expected)),
        _number(restored(expected - rules.band_sigmas * below)),
        _number(restored(expected + rules.band_sigmas * above)),
        int(baseline.points[day]),
        float(baseline.levels.masked_share[day]),
        any(abs(run.end - at) <= HOUR_MINUTES for at in adopted),
    )  # fmt: skip


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
