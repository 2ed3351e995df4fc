"""Rows of a made fleet for the pages. In: a number of subscriptions, and of them how many have minutes. Out: Arrow tables by the hour.

The fleet is that of ``benchmarks/fleet/signals.py``: of every hundred subscriptions two are in an episode in the last of seven days.
Healthy windows carry no evidence, the others five rows of it. The same numbers give the same bytes.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.fleet.signals import BOTH, DESERTED, SLOW, START_MS, THROTTLED, Fleet
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, date_of

DAYS = 7
END_MS = START_MS + DAYS * DAY_MS
WINDOW_MS = 5 * MINUTE_MS
#: Verdicts are of the last day and a quarter of an hour before it, which is what a day before is compared with.
VERDICTS_FROM_MS = END_MS - DAY_MS - 3 * WINDOW_MS

_SAID = {
    THROTTLED: ("throttled", "throttle", "subscription.msg", 0.93),
    SLOW: ("slow_consumers", "consumer_capacity", None, 0.88),
    BOTH: ("both", "both", "subscription.msg", 0.7),
    DESERTED: ("no_consumers", "consumer_capacity", None, 0.99),
}
_EVIDENCE = (
    ("rho_subscription_msg", "for", "Dispatch runs at 99 % of the subscription message limit.", 0.99, 0.9, "share"),
    ("permits_min", "for", "Consumers could take more: the consumer with fewest permits has 400.", 400.0, 0.0, "msg"),
    ("backlog_growth", "for", "The backlog grows by 30 entries each second.", 30.0, 0.0, "entries/s"),
    ("events_duty", "neutral", "Throttle events in every scrape, which this limit shows also when nothing is wrong.", 1.0, None, "share"),
    ("unacked_msg", "against", "Some messages are unacknowledged.", 120.0, 1000.0, "msg"),
)  # fmt: skip
_PROMQL = (
    "sum by (topic, subscription) (rate(pulsar_out_messages_total[5m])) / on (topic, subscription) "
    'throttlescope_dispatch_limit{level="subscription",unit="msg"}'
)


class LastDayFleet(Fleet):
    """A fleet whose episodes are in the last of :data:`DAYS` days."""

    def __init__(self, subscriptions: int, named: dict[str, pa.Array] | None = None) -> None:
        super().__init__(subscriptions)
        # Eight hours later than in that fleet, so that about a third of them are still there at the end.
        self.start += (DAYS - 1) * 1440 + 480
        self.end += (DAYS - 1) * 1440 + 480
        self.named = named if named is not None else super()._texts()

    def _texts(self) -> dict[str, pa.Array]:
        return self.named


class Subscriptions:
    """All subscriptions, sorted by key; those with minutes lie evenly among them.

    Attributes
    ----------
    fleet : LastDayFleet
        All; with the kinds and episodes of ``watched`` in the places ``watched_at``.
    """

    def __init__(self, subscriptions: int, watched: int) -> None:
        self.fleet = LastDayFleet(subscriptions)
        self.watched_at = np.arange(watched) * (subscriptions // watched)
        self.watched = LastDayFleet(
            watched, {name: texts.take(pa.array(self.watched_at)) for name, texts in self.fleet.named.items()}
        )
        for name in ("kind", "rate", "limit", "start", "end"):
            getattr(self.fleet, name)[self.watched_at] = getattr(self.watched, name)

    def verdicts(self, starts_ms: np.ndarray, chosen: slice) -> tuple[pa.Table, pa.Table]:
        """The windows that start then, of some subscriptions: the healthy ones, and the others; sorted by key."""
        fleet = self.fleet
        number = np.arange(fleet.count)[chosen]
        middle = (starts_ms - START_MS) / MINUTE_MS + 2.5
        ill = (fleet.kind[number] >= THROTTLED)[:, None] & (middle >= fleet.start[number][:, None])
        ill &= middle < fleet.end[number][:, None]
        rng = np.random.default_rng((fleet.count, int(starts_ms[0] // 1000), chosen.start))
        behind = np.rint(
            fleet.rate[number][:, None] * 20 * np.clip(middle - fleet.start[number][:, None], 0, None)
        )
        backlog = np.where(ill, behind, np.rint(rng.uniform(0, 12, ill.shape)))
        return tuple(
            self._rows(number[row], starts_ms[column], backlog[row, column], is_ill)
            for is_ill, (row, column) in ((False, np.nonzero(~ill)), (True, np.nonzero(ill)))
        )

    def _rows(self, number: np.ndarray, starts_ms: np.ndarray, backlog: np.ndarray, is_ill: bool) -> pa.Table:
        count, at = len(number), pa.array(number)
        said = (
            [_SAID[kind] for kind in self.fleet.kind[number]]
            if is_ill
            else [("healthy", "neither", None, 0.9)]
        )
        columns = {name: texts.take(at) for name, texts in self.fleet.named.items()}
        for place, name in enumerate(("cause", "side", "limiter", "confidence")):
            type_ = pa.float64() if name == "confidence" else pa.string()
            columns[name] = (
                pa.array([one[place] for one in said], type_)
                if is_ill
                else pa.repeat(pa.scalar(said[0][place], type_), count)
            )
        naive = np.where(backlog > 1000, "throttle" if is_ill else "consumer_capacity", "neither")
        columns |= {
            "window_start_ms": pa.array(starts_ms),
            "window_end_ms": pa.array(starts_ms + WINDOW_MS),
            "naive_side": pa.array(naive),
            "rules_version": pa.repeat(pa.scalar("made"), count),
            "backlog_entries": pa.array(backlog),
            "backlog_growth_entries": pa.array(np.where(is_ill, 0.2 * backlog, 0.0)),
            "evidence": _evidence(count, starts_ms) if is_ill else _none("evidence", count),
            "missing_evidence": _none("missing_evidence", count),
            "contributing": _none("contributing", count),
            "why": pa.repeat(pa.scalar("made" if is_ill else "there is no backlog to explain"), count),
            "date": pa.array([date_of(int(ms)) for ms in starts_ms]) if count else pa.array([], pa.string()),
        }
        schema = TABLES["verdicts"].loose_schema
        arrays = [
            columns[field.name] if field.name in columns else pa.nulls(count, field.type) for field in schema
        ]
        return pa.Table.from_arrays(
            [array.cast(field.type) for array, field in zip(arrays, schema, strict=True)], schema=schema
        )

    def episodes(self) -> pa.Table:
        """One episode of each subscription that is or was in trouble on the last day."""
        fleet, rows = self.fleet, []
        texts = {name: array.to_pylist() for name, array in fleet.named.items()}
        for i in np.flatnonzero(fleet.kind >= THROTTLED):
            start_ms, end_ms = (START_MS + int(minute[i]) * MINUTE_MS for minute in (fleet.start, fleet.end))
            is_open, until_ms = end_ms >= END_MS, min(end_ms, END_MS)
            cause, side, limiter, confidence = _SAID[fleet.kind[i]]
            peak = float(fleet.rate[i] * 20 * (until_ms - start_ms) / MINUTE_MS)
            rows.append(
                dict.fromkeys(TABLES["episodes"].schema.names)
                | {name: texts[name][i] for name in ("cluster", "namespace", "topic", "partition", "subscription")}
                | {
                    "episode_id": f"{i:032x}", "start_ms": start_ms, "end_ms": None if is_open else end_ms,
                    "state": "open" if is_open else "drained", "since_ms": start_ms, "since_method": "first_minute",
                    "start_entries": 1000.0, "peak_entries": peak, "peak_ms": until_ms,
                    "last_entries": peak if is_open else 0.0, "known_until_ms": until_ms, "over_until_ms": until_ms,
                    "backlog": [{"at_ms": start_ms, "entries": peak}], "backlog_step_ms": 16 * MINUTE_MS,
                    "worst_ms": until_ms, "cause": cause, "side": side, "limiter": limiter, "confidence": confidence,
                    "named_ms": until_ms - start_ms, "causes": [], "limiters": [], "marks": [],
                    "judged_until_ms": END_MS, "date": date_of(start_ms),
                }
            )  # fmt: skip
        return pa.Table.from_pylist(rows, schema=TABLES["episodes"].loose_schema)

    def forecasts(self, episodes: pa.Table) -> pa.Table:
        """What is lost next, of every open episode."""
        rows = [
            dict.fromkeys(TABLES["forecasts"].schema.names)
            | {name: row[name] for name in ("cluster", "namespace", "topic", "partition", "subscription")}
            | {
                "made_at_ms": END_MS, "kind": "ttl", "method": "trend", "state": "expected", "unit": "s",
                "predicted_ms": END_MS + (i % 500) * MINUTE_MS, "low_ms": END_MS + (i % 500) * 50_000,
                "consequence": "The broker expires them.", "basis": "made", "method_version": "made", "date": date_of(END_MS),
            }
            for i, row in enumerate(row for row in episodes.to_pylist() if row["state"] == "open")
        ]  # fmt: skip
        return pa.Table.from_pylist(rows, schema=TABLES["forecasts"].loose_schema)


def hours_of_verdicts() -> list[np.ndarray]:
    """Starts of the windows, hour by hour."""
    starts_ms = np.arange(VERDICTS_FROM_MS, END_MS, WINDOW_MS)
    return [starts_ms[starts_ms // BLOCK_MS == hour] for hour in np.unique(starts_ms // BLOCK_MS)]


def _none(name: str, count: int) -> pa.Array:
    type_ = TABLES["verdicts"].schema.field(name).type
    return pa.ListArray.from_arrays(
        pa.array(np.zeros(count + 1, np.int32)), pa.array([], type_.value_type), type=type_
    )


def _evidence(count: int, starts_ms: np.ndarray) -> pa.Array:
    type_ = TABLES["verdicts"].schema.field("evidence").type
    each = len(_EVIDENCE)
    fields = {
        name: pa.array([row[place] for row in _EVIDENCE] * count, type_.value_type.field(name).type)
        for place, name in enumerate(("symptom", "weight", "text", "value", "threshold", "unit"))
    }
    fields["at_ms"] = pa.array(np.repeat(starts_ms, each))
    fields["promql"] = pa.array([_PROMQL, None, None, None, None] * count, pa.string())
    rows = pa.StructArray.from_arrays(
        [fields[field.name] for field in type_.value_type], fields=list(type_.value_type)
    )
    return pa.ListArray.from_arrays(pa.array(np.arange(count + 1, dtype=np.int32) * each), rows, type=type_)
