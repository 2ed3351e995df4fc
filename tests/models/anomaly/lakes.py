"""Lakes with weeks of signals. In: counts per minute of some subscriptions. Out: rows of ``signals``, or a lake that holds them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from tests.models.anomaly.traffic import DAY, FIRST_MS
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS, date_of
from throttlescope.ingest.lake import Lake, write_data_file


@dataclass
class Subscription:
    """A subscription partition with a steady day, 2 % of noise and what a test does to it."""

    name: str = "billing"
    topic: str = "persistent://acme/shop/orders"
    partition: int = 0
    broker: str = "broker-0:8080"
    cluster: str = "prod"
    days: int = 36
    seed: int = 1
    arrived: np.ndarray = field(init=False)
    backlog: np.ndarray = field(init=False)
    events: np.ndarray = field(init=False)
    present: np.ndarray = field(init=False)
    resets: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        minute = np.arange(self.days * DAY)
        shape = 600 * (1.3 + np.sin(2 * np.pi * minute / DAY))
        self.arrived = rng.poisson(shape * np.exp(rng.normal(0, 0.02, len(minute)))).astype(float)
        self.backlog = rng.poisson(5, len(minute)).astype(float)
        self.events = np.zeros(len(minute))
        self.present = np.ones(len(minute), bool)
        self.resets = np.zeros(len(minute), bool)

    @property
    def key(self) -> tuple:
        return (self.cluster, "acme/shop", self.topic, self.partition, self.name)


def signals(*subscriptions: Subscription) -> pa.Table:
    """Rows of ``signals``; a minute without a sample has no row, columns that are not read here are NULL."""
    return pa.concat_tables([_rows(one) for one in subscriptions])


def _rows(one: Subscription) -> pa.Table:
    at = np.flatnonzero(one.present)
    starts_ms = FIRST_MS + at * MINUTE_MS
    length = len(at)
    days = {day: date_of(int(FIRST_MS + day * DAY * MINUTE_MS)) for day in range(one.days)}
    given = {
        "minute_ms": starts_ms,
        "in_msg_delta": one.arrived[at],
        "out_msg_delta": one.arrived[at],
        "delta_span_ms": np.full(length, MINUTE_MS),
        "in_span_ms": np.full(length, MINUTE_MS),
        "events_span_ms": np.full(length, MINUTE_MS),
        "backlog_ready_entries": one.backlog[at],
        "backlog_entries": one.backlog[at],
        "throttled_msg_events_subscription_delta": one.events[at],
        "coverage_share": np.ones(length),
        "counter_resets": one.resets[at].astype(np.int32),
        "broker": [one.broker] * length,
        "broker_changed": np.zeros(length, bool),
        "limits_observed": np.zeros(length, bool),
        "limit_observed_later": np.zeros(length, bool),
        "limits_changed": np.zeros(length, bool),
        "date": [days[day] for day in (at // DAY).tolist()],
        **{name: [value] * length for name, value in zip(_KEY, one.key, strict=True)},
    }
    schema = TABLES["signals"].loose_schema
    return pa.table(
        {field.name: pa.array(given[field.name], field.type) if field.name in given else pa.nulls(length, field.type)
         for field in schema},
        schema=schema,
    )  # fmt: skip


_KEY = ("cluster", "namespace", "topic", "partition", "subscription")


def fill(lake: Lake, table: str, rows: pa.Table) -> None:
    """Commit rows, a file per cluster and UTC date."""
    dates = rows.column("date").to_pylist()
    clusters = rows.column("cluster").to_pylist()
    parts: dict[tuple[str, str], list[int]] = {}
    for at, place in enumerate(zip(clusters, dates, strict=True)):
        parts.setdefault(place, []).append(at)
    files = [write_data_file(lake.root, table, rows.take(pa.array(part))) for part in parts.values()]
    lake.commit(table, files, run_id="by hand")


def verdicts(
    one: Subscription, start_ms: int, end_ms: int, cause: str, limiter: str | None = None
) -> pa.Table:
    """Windows of five minutes with one cause."""
    rows = [
        dict(zip(_KEY, one.key, strict=True))
        | {
            "window_start_ms": at_ms, "window_end_ms": at_ms + 300_000, "side": "unknown", "cause": cause,
            "limiter": limiter, "confidence": 0.9, "evidence": [], "missing_evidence": [], "naive_side": "unknown",
            "rules_version": "1", "date": date_of(at_ms),
        }
        for at_ms in range(start_ms, end_ms, 300_000)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=TABLES["verdicts"].loose_schema)


def minute_ms(day: int, minute: int = 0) -> int:
    """Start of a minute of the generated days."""
    return FIRST_MS + (day * DAY + minute) * MINUTE_MS
