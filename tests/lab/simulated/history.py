"""Weeks that no broker was recorded for. In: a seed. Out: rows of ``signals`` of 16 days, made by the simulator, and the file that ships.

No recording is two weeks long, and anomalies need 14 days to learn from. Three topics are simulated, each with one subscription: their rates follow the
hour and the weekday, arrivals are Poisson, and the last day holds one incident of each. What the simulator says once a minute becomes samples
as a broker would have exposed them, and the same code as a run's makes ``signals`` of these. Cluster, tenant, instance and job say that they are
synthetic or simulated.

``python -m tests.lab.simulated.history`` rewrites the file; it takes a minute.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from math import pi, sin

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.accuracy.recorded import Recorded
from tests.accuracy.signals import signals_of
from tests.transforms.lakes import limit_row, stats_row
from throttlescope.app.pipeline.sources.synthetic_history import CLUSTER, DAYS, FILE, START_MS
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS, date_of
from throttlescope.models.throttling import Scenario, simulate
from throttlescope.models.throttling.columns import EVENTS
from throttlescope.transforms.promql.source import Series

SEED = 20_261_123
NAMESPACE = "synthetic/history"
MESSAGE_BYTES = 512
HOUR_S = 3600
#: Scrapes fall so long after the minute.
PHASE_MS = 7_000
QUEUE_MSG = 1_000


@dataclass(frozen=True)
class HistorySubscription:
    """One subscription and its topic: a rate by hour and weekday, and what happens at which hour since the start.

    Attributes
    ----------
    msg_per_s : float
        Mean of a weekday.
    swing, weekend : float
        How far a day strays from its mean; what a weekend has of a weekday.
    limit_msg_per_s : int, optional
        Subscription limit.
    processing_ms : float
        Of each of two consumers.
    factors : tuple of (int, float)
        From an hour on the rate is so many times the usual.
    slower : tuple of (int, float)
        From an hour on a message takes so many milliseconds.
    """

    topic: str
    subscription: str
    msg_per_s: float
    swing: float
    weekend: float
    limit_msg_per_s: int | None
    processing_ms: float
    factors: tuple[tuple[int, float], ...] = ()
    slower: tuple[tuple[int, float], ...] = ()

    @property
    def key(self) -> dict:
        return {
            "cluster": CLUSTER, "namespace": NAMESPACE, "topic": f"persistent://{NAMESPACE}/{self.topic}", "partition": -1,
            "subscription": self.subscription,
        }  # fmt: skip


_LAST = (DAYS - 1) * 24
SUBSCRIPTIONS = (
    # A campaign: three times the usual hits the limit for an hour.
    HistorySubscription("orders", "billing", 2.5, 0.6, 1.0, 6, 100.0, factors=((_LAST + 9, 3.0), (_LAST + 10, 1.0))),
    # Two hours in which hardly anything is published.
    HistorySubscription("clicks", "analytics", 4.0, 0.5, 1.0, None, 50.0, factors=((_LAST + 14, 0.1), (_LAST + 16, 1.0))),
    # A release that makes consumers slow, taken back after three hours.
    HistorySubscription("invoices", "mailer", 1.5, 0.3, 0.6, None, 300.0, slower=((_LAST + 4, 6_000.0), (_LAST + 7, 300.0))),
)  # fmt: skip


def scenario(one: HistorySubscription, days: int = DAYS) -> Scenario:
    """What is simulated of a subscription; a state an hour."""
    rates = [_rate(one, hour) for hour in range(24 * days)]
    slower = dict(one.slower)
    states = []
    for hour, rate in enumerate(rates):
        steps = [{"action": "set_rate", "topic": one.topic, "rate_msg": rate}]
        if hour in slower:
            steps.append(
                {"action": "set_consumers", "subscription": one.subscription, "processing_ms": slower[hour]}
            )
        states.append({"name": f"hour {hour}", "duration_s": HOUR_S, "interventions": steps if hour else []})
    limits = [
        {"level": "subscription", "set_at": "subscription", "topic": one.topic, "subscription": one.subscription, "msg": one.limit_msg_per_s}
    ]  # fmt: skip
    return Scenario.model_validate(
        {
            "format": 1, "name": f"history-{one.topic}",
            "topics": [{"name": one.topic}],
            "limits": limits if one.limit_msg_per_s else [],
            "subscriptions": [
                {"name": one.subscription, "topic": one.topic, "type": "Shared", "consumers": 2, "processing_ms": one.processing_ms,
                 "receiver_queue": QUEUE_MSG}
            ],
            "producers": [{"topic": one.topic, "rate_msg": rates[0], "size_bytes": MESSAGE_BYTES, "shape": "poisson"}],
            "timeline": states,
        }
    )  # fmt: skip


def _rate(one: HistorySubscription, hour: int) -> float:
    at = datetime.fromtimestamp(START_MS / 1000, UTC)
    weekday, of_day = (at.weekday() + hour // 24) % 7, hour % 24
    # Least at three in the morning, most at three in the afternoon.
    usual = one.msg_per_s * (1 + one.swing * sin(2 * pi * (of_day - 9) / 24))
    factor = next((value for since, value in reversed(one.factors) if hour >= since), 1.0)
    return round(usual * (one.weekend if weekday >= 5 else 1.0) * factor, 3)


def recorded(days: int = DAYS) -> Recorded:
    """What a Prometheus would have of it, and what the admin API would have said."""
    series: list[Series] = []
    for number, one in enumerate(SUBSCRIPTIONS):
        series += _series(one, simulate(scenario(one, days), SEED + number, every_s=60).seconds, days)
    observed_ms = START_MS - MINUTE_MS
    limits = [
        limit_row(level, at_ms=at_ms, msg=one.limit_msg_per_s if level == "subscription" else None, **one.key)
        for one in SUBSCRIPTIONS
        for level in ("broker", "topic", "subscription")
        for at_ms in range(observed_ms, START_MS + days * DAY_MS, DAY_MS // 4)
    ]
    stats = [stats_row(at_ms=observed_ms, subscription_type="Shared", **one.key) for one in SUBSCRIPTIONS]
    return Recorded(
        CLUSTER,
        60,
        tuple(series),
        pa.Table.from_pylist(limits, schema=TABLES["limits"].loose_schema),
        pa.Table.from_pylist(stats, schema=TABLES["topic_stats"].loose_schema),
        TABLES["truth"].loose_schema.empty_table(),
    )


def _series(one: HistorySubscription, rows: pa.Table, days: int) -> list[Series]:
    times_ms = START_MS + PHASE_MS + MINUTE_MS * np.arange(1, days * 24 * 60, dtype=np.int64)
    at = slice(0, len(times_ms))
    topic = {name: str(value) for name, value in one.key.items() if name != "subscription"}
    topic |= {"instance": "simulator:8080", "job": "simulator"}
    mine = topic | {"subscription": one.subscription}

    def total(name: str) -> np.ndarray:
        return np.cumsum(rows.column(name).to_numpy()).astype(float)[at]

    def stood(name: str) -> np.ndarray:
        return rows.column(name).to_numpy().astype(float)[at]

    published, out = total("published_messages"), total("out_messages")
    found = {
        ("pulsar_in_messages_total", None): published,
        ("pulsar_in_bytes_total", None): published * MESSAGE_BYTES,
        ("pulsar_storage_write_rate", None): rows.column("published_entries").to_numpy().astype(float)[at] / 60,
        ("pulsar_subscription_back_log", ""): stood("backlog_entries"),
        ("pulsar_subscription_back_log_no_delayed", ""): stood("backlog_entries"),
        ("pulsar_subscription_unacked_messages", ""): stood("unacked_messages"),
        ("pulsar_subscription_consumers_count", ""): np.full(len(times_ms), 2.0),
        ("pulsar_subscription_blocked_on_unacked_messages", ""): np.zeros(len(times_ms)),
        ("pulsar_subscription_msg_rate_redeliver", ""): np.zeros(len(times_ms)),
        ("pulsar_out_messages_total", ""): out,
        ("pulsar_out_bytes_total", ""): total("out_bytes"),
    }  # fmt: skip
    series = [
        Series({"__name__": metric} | (topic if level is None else mine), times_ms, values)
        for (metric, level), values in found.items()
    ]
    for level, unit in EVENTS:
        labels = {
            "__name__": f"pulsar_subscription_dispatch_throttled_{unit}_events",
            **mine,
            "reason": level,
        }
        series.append(Series(labels, times_ms, total(f"{level}_{unit}_events")))
    permits = mine | {
        "__name__": "pulsar_consumer_available_permits",
        "consumer_id": "0",
        "consumer_name": "simulated",
    }
    series.append(Series(permits, times_ms, stood("permits")))
    return series


def rows(days: int = DAYS) -> pa.Table:
    """Rows of ``signals``, in the order of their keys and times."""
    found = signals_of(recorded(days))
    inside = [START_MS <= at < START_MS + days * DAY_MS for at in found.column("minute_ms").to_pylist()]
    return found.filter(pa.array(inside)).sort_by([("topic", "ascending"), ("minute_ms", "ascending")])


def shipped(found: pa.Table) -> pa.Table:
    """Without columns that say nothing, and without the date, which follows from the minute."""
    said = [
        name
        for name in found.column_names
        if name != "date" and found.column(name).null_count < found.num_rows
    ]
    return found.select(said)


def main() -> None:
    pq.write_table(shipped(rows()), FILE, compression="zstd", compression_level=19)
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes, to {date_of(START_MS + DAYS * DAY_MS - 1)}")


if __name__ == "__main__":
    main()
