"""Samples of the subscriptions that have an episode, as they would have been scraped. In: a fleet's lake. Out: the same lake with them.

``signals`` of the fleet are there already; samples follow from them: counters as the sums of what each minute added, gauges as they
stood. All subscriptions are in the catalogue, and have their limits; samples have only those of an episode's topic, which are the ones
that a replay reads. (A real lake has the others' in the same files: 50 times as many samples of a file are read past.)
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.fleet import signals as made
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.labels import LabelMapping, SeriesKey, normalise
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, date_of
from throttlescope.ingest.lake import Lake, write_data_file

VERSION = 1
STEP_MS = 15_000
_TIMES_MS = made.START_MS + np.arange(0, made.HOURS * BLOCK_MS, STEP_MS)
_BROKERS = 8

#: Metrics of a subscription with the column of ``signals`` that each follows: counters add up, gauges stand.
_GAUGES = {
    "pulsar_subscription_back_log": "backlog_entries",
    "pulsar_subscription_delayed": "delayed_entries",
    "pulsar_subscription_unacked_messages": "unacked_msg",
    "pulsar_subscription_blocked_on_unacked_messages": "blocked_on_unacked",
    "pulsar_subscription_consumers_count": "consumers",
    "pulsar_subscription_msg_rate_redeliver": "redeliver_msg_rate",
}
_COUNTERS = {
    "pulsar_out_messages_total": "out_msg_delta",
    "pulsar_out_bytes_total": "out_bytes_delta",
    "pulsar_subscription_total_msg_expired": "expired_msg_delta",
}
_PERMITS = "pulsar_consumer_available_permits"
_TOPIC_COUNTERS = {
    "pulsar_in_messages_total": "in_msg_delta",
    "pulsar_in_bytes_total": "in_bytes_delta",
}
_WRITTEN = "pulsar_storage_write_rate"


def add_samples(lake: Lake, subscriptions: int) -> None:
    """Put catalogue, samples and limits into the lake of a fleet, unless they are there."""
    marker = Path(lake.root).parent / f"samples-v{VERSION}"
    if marker.exists():
        return
    fleet = made.Fleet(subscriptions)
    texts = {name: column.to_pylist() for name, column in fleet._texts().items()}
    keys = [
        {name: texts[name][at] for name in (*SUBSCRIPTION_KEY_NAMES, "broker")} for at in range(subscriptions)
    ]
    ill = {keys[at]["topic"] for at in np.flatnonzero(fleet.kind >= made.THROTTLED)}
    print(f"{subscriptions} subscriptions: samples of {len(ill)} topics", file=sys.stderr, flush=True)
    lake.upsert("limits", _limits(fleet, keys), run_id="benchmark")
    catalogue = [one for key in keys for one in _series_of(key)] + _of_brokers()
    lake.upsert("series", _catalogue(catalogue), run_id="benchmark")
    columns = [
        *SUBSCRIPTION_KEY_NAMES, "minute_ms", *_GAUGES.values(), *_COUNTERS.values(), *_TOPIC_COUNTERS.values(),
        "permits_min", "write_entry_rate",
        *(f"throttled_{unit}_events_{level}_delta" for unit in UNITS for level in LEVELS),
    ]  # fmt: skip
    rows = lake.read("signals", columns=columns, where=pc.field("topic").isin(sorted(ill)))
    rows = rows.sort_by([(name, "ascending") for name in (*SUBSCRIPTION_KEY_NAMES, "minute_ms")])
    files = _write(lake, _blocks(rows, keys, ill))
    lake.commit("samples", files, run_id="benchmark")
    marker.touch()


def _series_of(key: dict) -> list[SeriesKey]:
    """The series of one subscription partition, and of its topic partition."""
    labels = {name: str(key[name]) for name in ("cluster", "namespace", "topic", "partition")}
    labels |= {"instance": key["broker"]}
    own = labels | {"subscription": key["subscription"]}
    found = [own | {"__name__": name} for name in (*_GAUGES, *_COUNTERS)]
    found += [
        own | {"__name__": f"pulsar_subscription_dispatch_throttled_{unit}_events", "reason": level}
        for unit in UNITS
        for level in LEVELS
    ]
    found.append(own | {"__name__": _PERMITS, "consumer_name": "c-0", "consumer_id": "0"})
    if key["subscription"] == "service-0":
        found += [labels | {"__name__": name} for name in (*_TOPIC_COUNTERS, _WRITTEN)]
    return [normalise(tuple(one.items()), LabelMapping()) for one in found]


def _of_brokers() -> list[SeriesKey]:
    return [
        normalise(
            (("__name__", name), ("cluster", made.CLUSTER), ("instance", f"broker-{n}.pulsar.internal:8080")),
            LabelMapping(),
        )
        for name in ("pulsar_broker_rate_out", "pulsar_broker_throughput_out")
        for n in range(_BROKERS)
    ]


def _blocks(rows: pa.Table, keys: list[dict], ill: set[str]):
    """Every series of the topics with an episode, and its values at the scrapes."""
    minutes = made.HOURS * 60
    place = {
        tuple(rows.column(name)[at].as_py() for name in SUBSCRIPTION_KEY_NAMES): at
        for at in range(0, rows.num_rows, minutes)
    }
    ends_ms = made.START_MS + np.arange(minutes + 1) * MINUTE_MS
    by_topic: dict[str, list[dict]] = {}
    for key in keys:
        if key["topic"] in ill:
            by_topic.setdefault(key["topic"], []).append(key)

    def column(key: dict, name: str) -> np.ndarray:
        at = place[tuple(key[one] for one in SUBSCRIPTION_KEY_NAMES)]
        values = rows.column(name).slice(at, minutes).cast(pa.float64()).to_numpy()
        return np.nan_to_num(values)

    def summed(values: np.ndarray) -> np.ndarray:
        return np.interp(_TIMES_MS, ends_ms, np.r_[0.0, np.cumsum(values)])

    def stood(values: np.ndarray) -> np.ndarray:
        return np.interp(_TIMES_MS, ends_ms[1:], values)

    def held(values: np.ndarray) -> np.ndarray:
        return np.repeat(values, MINUTE_MS // STEP_MS)

    for mine in by_topic.values():
        # What is published to a topic is one number: that of the subscription that falls behind.
        worst = max(mine, key=lambda key: column(key, "backlog_entries").max())
        for key in mine:
            for series in _series_of(key):
                name, labels = series.metric_name, dict(series.labels)
                if name in _TOPIC_COUNTERS:
                    values = summed(column(worst, _TOPIC_COUNTERS[name]))
                elif name == _WRITTEN:
                    values = held(column(worst, "write_entry_rate"))
                elif name in _COUNTERS:
                    values = summed(column(key, _COUNTERS[name]))
                elif name == "pulsar_subscription_back_log":
                    values = np.rint(stood(column(key, "backlog_entries")))
                elif name in _GAUGES:
                    values = held(column(key, _GAUGES[name]))
                elif name == _PERMITS:
                    values = held(column(key, "permits_min"))
                else:
                    unit = "msg" if "_msg_" in name else "bytes"
                    values = summed(column(key, f"throttled_{unit}_events_{labels['reason']}_delta"))
                yield series, values
    for series in _of_brokers():
        yield series, np.full(len(_TIMES_MS), 1e4)


def _write(lake: Lake, blocks) -> list:
    """Files as ingest writes them: one metric, hour and shard."""
    grouped: dict[tuple[str, int], list[tuple[str, np.ndarray]]] = {}
    for series, values in blocks:
        grouped.setdefault((series.metric_name, series.shard), []).append((series.series_id, values))
    files, scrapes = [], BLOCK_MS // STEP_MS
    for (metric, shard), mine in sorted(grouped.items()):
        mine.sort(key=lambda one: one[0])
        for hour in range(made.HOURS):
            block_ms = made.START_MS + hour * BLOCK_MS
            here = slice(hour * scrapes, (hour + 1) * scrapes)
            rows = [
                {
                    "series_id": series_id, "metric_name": metric, "date": date_of(block_ms), "cluster": made.CLUSTER,
                    "shard": shard, "block_start_ms": block_ms, "timestamps_ms": _TIMES_MS[here],
                    "values": values[here], "stale_ms": [],
                }
                for series_id, values in mine
            ]  # fmt: skip
            table = pa.Table.from_pylist(rows, schema=TABLES["samples"].loose_schema)
            files.append(write_data_file(lake.root, "samples", table))
    return files


def _catalogue(series: list[SeriesKey]) -> pa.Table:
    rows = [
        {
            "series_id": one.series_id, "metric_name": one.metric_name, "cluster": one.cluster,
            "labels": [pair for pair in one.labels if pair[0] != "__name__"], "shard": one.shard,
            "first_ms": int(_TIMES_MS[0]), "last_ms": int(_TIMES_MS[-1]),
        }
        for one in series
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=TABLES["series"].loose_schema)


def _limits(fleet: made.Fleet, keys: list[dict]) -> pa.Table:
    """The subscription's limit where there is one, and the word that topic and broker have none."""
    common = {
        "rate_bytes": None, "period_s": 1, "counts": "messages", "relative_to_publish": False, "exempt_caught_up": False,
        "read_batch_entries": 100, "read_size_bytes": 5_242_880, "broker": None,
        "observed_ms": made.START_MS, "date": date_of(made.START_MS),
    }  # fmt: skip
    rows = []
    for key, limit in zip(keys, fleet.limit.tolist(), strict=True):
        mine = {name: key[name] for name in SUBSCRIPTION_KEY_NAMES}
        for level in LEVELS:
            rate = int(limit) if level == "subscription" and limit == limit else None
            set_by = "none" if rate is None else "topic_policy"
            rows.append(common | mine | {"level": level, "rate_msg": rate, "set_by": set_by})
    return pa.Table.from_pylist(rows, schema=TABLES["limits"].loose_schema)
