"""All signals of subscription partitions. In: their weeks of ``signals``. Out: rows of ``anomalies``, not grouped yet.

Incidents are masked from the baselines, restarts and moves are marks that are neither learned nor judged. Rates are judged both
ways; backlog and throttle events upwards only, since less of them is no trouble.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS, check_range, date_of
from throttlescope.models.anomaly.calendar import Calendar, calendar_of
from throttlescope.models.anomaly.minutes import AnomalyMinutes
from throttlescope.models.anomaly.rules import METHOD, RULES, AnomalyRules
from throttlescope.models.anomaly.series import SeriesAnomaly, judge, learned_since, learning_minutes
from throttlescope.models.anomaly.silence import silences
from throttlescope.models.anomaly.spread import DAY_MINUTES, HOUR_MINUTES
from throttlescope.models.diagnosis.window import by_subscription

#: 1 upwards, -1 downwards.
SIDES = {
    "in_msg_rate": (1, -1),
    "out_msg_rate": (1, -1),
    "backlog_ready_entries": (1,),
    "throttled_events": (1,),
}
#: Counts per minute over what a row says: rates are per second.
_PER = {"in_msg_rate": 60.0, "out_msg_rate": 60.0}
#: Days before the range that are judged too: an anomaly is reported as a new one after two days, so none began earlier.
LEAD_DAYS = 2

Interval = tuple[int, int]


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
        """Start of the history that is read."""
        return self.calendar.first_ms


def anomalies_of(
    signals: pa.Table,
    judged: Range,
    *,
    incidents: Mapping[tuple[Any, ...], Sequence[Interval]] | None = None,
    covered: Mapping[str, np.ndarray] | None = None,
) -> list[dict[str, Any]]:
    """Judge subscription partitions, in-process.

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
    rows: list[dict[str, Any]] = []
    for key, part in by_subscription(signals):
        minutes = AnomalyMinutes(part, judged.calendar)
        seen = _minutes_at(covered.get(key[0], np.empty(0, np.int64)), judged)
        rows += _rows(key, minutes, seen, incidents.get(key, ()), judged)
    return rows


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
    key: tuple[Any, ...],
    minutes: AnomalyMinutes,
    covered: np.ndarray,
    incidents: Sequence[Interval],
    judged: Range,
) -> list[dict[str, Any]]:
    rules, calendar = judged.rules, judged.calendar
    learning = learning_minutes(minutes.present & covered, judged.first_day, rules)
    learned = _learning(key, "samples", learning & covered, minutes.present, judged)
    # Learned from until the last day: nothing is judged, and no signal is known longer. So it is with most of a cluster that is new here.
    if learning[-1]:
        return learned
    masked = _masked(incidents, judged)
    unjudged = np.convolve(minutes.marks, np.ones(rules.mark_minutes + 1))[: len(covered)] > 0
    found = silences(
        minutes.present, covered, calendar, judged.first_day, rules, masked=masked, unjudged=unjudged
    )
    rows = [_row(key, "samples", one, minutes, judged) for one in found] + learned
    for signal, sides in SIDES.items():
        counts = minutes.counts[signal]
        if np.isnan(counts).all():
            continue
        # What has not come yet is not judged.
        counts = np.where(_late(judged, len(counts)), np.nan, counts)
        known = ~np.isnan(counts)
        # One row says that a subscription is new; a signal has its own only where it came later.
        new = learning_minutes(known, judged.first_day, rules)
        rows += _learning(key, signal, new & ~learning & known, known, judged)
        # A series that is learned from until its last day has no anomaly, and throttle events are zero for most subscriptions for ever.
        if not new[-1] and np.nan_to_num(counts).any():
            found, _ = judge(
                counts, calendar, judged.first_day, rules, sides=sides, masked=masked, unjudged=unjudged
            )
            rows += [_row(key, signal, one, minutes, judged) for one in found]
    return [row for row in rows if row["end_ms"] > judged.start_ms]


def _row(
    key: tuple[Any, ...], signal: str, one: SeriesAnomaly, minutes: AnomalyMinutes, judged: Range
) -> dict[str, Any]:
    per = _PER.get(signal, 1.0)
    day = one.start // DAY_MINUTES * DAY_MINUTES
    end_ms = min(_ms(judged, one.end), judged.end_ms)
    return _common(key, signal, _ms(judged, one.start), judged) | {
        "direction": "silence" if signal == "samples" else "up" if one.side > 0 else "down",
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
        "broker": _broker(minutes, one),
    }


def _learning(
    key: tuple[Any, ...], signal: str, learning: np.ndarray, known: np.ndarray, judged: Range
) -> list[dict[str, Any]]:
    """One row over the judged minutes that are still learned from."""
    at = np.flatnonzero(learning)
    at = at[(_ms(judged, at) >= judged.start_ms) & (_ms(judged, at) < judged.end_ms)]
    if not len(at):
        return []
    since = learned_since(known)
    until_ms = None
    if since is not None:
        until_ms = _ms(judged, since * HOUR_MINUTES) + judged.rules.learning_ms
        until_ms += -until_ms % DAY_MS
    start_ms = _ms(judged, int(at[0]))
    return [
        _common(key, signal, start_ms, judged)
        | {
            "end_ms": _ms(judged, int(at[-1]) + 1),
            "state": "learning",
            "baseline_points": int(known[: at[0]].sum()),
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


def _minutes_at(starts_ms: np.ndarray, judged: Range) -> np.ndarray:
    """Which minutes of the calendar, before the range's end, are among some starts."""
    out = np.zeros(judged.calendar.hours * HOUR_MINUTES, bool)
    inside = starts_ms[(starts_ms >= judged.first_ms) & (starts_ms < judged.end_ms)]
    out[(inside - judged.first_ms) // MINUTE_MS] = True
    return out


def _masked(incidents: Sequence[Interval], judged: Range) -> np.ndarray:
    out = np.zeros(judged.calendar.hours * HOUR_MINUTES, bool)
    for start_ms, end_ms in incidents:
        low, high = ((at_ms - judged.first_ms) // MINUTE_MS for at_ms in (start_ms, end_ms + MINUTE_MS - 1))
        out[max(0, low) : max(0, high)] = True
    return out


def _late(judged: Range, length: int) -> np.ndarray:
    return np.arange(length) >= (judged.end_ms - judged.first_ms) // MINUTE_MS


def _ms(judged: Range, minute: Any) -> Any:
    return judged.first_ms + minute * MINUTE_MS


def _over(value: float | None, per: float) -> float | None:
    return None if value is None else value / per


def _broker(minutes: AnomalyMinutes, one: SeriesAnomaly) -> str | None:
    """Instance at the worst minute, else the last one before it that is known."""
    for at in range(one.worst, max(-1, one.worst - HOUR_MINUTES), -1):
        if minutes.broker[at] is not None:
            return minutes.broker[at]
    return None
