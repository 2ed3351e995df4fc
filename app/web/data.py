"""The only reader of the web app. In: the lake's folder. Out: rows for pages, from one snapshot per request.

Nothing is kept between requests but what belongs to a version of the tables: their file lists and
one small table with the newest verdict of every subscription. Files are pruned by cluster, topic
and time before DuckDB opens any; each request has a cursor of its own. No Spark session is here.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pandas as pd

from throttlescope.app.web.address import VIEWS, OverviewAddress, Subscription
from throttlescope.app.web.causes import ORDER
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.lake import DataFile, Lake
from throttlescope.ingest.times import BLOCK_MS, DAY_MS, MINUTE_MS

_TABLES = ("verdicts", "signals", "truth", "ingest_runs")

#: How far back the overview looks for "since" and for the main cause.
LOOK_BACK_MS = DAY_MS
RECENT_MS = 6 * BLOCK_MS
#: A subscription whose last verdict is older than its cluster's newest by this is not current.
STALE_MS = 10 * MINUTE_MS

_KEY = ", ".join(SUBSCRIPTION_KEY_NAMES)

# One row per subscription: its newest verdict, since when, and what held it longest in the recent hours.
LATEST_SQL = f"""
CREATE TABLE latest AS
WITH recent AS (
    SELECT {_KEY}, window_start_ms, window_end_ms, side, cause, limiter, confidence, naive_side,
           backlog_entries, backlog_growth_entries,
           max(window_end_ms) OVER (PARTITION BY cluster) AS cluster_end_ms
    FROM {{source}}
), newest AS (
    SELECT * FROM recent WHERE window_end_ms > cluster_end_ms - {LOOK_BACK_MS}
), stepped AS (
    SELECT *, max(window_end_ms) OVER (s ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_to_ms
    FROM newest WINDOW s AS (PARTITION BY {_KEY} ORDER BY window_end_ms, window_start_ms)
), spoken AS (
    SELECT *, greatest(window_start_ms, coalesce(covered_to_ms, window_start_ms)) AS from_ms
    FROM stepped WHERE covered_to_ms IS NULL OR window_end_ms > covered_to_ms
), marked AS (
    SELECT *, covered_to_ms IS NULL OR from_ms > covered_to_ms AS follows_gap,
           cause IS DISTINCT FROM lag(cause) OVER s OR limiter IS DISTINCT FROM lag(limiter) OVER s AS turned
    FROM spoken WINDOW s AS (PARTITION BY {_KEY} ORDER BY window_end_ms)
), numbered AS (
    SELECT *, sum(CASE WHEN follows_gap OR turned THEN 1 ELSE 0 END) OVER s AS run
    FROM marked WINDOW s AS (PARTITION BY {_KEY} ORDER BY window_end_ms)
), runs AS (
    SELECT {_KEY}, run, min(from_ms) AS since_ms, bool_or(follows_gap) AS since_at_least
    FROM numbered GROUP BY {_KEY}, run
), held AS (
    SELECT {_KEY}, cause AS main_cause, limiter AS main_limiter,
           sum(window_end_ms - greatest(from_ms, cluster_end_ms - {RECENT_MS})) AS main_held_ms,
           min(greatest(from_ms, cluster_end_ms - {RECENT_MS})) AS main_from_ms, max(window_end_ms) AS main_to_ms,
           avg(confidence) AS main_confidence, max(backlog_entries) AS main_peak_entries,
           min(side) AS main_side, mode(naive_side ORDER BY naive_side) AS main_naive_side
    FROM numbered WHERE window_end_ms > cluster_end_ms - {RECENT_MS}
    GROUP BY {_KEY}, cause, limiter
), main AS (
    SELECT * FROM held
    QUALIFY row_number() OVER (
        PARTITION BY {_KEY}
        ORDER BY main_cause = 'healthy', main_cause = 'unknown', main_held_ms DESC, main_to_ms DESC, main_cause,
                 main_limiter) = 1
)
SELECT numbered.* EXCLUDE (run, covered_to_ms, from_ms, follows_gap, turned),
       since_ms, since_at_least, main.* EXCLUDE ({_KEY}),
       window_end_ms < cluster_end_ms - {STALE_MS} AS stale,
       starts_with(string_split(topic, '/')[-1], '__') AS own_topic,
       list_position({list(ORDER)!r}, cause) AS cause_rank,
       coalesce(list_position({list(ORDER)!r}, main_cause), {len(ORDER)}) AS main_rank
FROM numbered JOIN runs USING ({_KEY}, run) LEFT JOIN main USING ({_KEY})
QUALIFY row_number() OVER (PARTITION BY {_KEY} ORDER BY window_end_ms DESC) = 1
"""  # noqa: S608

NOW, RECENT = VIEWS

_NAMES = {name: name for name in ("subscription", "topic", "partition", "cluster")}
_SORTABLE = {
    NOW: _NAMES
    | {
        "cause": "cause_rank",
        "confidence": "confidence",
        "backlog": "backlog_entries",
        "growth": "backlog_growth_entries",
        "held": "window_end_ms - since_ms",
        "other": "main_rank",
        "naive": "naive_side",
    },
    RECENT: _NAMES
    | {
        "cause": "main_rank",
        "confidence": "main_confidence",
        "backlog": "main_peak_entries",
        "held": "main_held_ms",
        "when": "main_from_ms",
        "other": "cause_rank",
        "naive": "main_naive_side",
    },
}
_CAUSE = {NOW: "cause", RECENT: "main_cause"}

# Harm first: what is wrong, the larger backlog before the smaller; then what was wrong at another time.
_BY_HARM = {
    NOW: "cause = 'healthy', backlog_entries DESC NULLS LAST, main_rank, main_held_ms DESC NULLS LAST",
    RECENT: "coalesce(main_cause, 'healthy') = 'healthy', main_peak_entries DESC NULLS LAST, cause_rank",
}


@dataclass(frozen=True)
class Freshness:
    """What the lake holds and how new it is.

    Attributes
    ----------
    data_up_to_ms : int or None
        End of the newest verdict's window; None without verdicts.
    subscriptions : int
        With at least one verdict in the last day of their cluster.
    own_topics : int
        Healthy ones among them that belong to Pulsar's own topics.
    clusters : tuple of str
    source : str or None
        Where the newest run read from.
    is_recording : bool
        It read recordings: the times are those of the recording.
    """

    data_up_to_ms: int | None
    subscriptions: int
    own_topics: int
    clusters: tuple[str, ...]
    source: str | None
    is_recording: bool


@dataclass(frozen=True)
class CauseCount:
    """Subscriptions with a cause now, and with it as the main one of the recent hours."""

    cause: str
    now: int
    recent: int


class _Snapshot:
    """One version of the tables: file lists, and the newest verdicts in memory."""

    def __init__(self, lake: Lake, versions: dict[str, int | None]) -> None:
        self.versions = versions
        self.files: dict[str, list[DataFile]] = {
            table: [] if version is None else lake.files(table, version=version)
            for table, version in versions.items()
        }
        self.connection = duckdb.connect()
        self.connection.execute("SET TimeZone = 'UTC'")
        for table in _TABLES:
            # A table in the database: what is only registered is not seen by cursors.
            self.connection.register("empty", TABLES[table].loose_schema.empty_table())
            self.connection.execute(f"CREATE TABLE empty_{table} AS SELECT * FROM empty")  # noqa: S608
            self.connection.unregister("empty")
        self.connection.execute(LATEST_SQL.format(source=self.source("verdicts", self._newest_verdicts())))

    def source(self, table: str, files: Sequence[DataFile]) -> str:
        if not files:
            return f"empty_{table}"
        quoted = ", ".join("'" + file.path.replace("'", "''") + "'" for file in files)
        return f"read_parquet([{quoted}], hive_partitioning = false)"

    def files_of(
        self, table: str, subscription: Subscription, column: str, start: int, end: int
    ) -> list[DataFile]:
        """Files that may hold rows of a subscription with ``column`` in [start, end]."""
        wanted = {
            "cluster": (subscription.cluster, subscription.cluster),
            "topic": (subscription.topic, subscription.topic),
            column: (start, end),
        }
        return [
            file
            for file in self.files[table]
            if all(
                name not in file.minimum or (file.minimum[name] <= last and file.maximum[name] >= first)
                for name, (first, last) in wanted.items()
            )
        ]

    def _newest_verdicts(self) -> list[DataFile]:
        newest: dict[str, int] = {}
        for file in self.files["verdicts"]:
            cluster = file.partition["cluster"]
            newest[cluster] = max(newest.get(cluster, 0), file.maximum["window_end_ms"])
        return [
            file
            for file in self.files["verdicts"]
            if file.maximum["window_end_ms"] > newest[file.partition["cluster"]] - LOOK_BACK_MS
        ]


class LakeReader:
    """Reads one lake for the pages. Safe to share between threads; holds no state of any user.

    Parameters
    ----------
    lake_path : str or Path
        The lake's folder; it may be empty or not exist yet.
    """

    def __init__(self, lake_path: str | Path) -> None:
        self.lake_path = str(lake_path)
        self._lake = Lake(lake_path)
        self._lock = threading.Lock()
        self._snapshot: _Snapshot | None = None

    # -- overview --------------------------------------------------------------------------

    def freshness(self) -> Freshness:
        """How new the lake is and where it came from."""

        def read(cursor, snapshot):
            newest, rows, own = cursor.execute(
                f"SELECT max(window_end_ms), count(*), count(*) FILTER ({_QUIET_OWN}) FROM latest"  # noqa: S608
            ).fetchall()[0]
            clusters = cursor.execute("SELECT DISTINCT cluster FROM latest ORDER BY cluster").fetchall()
            runs = snapshot.source("ingest_runs", snapshot.files["ingest_runs"])
            last = cursor.execute(
                f"SELECT source, command FROM {runs} WHERE status = 'done' ORDER BY finished_ms DESC LIMIT 1"  # noqa: S608
            ).fetchall()
            source, command = last[0] if last else (None, None)
            is_recording = command == "demo" or (source or "").startswith("recording")
            return Freshness(newest, rows, own, tuple(row[0] for row in clusters), source, is_recording)

        return self._read(read)

    def cause_counts(self, address: OverviewAddress) -> list[CauseCount]:
        """Subscriptions per cause, worst cause first, under the address's search and clusters.

        Over the recent hours a subscription counts once, by what held it longest.
        """

        def read(cursor, _):
            where, values = _where(address, with_causes=False)
            now = dict(
                cursor.execute(f"SELECT cause, count(*) FROM latest {where} GROUP BY ALL", values).fetchall()  # noqa: S608
            )
            recent = dict(
                cursor.execute(
                    f"SELECT main_cause, count(*) FROM latest {where} AND main_cause IS NOT NULL GROUP BY ALL",  # noqa: S608
                    values,
                ).fetchall()
            )
            return [
                CauseCount(cause, now.get(cause, 0), recent.get(cause, 0))
                for cause in ORDER
                if cause in now or cause in recent
            ]

        return self._read(read)

    def subscriptions(
        self,
        address: OverviewAddress,
        *,
        sort: Sequence[tuple[str, bool]] = (),
        start: int = 0,
        end: int = 100,
    ) -> tuple[list[dict], int]:
        """One page of subscriptions with their newest verdict and what held them longest lately.

        Parameters
        ----------
        sort : sequence of (column, descending)
            Unknown columns are ignored; ties and no order fall back to harm, worst first.
        start, end : int
            Rows [start, end) of the order.

        Returns
        -------
        rows : list of dict
        total : int
            Rows of all pages.
        """

        def read(cursor, _):
            where, values = _where(address)
            view = address.view or NOW
            order = [
                f"{_SORTABLE[view][column]} {'DESC' if down else 'ASC'} NULLS LAST"
                for column, down in sort
                if column in _SORTABLE[view]
            ]
            total = cursor.execute(f"SELECT count(*) FROM latest {where}", values).fetchall()[0][0]  # noqa: S608
            rows = _dicts(
                cursor.execute(
                    f"SELECT * FROM latest {where} ORDER BY {', '.join([*order, _BY_HARM[view], _KEY])} LIMIT ? OFFSET ?",  # noqa: S608
                    [*values, max(0, min(end - start, 1_000)), max(0, start)],
                )
            )
            return rows, total

        return self._read(read)

    # -- one subscription ------------------------------------------------------------------

    def span(self, subscription: Subscription) -> tuple[int, int] | None:
        """First and last moment for which there is a minute or a verdict; None: never seen."""

        def read(cursor, snapshot):
            bounds = []
            for table, first, last in (
                ("signals", "min(minute_ms)", f"max(minute_ms) + {MINUTE_MS}"),
                ("verdicts", "min(window_start_ms)", "max(window_end_ms)"),
            ):
                time_column = "minute_ms" if table == "signals" else "window_end_ms"
                files = snapshot.files_of(table, subscription, time_column, 0, 2**62)
                bounds += cursor.execute(
                    f"SELECT {first}, {last} FROM {snapshot.source(table, files)} {_THIS}",  # noqa: S608
                    _values(subscription),
                ).fetchall()
            bounds = [pair for pair in bounds if pair[0] is not None]
            return (min(pair[0] for pair in bounds), max(pair[1] for pair in bounds)) if bounds else None

        return self._read(read)

    def signals(self, subscription: Subscription, start_ms: int, end_ms: int) -> pd.DataFrame:
        """Minutes that lie inside [start_ms, end_ms), oldest first; the contract's columns."""

        def read(cursor, snapshot):
            files = snapshot.files_of("signals", subscription, "minute_ms", start_ms, end_ms)
            return cursor.execute(
                f"SELECT * FROM {snapshot.source('signals', files)} {_THIS} "  # noqa: S608
                "AND minute_ms >= ? AND minute_ms < ? ORDER BY minute_ms",
                [*_values(subscription), start_ms, end_ms],
            ).df()

        return self._read(read)

    def verdicts(self, subscription: Subscription, start_ms: int, end_ms: int) -> list[dict]:
        """Verdicts whose window ends in (start_ms, end_ms], oldest first."""

        def read(cursor, snapshot):
            files = snapshot.files_of("verdicts", subscription, "window_end_ms", start_ms, end_ms)
            return _dicts(
                cursor.execute(
                    f"SELECT * FROM {snapshot.source('verdicts', files)} {_THIS} "  # noqa: S608
                    "AND window_end_ms > ? AND window_end_ms <= ? ORDER BY window_end_ms, window_start_ms",
                    [*_values(subscription), start_ms, end_ms],
                )
            )

        return self._read(read)

    def history(self, subscription: Subscription, start_ms: int, end_ms: int) -> list[dict]:
        """As :meth:`verdicts`, with what :func:`runs` needs alone: a day of it is still small."""

        def read(cursor, snapshot):
            files = snapshot.files_of("verdicts", subscription, "window_end_ms", start_ms, end_ms)
            return _dicts(
                cursor.execute(
                    "SELECT window_start_ms, window_end_ms, cause, limiter, confidence, backlog_entries "  # noqa: S608
                    f"FROM {snapshot.source('verdicts', files)} {_THIS} "
                    "AND window_end_ms > ? AND window_end_ms <= ? ORDER BY window_end_ms, window_start_ms",
                    [*_values(subscription), start_ms, end_ms],
                )
            )

        return self._read(read)

    def truth(self, subscription: Subscription, start_ms: int, end_ms: int) -> list[dict]:
        """What a recording's script did, where it touches [start_ms, end_ms); empty for a live cluster."""

        def read(cursor, snapshot):
            return _dicts(
                cursor.execute(
                    f"SELECT * FROM {snapshot.source('truth', snapshot.files['truth'])} {_THIS} "  # noqa: S608
                    "AND end_ms > ? AND start_ms < ? ORDER BY start_ms",
                    [*_values(subscription), start_ms, end_ms],
                )
            )

        return self._read(read)

    # -- snapshots -------------------------------------------------------------------------

    def _read(self, read):
        try:
            snapshot = self._current()
            return read(snapshot.connection.cursor(), snapshot)
        except duckdb.IOException:
            # A vacuum took a file of an old snapshot: the newest one names only files that are there.
            with self._lock:
                self._snapshot = None
            snapshot = self._current()
            return read(snapshot.connection.cursor(), snapshot)

    def _current(self) -> _Snapshot:
        versions = {table: self._lake.version(table) for table in _TABLES}
        with self._lock:
            if self._snapshot is None or self._snapshot.versions != versions:
                self._snapshot = _Snapshot(self._lake, versions)
            return self._snapshot


# The selector as it is typed elsewhere, so that a pasted one is found.
_SELECTOR = (
    "cluster || ' ' || topic || CASE WHEN partition < 0 THEN '' ELSE '-partition-' || partition END"
    " || '#' || subscription"
)

_THIS = "WHERE cluster = ? AND topic = ? AND partition = ? AND subscription = ?"


def _values(subscription: Subscription) -> list:
    return [subscription.cluster, subscription.topic, subscription.partition, subscription.subscription]


# Pulsar's own topics are news only when something is wrong with them.
_QUIET_OWN = "own_topic AND cause = 'healthy' AND coalesce(main_cause, 'healthy') = 'healthy'"


def _where(address: OverviewAddress, *, with_causes: bool = True) -> tuple[str, list]:
    conditions, values = ["true" if address.own_topics else f"NOT ({_QUIET_OWN})"], []
    for word in address.search.split():
        # Every word must be somewhere in the names; contains() has no wildcards to escape.
        conditions.append(f"contains(lower({_SELECTOR}), ?)")
        values.append(word.lower())
    if address.clusters:
        conditions.append("list_contains(?, cluster)")
        values.append(list(address.clusters))
    if with_causes and address.causes:
        conditions.append(f"list_contains(?, {_CAUSE[address.view or NOW]})")
        values.append(list(address.causes))
    return f"WHERE {' AND '.join(conditions)}", values


def _dicts(result: duckdb.DuckDBPyConnection) -> list[dict]:
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
