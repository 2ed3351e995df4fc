"""A window out of samples. In: series of a topic and its brokers, what the admin API reported; out: an :class:`Observed`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.selector import NAME_LABEL
from throttlescope.ingest.core.subscription_name import SubscriptionName, remote_cluster
from throttlescope.ingest.core.system_names import is_system_subscription
from throttlescope.ingest.core.times import format_time
from throttlescope.models.throttling.replay.admin import TopicFacts, newest
from throttlescope.models.throttling.replay.align import added, merged_times, stood
from throttlescope.models.throttling.replay.observed import Observed, PartitionSamples, Reader, ReaderSamples
from throttlescope.models.throttling.replay.replicator import WINDOW_ENTRIES, as_subscription
from throttlescope.models.throttling.replay.series import (
    ACKED_AT,
    BACKLOG,
    BLOCKED,
    BROKER_OUT,
    CONSUMERS,
    DELAYED,
    DISPATCHED_AT,
    ENTRIES_PER_S,
    EVENTS,
    EXPIRED,
    IN,
    OUT,
    PERMITS,
    PUBLISH_LIMITED,
    REDELIVERED_PER_S,
    UNACKED,
)
from throttlescope.transforms.promql.source import Series
from throttlescope.transforms.read_once import counted_once

#: Scrapes further apart than so many usual distances have a gap between them.
GAP_SCRAPES = 2.5
LEAST_SCRAPES = 3
#: A mean batch size so near to a whole number is one.
WHOLE_SHARE = 0.02


def observed_of(
    cluster: str,
    name: SubscriptionName,
    series: Iterable[Series],
    facts: TopicFacts,
    start_ms: int,
    end_ms: int,
    *,
    there: tuple[int, int] | None = None,
) -> Observed:
    """A window of samples that were read already.

    Parameters
    ----------
    series
        Those of the topic and of the cluster's brokers, of [start_ms, end_ms) or longer.
    there : (int, int), optional
        From when to when the lake has the subscription, for the message of a refusal.

    Raises
    ------
    InputError
        There are too few samples.
    """
    within = [_within(item, start_ms, end_ms) for item in series]
    within = counted_once([item for item in within if len(item.timestamps_ms)], start_ms, end_ms)
    if remote_cluster(name.subscription) is not None:
        within, facts = as_subscription(within, name.subscription), facts.of_replicator(name.subscription)
    mine = [item for item in within if item.labels[NAME_LABEL] == BACKLOG and is_of(name, item.labels)]
    times_ms = merged_times(mine) if mine else np.empty(0, np.int64)
    if len(times_ms) < LEAST_SCRAPES:
        more = (
            f"; the lake has it from {format_time(there[0])} to {format_time(there[1])}"
            if there is not None
            else ""
        )
        raise InputError(
            f"Too few samples of {name} to replay",
            got=f"{len(times_ms)} scrapes from {format_time(start_ms)} to {format_time(end_ms)}",
            expected=f"at least {LEAST_SCRAPES}{more}",
            fix="widen the window, or choose another time",
        )
    return _observed(cluster, name, times_ms, within, facts, end_ms)


def is_of(name: SubscriptionName, labels: Mapping[str, str]) -> bool:
    """Whether a series is of a subscription, or of its partition that is named."""
    return labels["subscription"] == name.subscription and (
        name.partition is None or labels["partition"] == str(name.partition)
    )


def _within(item: Series, start_ms: int, end_ms: int) -> Series:
    low, high = np.searchsorted(item.timestamps_ms, (start_ms, end_ms))
    if (low, high) == (0, len(item.timestamps_ms)):
        return item
    return Series(item.labels, item.timestamps_ms[low:high], item.values[low:high])


def _observed(
    cluster: str,
    name: SubscriptionName,
    times_ms: np.ndarray,
    series: list[Series],
    facts: TopicFacts,
    end_ms: int,
) -> Observed:
    by_metric: dict[str, list[Series]] = {}
    for item in series:
        # The same metrics come per consumer too; those are in the subscription's own series already.
        if "consumer_name" not in item.labels and "consumer_id" not in item.labels:
            by_metric.setdefault(item.labels[NAME_LABEL], []).append(item)
    restarts: set[int] = set()
    backlogs = by_metric[BACKLOG]
    keys = sorted({(item.labels["subscription"], int(item.labels["partition"])) for item in backlogs})
    readers = {
        key: _reader(by_metric, key, times_ms, restarts)
        for key in keys
        if remote_cluster(key[0]) is not None or not is_system_subscription(key[0])
    }
    partitions = {
        number: PartitionSamples(
            *(added(_of_partition(by_metric, IN[unit], number), times_ms, restarts) for unit in UNITS)
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
        if item.labels[NAME_LABEL] == PERMITS and item.labels["subscription"] == name.subscription
    ]
    limited = by_metric.get(PUBLISH_LIMITED)
    stats = newest(facts.topic_stats, end_ms)
    per_entry = _messages_per_entry(by_metric, partitions, stats, name.subscription, times_ms)
    types = {row["subscription"]: row["subscription_type"] for row in stats if row["subscription_type"]}
    receiver_queue = int(max(permits)) if permits else None
    if remote_cluster(name.subscription) is not None:
        # What was sent was counted in entries.
        readers = {key: replace(item, out_msg=item.out_msg * per_entry) for key, item in readers.items()}
        types, receiver_queue = {name.subscription: "Exclusive"}, round(WINDOW_ENTRIES * per_entry)
    return Observed(
        cluster=cluster,
        namespace=backlogs[0].labels["namespace"],
        topic=name.topic,
        subscription=name.subscription,
        partition=name.partition,
        times_ms=times_ms,
        partitions=partitions,
        readers=readers,
        types=types,
        limit_rows=facts.limit_rows(end_ms),
        messages_per_entry=per_entry,
        receiver_queue=receiver_queue,
        broker_version=facts.broker_version,
        gaps=[(int(times_ms[at]), int(times_ms[at + 1])) for at in wide],
        restarts_ms=sorted(restarts),
        # Set to 0 by the broker every 60 s: what is above 0 was counted since then, whatever the value before.
        publish_limited=None if limited is None else any(bool((item.values > 0).any()) for item in limited),
        others_per_s=_others(by_metric, readers, backlogs, times_ms),
        redelivered_msg_per_s=sum(float(item.values.mean()) for item in mine(REDELIVERED_PER_S)),
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
        found = [item for item in mine(EVENTS[unit]) if item.labels.get("reason") == level]
        return added(found, times_ms, restarts)

    counted = any(mine(metric) for metric in EVENTS.values())
    return ReaderSamples(
        backlog_entries=gauge(BACKLOG),
        delayed_entries=gauge(DELAYED),
        unacked_msg=gauge(UNACKED),
        consumers=gauge(CONSUMERS),
        blocked=gauge(BLOCKED) > 0,
        out_msg=counter(OUT["msg"]),
        out_bytes=counter(OUT["bytes"]),
        expired_entries=counter(EXPIRED),
        events_of={f"{level}.{unit}": events(level, unit) for level in LEVELS for unit in UNITS}
        if counted
        else None,
        dispatched_ms=gauge(DISPATCHED_AT) if mine(DISPATCHED_AT) else None,
        acked_ms=gauge(ACKED_AT) if mine(ACKED_AT) else None,
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
    for unit, metric in BROKER_OUT.items():
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
            [[0.0], *(one.values for one in _of_partition(by_metric, ENTRIES_PER_S, number))]
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
