"""The limits of one subscription partition. In: a reader and a subscription. Out: the limits in force, the records they come from, the raw answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.data.limiters import make_limiters, newest_limit_files
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.app.web.data.snapshot import Snapshot
from throttlescope.ingest.core.times import DAY_MS
from throttlescope.ingest.core.topic_name import is_scalable, namespace_of, part_text
from throttlescope.ingest.lake import DataFile
from throttlescope.transforms.limits import Rung, limit_ladder

_PER_BROKER = ("broker_configuration_runtime", "broker_dynamic_configuration", "broker_version", "brokers")


@dataclass(frozen=True)
class Subject:
    """What is known of the limits of one subscription partition.

    Attributes
    ----------
    levels : dict of str to dict
        By level the newest row: ``rate_msg``, ``rate_bytes``, ``period_s``, ``counts``, ``relative``, ``set_by``, ``broker``, ...,
        ``observed_ms`` and ``first_ms``, the oldest answer of the same days. A level that is not there was not observed.
    ladder : list of Rung
        Every record of the chains, by the newest answers.
    policies : list of dict
        Those answers: rows of ``policies``.
    unread : str or None
        Why the ladder could not be made.
    segments : int or None
        How many segments of its scalable topic have current verdicts of the subscription; None: the topic is not scalable.
    """

    levels: dict[str, dict[str, Any]]
    ladder: list[Rung]
    policies: list[dict[str, Any]]
    unread: str | None
    segments: int | None = None


def subject(reader: LakeReader, key: SubscriptionPartition) -> Subject:
    """Read it."""

    def read(cursor, snapshot):
        make_limiters(snapshot)
        this = "cluster = ? AND topic = ? AND partition = ? AND subscription = ?"
        values = [key.cluster, key.topic, key.partition, key.subscription]
        newest = dicts(cursor.execute(f"SELECT level, observed_ms, r FROM limit_rows WHERE {this}", values))  # noqa: S608
        limits = snapshot.source("limits", newest_limit_files(snapshot))
        first = dict(
            cursor.execute(
                f"SELECT level, min(observed_ms) FROM {limits} WHERE {this} GROUP BY level",  # noqa: S608
                values,
            ).fetchall()
        )
        levels = {
            row["level"]: row["r"] | {"observed_ms": row["observed_ms"], "first_ms": first.get(row["level"])}
            for row in newest
        }
        policies = _policies(cursor, snapshot, key)
        # Who owned the partition, as the resolver last knew.
        owners = [
            _named(key) | {"observed_ms": row["observed_ms"], "owner_broker": row["r"]["broker"]}
            for row in newest
        ]
        try:
            ladder, unread = (limit_ladder(policies, owners, **_named(key)) if policies else []), None
        except (ValueError, TypeError, AttributeError, json.JSONDecodeError) as error:
            ladder, unread = [], f"An answer of the admin API is not what one looks like: {error}"
        segments = None
        if is_scalable(key.topic):
            counted = "SELECT count(*) FROM latest WHERE cluster = ? AND topic = ? AND subscription = ? AND NOT stale"
            (segments,) = cursor.execute(counted, [key.cluster, key.topic, key.subscription]).fetchone()
        return Subject(levels, ladder, policies, unread, segments)

    return reader.read(read)


def _named(key: SubscriptionPartition) -> dict[str, Any]:
    return dict(key.pairs()) | {"partition": key.partition, "namespace": namespace_of(key.topic)}


def _policies(cursor, snapshot: Snapshot, key: SubscriptionPartition) -> list[dict]:
    """The newest answer of each kind that its limits are based on, of the last day of the cluster."""
    mine = [file for file in snapshot.files["policies"] if _may_hold(file, key.cluster)]
    newest = max((file.maximum["observed_ms"] for file in mine), default=0)
    files = [file for file in mine if file.maximum["observed_ms"] > newest - DAY_MS]
    physical = part_text(key.topic, key.partition)
    keys = [namespace_of(key.topic), key.topic, physical, f"{key.topic}#{key.subscription}"]
    rows = dicts(
        cursor.execute(
            f"SELECT * FROM {snapshot.source('policies', files)} WHERE cluster = ? "  # noqa: S608
            "AND (list_contains(?, key) OR list_contains(?, scope)) AND scope != 'topic_subscriptions' "
            "QUALIFY row_number() OVER (PARTITION BY scope, key ORDER BY observed_ms DESC) = 1 "
            "ORDER BY scope, key LIMIT 500",
            [key.cluster, keys, list(_PER_BROKER)],
        )
    )
    until_ms = max((row["observed_ms"] for row in rows), default=0)
    return [row for row in rows if row["observed_ms"] > until_ms - DAY_MS]


def _may_hold(file: DataFile, cluster: str) -> bool:
    return "cluster" not in file.minimum or file.minimum["cluster"] <= cluster <= file.maximum["cluster"]
