"""What the overview shows, of one moment and one range. In: a reader and its address. Out: counts by cause, a timeline, places, the worst, limits, deadlines, incidents.

All of it is read in one snapshot and kept while the tables are unchanged. The subscriptions of the moment are one table in memory, and every part
adds it up in DuckDB: nothing is done per subscription here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from throttlescope.app.presentation.causes import ORDER
from throttlescope.app.web.address.overview import LENGTHS_MS, OverviewAddress
from throttlescope.app.web.data.backlogs import episodes_of, first_judged, key_of
from throttlescope.app.web.data.latest import AGO_MS, KEY, OWN_TOPIC_SQL, STALE_MS, windows_at
from throttlescope.app.web.data.limit_use import make_uses, nearly_used
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.app.web.data.snapshot import Snapshot
from throttlescope.app.web.data.timeline import CauseTimeline, timeline
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS

#: A forecast that is older than the moment by this is ignored.
FORECAST_KNOWN_MS = 2 * BLOCK_MS
#: A range is cut to its end and says so; a recording's is not shorter.
LONGEST_MS, SHORTEST_MS = LENGTHS_MS["7d"], 10 * MINUTE_MS
MOST_PLACES, MOST_WORST, MOST_ROWS = 12, 10, 6


@dataclass(frozen=True)
class LastRun:
    """The newest run of the lake.

    Attributes
    ----------
    status : str
        ``done``, ``failed`` or ``gated``.
    done_ms : int or None
        When the newest run ended that was done; None: none ever was.
    """

    command: str
    status: str
    finished_ms: int
    done_ms: int | None


@dataclass(frozen=True)
class MomentCounts:
    """Subscription partitions at one moment.

    Attributes
    ----------
    at_ms : int
    causes : dict of str to int
        By cause; healthy ones of Pulsar's own topics are left out.
    backlog_entries : float or None
        Ready backlog of those that are not healthy; None: none was measured.
    """

    at_ms: int
    causes: dict[str, int]
    backlog_entries: float | None

    @property
    def judged(self) -> int:
        return sum(self.causes.values())

    @property
    def troubled(self) -> int:
        return self.judged - self.causes.get("healthy", 0)

    def of(self, causes: Sequence[str]) -> int:
        return sum(self.causes.get(cause, 0) for cause in causes)


@dataclass(frozen=True)
class Overview:
    """Everything that the first page shows.

    Attributes
    ----------
    address : OverviewAddress
    newest_ms : int
        End of the newest verdict of the selected clusters.
    behind : tuple of (str, int)
        Selected clusters whose newest verdict is older, and its end.
    start_ms, end_ms : int
        The range; ``was_cut``: a longer one was requested.
    at_ms : int
        The moment; ``is_now``: it is the newest of each cluster.
    counts : MomentCounts
    before : tuple of (int, MomentCounts or None)
        An hour and a day before the moment; None: some selected cluster was not judged then, and a smaller fleet has fewer problems.
    ended : int
        Subscription partitions of the last day without a verdict at the moment; they are not counted.
    timeline : CauseTimeline
    places : list of dict
        Namespaces or brokers by ready backlog, the largest first: ``cluster``, ``name`` (None: no scrape named a broker),
        ``entries``, ``growth_entries`` in the window, ``subscriptions``, ``troubled``, ``cause`` and ``limiter`` of the largest
        backlog that has a problem; ``places_total`` of how many, ``places_entries`` of all.
    worst : list of dict
        Subscription partitions with a problem, the largest backlog first: key, ``cause``, ``limiter``, ``backlog_entries``,
        ``backlog_growth_entries``, ``since_ms``, ``episodes`` in the range, see :func:`~throttlescope.app.web.data.backlogs.episodes_of`; ``worst_total`` of how many. ``worst_of_all`` is the first one without the
        address's filter of causes.
    limits : list of dict
        See :func:`~throttlescope.app.web.data.limit_use.nearly_used`; ``limits_total`` of how many.
    losses : list of dict
        Deadlines at which messages are lost or producers blocked, the earliest first.
    drains : list of dict
        What is expected of the largest backlogs without such a deadline.
    incidents : list of dict
        What several open backlogs share at the moment, columns of ``incidents`` without members.
    computed : frozenset of str
        Which of the tables ``episodes``, ``forecasts`` and ``incidents`` have any rows.
    """

    address: OverviewAddress
    newest_ms: int
    behind: tuple[tuple[str, int], ...]
    start_ms: int
    end_ms: int
    was_cut: bool
    at_ms: int
    is_now: bool
    counts: MomentCounts
    before: tuple[tuple[int, MomentCounts | None], ...]
    ended: int
    timeline: CauseTimeline
    places: list[dict]
    places_total: int
    places_entries: float
    worst: list[dict]
    worst_total: int
    worst_of_all: dict | None
    limits: list[dict]
    limits_total: int
    losses: list[dict]
    drains: list[dict]
    incidents: list[dict]
    computed: frozenset[str]


def overview(reader: LakeReader, address: OverviewAddress) -> Overview | None:
    """What the address shows; None where the selected clusters have no verdict. Callers must not modify it."""
    return reader.read_cached(
        ("overview", address), lambda cursor, snapshot: _read(cursor, snapshot, address)
    )


def _read(cursor, snapshot: Snapshot, address: OverviewAddress) -> Overview | None:
    ends = dict(
        cursor.execute(
            "SELECT cluster, max(window_end_ms) FROM latest WHERE len($1) = 0 OR list_contains($1, cluster) GROUP BY cluster",
            [list(address.clusters)],
        ).fetchall()
    )
    if not ends:
        return None
    newest_ms = max(ends.values())
    start_ms, end_ms, was_cut = _range(snapshot, address, newest_ms)
    at_ms = min(address.at_ms or end_ms, newest_ms)
    is_now = at_ms >= newest_ms
    moments = ends if is_now else dict.fromkeys(ends, at_ms)
    ended = _make_state(cursor, snapshot, moments, is_now=is_now)
    places, places_total, places_entries = _places(cursor, snapshot, address.by)
    worst, worst_total = _worst(cursor, snapshot, address.causes, start_ms, at_ms)
    of_all = _worst(cursor, snapshot, (), start_ms, at_ms)[0] if address.causes else worst
    limits, limits_total = nearly_used(cursor, snapshot, moments, most=MOST_ROWS)
    losses, drains = _deadlines(cursor, snapshot, moments)
    return Overview(
        address, newest_ms,
        tuple(sorted((cluster, end) for cluster, end in ends.items() if end < newest_ms - STALE_MS)),
        start_ms, end_ms, was_cut, at_ms, is_now,
        _counts(cursor, at_ms),
        tuple((ago_ms, _before(cursor, snapshot, moments, ago_ms, is_now=is_now)) for ago_ms in AGO_MS),
        ended,
        timeline(cursor, snapshot, tuple(ends), start_ms, end_ms),
        places, places_total, places_entries,
        worst, worst_total, of_all[0] if of_all else None, limits, limits_total, losses, drains,
        _incidents(cursor, snapshot, tuple(ends), at_ms),
        frozenset(table for table in ("episodes", "forecasts", "incidents") if snapshot.versions[table] is not None),
    )  # fmt: skip


def _range(snapshot: Snapshot, address: OverviewAddress, newest_ms: int) -> tuple[int, int, bool]:
    """The range [start, end), and whether a longer one was requested. The newest hours begin with the first verdict in them: a recording is short."""
    length_ms = LENGTHS_MS[address.length]
    end_ms = address.end_ms or (
        newest_ms if address.start_ms is None else max(newest_ms, address.start_ms + MINUTE_MS)
    )
    if address.start_ms is not None:
        was_cut = end_ms - address.start_ms > LONGEST_MS
        return (end_ms - LONGEST_MS if was_cut else address.start_ms), end_ms, was_cut
    start_ms = end_ms - length_ms
    first_ms = first_judged(snapshot, address.clusters, start_ms, end_ms)
    return min(first_ms, end_ms - SHORTEST_MS), end_ms, False


def _make_state(cursor, snapshot: Snapshot, moments: dict[str, int], *, is_now: bool) -> int:
    """Make ``state``, the subscriptions at the moment; how many of the last day are not in it."""
    columns = f"{KEY}, window_end_ms, cause, limiter, confidence, backlog_entries, backlog_growth_entries, own_topic"
    if is_now:
        cursor.execute(
            f"CREATE OR REPLACE TEMP TABLE state AS SELECT {columns}, since_ms FROM latest WHERE NOT stale AND list_contains(?, cluster)",  # noqa: S608
            [list(moments)],
        )
    else:
        source, values = windows_at(snapshot, moments)
        cursor.execute(
            f"CREATE OR REPLACE TEMP TABLE state AS SELECT {KEY}, w.*, {OWN_TOPIC_SQL} AS own_topic, NULL::BIGINT AS since_ms FROM {source}",  # noqa: S608
            values,
        )
    known = "SELECT count(*) FROM latest WHERE stale AND list_contains(?, cluster)"
    return cursor.execute(known, [list(moments)]).fetchall()[0][0] if is_now else 0


def _counts(cursor, at_ms: int) -> MomentCounts:
    rows = cursor.execute(
        "SELECT cause, count(*), sum(backlog_entries) FROM state WHERE NOT (own_topic AND cause = 'healthy') GROUP BY cause"
    ).fetchall()
    return _counted(at_ms, rows)


def _counted(at_ms: int, rows: Sequence[tuple]) -> MomentCounts:
    entries = [entries for cause, _, entries in rows if cause != "healthy" and entries is not None]
    causes = Counter()
    for cause, number, _ in rows:
        causes[cause] += number
    return MomentCounts(
        at_ms, {cause: causes[cause] for cause in ORDER if causes[cause]}, sum(entries) if entries else None
    )


def _before(
    cursor, snapshot: Snapshot, moments: dict[str, int], ago_ms: int, *, is_now: bool
) -> MomentCounts | None:
    at_ms = max(moments.values()) - ago_ms
    if is_now:
        rows = cursor.execute(
            "SELECT cause, subscriptions, backlog_entries, cluster FROM before WHERE ago_ms = ? AND list_contains(?, cluster)",
            [ago_ms, list(moments)],
        ).fetchall()
    else:
        source, values = windows_at(snapshot, dict.fromkeys(moments, at_ms))
        rows = cursor.execute(
            f"SELECT w.cause, count(*), sum(w.backlog_entries), cluster FROM {source} GROUP BY ALL",  # noqa: S608
            values,
        ).fetchall()
    is_whole = {cluster for *_, cluster in rows} == set(moments)
    return _counted(at_ms, [row[:3] for row in rows]) if is_whole else None


def _places(cursor, snapshot: Snapshot, by: str) -> tuple[list[dict], int, float]:
    """Namespaces or brokers by ready backlog; how many have any, and how much it is together."""
    joined = "state"
    if by == "broker":
        make_uses(snapshot)
        joined = f"state LEFT JOIN (SELECT {KEY}, broker FROM uses) USING ({KEY})"  # noqa: S608
    rows = dicts(
        cursor.execute(
            f"""
            SELECT cluster, {by} AS name, sum(backlog_entries) AS entries, sum(backlog_growth_entries) AS growth_entries,
                   count(*) AS subscriptions, count(*) FILTER (cause <> 'healthy') AS troubled,
                   arg_max({{cause: cause, limiter: limiter}}, coalesce(backlog_entries, -1)) FILTER (cause <> 'healthy') AS worst,
                   count(*) OVER () AS total, sum(sum(backlog_entries)) OVER () AS all_entries
            FROM {joined} GROUP BY cluster, {by} HAVING sum(backlog_entries) > 0
            ORDER BY entries DESC, cluster, name LIMIT {MOST_PLACES}
            """  # noqa: S608
        )
    )
    found = [
        {
            key: row[key]
            for key in ("cluster", "name", "entries", "growth_entries", "subscriptions", "troubled")
        }
        | {
            "cause": row["worst"] and row["worst"]["cause"],
            "limiter": row["worst"] and row["worst"]["limiter"],
        }
        for row in rows
    ]
    return found, (rows[0]["total"] if rows else 0), (rows[0]["all_entries"] if rows else 0.0)


def _worst(
    cursor, snapshot: Snapshot, causes: Sequence[str], start_ms: int, at_ms: int
) -> tuple[list[dict], int]:
    """Subscriptions with a problem, the largest backlog first, and how many there are."""
    rows = dicts(
        cursor.execute(
            f"SELECT {KEY}, cause, limiter, confidence, backlog_entries, backlog_growth_entries, since_ms, count(*) OVER () AS total "  # noqa: S608
            "FROM state WHERE cause <> 'healthy' AND (len($1) = 0 OR list_contains($1, cause)) "
            f"ORDER BY backlog_entries DESC NULLS LAST, list_position({list(ORDER)!r}, cause), {KEY} LIMIT {MOST_WORST}",
            [list(causes)],
        )
    )
    episodes = episodes_of(cursor, snapshot, rows, start_ms, at_ms)
    for row in rows:
        mine = episodes.get(key_of(row), [])
        open_now = [one for one in mine if one["known_until_ms"] >= at_ms - STALE_MS]
        if open_now:
            row["since_ms"] = open_now[-1]["since_ms"]
        row["episodes"] = mine
    return rows, (rows[0]["total"] if rows else 0)


def _deadlines(cursor, snapshot: Snapshot, moments: dict[str, int]) -> tuple[list[dict], list[dict]]:
    """The earliest losses, and drains of the largest backlogs without one; newest forecasts that were made by the moment."""
    files = [
        file
        for file in snapshot.files["forecasts"]
        if (at := moments.get(file.partition["cluster"])) is not None
        and file.maximum["made_at_ms"] > at - FORECAST_KNOWN_MS
        and file.minimum["made_at_ms"] <= at
    ]
    ends = " UNION ALL ".join("SELECT ? AS cluster, ? AS at_ms" for _ in moments)
    rows = dicts(
        cursor.execute(
            f"""
            WITH ends AS ({ends}), made AS (
                SELECT f.*, ends.at_ms FROM {snapshot.source("forecasts", files)} AS f JOIN ends USING (cluster)
                WHERE made_at_ms > at_ms - {FORECAST_KNOWN_MS} AND made_at_ms <= at_ms
                QUALIFY row_number() OVER (PARTITION BY {KEY}, kind ORDER BY made_at_ms DESC, method = 'replay' DESC) = 1
            ), known AS (
                SELECT made.*, state.cause, state.limiter, state.backlog_entries FROM made JOIN state USING ({KEY})
            ), losses AS (
                SELECT * FROM known WHERE kind <> 'drain' AND state = 'expected' ORDER BY predicted_ms, {KEY} LIMIT {MOST_ROWS}
            ), drains AS (
                SELECT * FROM known WHERE kind = 'drain' AND state <> 'unknown' AND cause <> 'healthy'
                      AND ({KEY}) NOT IN (SELECT ({KEY}) FROM losses)
                ORDER BY state = 'expected', backlog_entries DESC, {KEY} LIMIT {MOST_ROWS}
            )
            SELECT * FROM losses UNION ALL BY NAME SELECT * FROM drains
            """,  # noqa: S608
            [value for pair in moments.items() for value in pair],
        )
    )
    losses = [row for row in rows if row["kind"] != "drain"]
    return losses, [row for row in rows if row["kind"] == "drain"][: MOST_ROWS - len(losses)]


def _incidents(cursor, snapshot: Snapshot, clusters: Sequence[str], at_ms: int) -> list[dict]:
    source = snapshot.source("incidents", snapshot.files["incidents"])
    return dicts(
        cursor.execute(
            f"SELECT * EXCLUDE (members), count(*) OVER () AS total FROM {source} "  # noqa: S608
            "WHERE list_contains(?, cluster) AND start_ms < ? AND (end_ms IS NULL OR end_ms > ?) "
            f"ORDER BY subscriptions DESC, start_ms, cluster, kind, shared_with LIMIT {MOST_ROWS}",
            [list(clusters), at_ms, at_ms],
        )
    )


def version(reader: LakeReader) -> str:
    """What the newest snapshot is of, in a word that changes whenever any table of it does."""
    return reader.read(lambda _, snapshot: snapshot.word)


def last_run(reader: LakeReader) -> LastRun | None:
    """How the newest run ended."""

    def read(cursor, snapshot):
        source = snapshot.source("ingest_runs", snapshot.files["ingest_runs"])
        rows = cursor.execute(
            "SELECT command, status, finished_ms, max(CASE WHEN status = 'done' THEN finished_ms END) OVER () "  # noqa: S608
            f"FROM {source} ORDER BY finished_ms DESC LIMIT 1"
        ).fetchall()
        return LastRun(*rows[0]) if rows else None

    return reader.read_cached("last run", read)
