"""Backlogs of some subscriptions over time, what their sparklines are drawn from. In: rows of a table. Out: their episodes in a range.

An episode has a thinned curve of its backlog, so no minute is read. Between two episodes the backlog was at its floor.
"""

from __future__ import annotations

from collections.abc import Sequence

from throttlescope.app.web.data.latest import KEY, RECENT_MS
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.app.web.data.snapshot import Snapshot
from throttlescope.ingest.core.times import MINUTE_MS

_NAMES = tuple(KEY.split(", "))
#: A recording may be shorter than the recent hours; its picture begins with it, and is no shorter than this.
_SHORTEST_MS = 10 * MINUTE_MS


def key_of(row: dict) -> tuple:
    """The key of a row of any table, as :func:`episodes_of` uses it."""
    return tuple(row[name] for name in _NAMES)


def recent_backlogs(reader: LakeReader, rows: Sequence[dict]) -> list[tuple[list[dict], int, int]]:
    """For each row of ``latest`` its episodes of the recent hours of its cluster, and the start and end of these."""

    def read(cursor, snapshot):
        ranges = {
            cluster: (
                min(first_judged(snapshot, (cluster,), end_ms - RECENT_MS, end_ms), end_ms - _SHORTEST_MS), end_ms,
            )
            for cluster, end_ms in {row["cluster"]: row["cluster_end_ms"] for row in rows}.items()
        }  # fmt: skip
        if not rows:
            return []
        first_ms = min(start_ms for start_ms, _ in ranges.values())
        last_ms = max(end_ms for _, end_ms in ranges.values())
        found = episodes_of(cursor, snapshot, rows, first_ms, last_ms)
        return [(found.get(key_of(row), []), *ranges[row["cluster"]]) for row in rows]

    return reader.read(read)


def first_judged(snapshot: Snapshot, clusters: Sequence[str], start_ms: int, end_ms: int) -> int:
    """Where the verdicts of a range begin, as far as its files say: the start of the range, or a later moment."""
    begins = [
        file.minimum["window_start_ms"]
        for file in snapshot.files["verdicts"]
        if (not clusters or file.partition["cluster"] in clusters)
        and start_ms < file.maximum["window_end_ms"]
        and file.minimum["window_start_ms"] < end_ms
    ]
    return max(start_ms, min(begins, default=start_ms))


def episodes_of(
    cursor, snapshot: Snapshot, rows: Sequence[dict], start_ms: int, end_ms: int
) -> dict[tuple, list[dict]]:
    """Backlogs of some subscriptions that touch [start_ms, end_ms), by key, oldest first: what a sparkline is drawn from.

    Returns
    -------
    dict of tuple to list of dict
        ``since_ms``, ``known_until_ms``, ``last_entries``, ``backlog`` (points ``at_ms``, ``entries``) and ``backlog_step_ms``.
    """
    files = [
        file
        for file in snapshot.files["episodes"]
        if file.minimum.get("start_ms", 0) < end_ms
        and any(file.partition["cluster"] == row["cluster"] for row in rows)
    ]
    if not files:
        return {}
    # Joined with what is selected, as values: names of a cluster never become SQL.
    columns = {name: [row[name] for row in rows] for name in _NAMES}
    wanted = ", ".join(f"unnest(${number}) AS {name}" for number, name in enumerate(_NAMES, 1))
    found: dict[tuple, list[dict]] = {}
    for row in dicts(
        cursor.execute(
            f"SELECT {KEY}, since_ms, known_until_ms, last_entries, backlog, backlog_step_ms "  # noqa: S608
            f"FROM {snapshot.source('episodes', files)} JOIN (SELECT {wanted}) USING ({KEY}) "
            f"WHERE start_ms < $6 AND coalesce(end_ms, known_until_ms) > $7 ORDER BY start_ms",
            [*columns.values(), end_ms, start_ms],
        )
    ):
        found.setdefault(key_of(row), []).append(row)
    return found
