"""One series judged. In: counts per minute of whole UTC days, and what may not be learned or judged. Out: its anomalies.

Every UTC day is judged by what lies before it: levels, spread and alarm levels are those of the weeks before its midnight, so that
a day is never in its own baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.models.anomaly.calendar import WEEK_HOURS, Calendar
from throttlescope.models.anomaly.cusum import CusumRun, joined, runs
from throttlescope.models.anomaly.gaps import long_gaps
from throttlescope.models.anomaly.levels import DAY_HOURS, Levels, follow, wander
from throttlescope.models.anomaly.rules import AnomalyRules
from throttlescope.models.anomaly.sorted_rows import median_of_rows
from throttlescope.models.anomaly.spread import DAY_MINUTES, HOUR_MINUTES, alarm_level, rare, spread_of
from throttlescope.models.anomaly.transform import restored, stabilised

#: Minutes of an hour that have to be known before it has a median.
_LEAST_MINUTES = 15


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
class Baseline:
    """What is usual, per minute. ``expected``: shape (minutes,); ``sigma[side]`` likewise; ``limit[side]`` a row per sum."""

    counts: np.ndarray
    expected: np.ndarray
    residual: np.ndarray
    sigma: dict[int, np.ndarray]
    limit: dict[int, np.ndarray]
    learning: np.ndarray
    points: np.ndarray
    masked_share: np.ndarray
    levels: Levels


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
    """Anomalies of the days from ``first_day`` on.

    Parameters
    ----------
    counts : ndarray of float64, shape (minutes of the calendar,)
        Counts per minute, or a gauge; NaN where unknown.
    first_day : int
        First UTC day of the calendar that is judged; those before it are history.
    sides : sequence of int
        1 upwards, -1 downwards.
    masked, unjudged : ndarray of bool, shape (minutes,), optional
        Incidents, which are not learned; minutes after a restart or a move, which are neither learned nor judged.
    """
    none = np.zeros(len(counts), bool)
    masked, unjudged = none if masked is None else masked, none if unjudged is None else unjudged
    baseline = baseline_of(counts, calendar, first_day, rules, sides, masked, unjudged)
    found = []
    begin = first_day * DAY_MINUTES
    for side in sides if not baseline.learning[-1] else ():
        z = side * baseline.residual / baseline.sigma[side]
        strays = [
            _shifted(run, begin)
            for slack, limit in zip(rules.slacks, baseline.limit[side], strict=True)
            for run in runs(z[begin:], slack, limit[begin:], rules)
        ]
        adopted = {one.adopted * HOUR_MINUTES for one in baseline.levels.adoptions if one.step * side > 0}
        usual, gaps = np.empty(0), []
        if side < 0:
            usual = usual_counts(np.where(unjudged | masked, np.nan, counts), calendar)
            judged = ~baseline.learning[::DAY_MINUTES] & (np.arange(len(usual) // DAY_MINUTES) >= first_day)
            gaps = long_gaps(
                counts > 0, ~np.isnan(counts), usual, judged, rules.least_missed, rules, masked=masked, unjudged=unjudged
            )  # fmt: skip
            adopted |= {gap.end for gap in gaps if gap.adopted}
        stops = [CusumRun(gap.start, gap.alarm, gap.end, gap.score, gap.open) for gap in gaps]
        # Where the sum sees it as well, its score counts: what a busy series misses is a number without end.
        stops = [replace(stop, score=0.0) if _touches(stop, strays) else stop for stop in stops]
        for run in joined(strays + stops, rules.join_minutes):
            one = _described(side, run, baseline, rules, adopted)
            if not _touches(run, strays):
                # Its worst minute is none that strays: only a long time without anything is unusual.
                one = replace(one, worst=run.start, value=0.0, expected=float(usual[run.start]), low=None, high=None)  # fmt: skip
            found.append(one)
    return sorted(found, key=lambda one: (one.start, -one.side)), baseline


def baseline_of(
    counts: np.ndarray,
    calendar: Calendar,
    first_day: int,
    rules: AnomalyRules,
    sides: Sequence[int],
    masked: np.ndarray,
    unjudged: np.ndarray,
) -> Baseline:
    """What was usual on each day from ``first_day`` on; parameters as of :func:`judge`."""
    steady = np.where(unjudged, np.nan, stabilised(counts))
    learned = without_masked(steady, masked, first_day * DAY_MINUTES)
    days = len(counts) // DAY_MINUTES
    learning = learning_minutes(~np.isnan(learned), first_day, rules)
    # A series that is only learned from needs no levels yet.
    levels = follow(np.full(calendar.hours, np.nan) if learning[-1] else _hourly(learned), calendar, rules)
    expected = _per_minute(levels.expected, levels.moved)
    residual = _nearer(steady - expected, np.repeat(levels.former, HOUR_MINUTES))
    offset = np.repeat(wander(_hourly(residual), levels.sigma, rules), HOUR_MINUTES)
    expected, residual = expected + offset, residual - offset
    learned_residual = np.where(np.isnan(learned), np.nan, residual)
    minutes, known = len(counts), ~np.isnan(learned)
    sigma = {side: np.full(minutes, np.nan) for side in sides}
    limit = {side: np.full((len(rules.slacks), minutes), np.inf) for side in sides}
    points, masked_share = np.zeros(minutes, np.int64), np.zeros(minutes)
    for day in range(first_day, days):
        here = slice(day * DAY_MINUTES, (day + 1) * DAY_MINUTES)
        first = max(0, day * DAY_HOURS - rules.weeks * WEEK_HOURS)
        past = slice(first * HOUR_MINUTES, here.start)
        points[here] = known[past].sum()
        seen = (~np.isnan(steady[past])).sum()
        masked_share[here] = 1 - points[here.start] / seen if seen else 0.0
        if learning[here.start]:
            continue
        odd = np.repeat(rare(levels.odd, calendar, first, day * DAY_HOURS, rules), HOUR_MINUTES)
        calm = np.where(odd, np.nan, learned_residual)
        spread = spread_of(calm, calendar, first, day * DAY_HOURS, rules)
        # Nothing is known of these weeks: nothing can be said of the day.
        if spread is None:
            continue
        for side in sides:
            by_label = spread.of(side)
            sigma[side][here] = np.repeat(
                by_label[calendar.hour_of_week[here.start // HOUR_MINUTES :][:DAY_HOURS]], HOUR_MINUTES
            )
            before = np.repeat(by_label[calendar.hour_of_week[first : day * DAY_HOURS]], HOUR_MINUTES)
            z = side * calm[past] / before
            for row, (slack, alarm) in enumerate(zip(rules.slacks, rules.alarms, strict=True)):
                limit[side][row, here] = alarm_level(z, slack, alarm, rules)
    return Baseline(counts, expected, residual, sigma, limit, learning, points, masked_share, levels)


def usual_counts(learned: np.ndarray, calendar: Calendar) -> np.ndarray:
    """Mean counts per minute that are usual at each hour, shape (minutes,): the lower of the medians of the same hour of the week in the weeks before
    and of the same hour on the seven days before, which follows a new level sooner. 0 where it is unknown."""
    by_hour = learned.reshape(-1, HOUR_MINUTES)
    known = ~np.isnan(by_hour)
    enough = known.sum(axis=1) >= _LEAST_MINUTES
    mean = np.where(enough, np.nansum(by_hour, axis=1) / np.maximum(known.sum(axis=1), 1), np.nan)
    days_before = np.arange(len(mean))[:, None] - DAY_HOURS * np.arange(1, 8)
    medians = [
        median_of_rows(np.where(likes >= 0, mean[np.maximum(likes, 0)], np.nan))
        for likes in (calendar.earlier, days_before)
    ]
    return np.repeat(np.nan_to_num(np.fmin(*medians)), HOUR_MINUTES)


def without_masked(steady: np.ndarray, masked: np.ndarray, until: int) -> np.ndarray:
    """Values less the masked ones; where more than half of those before ``until`` would go, none goes: then it is the habit."""
    known = ~np.isnan(steady)
    out = known & masked
    return np.where(out, np.nan, steady) if 2 * out[:until].sum() <= known[:until].sum() else steady


def learning_minutes(known: np.ndarray, first_day: int, rules: AnomalyRules) -> np.ndarray:
    """Minutes of the days from ``first_day`` on at whose midnight there was too little history; shapes (minutes,)."""
    since = learned_since(known)
    days = np.arange(len(known) // DAY_MINUTES)
    ready = (
        np.zeros(len(days), bool)
        if since is None
        else (days * DAY_HOURS - since) * BLOCK_MS >= rules.learning_ms
    )
    return np.repeat(~ready & (days >= first_day), DAY_MINUTES)


def learned_since(known: np.ndarray) -> int | None:
    """First hour from which on a whole day is at least half known; a stray early row is no beginning."""
    hours = known.reshape(-1, HOUR_MINUTES).any(axis=1).astype(int)
    ahead = np.convolve(hours, np.ones(DAY_HOURS, int))[DAY_HOURS - 1 :]
    begins = np.flatnonzero((hours > 0) & (2 * ahead >= DAY_HOURS))
    return int(begins[0]) if len(begins) else None


def _hourly(steady: np.ndarray) -> np.ndarray:
    by_hour = steady.reshape(-1, HOUR_MINUTES)
    enough = (~np.isnan(by_hour)).sum(axis=1) >= _LEAST_MINUTES
    return np.where(enough, median_of_rows(by_hour), np.nan)


def _per_minute(expected: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Lines between the middles of hours. A new level is a step, not a line, so it is taken out and put back."""
    shape = expected - moved
    before = np.concatenate([shape[:1], shape[:-1]])
    after = np.concatenate([shape[1:], shape[-1:]])
    before, after = np.where(np.isnan(before), shape, before), np.where(np.isnan(after), shape, after)
    at = (np.arange(HOUR_MINUTES) + 0.5) / HOUR_MINUTES
    weight = np.abs(at - 0.5)
    first, second = at < 0.5, at >= 0.5
    lines = (1 - weight) * shape[:, None] + weight * np.where(first, before[:, None], 0.0)
    lines += weight * np.where(second, after[:, None], 0.0)
    return (lines + moved[:, None]).ravel()


def _nearer(residual: np.ndarray, former: np.ndarray) -> np.ndarray:
    """Deviation from the nearer of two levels, so that the way back to the former one is no anomaly."""
    other = residual + former
    return np.where((former != 0.0) & (np.abs(other) < np.abs(residual)), other, residual)


def _touches(run: CusumRun, others: Sequence[CusumRun]) -> bool:
    return any(other.start < run.end and run.start < other.end for other in others)


def _shifted(run: CusumRun, by: int) -> CusumRun:
    return replace(run, start=run.start + by, alarm=run.alarm + by, end=run.end + by)


def _described(
    side: int, run: CusumRun, baseline: Baseline, rules: AnomalyRules, adopted: set[int]
) -> SeriesAnomaly:
    span = slice(run.start, run.end)
    strayed = np.nan_to_num(side * baseline.residual[span], nan=-np.inf)
    worst = run.start + int(np.argmax(strayed))
    expected, sigma = baseline.expected[worst], baseline.sigma[side][worst]
    other = baseline.sigma.get(-side, baseline.sigma[side])[worst]
    above, below = (sigma, other) if side > 0 else (other, sigma)
    return SeriesAnomaly(
        side, run.start, run.alarm, run.end, run.open, run.score, worst,
        _number(baseline.counts[worst]),
        _number(restored(expected)),
        _number(restored(expected - rules.band_sigmas * below)),
        _number(restored(expected + rules.band_sigmas * above)),
        int(baseline.points[run.start]),
        float(baseline.masked_share[run.start]),
        any(abs(run.end - at) <= HOUR_MINUTES for at in adopted),
    )  # fmt: skip


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
