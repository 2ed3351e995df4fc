"""Subscriptions by their newest verdict. In: a lake. Out: rows of ``verdict_latest``, worst first, and names that are like a given one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName, subscription_text

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

#: Names that are suggested for one that is not there.
_SUGGESTED = 5


@dataclass(frozen=True)
class LatestFilter:
    """Which subscription partitions; None means any. Without a cause: those whose cause is not ``healthy``."""

    cluster: str | None = None
    namespace: str | None = None
    cause: str | None = None


def read_troubled(lake: Lake, wanted: LatestFilter) -> list[dict[str, Any]]:
    """Subscription partitions with a cause, the largest backlog first.

    Raises
    ------
    InputError
        There is no verdict in the lake, or none of that cluster.
    """
    rows = read_latest(lake)
    if wanted.cluster is not None:
        clusters = rows.column("cluster").unique().to_pylist()
        if wanted.cluster not in clusters:
            raise InputError(
                "There is no such cluster in this lake",
                got=wanted.cluster,
                expected=", ".join(sorted(clusters)),
            )
        rows = rows.filter(pc.equal(rows.column("cluster"), wanted.cluster))
    if wanted.namespace is not None:
        rows = rows.filter(pc.equal(rows.column("namespace"), wanted.namespace))
    if wanted.cause is None:
        rows = rows.filter(pc.not_equal(rows.column("cause"), "healthy"))
    else:
        rows = rows.filter(pc.equal(rows.column("cause"), wanted.cause))
    return sorted(
        rows.to_pylist(),
        key=lambda row: (-(row["backlog_entries"] or 0.0), row["cluster"], row["topic"], row["partition"]),
    )


def read_latest(lake: Lake) -> pa.Table:
    """The newest verdict of every subscription partition, from ``verdict_latest`` or, in an older lake, from the verdicts.

    Raises
    ------
    InputError
        There is no verdict in the lake.
    """
    if lake.version("verdict_latest") is not None:
        return lake.read("verdict_latest")
    files = lake.files("verdicts")
    if not files:
        raise InputError(
            "There are no verdicts in this lake",
            got=lake.root,
            fix="make some with throttlescope run --lake DIR, or correct --lake",
        )
    from throttlescope.models.diagnosis.latest import latest_of

    clusters = sorted({file.partition["cluster"] for file in files})
    return pa.concat_tables(
        latest_of([file for file in files if file.partition["cluster"] == cluster]) for cluster in clusters
    )


def check_known(lake: Lake, subscription: str, cluster: str | None) -> None:
    """Refuse a name that no subscription with a verdict has, with those that are like it.

    Raises
    ------
    InputError
        It cannot be read, or there is no such subscription.
    """
    name = SubscriptionName.of(subscription)
    rows = read_latest(lake)
    there = (pc.field("topic") == name.topic) & (pc.field("subscription") == name.subscription)
    if name.partition is not None:
        there &= pc.field("partition") == name.partition
    if cluster is not None:
        there &= pc.field("cluster") == cluster
    if rows.filter(there).num_rows:
        return
    near = _nearest(rows, name)
    raise InputError(
        "There is no such subscription in this lake",
        got=subscription if cluster is None else f"{subscription} of cluster {cluster}",
        expected="the whole name of one that has a verdict",
        # Here and not above: what is expected is cut at 200 characters.
        fix=f"use one such as {', '.join(near)}" if near else None,
    )


def _nearest(rows: pa.Table, name: SubscriptionName) -> list[str]:
    """Names like this one, the most similar first, each with its cluster where there are several."""
    with duckdb.connect() as connection:
        connection.register("latest", rows.select(["cluster", "topic", "partition", "subscription"]))
        found = connection.execute(
            "SELECT cluster, topic, partition, subscription FROM latest "
            "ORDER BY jaro_winkler_similarity(topic || '#' || subscription, $name) DESC, partition <> $partition, cluster, topic, partition "
            "LIMIT $most",
            {
                "name": f"{name.topic}#{name.subscription}",
                "partition": -1 if name.partition is None else name.partition,
                "most": _SUGGESTED,
            },
        ).fetchall()
    several = len(rows.column("cluster").unique()) > 1
    return [
        f"{subscription_text(topic, partition, subscription)}{f' (cluster {cluster})' if several else ''}"
        for cluster, topic, partition, subscription in found
    ]
