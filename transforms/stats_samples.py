"""Snapshots of the admin API's stats by the minute. In: rows of ``topic_stats`` and keys. Out: the ``stats_*`` columns of ``signals``.

A snapshot is one instant, so minutes have the number of snapshots and the share of them with a property. A snapshot counts for
the minute whose end is nearest. A run that reads samples first and the admin API then has snapshots after the newest sample:
those count for the newest complete minute, as long as they are near it, and ``stats_newest_ms`` says how near.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.results import STATS_COLUMNS
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.transforms.deltas import CounterMinutes

#: A snapshot that is later than this after the newest minute's end says nothing of it.
NEAR_MS = 5 * MINUTE_MS

#: The one column of words.
_TOPIC = "stats_pausing_topic"
_ONE_ACTIVE = ("Exclusive", "Failover")


def stats_in_minutes(
    topic_stats: pa.Table,
    keys: Sequence[tuple],
    minutes: CounterMinutes,
    newest_ms: Mapping[str, int],
    consumers: np.ndarray,
) -> dict[str, np.ndarray]:
    """The columns of :data:`~throttlescope.ingest.contracts.results.STATS_COLUMNS`, each keys x minutes, NaN (None for words) where unknown.

    Nothing at all where no snapshot is near: most tasks of a fleet have none, and columns of NaN take time and memory.

    Parameters
    ----------
    keys : sequence of tuple
        Subscription partitions.
    newest_ms : mapping
        Newest sample of each cluster.
    consumers : ndarray
        Connected consumers as scraped at each minute's end, keys x minutes, NaN where unknown. A snapshot with another number is
        left out: consumers came or went in between, or the admin API is another cluster's.
    """
    rows = _near(topic_stats, minutes)
    if not rows.num_rows:
        return {}
    row_of = {key: number for number, key in enumerate(keys)}
    key_columns = (rows[name].to_pylist() for name in SUBSCRIPTION_KEY_NAMES)
    row = np.array([row_of.get(key, -1) for key in zip(*key_columns, strict=True)], np.int64)
    newest = np.array([newest_ms.get(cluster, 0) for cluster in rows["cluster"].to_pylist()], np.int64)
    observed_ms = rows["observed_ms"].to_numpy()
    minute = (minute_of(observed_ms, newest) - minutes.start_ms) // MINUTE_MS
    mine = np.flatnonzero((row >= 0) & (minute >= 0) & (minute < minutes.count))
    scraped = consumers[row[mine], minute[mine]]
    mine = mine[np.isnan(scraped) | (scraped == _numbers(rows["consumers"])[mine])]
    if not len(mine):
        return {}
    # In the order of time within a cell: the newest is the last of its cell.
    mine = mine[np.lexsort((observed_ms[mine], row[mine] * minutes.count + minute[mine]))]
    cells, first = np.unique(row[mine] * minutes.count + minute[mine], return_index=True)
    taken = rows.take(pa.array(mine))
    counts = np.diff(np.append(first, len(mine)))
    last = first + counts - 1
    found = {
        "stats_samples": counts.astype(np.float64),
        "stats_newest_ms": observed_ms[mine][last].astype(np.float64),
    }
    for name, values in _of_each(taken).items():
        known = ~np.isnan(values)
        some = np.add.reduceat(known.astype(np.float64), first)
        total = np.add.reduceat(np.where(known, values, 0.0), first)
        with np.errstate(invalid="ignore", divide="ignore"):
            found[name] = total / some
    for name, column in (
        ("stats_ack_msg_rate_min", "ack_msg_rate_min"),
        ("stats_ack_msg_rate_max", "ack_msg_rate_max"),
        ("stats_backlog_age_s", "backlog_age_s"),
        ("stats_replicated", "replicated"),
        ("stats_connection_pauses", "connection_pauses"),
    ):
        found[name] = _numbers(taken[column])[last]
    columns = {name: np.full((len(keys), minutes.count), np.nan) for name in STATS_COLUMNS if name != _TOPIC}
    columns[_TOPIC] = np.full((len(keys), minutes.count), None, dtype=object)
    found[_TOPIC] = taken["pausing_topic"].to_numpy(zero_copy_only=False)[last]
    for name, values in found.items():
        columns[name].reshape(-1)[cells] = values
    return columns


def minute_of(observed_ms: np.ndarray, newest_ms: np.ndarray) -> np.ndarray:
    """Start of the minute that a snapshot counts for; that of a moment long ago where it is too late for every minute.

    Parameters
    ----------
    newest_ms : ndarray of int64
        Newest sample of each one's cluster.
    """
    nearest_ms = (observed_ms - MINUTE_MS // 2) // MINUTE_MS * MINUTE_MS
    newest_minute_ms = newest_ms // MINUTE_MS * MINUTE_MS
    # The minute that is under way has no verdict yet; the one that ended last has.
    ended_ms = np.minimum(newest_minute_ms, observed_ms // MINUTE_MS * MINUTE_MS - MINUTE_MS)
    near = observed_ms <= newest_minute_ms + MINUTE_MS + NEAR_MS
    return np.where(observed_ms > newest_ms, np.where(near, ended_ms, -1), nearest_ms)


def _near(topic_stats: pa.Table, minutes: CounterMinutes) -> pa.Table:
    observed_ms = topic_stats["observed_ms"]
    return topic_stats.filter(
        pc.and_(
            pc.greater_equal(observed_ms, minutes.start_ms),
            pc.less_equal(observed_ms, minutes.end_ms + NEAR_MS),
        )
    )


def _of_each(rows: pa.Table) -> dict[str, np.ndarray]:
    """Each snapshot's share; NaN if it is unknown."""
    kind = rows["subscription_type"].to_pylist()
    one_active = np.array([word in _ONE_ACTIVE for word in kind])
    shares_keys = np.array([word == "Key_Shared" for word in kind])
    active, most, least = (_numbers(rows[name]) for name in ("active_permits", "permits_max", "permits_min"))
    consumers, without = _numbers(rows["consumers"]), _numbers(rows["consumers_without_permits"])
    unacked, blocked = _numbers(rows["unacked_msg"]), _numbers(rows["consumers_blocked"])
    draining = _numbers(rows["draining_hashes"])
    with np.errstate(invalid="ignore", divide="ignore"):
        of_consumers = without / consumers
        starved = np.where(shares_keys, of_consumers, _holds(most <= 0, most))
        # Standby consumers have all of their permits, and nothing is dispatched to them.
        starved = np.where(one_active, _holds(active <= 0, active), starved)
        room = consumers * np.maximum(0.0, (least + most) / 2)
        capacity = unacked + room
        fill = np.where(one_active | (capacity <= 0), np.nan, unacked / capacity)
        uneven = _holds((without > 0) & (without < consumers), without)
        paused = _numbers(rows["consumers_paused"]) / consumers
        all_blocked = _holds(blocked >= consumers, blocked)
    some = consumers > 0
    return {
        "stats_starved_share": np.where(some, starved, np.nan),
        "stats_fill_share": np.where(some, fill, np.nan),
        "stats_uneven_share": np.where(some & ~one_active, uneven, np.nan),
        "stats_blocked_share": np.where(some & ~one_active, all_blocked, np.nan),
        "stats_draining_share": _holds(draining > 0, draining),
        "stats_paused_share": np.where(some, paused, np.nan),
    }


def _holds(flags: np.ndarray, of: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(of), np.nan, flags)


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    return column.cast(pa.float64()).to_numpy(zero_copy_only=False)
