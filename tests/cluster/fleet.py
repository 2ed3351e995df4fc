"""A made fleet. In: how many subscriptions of which kind. Out: a lake that holds their samples, as a pull would have left them.

Healthy subscriptions dispatch what is published and have next to no backlog; ill ones are held by a limit of their own, so that
their backlog grows and their throttle counters tick. The number of ill ones does not follow the fleet's size.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from tests.lab.prometheus import write_arrays
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.labels import LabelMapping, SeriesKey, normalise
from throttlescope.ingest.core.times import BLOCK_MS, date_of
from throttlescope.ingest.lake import Lake, write_data_file

CLUSTER = "made"
START_MS = 1_764_028_800_000 - 1_764_028_800_000 % BLOCK_MS
STEP_MS = 60_000

_LIMIT_MSG = 100
_BROKERS = 8
#: Values at the scrapes of one hour, by metric, for a healthy and for an ill subscription.
_STANDING = {
    "pulsar_subscription_delayed": 0.0,
    "pulsar_subscription_unacked_messages": 0.0,
    "pulsar_subscription_blocked_on_unacked_messages": 0.0,
    "pulsar_subscription_consumers_count": 2.0,
    "pulsar_subscription_msg_rate_redeliver": 0.0,
    "pulsar_subscription_total_msg_expired": 0.0,
    "pulsar_consumer_available_permits": 900.0,
}
_OUT_MSG = "pulsar_out_messages_total"
_OUT_BYTES = "pulsar_out_bytes_total"
_BACKLOG = ("pulsar_subscription_back_log", "pulsar_subscription_back_log_no_delayed")
_THROTTLED = (
    "pulsar_subscription_dispatch_throttled_msg_events",
    "pulsar_subscription_dispatch_throttled_bytes_events",
)
_TOPIC = ("pulsar_in_messages_total", "pulsar_in_bytes_total", "pulsar_storage_write_rate")


@dataclass(frozen=True)
class Fleet:
    """What is made.

    Attributes
    ----------
    healthy, ill : int
        Subscriptions, five to a topic.
    on_one_topic : int
        More healthy subscriptions, all of one topic.
    hours : int
    ill_hours_a_day : int
        In so many hours of each day more is published for the ill ones than their limit lets through.
    """

    healthy: int
    ill: int = 0
    on_one_topic: int = 0
    hours: int = 1
    ill_hours_a_day: int = 24

    @property
    def end_ms(self) -> int:
        return START_MS + self.hours * BLOCK_MS

    def subscriptions(self) -> list[tuple[str, str, bool]]:
        """Topic, subscription and whether it is ill."""
        found = [(f"healthy-{at // 5}", f"service-{at % 5}", False) for at in range(self.healthy)]
        found += [(f"ill-{at // 5}", f"service-{at % 5}", True) for at in range(self.ill)]
        return found + [("crowded", f"service-{at}", False) for at in range(self.on_one_topic)]


def make_lake(root: Path, fleet: Fleet) -> Lake:
    """Write the fleet's series, samples and limits."""
    lake, grouped, catalogue = Lake(root), {}, []
    at_ms = _times_ms(fleet)
    for series, values in _series(fleet, at_ms):
        grouped.setdefault((series.metric_name, series.shard), []).append((series.series_id, values))
        catalogue.append(
            {
                "series_id": series.series_id, "metric_name": series.metric_name, "cluster": CLUSTER,
                "labels": [pair for pair in series.labels if pair[0] != "__name__"], "shard": series.shard,
                "first_ms": int(at_ms[0]), "last_ms": int(at_ms[-1]),
            }
        )  # fmt: skip
    lake.upsert(
        "series", pa.Table.from_pylist(catalogue, schema=TABLES["series"].loose_schema), run_id="made"
    )
    files = [
        write_data_file(lake.root, "samples", _block(metric, shard, mine, at_ms, hour))
        for (metric, shard), mine in sorted(grouped.items())
        for hour in range(fleet.hours)
    ]
    lake.commit("samples", files, run_id="made")
    make_limits(lake.root, fleet)
    return lake


def make_limits(root: Path | str, fleet: Fleet) -> None:
    """Write the fleet's limits alone, beside samples that came another way."""
    Lake(root).upsert("limits", _limits(fleet), run_id="made")


def put_samples(url: str, fleet: Fleet) -> None:
    """Write the fleet's samples into a Prometheus."""
    at_ms = _times_ms(fleet)
    write_arrays(url, ((dict(key.labels), at_ms, values) for key, values in _series(fleet, at_ms)))


def _times_ms(fleet: Fleet) -> np.ndarray:
    return START_MS + np.arange(fleet.hours * BLOCK_MS // STEP_MS) * STEP_MS


def _series(fleet: Fleet, at_ms: np.ndarray):
    elapsed_s = (at_ms - START_MS) / 1000
    topics = set()
    for number, (topic, subscription, ill) in enumerate(fleet.subscriptions()):
        broker = f"broker-{sum(topic.encode()) % _BROKERS}.pulsar.internal:8080"
        labels = {
            "cluster": CLUSTER,
            "namespace": "acme/made",
            "topic": f"persistent://acme/made/{topic}",
            "instance": broker,
        }
        own = labels | {"subscription": subscription}
        # Topics a little different from each other, and the same in every lake.
        published = (20.0 + sum(topic.encode()) % 7) * elapsed_s
        dispatched = published
        if ill:
            published, dispatched = _limited(elapsed_s, fleet.ill_hours_a_day)
        values = {_OUT_MSG: dispatched, _OUT_BYTES: 1000 * dispatched}
        waiting = np.rint(published - dispatched) if ill else (np.arange(len(at_ms)) + number) % 3.0
        values |= dict.fromkeys(_BACKLOG, waiting)
        values |= {name: np.full(len(at_ms), standing) for name, standing in _STANDING.items()}
        for name, series in values.items():
            yield (
                _key(own | {"__name__": name} | ({"consumer_name": "c"} if "consumer_av" in name else {})),
                series,
            )
        ticks = _ticks(published - dispatched, elapsed_s) if ill else np.zeros(len(at_ms))
        for name in _THROTTLED:
            yield (
                _key(own | {"__name__": name, "reason": "subscription"}),
                ticks if "_msg_" in name else 0 * ticks,
            )
        if topic not in topics:
            topics.add(topic)
            for name, series in zip(
                _TOPIC, (published, 1000 * published, np.gradient(published, elapsed_s)), strict=True
            ):
                yield _key(labels | {"__name__": name}), series
    for number in range(_BROKERS):
        for name in ("pulsar_broker_rate_out", "pulsar_broker_throughput_out"):
            labels = {
                "cluster": CLUSTER,
                "instance": f"broker-{number}.pulsar.internal:8080",
                "__name__": name,
            }
            yield _key(labels), np.full(len(at_ms), 1e4)


def _limited(elapsed_s: np.ndarray, hours_a_day: int) -> tuple[np.ndarray, np.ndarray]:
    """What was published and dispatched so far under a limit, that is exceeded in the first hours of each day."""
    if hours_a_day == 24:
        return 150.0 * elapsed_s, _LIMIT_MSG * elapsed_s
    step_s = STEP_MS / 1000
    msg_rate = np.where(elapsed_s % 86_400 < hours_a_day * 3_600, 150.0, 60.0)
    published = np.concatenate([[0.0], np.cumsum(msg_rate[:-1] * step_s)])
    over = published - _LIMIT_MSG * elapsed_s
    return published, published - (over - np.minimum.accumulate(np.minimum(over, 0.0)))


def _ticks(backlog: np.ndarray, elapsed_s: np.ndarray) -> np.ndarray:
    """Throttled events so far: one in every second in which something waits."""
    waits = np.concatenate([[True], backlog[1:] > 0])
    return np.floor(np.cumsum(np.diff(elapsed_s, prepend=elapsed_s[0]) * waits))


def _key(labels: dict[str, str]) -> SeriesKey:
    return normalise(tuple(labels.items()), LabelMapping())


def _block(
    metric: str, shard: int, mine: list[tuple[str, np.ndarray]], at_ms: np.ndarray, hour: int
) -> pa.Table:
    start_ms = START_MS + hour * BLOCK_MS
    here = (at_ms >= start_ms) & (at_ms < start_ms + BLOCK_MS)
    mine = sorted(mine, key=lambda one: one[0])
    count, points = len(mine), int(here.sum())
    offsets = np.arange(count + 1, dtype=np.int32) * points
    columns = {
        "series_id": pa.array([series_id for series_id, _ in mine]),
        "metric_name": pa.array([metric] * count),
        "date": pa.array([date_of(start_ms)] * count),
        "cluster": pa.array([CLUSTER] * count),
        "shard": pa.array([shard] * count),
        "block_start_ms": pa.array([start_ms] * count, pa.int64()),
        "timestamps_ms": pa.ListArray.from_arrays(offsets, np.tile(at_ms[here], count)),
        "values": pa.ListArray.from_arrays(offsets, np.concatenate([values[here] for _, values in mine])),
        "stale_ms": pa.ListArray.from_arrays(offsets * 0, pa.array([], pa.int64())),
    }
    return TABLES["samples"].conform(pa.table(columns))


def _limits(fleet: Fleet) -> pa.Table:
    common = {
        "cluster": CLUSTER, "namespace": "acme/made", "partition": -1, "rate_bytes": None, "period_s": 1, "counts": "messages",
        "relative_to_publish": False, "exempt_caught_up": False, "read_batch_entries": 100, "read_size_bytes": 5_242_880,
        "broker": None, "observed_ms": START_MS, "date": date_of(START_MS),
    }  # fmt: skip
    rows = []
    for topic, subscription, ill in fleet.subscriptions():
        for level in ("broker", "topic", "subscription"):
            rate = _LIMIT_MSG if ill and level == "subscription" else None
            set_by = "none" if rate is None else "topic_policy"
            named = {"topic": f"persistent://acme/made/{topic}", "subscription": subscription}
            rows.append(common | named | {"level": level, "rate_msg": rate, "set_by": set_by})
    return pa.Table.from_pylist(rows, schema=TABLES["limits"].loose_schema)
