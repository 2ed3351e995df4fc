"""Samples for tests of replays. In: values by hand, or a simulated scenario. Out: series of a lake, or an ``Observed``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tests.transforms.lakes import lake_of, limit_row, stats_row
from throttlescope.ingest.lake import Lake
from throttlescope.models.throttling import Scenario, simulate
from throttlescope.models.throttling.columns import EVENTS
from throttlescope.models.throttling.replay.observed import Observed, PartitionSamples, ReaderSamples
from throttlescope.transforms.promql.source import Series

START_MS = 1_795_161_600_000  # 2026-11-20T08:00:00Z
NAMESPACE = "acme/shop"
TOPIC = f"persistent://{NAMESPACE}/orders"
SELECTOR = f"{TOPIC}#billing"
EVERY_S = 5


def one(metric: str, times_ms, values, *, cluster="prod", instance="b1:8080", **labels) -> Series:
    """One series of the topic."""
    times_ms = np.asarray(times_ms, np.int64)
    labels = {"partition": "-1", "topic": TOPIC, "namespace": NAMESPACE} | labels
    named = {"__name__": metric, "cluster": cluster, "instance": instance, "job": "pulsar"} | labels
    return Series(named, times_ms, np.broadcast_to(np.asarray(values, float), times_ms.shape).copy())


def topic_series(times_ms, *, in_msg, partition=-1, **labels) -> list[Series]:
    """What is published to one partition: counters, entries as messages."""
    labels["partition"] = str(partition)
    return [
        one("pulsar_in_messages_total", times_ms, in_msg, **labels),
        one("pulsar_in_bytes_total", times_ms, 100 * np.asarray(in_msg, float), **labels),
    ]


def subscription_series(
    times_ms, *, backlog, out_msg=0.0, consumers=2, unacked=0.0, events: Mapping[str, object] | None = None,
    counted=True, subscription="billing", partition=-1, permits=None, **labels,
) -> list[Series]:  # fmt: skip
    """One subscription of one partition; ``events`` are counters by "level.unit"."""
    labels |= {"subscription": subscription, "partition": str(partition)}
    found = [
        one("pulsar_subscription_back_log", times_ms, backlog, **labels),
        one("pulsar_subscription_unacked_messages", times_ms, unacked, **labels),
        one("pulsar_subscription_consumers_count", times_ms, consumers, **labels),
        one("pulsar_out_messages_total", times_ms, out_msg, **labels),
        one("pulsar_out_bytes_total", times_ms, 100 * np.asarray(out_msg, float), **labels),
    ]
    if permits is not None:
        found.append(
            one("pulsar_consumer_available_permits", times_ms, permits, consumer_name="c0", consumer_id="0", **labels)
        )  # fmt: skip
    if counted:
        for level, unit in EVENTS:
            metric = f"pulsar_subscription_dispatch_throttled_{unit}_events"
            values = (events or {}).get(f"{level}.{unit}", 0.0)
            found.append(one(metric, times_ms, values, reason=level, **labels))
    return found


def scrapes(seconds: int, every_s: int = EVERY_S) -> np.ndarray:
    """Times of scrapes over so many seconds."""
    return START_MS + 1000 * np.arange(0, seconds + 1, every_s)


def key(partition=-1, subscription="billing", cluster="prod") -> dict:
    """The key columns of a row."""
    return {
        "cluster": cluster, "namespace": NAMESPACE, "topic": TOPIC, "partition": partition, "subscription": subscription
    }  # fmt: skip


# -- a simulated scenario as a broker would have shown it ------------------------------------------------


def scenario(*, duration_s: float = 600, then_s: float = 0, **fields) -> Scenario:
    """600 msg/s to ``orders`` under a subscription limit of 500, four fast consumers; ``then`` changes it."""
    timeline = [{"name": "as it is", "duration_s": duration_s}]
    if then_s:
        timeline.append(
            {"name": "changed", "duration_s": then_s, "interventions": fields.pop("interventions")}
        )
    body = {
        "format": 1,
        "name": "recorded",
        "topics": [{"name": "orders"}],
        "limits": [subscription_limit(500)],
        "subscriptions": [
            {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 4, "processing_ms": 2}
        ],
        "producers": [{"topic": "orders", "rate_msg": 600, "size_bytes": 1024}],
        "timeline": timeline,
    }
    return Scenario.model_validate(body | fields)


def subscription_limit(msg: int, **more) -> dict:
    return {
        "level": "subscription", "set_at": "subscription", "topic": "orders", "subscription": "billing", "msg": msg
    } | more  # fmt: skip


def simulated_lake(root: Path, played: Scenario, until_s: int, *, every_s: int = EVERY_S) -> Lake:
    """A lake with what would have been scraped of a scenario's first seconds, its limits and its subscriptions' types."""
    rows = simulate(played).seconds.to_pandas()
    times_ms = scrapes(until_s, every_s)
    at = np.arange(0, until_s + 1, every_s)
    series: list[Series] = []
    topics = {item.name: item for item in played.topics}
    for (partition, subscription), mine in rows.groupby(["partition", "subscription"]):
        kept = mine[mine["second"] <= until_s]

        def total(name: str, kept=kept) -> np.ndarray:
            return np.r_[0, np.cumsum(kept[name].to_numpy())][at]

        def stood(name: str, kept=kept) -> np.ndarray:
            return np.r_[0, kept[name].to_numpy()][at]

        if subscription == played.subscriptions[0].name:
            labels = {"partition": str(partition)}
            entries = total("published_entries")
            rate = np.diff(entries, prepend=0) / every_s
            series += [
                one("pulsar_in_messages_total", times_ms, total("published_messages"), **labels),
                one("pulsar_in_bytes_total", times_ms, 1024 * total("published_messages"), **labels),
                one("pulsar_storage_write_rate", times_ms, rate, **labels),
            ]
        found = subscription_series(
            times_ms,
            backlog=stood("backlog_entries"),
            out_msg=total("out_messages"),
            consumers=played.subscription(subscription).consumers,
            unacked=stood("unacked_messages"),
            events={f"{level}.{unit}": total(f"{level}_{unit}_events") for level, unit in EVENTS},
            subscription=subscription,
            partition=int(partition),
            permits=np.full(len(at), played.subscription(subscription).receiver_queue),
        )
        found[4].values[:] = total("out_bytes")
        series += found
    keys = [
        key(partition, item.name)
        for item in played.subscriptions
        for partition in ([-1] if not topics["orders"].partitions else range(topics["orders"].partitions))
    ]
    set_ = {item.level: item for item in played.limits}
    limits = [
        limit_row(
            level, at_ms=START_MS - 60_000,
            msg=getattr(set_.get(level), "msg", None), size=getattr(set_.get(level), "bytes", None),
            period_s=getattr(set_.get(level), "period_s", 1), **each,
        )
        for each in keys
        for level in ("broker", "topic", "subscription")
        if level != "subscription" or each["subscription"] == "billing"
    ]  # fmt: skip
    stats = [
        stats_row(at_ms=START_MS, **each, subscription_type=played.subscription(each["subscription"]).type)
        | {"broker": "b1:8080"}
        for each in keys
    ]
    for row in stats:
        row.pop("broker")
    return lake_of(root, series, limits=limits, stats=stats)


def measured_drain_s(played: Scenario, since_s: int, below_entries: int) -> float:
    """Seconds from a time until the simulator's own backlog of ``billing`` is drained."""
    rows = simulate(played).seconds.to_pandas()
    mine = rows[rows["subscription"] == "billing"].groupby("second")["backlog_entries"].sum()
    low = mine[(mine.index > since_s) & (mine <= below_entries)]
    return float(low.index[0] - since_s)


# -- a window in memory ---------------------------------------------------------------------------------


def observed_of(
    *,
    backlog: Sequence[float],
    in_msg: Sequence[float] | float,
    every_s: int = EVERY_S,
    consumers: Sequence[int] | int = 2,
    events: Mapping[str, Sequence[float]] | None = None,
    counted: bool = True,
    limits: Sequence[Mapping] = (),
    kind: str = "Shared",
    out_msg: Sequence[float] | float | None = None,
    unacked: Sequence[float] | float = 0,
    delayed: Sequence[float] | float = 0,
    expired: Sequence[float] | float = 0,
    blocked: Sequence[bool] | bool = False,
    messages_per_entry: float = 1.0,
    **more,
) -> Observed:
    """One subscription ``billing`` of one partition; counters are given as what came since the scrape before."""
    count = len(backlog)

    def filled(values) -> np.ndarray:
        return np.broadcast_to(np.asarray(values, float), count).copy()

    came = filled(in_msg)
    came[0] = 0
    acked = np.maximum(came - np.diff(np.asarray(backlog, float), prepend=backlog[0]) * messages_per_entry, 0)
    out = acked if out_msg is None else filled(out_msg)
    zeros = {f"{level}.{unit}": np.zeros(count) for level, unit in EVENTS}
    reader = ReaderSamples(
        backlog_entries=np.asarray(backlog, float),
        delayed_entries=filled(delayed),
        unacked_msg=filled(unacked),
        consumers=filled(consumers),
        blocked=filled(blocked) > 0,
        out_msg=out,
        out_bytes=100 * out,
        expired_entries=filled(expired),
        events_of=zeros | {name: filled(values) for name, values in (events or {}).items()}
        if counted
        else None,
    )
    rows: dict = {}
    for row in limits:
        rows.setdefault((row["level"], -1, "billing"), []).append(row)
    return Observed(
        cluster="prod", namespace=NAMESPACE, topic=TOPIC, subscription="billing", partition=None,
        times_ms=START_MS + 1000 * every_s * np.arange(count), partitions={-1: PartitionSamples(came, 100 * came)},
        readers={("billing", -1): reader}, types={"billing": kind}, limit_rows=rows,
        messages_per_entry=messages_per_entry, receiver_queue=1000, broker_version="4.2.4", **more,
    )  # fmt: skip
