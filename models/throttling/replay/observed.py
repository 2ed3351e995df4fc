"""What was seen of a topic and its subscriptions in a window. In: a lake, a selector and a range; out: an :class:`Observed`.

Everything is brought to the scrapes of the subscription that is asked for: counters as what each scrape added, gauges as they
stood. Nothing is smoothed or filled: where a scrape is missing for long, or a counter restarted, the window says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow.compute as pc

from throttlescope.ingest.contracts.words import LEVELS, UNITS
from throttlescope.ingest.errors import InputError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.selector import NAME_LABEL, metric_selector
from throttlescope.ingest.times import block_start
from throttlescope.transforms.promql.source import LakeSource, Series

SELECTOR = re.compile(
    r"(?P<topic>[a-z-]+://[^/]+/[^/]+/.+?)(?:-partition-(?P<partition>\d+))?#(?P<subscription>.+)", re.DOTALL
)

#: Scrapes further apart than so many usual distances have a gap between them.
GAP_SCRAPES = 2.5

_BACKLOG = "pulsar_subscription_back_log"
_UNACKED = "pulsar_subscription_unacked_messages"
_BLOCKED = "pulsar_subscription_blocked_on_unacked_messages"
_CONSUMERS = "pulsar_subscription_consumers_count"
_PERMITS = "pulsar_consumer_available_permits"
_EVENTS = {unit: f"pulsar_subscription_dispatch_throttled_{unit}_events" for unit in UNITS}
_OUT = {"msg": "pulsar_out_messages_total", "bytes": "pulsar_out_bytes_total"}
_IN = {"msg": "pulsar_in_messages_total", "bytes": "pulsar_in_bytes_total"}
_ENTRIES_PER_S = "pulsar_storage_write_rate"
_PUBLISH_LIMITED = "pulsar_publish_rate_limit_times"
_DELAYED = "pulsar_subscription_delayed"
_REDELIVERED_PER_S = "pulsar_subscription_msg_rate_redeliver"
_BROKER_OUT = {"msg": "pulsar_broker_rate_out", "bytes": "pulsar_broker_throughput_out"}
_METRICS = (
    _BACKLOG, _UNACKED, _BLOCKED, _CONSUMERS, _PERMITS, *_EVENTS.values(), *_OUT.values(), *_IN.values(), _ENTRIES_PER_S,
    _PUBLISH_LIMITED, _DELAYED, _REDELIVERED_PER_S,
)  # fmt: skip

Reader = tuple[str, int]
"""A subscription and a partition; -1 where the topic is not partitioned."""


@dataclass(frozen=True, eq=False)
class ReaderSamples:
    """One subscription of one partition at every scrape; counters as what came since the scrape before (0 at the first)."""

    backlog_entries: np.ndarray
    unacked_msg: np.ndarray
    consumers: np.ndarray
    out_msg: np.ndarray
    out_bytes: np.ndarray
    #: Sum of the six counters' increases, and one by one as "level.unit".
    events: np.ndarray
    events_of: Mapping[str, np.ndarray]
    blocked: np.ndarray


@dataclass(frozen=True, eq=False)
class PartitionSamples:
    """What was published to one partition since the scrape before."""

    in_msg: np.ndarray
    in_bytes: np.ndarray


@dataclass(frozen=True, eq=False)
class Observed:
    """A window of one topic.

    Attributes
    ----------
    times_ms : ndarray of int64
        Scrapes of the subscription asked for.
    limits : mapping
        The last known row of ``limits`` by (level, partition, subscription).
    messages_per_entry : float
        1 where nothing is batched; the producers' mean otherwise.
    receiver_queue : int or None
        The most permits that a consumer was ever seen with.
    gaps : list of (int, int)
        Ranges without a scrape.
    restarts_ms : list of int
        When counters restarted.
    publish_limited : bool or None
        Whether the broker held producers back; None where it was not recorded.
    others_per_s : mapping
        What the broker dispatched of other topics, by unit per second: they share a broker limit.
    delayed_entries : float
        The most entries of the subscription that waited for their delivery time.
    redelivered_msg_per_s : float
        Mean of the subscription's redeliveries.
    """

    cluster: str
    namespace: str
    topic: str
    subscription: str
    times_ms: np.ndarray
    partitions: Mapping[int, PartitionSamples]
    readers: Mapping[Reader, ReaderSamples]
    types: Mapping[str, str]
    limits: Mapping[tuple[str, int, str], Mapping]
    messages_per_entry: float
    receiver_queue: int | None
    broker_version: str | None
    gaps: list[tuple[int, int]] = field(default_factory=list)
    restarts_ms: list[int] = field(default_factory=list)
    publish_limited: bool | None = None
    others_per_s: Mapping[str, float] = field(default_factory=dict)
    delayed_entries: float = 0.0
    redelivered_msg_per_s: float = 0.0

    @property
    def seconds(self) -> np.ndarray:
        """Length of every scrape's span; 0 for the first."""
        return np.diff(self.times_ms, prepend=self.times_ms[:1]) / 1000

    def of(self, subscription: str) -> dict[int, ReaderSamples]:
        """Samples of a subscription by partition."""
        return {partition: item for (name, partition), item in self.readers.items() if name == subscription}

    def since(self, start_ms: int) -> slice:
        """Scrapes from a time on, the one before it included (it begins the first span)."""
        return slice(max(0, int(np.searchsorted(self.times_ms, start_ms)) - 1), None)


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
        The selector is not understood, nothing is there, or several clusters have it.
    """
    found = SELECTOR.fullmatch(selector)
    if found is None:
        raise InputError(
            "Not a subscription",
            got=repr(selector),
            expected="persistent://tenant/namespace/topic#subscription",
        )
    topic, subscription = found["topic"], found["subscription"]
    series = _series(lake, topic, start_ms, end_ms, cluster)
    mine = [
        item
        for item in series
        if item.labels[NAME_LABEL] == _BACKLOG and item.labels["subscription"] == subscription
    ]
    if found["partition"] is not None:
        mine = [item for item in mine if item.labels["partition"] == found["partition"]]
    clusters = sorted({item.labels["cluster"] for item in mine})
    if not mine:
        known = sorted(
            {item.labels["subscription"] for item in series if item.labels[NAME_LABEL] == _BACKLOG}
        )
        raise InputError(
            f"No backlog of {selector} in the lake in this window",
            got=f"subscriptions of the topic: {', '.join(known) or 'none'}",
            fix="see `throttlescope verdicts` for names and times",
        )
    if len(clusters) > 1:
        raise InputError(
            f"Several clusters have {selector}", got=", ".join(clusters), fix="name one with --cluster"
        )
    series = [item for item in series if item.labels["cluster"] == clusters[0]]
    times_ms = _merged_times(item for item in mine if item.labels["cluster"] == clusters[0])
    if len(times_ms) < 3:
        raise InputError(
            f"Too few samples of {selector} to replay", got=f"{len(times_ms)} scrapes", expected="3 at least",
            fix="widen the window",
        )  # fmt: skip
    return _observed(lake, clusters[0], topic, subscription, times_ms, series, end_ms)


def _series(lake: Lake, topic: str, start_ms: int, end_ms: int, cluster: str | None) -> list[Series]:
    metrics = (*_METRICS, *_BROKER_OUT.values())
    where = pc.field("metric_name").isin(metrics)
    if cluster is not None:
        where &= pc.field("cluster") == cluster
    catalogue = lake.read("series", where=where)
    topics = [dict(labels).get("topic") for labels in catalogue["labels"].to_pylist()]
    brokers = pc.field("metric_name").isin(list(_BROKER_OUT.values()))
    catalogue = catalogue.append_column("_mine", [[name == topic for name in topics]]).filter(
        pc.field("_mine") | brokers
    )
    shards = set(catalogue["shard"].to_pylist())
    files = [
        file
        for file in lake.files(
            "samples",
            partition={"metric_name": metrics},
            between={"block_start_ms": (block_start(start_ms), end_ms)},
        )
        if file.minimum["shard"] in shards
    ]
    source = LakeSource(files, catalogue)
    found = [item for metric in metrics for item in source.select(metric_selector(metric), start_ms, end_ms)]
    return [item for item in found if len(item.timestamps_ms)]


def _observed(
    lake: Lake,
    cluster: str,
    topic: str,
    subscription: str,
    times_ms: np.ndarray,
    series: list[Series],
    end_ms: int,
) -> Observed:
    by_name: dict[str, list[Series]] = {}
    for item in series:
        # The same names come per consumer too; those are in the subscription's own series already.
        if "consumer_name" not in item.labels and "consumer_id" not in item.labels:
            by_name.setdefault(item.labels[NAME_LABEL], []).append(item)
    restarts: set[int] = set()
    backlogs = by_name[_BACKLOG]
    keys = sorted({(item.labels["subscription"], int(item.labels["partition"])) for item in backlogs})
    readers = {key: _reader(by_name, key, times_ms, restarts) for key in keys if not key[0].startswith("__")}
    partitions = {
        number: PartitionSamples(
            *(_added(_of_partition(by_name, _IN[unit], number), times_ms, restarts) for unit in UNITS)
        )
        for number in sorted({partition for _, partition in readers})
    }
    distance = np.diff(times_ms)
    usual = float(np.median(distance))
    gaps = [
        (int(times_ms[at]), int(times_ms[at + 1])) for at in np.flatnonzero(distance > GAP_SCRAPES * usual)
    ]
    permits = [
        item
        for item in series
        if item.labels[NAME_LABEL] == _PERMITS and item.labels["subscription"] == subscription
    ]
    limited = by_name.get(_PUBLISH_LIMITED)
    mine = {name: [item for item in by_name.get(name, ()) if item.labels["subscription"] == subscription]
            for name in (_DELAYED, _REDELIVERED_PER_S)}  # fmt: skip
    stats = _stats(lake, cluster, topic, end_ms)
    return Observed(
        cluster=cluster,
        namespace=backlogs[0].labels["namespace"],
        topic=topic,
        subscription=subscription,
        times_ms=times_ms,
        partitions=partitions,
        readers=readers,
        types={row["subscription"]: row["subscription_type"] for row in stats if row["subscription_type"]},
        limits=_limits(lake, cluster, topic, end_ms),
        messages_per_entry=_messages_per_entry(by_name, partitions, stats, subscription, times_ms),
        receiver_queue=int(max(item.values.max() for item in permits)) if permits else None,
        broker_version=_version(lake, cluster, end_ms),
        gaps=gaps,
        restarts_ms=sorted(restarts),
        publish_limited=None
        if limited is None
        else any(_added([item], times_ms, set()).any() for item in limited),
        others_per_s=_others(by_name, readers, backlogs, times_ms),
        delayed_entries=max((float(item.values.max()) for item in mine[_DELAYED]), default=0.0),
        redelivered_msg_per_s=sum(float(item.values.mean()) for item in mine[_REDELIVERED_PER_S]),
    )


def _others(
    by_name: Mapping[str, list[Series]],
    readers: Mapping[Reader, ReaderSamples],
    backlogs: list[Series],
    times_ms: np.ndarray,
) -> dict[str, float]:
    """What the brokers of the topic dispatched, less the topic's own."""
    instances = {item.labels.get("instance") for item in backlogs}
    seconds = (times_ms[-1] - times_ms[0]) / 1000
    found = {}
    for unit, name in _BROKER_OUT.items():
        rates = [
            float(item.values.mean())
            for item in by_name.get(name, ())
            if item.labels.get("instance") in instances
        ]
        own = (
            sum(float((item.out_msg if unit == "msg" else item.out_bytes).sum()) for item in readers.values())
            / seconds
        )
        # A mean over brokers: the limit is one per broker process.
        found[unit] = max(0.0, (sum(rates) - own) / len(rates)) if rates else 0.0
    return found


def _reader(
    by_name: Mapping[str, list[Series]], key: Reader, times_ms: np.ndarray, restarts: set[int]
) -> ReaderSamples:
    subscription, partition = key

    def mine(name: str) -> list[Series]:
        return [
            item
            for item in _of_partition(by_name, name, partition)
            if item.labels.get("subscription") == subscription
        ]

    events_of = {
        f"{level}.{unit}": _added(
            [item for item in mine(_EVENTS[unit]) if item.labels.get("reason") == level], times_ms, restarts
        )
        for level in LEVELS
        for unit in UNITS
    }
    return ReaderSamples(
        backlog_entries=_stood(mine(_BACKLOG), times_ms),
        unacked_msg=_stood(mine(_UNACKED), times_ms),
        consumers=_stood(mine(_CONSUMERS), times_ms),
        out_msg=_added(mine(_OUT["msg"]), times_ms, restarts),
        out_bytes=_added(mine(_OUT["bytes"]), times_ms, restarts),
        events=np.sum(list(events_of.values()), axis=0),
        events_of=events_of,
        blocked=_stood(mine(_BLOCKED), times_ms) > 0,
    )


def _of_partition(by_name: Mapping[str, list[Series]], name: str, partition: int) -> list[Series]:
    return [item for item in by_name.get(name, ()) if item.labels.get("partition") == str(partition)]


# -- bringing series to the scrapes ---------------------------------------------------------------


def _merged_times(series: Iterable[Series]) -> np.ndarray:
    """Scrapes of one partition, the one with the most: brokers are scraped at different moments."""
    by_partition: dict[str, list[np.ndarray]] = {}
    for item in series:
        by_partition.setdefault(item.labels["partition"], []).append(item.timestamps_ms)
    return max((np.unique(np.concatenate(times)) for times in by_partition.values()), key=len)


def _stood(series: list[Series], times_ms: np.ndarray) -> np.ndarray:
    """A gauge at the scrapes: the newest sample of any instance; 0 before the first."""
    if not series:
        return np.zeros(len(times_ms))
    times = np.concatenate([item.timestamps_ms for item in series])
    values = np.concatenate([item.values for item in series])
    order = np.argsort(times, kind="stable")
    at = np.searchsorted(times[order], times_ms, side="right") - 1
    return np.where(at >= 0, values[order][np.maximum(at, 0)], 0.0)


def _added(series: list[Series], times_ms: np.ndarray, restarts: set[int]) -> np.ndarray:
    """What counters added since the scrape before; a restart counts from 0."""
    total = np.zeros(len(times_ms))
    for item in series:
        if len(item.values) < 2:
            continue
        steps = np.diff(item.values)
        again = steps < 0
        restarts.update(item.timestamps_ms[1:][again].tolist())
        grown = np.r_[0.0, np.cumsum(np.where(again, item.values[1:], steps))]
        total += np.interp(times_ms, item.timestamps_ms, grown)
    return np.diff(total, prepend=total[:1])


# -- what the admin API said ------------------------------------------------------------------------


def _newest(lake: Lake, table: str, cluster: str, topic: str, end_ms: int) -> list[dict]:
    """Rows of a topic as they were at a time; where all are younger, the first ones after it."""
    rows = lake.read(table, where=(pc.field("cluster") == cluster) & (pc.field("topic") == topic)).to_pylist()
    rows.sort(key=lambda row: row["observed_ms"])
    before = [row for row in rows if row["observed_ms"] < end_ms]
    return before or list(reversed(rows))


def _limits(lake: Lake, cluster: str, topic: str, end_ms: int) -> dict[tuple[str, int, str], Mapping]:
    return {
        (row["level"], row["partition"], row["subscription"]): row
        for row in _newest(lake, "limits", cluster, topic, end_ms)
    }


def _stats(lake: Lake, cluster: str, topic: str, end_ms: int) -> list[dict]:
    return _newest(lake, "topic_stats", cluster, topic, end_ms)


def _version(lake: Lake, cluster: str, end_ms: int) -> str | None:
    where = (pc.field("cluster") == cluster) & (pc.field("scope") == "broker_version")
    rows = [row for row in lake.read("policies", where=where).to_pylist() if row["body"]]
    if not rows:
        return None
    found = re.search(r"\d+\.\d+\.\d+", max(rows, key=lambda row: row["observed_ms"])["body"])
    return found[0] if found else None


def _messages_per_entry(
    by_name: Mapping[str, list[Series]],
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
            [[0.0], *(one.values for one in _of_partition(by_name, _ENTRIES_PER_S, number))]
        )
        messages = item.in_msg[1:] / seconds
        if (gauge > 0).sum() >= 4 and (messages > 0).any():
            ratios.append(float(np.median(messages[messages > 0]) / np.median(gauge[gauge > 0])))
    if ratios:
        return max(1.0, float(np.median(ratios)))
    known = [row["messages_per_entry"] for row in stats if row["subscription"] == subscription]
    return max(1.0, next((float(value) for value in reversed(known) if value), 1.0))
