"""A window read from a lake. In: a lake, the name of a subscription and a range; out: an :class:`Observed`."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.metrics import BACKLOG_METRICS
from throttlescope.ingest.core.subscription_name import SubscriptionName, unknown_subscription, with_cursor
from throttlescope.ingest.core.times import block_start
from throttlescope.ingest.lake import Lake
from throttlescope.models.throttling.replay.admin import topic_facts
from throttlescope.models.throttling.replay.observed import Observed
from throttlescope.models.throttling.replay.observed_window import is_of, observed_of
from throttlescope.models.throttling.replay.series import (
    BROKER_METRICS,
    METRICS,
    of_topics,
    series_of,
)
from throttlescope.transforms.promql.source import Series


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
        Contains ``series``, ``samples`` and, where the admin API was read, ``limits`` and ``topic_stats``.
    selector
        ``persistent://tenant/ns/topic[-partition-N]#subscription``, or ``...@cluster`` for a replicator. All partitions and all subscriptions of the topic are read:
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
    there = (min(row["first_ms"] for row in known), max(row["last_ms"] for row in known))
    facts = topic_facts(lake, cluster, name.topic)
    return observed_of(cluster, name, series, facts, start_ms, end_ms, there=there)


def _known(lake: Lake, name: SubscriptionName, cluster: str | None) -> list[dict]:
    """Rows of ``series`` with the backlog of a subscription or a replicator, all of one cluster."""
    if lake.version("series") is None:
        raise InputError(
            "There are no samples in this lake",
            got=lake.root,
            fix="bring some with throttlescope run --lake DIR",
        )
    catalogue = lake.read("series", where=pc.field("metric_name").isin(BACKLOG_METRICS))
    # A fleet has a hundred thousand of them: only those of the topic become rows.
    rows = _with_labels(of_topics(catalogue, {name.topic}))
    found = [row for row in rows if row["labels"].get("topic") == name.topic and is_of(name, row["labels"])]
    clusters = sorted({row["cluster"] for row in found})
    if cluster is not None:
        found = [row for row in found if row["cluster"] == cluster]
    if not found and clusters:
        raise InputError(f"{name} is in no such cluster", got=cluster, expected=" or ".join(clusters))
    if not found:
        raise unknown_subscription(name, _names(catalogue))
    if len(clusters) > 1 and cluster is None:
        raise InputError(f"Several clusters have {name}", got=", ".join(clusters), fix="name the cluster")
    return found


def subscriptions_with_backlog(lake: Lake) -> set[SubscriptionName]:
    """Every partition of a subscription, and every replicator, that has a series of its backlog."""
    return _names(lake.read("series", where=pc.field("metric_name").isin(BACKLOG_METRICS)))


def _names(catalogue: pa.Table) -> set[SubscriptionName]:
    labels = [row["labels"] for row in _with_labels(catalogue)]
    return {
        SubscriptionName(
            one.get("topic", ""),
            None if one["partition"] == "-1" else int(one["partition"]),
            one["subscription"],
        )
        for one in labels
    }


def _with_labels(catalogue: pa.Table) -> list[dict]:
    rows = catalogue.to_pylist()
    for row in rows:
        row["labels"] = with_cursor(dict(row["labels"]))
    return rows


def _series(lake: Lake, topic: str, cluster: str, start_ms: int, end_ms: int) -> list[Series]:
    """Series of the topic and of all brokers, with what they have in a range."""
    where = (pc.field("cluster") == cluster) & pc.field("metric_name").isin(METRICS)
    everything = lake.read("series", where=where)
    brokers = everything.filter(pc.is_in(everything["metric_name"], value_set=pa.array(BROKER_METRICS)))
    mine = of_topics(everything, {topic})
    catalogue = pa.concat_tables([mine, brokers])
    shards = set(catalogue["shard"].to_pylist())
    files = [
        file
        for file in lake.files(
            "samples",
            partition={"metric_name": METRICS},
            between={"block_start_ms": (block_start(start_ms), end_ms)},
        )
        if file.minimum["shard"] in shards
    ]
    return series_of(files, catalogue, start_ms, end_ms)
