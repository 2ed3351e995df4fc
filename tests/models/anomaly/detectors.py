"""Who is judged: our method and those it has to beat. In: one subscription's traffic. Out: the minutes of its alarms.

Every detector sees the same minutes and is judged from the same day on. Alarms of one subscription that are no more than
``JOIN`` minutes apart are one, whichever raises them.
"""

from __future__ import annotations

import numpy as np

from tests.models.anomaly.traffic import DAY, FIRST_MS, QUIET_DAYS, Traffic
from throttlescope.models.anomaly.calendar import Calendar, calendar_of
from throttlescope.models.anomaly.rules import RULES, AnomalyRules
from throttlescope.models.anomaly.series import SeriesAnomaly, judge
from throttlescope.models.anomaly.silence import silence_baseline, silences
from throttlescope.models.anomaly.subscription import SIDES

FROM_DAY = QUIET_DAYS
JOIN = 30
WEEK = 7 * DAY
SERIES = {
    "in": "in_msg_rate", "out": "out_msg_rate", "backlog": "backlog_ready_entries", "events": "throttled_events",
}  # fmt: skip


def ours(traffic: Traffic, rules: AnomalyRules = RULES) -> list[int]:
    """The method, all series of the subscription together."""
    minutes = len(traffic.present)
    calendar = calendar_of(FIRST_MS, FIRST_MS + minutes * 60_000, traffic.zone, rules.weeks)
    unjudged = after_marks(traffic.marks, rules.mark_minutes)
    spans = []
    for name, counts in traffic.counts.items():
        found, _ = judge(counts, calendar, FROM_DAY, rules, sides=SIDES[SERIES[name]], unjudged=unjudged)
        spans += [(one.start, one.alarm, one.end) for one in found]
    found = silences_of(traffic.present, traffic.covered, calendar, FROM_DAY, rules, unjudged=unjudged)
    spans += [(one.start, one.alarm, one.end) for one in found]
    return incidents(spans)


def silences_of(
    present: np.ndarray,
    covered: np.ndarray,
    calendar: Calendar,
    first_day: int,
    rules: AnomalyRules = RULES,
    *,
    masked: np.ndarray | None = None,
    unjudged: np.ndarray | None = None,
) -> list[SeriesAnomaly]:
    """Silences of the days from ``first_day`` on, by the weeks before them."""
    none = np.zeros(len(present), bool)
    said = {"masked": none if masked is None else masked, "unjudged": none if unjudged is None else unjudged}
    baseline = silence_baseline(present, covered, calendar, first_day, rules, **said)
    begin = baseline.begin
    said = {name: minutes[begin:] for name, minutes in said.items()}
    return silences(present[begin:], covered[begin:], baseline, rules, **said)


def incidents(spans: list[tuple[int, int, int]]) -> list[int]:
    """First alarm of each run of anomalies (start, alarm, end) that overlap or nearly touch, judged by alarm and end."""
    alarms: list[int] = []
    until = -JOIN - 1
    for _, alarm, end in sorted(spans, key=lambda span: span[1]):
        if alarm > until + JOIN:
            alarms.append(alarm)
        until = max(until, end)
    return alarms


def after_marks(marks: np.ndarray, minutes: int) -> np.ndarray:
    """Each mark and so many minutes behind it."""
    return np.convolve(marks, np.ones(minutes + 1))[: len(marks)] > 0


def nothing(traffic: Traffic) -> list[int]:
    """Never says anything."""
    return []


def chance(traffic: Traffic, per_week: float, seed: int) -> list[int]:
    """Alarms at random minutes."""
    rng = np.random.default_rng([seed, traffic.seed, traffic.number])
    first, last = FROM_DAY * DAY, len(traffic.present)
    count = rng.poisson(per_week * (last - first) / WEEK)
    return sorted(rng.integers(first, last, count).tolist())


def fixed_threshold(traffic: Traffic, backlog: float = 1000.0) -> list[int]:
    """The usual alert: a backlog above 1,000 for five minutes, of any subscription."""
    return _held(traffic.counts["backlog"] > backlog)


def sigma_threshold(traffic: Traffic, sigmas: float = 3.0) -> list[int]:
    """Mean and standard deviation of the two weeks before the first judged day; five minutes outside, any series."""
    outside = np.zeros(len(traffic.present), bool)
    for counts in traffic.counts.values():
        past = counts[: FROM_DAY * DAY]
        mean, sd = np.nanmean(past), np.nanstd(past)
        outside |= np.abs(counts - mean) > sigmas * max(sd, 1.0)
    return _held(outside)


def last_week(traffic: Traffic, share: float = 0.5) -> list[int]:
    """Means of five minutes that differ by more than half from those of a week before, in arrivals or dispatch."""
    outside = np.zeros(len(traffic.present), bool)
    for name in ("in", "out"):
        mean = np.convolve(np.nan_to_num(traffic.counts[name]), np.ones(5) / 5)[: len(traffic.present)]
        before = np.concatenate([np.full(WEEK, np.nan), mean[:-WEEK]])
        outside |= np.abs(mean - before) > share * np.maximum(before, 10)
    return _held(outside)


def _held(outside: np.ndarray, minutes: int = 5) -> list[int]:
    """Alarms where something has lasting for so many minutes on end."""
    lasting = np.convolve(outside, np.ones(minutes))[: len(outside)] >= minutes
    lasting[: FROM_DAY * DAY] = False
    at = np.flatnonzero(lasting)
    return [int(one) for i, one in enumerate(at) if i == 0 or one > at[i - 1] + JOIN]
