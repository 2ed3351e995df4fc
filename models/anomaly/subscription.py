"""All signals of subscription partitions. In: ``signals`` and incidents. Out: their baselines, and rows of ``anomalies``, not grouped yet.

Incidents are masked from the baselines, restarts and moves are marks that are neither learned nor judged. Rates are judged both
ways; backlog and throttle events upwards only, since less of them is no trouble.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, check_range, date_of
from throttlescope.models.anomaly.baseline import (
    Baseline,
    baseline_of,
    hour_sums,
    learned_since,
    ready_days,
)
from throttlescope.models.anomaly.calendar import Calendar, calendar_of
from throttlescope.models.anomaly.minutes import AnomalyMinutes, MinuteRows, MinutesTable
from throttlescope.models.anomaly.rules import METHOD, RULES, AnomalyRules
from throttlescope.models.anomaly.series import SeriesAnomaly, judge_days
from throttlescope.models.anomaly.silence import silence_baseline, silences
from throttlescope.models.anomaly.spread import DAY_MINUTES, HOUR_MINUTES
from throttlescope.models.diagnosis.window import SubscriptionKey

#: 1 upwards, -1 downwards.
SIDES = {
    "in_msg_rate": (1, -1),
    "out_msg_rate": (1, -1),
    "backlog_ready_entries": (1,),
    "throttled_events": (1,),
}
#: Whether there are samples at all, which is judged like a signal.
SAMPLES = "samples"
#: Counts per minute over what a row says: rates are per second.
_PER = {"in_msg_rate": 60.0, "out_msg_rate": 60.0}
#: Days before the range that are judged too: an anomaly is reported as a new one after two days, so none began earlier.
LEAD_DAYS = 2

Interval = tuple[int, int]
#: Of one subscription partition, by signal; one that it never had has none.
Baselines = dict[str, Baseline]


@dataclass(frozen=True)
class Range:
    """What is judged, [start_ms, end_ms), and the calendar of the weeks that it takes."""

    start_ms: int
    end_ms: int
    calendar: Calendar
    first_day: int
    rules: AnomalyRules

    @classmethod
    def of(cls, start_ms: int, end_ms: int, zone: str = "UTC", rules: AnomalyRules = RULES) -> Range:
        """The range with its history before it.

        Raises
        ------
        InputError
            The range is empty, or there is no such zone.
        """
        check_range(start_ms, end_ms)
        begin_ms = start_ms - start_ms % DAY_MS - LEAD_DAYS * DAY_MS
        first_ms = begin_ms - 7 * rules.weeks * DAY_MS
        calendar = calendar_of(first_ms, end_ms + -end_ms % DAY_MS, zone, rules.weeks)
        return cls(start_ms, end_ms, calendar, (begin_ms - first_ms) // DAY_MS, rules)

    @property
    def first_ms(self) -> int:
        """Start of the history."""
        return self.calendar.first_ms

    @property
    def begin_ms(self) -> int:
        """Start of the first judged day, some days before what is asked for."""
        return self.first_ms + self.first_day * DAY_MS

    @property
    def read_ms(self) -> int:
        """From here on minutes are read to judge: an hour earlier, for what was marked just before."""
        return self.begin_ms - BLOCK_MS

    @property
    def known_ms(self) -> int:
        """The last judged day's midnight: baselines are of what lies before it."""
        return self.calendar.end_ms - DAY_MS

    @property
    def days(self) -> int:
        """How many days are judged."""
        return self.calendar.hours // 24 - self.first_day


def anomalies_of(
    signals: pa.Table,
    judged: Range,
    *,
    incidents: Mapping[SubscriptionKey, Sequence[Interval]] | None = None,
    covered: Mapping[str, np.ndarray] | None = None,
) -> list[dict[str, Any]]:
    """Judge subscription partitions by their own weeks, in-process.

    Parameters
    ----------
    signals : pyarrow.Table
        Rows of ``signals`` in any order, with at least the key and :data:`minutes.COLUMNS`; those outside the range and its
        history are left out.
    judged : Range
    incidents : mapping, optional
        [start_ms, end_ms) of incidents by subscription key; they are not learned.
    covered : mapping of str to ndarray of int64, optional
        By cluster, starts of the minutes in which anything was scraped. Without it: of those in ``signals``.

    Returns
    -------
    list of dict
        Rows of ``anomalies`` that end after ``start_ms``, each a group of its own, without broker and verdict.
    """
    incidents = incidents or {}
    covered = covered_minutes(signals) if covered is None else covered
    minutes = MinutesTable.of(signals)
    baselines = baselines_of(minutes, judged, incidents=incidents, covered=covered)
    return judged_by(baselines, minutes, judged, incidents=incidents, covered=covered)


def baselines_of(
    table: MinutesTable,
    judged: Range,
    *,
    incidents: Mapping[SubscriptionKey, Sequence[Interval]],
    covered: Mapping[str, np.ndarray],
) -> dict[SubscriptionKey, Baselines]:
    """What was usual for each subscription partition at the midnights of the judged days.

    Parameters
    ----------
    table : MinutesTable
    incidents, covered
        As of :func:`anomalies_of`; nothing from the last judged midnight on has a say.
    """
    found = {}
    for key, rows in table:
        minutes = table.on(rows, judged.first_ms, judged.calendar.end_ms)
        seen = _minutes_at(covered.get(key.cluster, ()), judged.first_ms, judged)
        found[key] = _baselines(
            minutes, seen, _masked(incidents.get(key, ()), judged.first_ms, judged), judged
        )
    return found


def _baselines(minutes: AnomalyMinutes, covered: np.ndarray, masked: np.ndarray, judged: Range) -> Baselines:
    rules, calendar, first_day = judged.rules, judged.calendar, judged.first_day
    unjudged = _after_marks(minutes, rules)
    said = {"masked": masked, "unjudged": unjudged}
    found = {SAMPLES: silence_baseline(minutes.present, covered, calendar, first_day, rules, **said)}
    # Learned from until the last day: no signal is known longer. So it is with most of a cluster that is new here.
    if not found[SAMPLES].ready.any():
        return found
    for signal, sides in SIDES.items():
        counts = minutes.counts[signal]
        if not np.isnan(counts[:-DAY_MINUTES]).all():
            found[signal] = baseline_of(counts, calendar, first_day, rules, sides, **said)
    return found


def judged_by(
    baselines: Mapping[SubscriptionKey, Baselines],
    table: MinutesTable,
    judged: Range,
    *,
    incidents: Mapping[SubscriptionKey, Sequence[Interval]],
    covered: Mapping[str, np.ndarray],
) -> list[dict[str, Any]]:
    """Judge subscription partitions by what was usual for them; as :func:`anomalies_of`.

    Parameters
    ----------
    baselines : mapping
        Of all subscription partitions that have minutes before the last judged midnight.
    table, incidents, covered
        From :attr:`Range.read_ms` on.
    """
    found: dict[SubscriptionKey, list[dict[str, Any]]] = {}
    for key, rows in chain(table, _without_rows(baselines, found.keys())):
        minutes = table.on(rows, judged.read_ms, judged.calendar.end_ms)
        seen = _minutes_at(covered.get(key.cluster, ()), judged.begin_ms, judged)
        masked = _masked(incidents.get(key, ()), judged.begin_ms, judged)
        found[key] = _rows(key, minutes, seen, masked, baselines.get(key, {}), judged)
    return [row for key in sorted(found) for row in found[key]]


def _without_rows(
    baselines: Mapping[SubscriptionKey, Baselines], there: Set[SubscriptionKey]
) -> Iterator[tuple[SubscriptionKey, MinuteRows]]:
    """Subscription partitions that have baselines and no minutes any more: those that are not ``there`` once the others were."""
    nothing = MinuteRows.of_nothing()
    for key in sorted(baselines.keys() - there):
        yield key, nothing


def covered_minutes(signals: pa.Table) -> dict[str, np.ndarray]:
    """Starts of the minutes in which anything of a cluster was scraped, sorted."""
    # What is filtered is copied: of weeks of a fleet not all columns.
    times = signals.select(["cluster", "minute_ms", "coverage_share"])
    scraped = times.filter(pc.greater(times.column("coverage_share"), 0))
    return {
        cluster: np.unique(
            scraped.filter(pc.equal(scraped.column("cluster"), cluster)).column("minute_ms").to_numpy()
        )
        for cluster in sorted(pc.unique(signals.column("cluster")).to_pylist())
    }


def _rows(
    key: SubscriptionKey,
    minutes: AnomalyMinutes,
    covered: np.ndarray,
    masked: np.ndarray,
    baselines: Baselines,
    judged: Range,
) -> list[dict[str, Any]]:
    rules, first_day = judged.rules, judged.first_day
    nothing = Baseline.of_nothing(first_day, judged.days)
    present = minutes.present[HOUR_MINUTES:]
    unjudged = _after_marks(minutes, rules)[HOUR_MINUTES:]
    said = {"masked": masked, "unjudged": unjudged}
    of_samples = baselines.get(SAMPLES, nothing)
    learned = _learning(key, SAMPLES, ~of_samples.ready, covered, present, of_samples, judged)
    # Learned from until the last day: nothing is judged.
    if not of_samples.ready.any():
        return learned
    found = silences(present, covered, of_samples, rules, **said)
    rows = [_row(key, SAMPLES, one, minutes, judged) for one in found] + learned
    for signal, sides in SIDES.items():
        counts = minutes.counts[signal][HOUR_MINUTES:]
        # What has not come yet is not judged.
        counts = np.where(_late(judged, judged.begin_ms, len(counts)), np.nan, counts)
        known = ~np.isnan(counts)
        baseline = baselines.get(signal, nothing)
        if not known.any() and not baseline.known_minutes.any():
            continue
        # One row says that a subscription is new; a signal has its own only where it came later.
        of_hour = np.concatenate([baseline.known_minutes, hour_sums(known)])
        new = ~ready_days(of_hour, first_day, rules)
        rows += _learning(key, signal, new & of_samples.ready, known, known, baseline, judged)
        found = judge_days(counts, baseline, rules, sides, **said)
        rows += [_row(key, signal, one, minutes, judged) for one in found]
    return [row for row in rows if row["end_ms"] > judged.start_ms]


def _row(
    key: tuple[Any, ...], signal: str, one: SeriesAnomaly, minutes: AnomalyMinutes, judged: Range
) -> dict[str, Any]:
    per = _PER.get(signal, 1.0)
    day = one.start // DAY_MINUTES * DAY_MINUTES
    end_ms = min(_ms(judged, one.end), judged.end_ms)
    return _common(key, signal, _ms(judged, one.start), judged) | {
        "direction": "silence" if signal == SAMPLES else "up" if one.side > 0 else "down",
        "end_ms": end_ms,
        "detected_ms": _ms(judged, one.alarm + 1),
        "state": "open" if one.open else "closed",
        "adopted": one.adopted,
        "score": one.score,
        "worst_ms": _ms(judged, one.worst),
        **{name: _over(getattr(one, name), per) for name in ("value", "expected", "low", "high")},
        "baseline_start_ms": max(judged.first_ms, _ms(judged, day) - 7 * judged.rules.weeks * DAY_MS),
        "baseline_end_ms": _ms(judged, day),
        "baseline_points": one.points,
        "masked_share": one.masked_share,
        "broker": _broker(minutes, one, judged),
    }


def _learning(
    key: SubscriptionKey,
    signal: str,
    days: np.ndarray,
    minutes: np.ndarray,
    known: np.ndarray,
    baseline: Baseline,
    judged: Range,
) -> list[dict[str, Any]]:
    """One row over those of the ``minutes`` that lie in the range, on the ``days`` that are still learned from."""
    at = np.flatnonzero(np.repeat(days, DAY_MINUTES) & minutes)
    starts_ms = judged.begin_ms + at * MINUTE_MS
    at = at[(starts_ms >= judged.start_ms) & (starts_ms < judged.end_ms)]
    if not len(at):
        return []
    since = learned_since(np.concatenate([baseline.known_minutes, hour_sums(known)]))
    until_ms = None
    if since is not None:
        until_ms = judged.first_ms + since * BLOCK_MS + judged.rules.learning_ms
        until_ms += -until_ms % DAY_MS
    start_ms = judged.begin_ms + int(at[0]) * MINUTE_MS
    return [
        _common(key, signal, start_ms, judged)
        | {
            "end_ms": judged.begin_ms + (int(at[-1]) + 1) * MINUTE_MS,
            "state": "learning",
            "baseline_points": int(baseline.known_minutes.sum() + known[: at[0]].sum()),
            "learning_until_ms": until_ms,
        }
    ]


def _common(key: tuple[Any, ...], signal: str, start_ms: int, judged: Range) -> dict[str, Any]:
    empty = (
        "direction", "detected_ms", "score", "worst_ms", "value", "expected", "low", "high", "baseline_start_ms",
        "baseline_end_ms", "learning_until_ms", "shared_kind", "shared_with", "broker", "verdict_cause", "verdict_limiter",
    )  # fmt: skip
    return (
        dict(zip(SUBSCRIPTION_KEY_NAMES, key, strict=True))
        | dict.fromkeys(empty)
        | {
            "signal": signal, "start_ms": int(start_ms), "adopted": False, "masked_share": 0.0, "group_id": "", "group_rows": 1,
            "zone": judged.calendar.zone, "method": METHOD, "method_version": judged.rules.version,
            "date": date_of(int(start_ms)),
        }
    )  # fmt: skip


def _minutes_at(starts_ms: Sequence[int] | np.ndarray, first_ms: int, judged: Range) -> np.ndarray:
    """Which minutes from ``first_ms`` to the end of the calendar, before the range's end, are among some starts."""
    starts_ms = np.asarray(starts_ms, np.int64)
    out = np.zeros((judged.calendar.end_ms - first_ms) // MINUTE_MS, bool)
    inside = starts_ms[(starts_ms >= first_ms) & (starts_ms < judged.end_ms)]
    out[(inside - first_ms) // MINUTE_MS] = True
    return out


def _masked(incidents: Sequence[Interval], first_ms: int, judged: Range) -> np.ndarray:
    """Minutes from ``first_ms`` to the end of the calendar that an incident touches."""
    out = np.zeros((judged.calendar.end_ms - first_ms) // MINUTE_MS, bool)
    for start_ms, end_ms in incidents:
        low, high = ((at_ms - first_ms) // MINUTE_MS for at_ms in (start_ms, end_ms + MINUTE_MS - 1))
        out[max(0, low) : max(0, high)] = True
    return out


def _after_marks(minutes: AnomalyMinutes, rules: AnomalyRules) -> np.ndarray:
    """Minutes of a restart or a move, and those just after it."""
    return np.convolve(minutes.marks, np.ones(rules.mark_minutes + 1))[: len(minutes.marks)] > 0


def _late(judged: Range, first_ms: int, length: int) -> np.ndarray:
    return np.arange(length) >= (judged.end_ms - first_ms) // MINUTE_MS


def _ms(judged: Range, minute: int) -> int:
    return judged.first_ms + minute * MINUTE_MS


def _over(value: float | None, per: float) -> float | None:
    return None if value is None else value / per


def _broker(minutes: AnomalyMinutes, one: SeriesAnomaly, judged: Range) -> str | None:
    """Instance at the worst minute, else the last one before it that is known."""
    worst = one.worst - (judged.read_ms - judged.first_ms) // MINUTE_MS
    for at in range(worst, max(-1, worst - HOUR_MINUTES), -1):
        if (broker := minutes.broker(at)) is not None:
            return broker
    return None
