"""A window read from a lake. In: a lake, the name of a subscription and a range; out: an :class:`Observed`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts.words import LEVELS, UNITS
from throttlescope.ingest.errors import InputError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.selector import NAME_LABEL, metric_selector
from throttlescope.ingest.subscription_name import SubscriptionName
from throttlescope.ingest.times import block_start, format_time
from throttlescope.models.throttling.replay.admin import limit_rows, newest, version
from throttlescope.models.throttling.replay.align import added, merged_times, stood
from throttlescope.models.throttling.replay.observed import Observed, PartitionSamples, Reader, ReaderSamples
from throttlescope.transforms.promql.lake_source import LakeSource
from throttlescope.transforms.promql.source import Series

#: Scrapes further apart than so many usual distances have a gap between them.
GAP_SCRAPES = 2.5
LEAST_SCRAPES = 3
#: A mean batch size so near to a whole number is one.
WHOLE_SHARE = 0.02

_BACKLOG = "pulsar_subscription_back_log"
_DELAYED = "pulsar_subscription_delayed"
_UNACKED = "pulsar_subscription_unacked_messages"
_BLOCKED = "pulsar_subscription_blocked_on_unacked_messages"
_CONSUMERS = "pulsar_subscription_consumers_count"
_EXPIRED = "pulsar_subscription_total_msg_expired"
_REDELIVERED_PER_S = "pulsar_subscription_msg_rate_redeliver"
_EVENTS = {unit: f"pulsar_subscription_dispatch_throttled_{unit}_events" for unit in UNITS}
_PERMITS = "pulsar_consumer_available_permits"
_OUT = {"msg": "pulsar_out_messages_total", "bytes": "pulsar_out_bytes_total"}
_IN = {"msg": "pulsar_in_messages_total", "bytes": "pulsar_in_bytes_total"}
_ENTRIES_PER_S = "pulsar_storage_write_rate"
_PUBLISH_LIMITED = "pulsar_publish_rate_limit_times"
_BROKER_OUT = {"msg": "pulsar_broker_rate_out", "bytes": "pulsar_broker_throughput_out"}
_METRICS = (
    _BACKLOG, _DELAYED, _UNACKED, _BLOCKED, _CONSUMERS, _EXPIRED, _REDELIVERED_PER_S, *_EVENTS.values(), _PERMITS,
    *_OUT.values(), *_IN.values(), _ENTRIES_PER_S, _PUBLISH_LIMITED, *_BROKER_OUT.values(),
)  # fmt: skip


def newest_ms(lake: Lake, selector: str, cluster: str | None = None) -> int:
    """Time of the newest sample of a subscription's backlog.

    Raises
    ------
    InputError
        The selector is not understood, nothing is there, or several clusters have it.
    """
    return max(row["last_ms"] for row in _known(lake, SubscriptionName.of(selector), cluster))


def read_observed(
    lake: Lake, selector: str, start_ms: int, end_ms: int, cluster: str | None = None
) -> Observed:
    """Read a window from a lake.

    Parameters
    ----------
    lake
        Holds ``series``, ``samples`` and, where the admin API was asked, ``limits`` and ``topic_stats``.
    selector
        ``persistent://tenant/ns/topic[-partition-N]#subscription``. All partitions and all subscriptions of the topic are read:
        they share limits and consumers.
    start_ms, end_ms
        [start, end).
    cluster
        Needed where several clusters have the subscription.

    Raises
    ------
    InputError
        The selector is not understood, nothing is there, several clusters have it, or there are too few samples.
    """
    name = SubscriptionName.of(selector)
    known = _known(lake, name, cluster)
    (cluster,) = {row["cluster"] for row in known}
    series = _series(lake, name.topic, cluster, start_ms, end_ms)
    mine = [item for item in series if item.labels[NAME_LABEL] == _BACKLOG and _fits(name, item.labels)]
    times_ms = merged_times(mine) if mine else np.empty(0, np.int64)
    if len(times_ms) < LEAST_SCRAPES:
        first_ms, last_ms = min(row["first_ms"] for row in known), max(row["last_ms"] for row in known)
        raise InputError(
            f"Too few samples of {name} to replay",
            got=f"{len(times_ms)} scrapes from {format_time(start_ms)} to {format_time(end_ms)}",
            expected=f"at least {LEAST_SCRAPES}; the lake has it from {format_time(first_ms)} to {format_time(last_ms)}",
            fix="widen the window, or choose another time",
        )
    return _observed(lake, cluster, name, times_ms, series, end_ms)


def _fits(name: SubscriptionName, labels: Mapping[str, str]) -> bool:
    return labels["subscription"] == name.subscription and (
        name.partition is None or labels["partition"] == str(name.partition)
    )


def _known(lake: Lake, name: SubscriptionName, cluster: str | None) -> list[dict]:
    """Rows of ``series`` with the backlog of a subscription, all of one cluster."""
    if lake.version("series") is None:
        raise InputError(
            "There are no samples in this lake",
            got=lake.root,
            fix="bring some with throttlescope run --lake DIR",
        )
    rows = lake.read("series", where=pc.field("metric_name") == _BACKLOG).to_pylist()
    for row in rows:
        row["labels"] = dict(row["labels"])
    found = [row for row in rows if row["labels"].get("topic") == name.topic and _fits(name, row["labels"])]
    clusters = sorted({row["cluster"] for row in found})
    if cluster is not None:
        found = [row for row in found if row["cluster"] == cluster]
    if not found and clusters:
        raise InputError(f"{name} is in no such cluster", got=cluster, expected=" or ".join(clusters))
    if not found:
        names = {
            str(
                SubscriptionName(
                    row["labels"].get("topic", ""),
                    int(row["labels"]["partition"]) if name.partition is not None and row["labels"]["partition"] != "-1" else None,
                    row["labels"]["subscription"],
                )
            )
            for row in rows
        }  # fmt: skip
        near = difflib.get_close_matches(str(name), names, 1, cutoff=0.7)
        raise InputError(
            "No backlog of this subscription is in the lake",
            got=str(name),
            fix=f"did you mean {near[0]}?" if near else "see throttlescope verdicts for what there is",
        )
    if len(clusters) > 1 and cluster is None:
        raise InputError(
            f"Several clusters have {name}", got=", ".join(clusters), fix="name one with --cluster"
        )
    return found


def _series(lake: Lake, topic: str, cluster: str, start_ms: int, end_ms: int) -> list[Series]:
    """Series of the topic and of all brokers, with what they have in a range."""
    where = (pc.field("cluster") == cluster) & pc.field("metric_name").isin(_METRICS)
    catalogue = lake.read("series", where=where)
    brokers = set(_BROKER_OUT.values())
    mine = [
        dict(labels).get("topic") == topic or metric in brokers
        for labels, metric in zip(
            catalogue["labels"].to_pylist(), catalogue["metric_name"].to_pylist(), strict=True
        )
    ]
    catalogue = catalogue.filter(pa.array(mine, pa.bool_()))
    shards = set(catalogue["shard"].to_pylist())
    files = [
        file
        for file in lake.files(
            "samples",
            partition={"metric_name": _METRICS},
            between={"block_start_ms": (block_start(start_ms), end_ms)},
        )
        if file.minimum["shard"] in shards
    ]
    source = LakeSource(files, catalogue)
    found = [item for metric in _METRICS for item in source.select(metric_selector(metric), start_ms, end_ms)]
    return [item for item in found if len(item.timestamps_ms)]


def _observed(
    lake: Lake, cluster: str, name: SubscriptionName, times_ms: np.ndarray, series: list[Series], end_ms: int
) -> Observed:
    by_metric: dict[str, list[Series]] = {}
    for item in series:
        # The same metrics come per consumer too; those are in the subscription's own series already.
        if "consumer_name" not in item.labels and "consumer_id" not in item.labels:
            by_metric.setdefault(item.labels[NAME_LABEL], []).append(item)
    restarts: set[int] = set()
    backlogs = by_metric[_BACKLOG]
    keys = sorted({(item.labels["subscription"], int(item.labels["partition"])) for item in backlogs})
    readers = {
        key: _reader(by_metric, key, times_ms, restarts) for key in keys if not key[0].startswith("__")
    }
    partitions = {
        number: PartitionSamples(
            *(added(_of_partition(by_metric, _IN[unit], number), times_ms, restarts) for unit in UNITS)
        )
        for number in sorted({partition for _, partition in readers})
    }

    def mine(metric: str) -> list[Series]:
        return [
            item for item in by_metric.get(metric, ()) if item.labels["subscription"] == name.subscription
        ]

    distance = np.diff(times_ms)
    wide = np.flatnonzero(distance > GAP_SCRAPES * float(np.median(distance)))
    permits = [
        item.values.max()
        for item in series
        if item.labels[NAME_LABEL] == _PERMITS and item.labels["subscription"] == name.subscription
    ]
    limited = by_metric.get(_PUBLISH_LIMITED)
    stats = newest(lake, "topic_stats", cluster, name.topic, end_ms)
    return Observed(
        cluster=cluster,
        namespace=backlogs[0].labels["namespace"],
        topic=name.topic,
        subscription=name.subscription,
        partition=name.partition,
        times_ms=times_ms,
        partitions=partitions,
        readers=readers,
        types={row["subscription"]: row["subscription_type"] for row in stats if row["subscription_type"]},
        limit_rows=limit_rows(lake, cluster, name.topic, end_ms),
        messages_per_entry=_messages_per_entry(by_metric, partitions, stats, name.subscription, times_ms),
        receiver_queue=int(max(permits)) if permits else None,
        broker_version=version(lake, cluster),
        gaps=[(int(times_ms[at]), int(times_ms[at + 1])) for at in wide],
        restarts_ms=sorted(restarts),
        publish_limited=None if limited is None else bool(added(limited, times_ms, set()).any()),
        others_per_s=_others(by_metric, readers, backlogs, times_ms),
        redelivered_msg_per_s=sum(float(item.values.mean()) for item in mine(_REDELIVERED_PER_S)),
    )


def _reader(
    by_metric: Mapping[str, list[Series]], key: Reader, times_ms: np.ndarray, restarts: set[int]
) -> ReaderSamples:
    subscription, partition = key

    def mine(metric: str) -> list[Series]:
        found = _of_partition(by_metric, metric, partition)
        return [item for item in found if item.labels.get("subscription") == subscription]

    def gauge(metric: str) -> np.ndarray:
        return stood(mine(metric), times_ms)

    def counter(metric: str) -> np.ndarray:
        return added(mine(metric), times_ms, restarts)

    def events(level: str, unit: str) -> np.ndarray:
        found = [item for item in mine(_EVENTS[unit]) if item.labels.get("reason") == level]
        return added(found, times_ms, restarts)

    counted = any(mine(metric) for metric in _EVENTS.values())
    return ReaderSamples(
        backlog_entries=gauge(_BACKLOG),
        delayed_entries=gauge(_DELAYED),
        unacked_msg=gauge(_UNACKED),
        consumers=gauge(_CONSUMERS),
        blocked=gauge(_BLOCKED) > 0,
        out_msg=counter(_OUT["msg"]),
        out_bytes=counter(_OUT["bytes"]),
        expired_entries=counter(_EXPIRED),
        events_of={f"{level}.{unit}": events(level, unit) for level in LEVELS for unit in UNITS}
        if counted
        else None,
    )


def _of_partition(by_metric: Mapping[str, list[Series]], metric: str, partition: int) -> list[Series]:
    return [item for item in by_metric.get(metric, ()) if item.labels.get("partition") == str(partition)]


def _others(
    by_metric: Mapping[str, list[Series]],
    readers: Mapping[Reader, ReaderSamples],
    backlogs: list[Series],
    times_ms: np.ndarray,
) -> dict[str, float]:
    """What the brokers of the topic dispatched, less the topic's own."""
    instances = {item.labels.get("instance") for item in backlogs}
    seconds = (times_ms[-1] - times_ms[0]) / 1000
    found = {}
    for unit, metric in _BROKER_OUT.items():
        rates = [
            float(item.values.mean())
            for item in by_metric.get(metric, ())
            if item.labels.get("instance") in instances
        ]
        own = sum(
            float((item.out_msg if unit == "msg" else item.out_bytes).sum()) for item in readers.values()
        )
        # A mean over brokers: the limit is one per broker process.
        found[unit] = max(0.0, (sum(rates) - own / seconds) / len(rates)) if rates else 0.0
    return found


def _messages_per_entry(
    by_metric: Mapping[str, list[Series]],
    partitions: Mapping[int, PartitionSamples],
    stats: list[dict],
    subscription: str,
    times_ms: np.ndarray,
) -> float:
    """What was published over what was written; else what the admin API says of the subscription's consumers."""
    seconds = np.diff(times_ms) / 1000
    ratios = []
    for number, item in partitions.items():
        # The gauge is a mean of the last minute and 0 in a topic's first one.
        gauge = np.concatenate(
            [[0.0], *(one.values for one in _of_partition(by_metric, _ENTRIES_PER_S, number))]
        )
        messages = item.in_msg[1:] / seconds
        if (gauge > 0).sum() >= 4 and (messages > 0).any():
            ratios.append(float(np.median(messages[messages > 0]) / np.median(gauge[gauge > 0])))
    if ratios:
        return _whole(max(1.0, float(np.median(ratios))))
    known = [row["messages_per_entry"] for row in stats if row["subscription"] == subscription]
    return _whole(max(1.0, next((float(value) for value in reversed(known) if value), 1.0)))


def _whole(messages: float) -> float:
    """A mean that is next to a whole number is that number: two rates of different minutes are never quite alike."""
    return float(round(messages)) if abs(messages - round(messages)) <= WHOLE_SHARE * messages else messages
