"""One topic, namespace or broker. In: a reader and an address that opens it. Out: its counts now and a day before, its members, its troubles.

A broker's members are the subscriptions that the newest scrape named it for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.data.latest import KEY, STALE_MS
from throttlescope.app.web.data.limit_use import make_uses
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.app.web.data.rollups import JOINED, PLACE
from throttlescope.app.web.data.snapshot import Snapshot
from throttlescope.ingest.core.times import DAY_MS
from throttlescope.ingest.lake import DataFile

#: Episodes of one place and range that are counted; the largest backlogs of more.
MOST_EPISODES = 2_000


@dataclass(frozen=True)
class Counts:
    """The state of a place at one moment.

    Attributes
    ----------
    subscriptions : int
        Subscription partitions with a verdict.
    causes : dict of str to int
        Those by cause.
    backlog_entries : float or None
        Ready backlog of all of them; None: none was measured.
    """

    subscriptions: int
    causes: dict[str, int]
    backlog_entries: float | None


@dataclass(frozen=True)
class Rollup:
    """A place and its state.

    Attributes
    ----------
    now : Counts
    before : Counts or None
        A day before, of the same subscriptions; None: nothing was judged then.
    namespaces, brokers : tuple of str
        Where its subscriptions are; the first few.
    topics : int
    """

    now: Counts
    before: Counts | None
    topics: int
    namespaces: tuple[str, ...]
    brokers: tuple[str, ...]


def files_of(
    snapshot: Snapshot, address: RollupsAddress, table: str, column: str, start: int, end: int
) -> list[DataFile]:
    """Files that may hold rows of a place with ``column`` in [start, end]."""
    bounds: dict[str, tuple[Any, Any]] = {"cluster": (address.cluster,) * 2, column: (start, end)}
    if address.by != "broker":
        bounds[address.by] = (address.name, address.name)
    return [
        file
        for file in snapshot.files[table]
        if all(
            name not in file.minimum or (file.minimum[name] <= last and file.maximum[name] >= first)
            for name, (first, last) in bounds.items()
        )
    ]


def first_minute(reader: LakeReader, address: RollupsAddress, from_ms: int) -> int | None:
    """When the minutes of its files begin, if that is later than a moment; None: earlier, or there are none.

    A recording is shorter than the usual range: it would be drawn at its edge.
    """

    def read(_, snapshot):
        files = files_of(snapshot, address, "signals", "minute_ms", 0, 2**62)
        first_ms = min((file.minimum["minute_ms"] for file in files), default=0)
        return first_ms if first_ms > from_ms else None

    return reader.read(read)


def mine(address: RollupsAddress, *, has_broker: bool) -> tuple[str, list]:
    """The condition that a row belongs to the place; a table without brokers is filtered by the broker's members."""
    if address.by != "broker" or has_broker:
        return f"cluster = ? AND {PLACE[address.by]} = ?", [address.cluster, address.name]
    members = f"SELECT {KEY} FROM {JOINED} WHERE cluster = ? AND broker = ?"  # noqa: S608
    return f"cluster = ? AND ({KEY}) IN ({members})", [address.cluster, address.cluster, address.name]


def place(reader: LakeReader, address: RollupsAddress) -> Rollup | None:
    """The state of the place; None where it has no verdict in the last day."""

    def read(cursor, snapshot):
        make_uses(snapshot)
        where, values = mine(address, has_broker=True)
        of_place = f"FROM {JOINED} WHERE {where}"
        total, topics, backlog, causes, namespaces, brokers = cursor.execute(
            "SELECT count(*), count(DISTINCT topic), sum(backlog_entries), histogram(cause), "
            "list_sort(list(DISTINCT namespace))[:5], "
            f"list_sort(list(DISTINCT broker) FILTER (broker IS NOT NULL))[:5] {of_place}",
            values,
        ).fetchall()[0]
        if not total:
            return None
        newest_ms = cursor.execute(
            "SELECT max(window_end_ms) FROM latest WHERE cluster = ?", [address.cluster]
        ).fetchall()[0][0]
        return Rollup(
            Counts(total, causes, backlog),
            _before(cursor, snapshot, address, newest_ms - DAY_MS),
            topics,
            tuple(namespaces),
            tuple(brokers or ()),
        )

    return reader.read(read)


def _before(cursor, snapshot: Snapshot, address: RollupsAddress, then_ms: int) -> Counts | None:
    files = files_of(snapshot, address, "verdicts", "window_end_ms", then_ms - STALE_MS + 1, then_ms)
    if not files:
        return None
    where, values = mine(address, has_broker=False)
    total, backlog, causes = cursor.execute(
        "SELECT count(*), sum(backlog_entries), histogram(cause) FROM ("  # noqa: S608
        f"SELECT cause, backlog_entries FROM {snapshot.source('verdicts', files)} "
        f"WHERE {where} AND window_end_ms > ? AND window_end_ms <= ? "
        f"QUALIFY row_number() OVER (PARTITION BY {KEY} ORDER BY window_end_ms DESC) = 1)",
        [*values, then_ms - STALE_MS, then_ms],
    ).fetchall()[0]
    return Counts(total, causes, backlog) if total else None


def members(reader: LakeReader, address: RollupsAddress, *, most: int = 25) -> list[dict]:
    """Its subscriptions, worst first: columns of ``latest`` and ``uses``."""

    def read(cursor, snapshot):
        make_uses(snapshot)
        where, values = mine(address, has_broker=True)
        return dicts(
            cursor.execute(
                f"SELECT * FROM {JOINED} WHERE {where} "  # noqa: S608
                "ORDER BY cause = 'healthy', backlog_entries DESC NULLS LAST, cause_rank, "
                f"share_now DESC NULLS LAST, {KEY} LIMIT ?",
                [*values, most],
            )
        )

    return reader.read(read)


def episodes(
    reader: LakeReader, address: RollupsAddress, start_ms: int, end_ms: int
) -> tuple[list[dict], int] | None:
    """Backlogs that touch [start_ms, end_ms), the largest first, and how many; None where none were ever judged.

    The columns are those that :func:`~throttlescope.models.episodes.rollups.rollups` counts by.
    """

    def read(cursor, snapshot):
        if snapshot.versions["episodes"] is None:
            return None
        # Whatever began before the range may be open in it: only the end of the range cuts files.
        files = files_of(snapshot, address, "episodes", "start_ms", 0, end_ms - 1)
        where, values = mine(address, has_broker=True)
        rows = dicts(
            cursor.execute(
                f"SELECT {KEY}, episode_id, start_ms, end_ms, since_ms, state, known_until_ms, over_until_ms, peak_entries, "  # noqa: S608
                "last_entries, cause, side, limiter, confidence, causes, limiters, broker, count(*) OVER () AS total "
                f"FROM {snapshot.source('episodes', files)} WHERE {where} AND start_ms < ? AND coalesce(end_ms, ?) > ? "
                f"ORDER BY end_ms IS NOT NULL, peak_entries DESC, {KEY}, start_ms LIMIT ?",
                [*values, end_ms, end_ms, start_ms, MOST_EPISODES],
            )
        )
        return rows, rows[0]["total"] if rows else 0

    return reader.read(read)


def incidents(
    reader: LakeReader, address: RollupsAddress, start_ms: int, end_ms: int, episode_ids: list[str]
) -> list[dict]:
    """What some of these episodes share with each other or with others, in [start_ms, end_ms); without members."""

    def read(cursor, snapshot):
        source = snapshot.source("incidents", snapshot.files["incidents"])
        return dicts(
            cursor.execute(
                "SELECT * EXCLUDE (members), "  # noqa: S608
                "len([m FOR m IN members IF list_contains($ids, m.episode_id)]) AS here "
                f"FROM {source} WHERE cluster = $cluster AND start_ms < $end AND coalesce(end_ms, $end) > $start "
                "AND here > 0 ORDER BY end_ms IS NOT NULL, subscriptions DESC, start_ms, kind, shared_with LIMIT 20",
                {"ids": episode_ids, "cluster": address.cluster, "end": end_ms, "start": start_ms},
            )
        )

    return reader.read(read)
