"""Episodes in this process. In: ``signals`` and ``verdicts``, as Arrow or from a lake. Out: rows of ``episodes``; nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.system_names import is_system
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.models.diagnosis.window import SubscriptionKey, by_subscription
from throttlescope.models.episodes.episode import episodes_of_subscription
from throttlescope.models.episodes.minutes import COLUMNS, EpisodeMinutes

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

#: Read before what is judged: the hour in which growth may have begun.
BEFORE_MS = BLOCK_MS
#: Rows of ``signals`` that one process reads at most.
MOST_ROWS = 5_000_000

VERDICT_COLUMNS = (
    *SUBSCRIPTION_KEY_NAMES, "window_start_ms", "window_end_ms", "cause", "limiter", "confidence", "rules_version",
)  # fmt: skip

Rows = list[dict[str, Any]]


def episodes_of(
    signals: pa.Table,
    verdicts: pa.Table,
    *,
    from_ms: int,
    judged_until_ms: int,
    stored: Iterable[Mapping[str, Any]] = (),
) -> pa.Table:
    """Episodes of some subscriptions, in-process.

    Parameters
    ----------
    signals, verdicts : pyarrow.Table
        Rows of the two tables in any order, with at least the columns ``minutes.COLUMNS`` and :data:`VERDICT_COLUMNS`; from an
        hour before ``from_ms`` on, as far as there are any.
    from_ms : int
        Episodes that reach it or begin later. With ``stored``: a UTC midnight.
    judged_until_ms : int
        End of the newest minute that the cluster has.
    stored : iterable of mappings
        Rows of ``episodes`` that began before ``from_ms`` and are continued, at most one of a subscription partition.

    Returns
    -------
    pyarrow.Table
        Rows of ``episodes``.
    """
    earlier = {key_of(row): row for row in stored}
    windows: dict[SubscriptionKey, Rows] = {}
    if verdicts.num_rows:
        for key, rows in by_subscription(verdicts.select(VERDICT_COLUMNS), "window_start_ms"):
            windows[key] = rows.to_pylist()
    found: Rows = []
    if signals.num_rows:
        for key, rows in by_subscription(signals.select(COLUMNS), "minute_ms"):
            if is_system(key.topic, key.subscription):
                # What waits for Pulsar itself is no incident; its verdicts are healthy.
                continue
            found += episodes_of_subscription(
                key,
                EpisodeMinutes.of_rows(rows),
                windows.get(key, []),
                from_ms=from_ms,
                judged_until_ms=judged_until_ms,
                stored=earlier.get(key),
            )
    return pa.Table.from_pylist(found, schema=TABLES["episodes"].loose_schema)


def find_episodes(
    lake: Lake,
    *,
    cluster: str | None = None,
    topic: str | None = None,
    partition: int | None = None,
    subscription: str | None = None,
    start_ms: int | None = None,
    end_ms: int | None = None,
) -> Rows:
    """Judge in this process what the lake has, without writing.

    Parameters
    ----------
    cluster, topic, partition, subscription : optional
        What is judged; None leaves a question open.
    start_ms, end_ms : int, optional
        Only minutes of [start_ms - 1 h, end_ms) are read; by default all.

    Returns
    -------
    list of dict
        Rows of ``episodes``.

    Raises
    ------
    InputError
        There are no signals of it, or more than one process reads.
    """
    partitions = None if cluster is None else {"cluster": [cluster]}
    files = lake.files("signals", partition=partitions)
    low_ms = min((file.minimum["minute_ms"] for file in files), default=0)
    high_ms = max((file.maximum["minute_ms"] for file in files), default=0) + MINUTE_MS
    from_ms = low_ms if start_ms is None else max(start_ms, low_ms)
    until_ms = high_ms if end_ms is None else min(end_ms, high_ms)
    span = {"minute_ms": (from_ms - BEFORE_MS, until_ms - 1)}
    files = lake.files("signals", partition=partitions, between=span) if until_ms > from_ms else []
    count = sum(file.rows for file in files)
    if not files:
        raise InputError(
            "There are no signals of it in this lake",
            got=lake.root,
            fix="bring some with throttlescope run --lake DIR",
        )
    if topic is None and count > MOST_ROWS:
        raise InputError(
            "That is too much for one process",
            got=f"{count:,} subscription minutes",
            expected=f"at most {MOST_ROWS:,}",
            fix="name one with --subscription, or let Spark do it with --store",
        )
    mine = pc.scalar(True)
    for name, value in (("topic", topic), ("partition", partition), ("subscription", subscription)):
        if value is not None:
            mine = mine & (pc.field(name) == value)
    signals = lake.read(
        "signals",
        columns=list(COLUMNS),
        where=mine & (pc.field("minute_ms") >= from_ms - BEFORE_MS) & (pc.field("minute_ms") < until_ms),
        partition=partitions,
        between=span,
    )
    verdicts = lake.read(
        "verdicts",
        columns=list(VERDICT_COLUMNS),
        where=mine
        & (pc.field("window_end_ms") > from_ms - BEFORE_MS)
        & (pc.field("window_start_ms") < until_ms),
        partition=partitions,
    )
    # Clusters end at different times; a recording that ended is not silent.
    newest = {
        name: max(file.maximum["minute_ms"] for file in files if file.partition["cluster"] == name)
        + MINUTE_MS
        for name in {file.partition["cluster"] for file in files}
    }
    found: Rows = []
    for name, ended_ms in sorted(newest.items()):
        of_cluster = pc.equal(signals.column("cluster"), name)
        windows = verdicts.filter(pc.equal(verdicts.column("cluster"), name))
        rows = episodes_of(
            signals.filter(of_cluster), windows, from_ms=from_ms, judged_until_ms=min(until_ms, ended_ms)
        )
        found += rows.to_pylist()
    return found


def key_of(row: Mapping[str, Any]) -> SubscriptionKey:
    """Which subscription partition a row speaks of."""
    return SubscriptionKey(*(row[name] for name in SUBSCRIPTION_KEY_NAMES))
