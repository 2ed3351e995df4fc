"""The newest verdict of every subscription, for pages. In: a reader and an address. Out: rows, counts by cause, and how fresh they are."""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.app.presentation.causes import ORDER
from throttlescope.app.web.address.subscriptions import VIEWS, SubscriptionsAddress
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.app.web.data.table_query import Conditions, Sort, cut, ordered

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
class ClusterFreshness:
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


def freshness(reader: LakeReader) -> ClusterFreshness:
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
        return ClusterFreshness(newest, rows, own, tuple(row[0] for row in clusters), source, is_recording)

    return reader.read_cached("freshness", read)


def newest_of_cluster(reader: LakeReader, cluster: str) -> int | None:
    """End of the newest verdict of a cluster; None where it has none."""
    return reader.read(
        lambda cursor, _: cursor.execute(
            "SELECT max(window_end_ms) FROM latest WHERE cluster = ?", [cluster]
        ).fetchall()[0][0]
    )


def cause_counts(reader: LakeReader, address: SubscriptionsAddress) -> list[CauseCount]:
    """Subscriptions per cause, worst cause first, under the address's search and clusters.

    Over the recent hours a subscription counts once, by its main cause.
    """

    def read(cursor, _):
        where = _where(address, with_causes=False)
        now = dict(
            cursor.execute(
                f"SELECT cause, count(*) FROM latest WHERE {where.sql} GROUP BY ALL",  # noqa: S608
                where.values,
            ).fetchall()
        )
        recent = dict(
            cursor.execute(
                f"SELECT main_cause, count(*) FROM latest WHERE {where.sql} AND main_cause IS NOT NULL GROUP BY ALL",  # noqa: S608
                where.values,
            ).fetchall()
        )
        return [
            CauseCount(cause, now.get(cause, 0), recent.get(cause, 0))
            for cause in ORDER
            if cause in now or cause in recent
        ]

    key = ("cause counts", address.search, tuple(address.clusters), address.own_topics)
    return reader.read_cached(key, read)


def subscriptions(
    reader: LakeReader,
    address: SubscriptionsAddress,
    *,
    sort: Sort = (),
    start: int = 0,
    end: int = 100,
    only: Conditions | None = None,
) -> tuple[list[dict], int]:
    """One page of subscriptions with their newest verdict and their main cause in the recent hours.

    Parameters
    ----------
    sort : sequence of (column, descending)
        Unknown columns are ignored; ties and no order fall back to harm, worst first.
    start, end : int
        Rows [start, end) of the order.
    only : Conditions, optional
        On columns of ``latest``, in addition to the address.

    Returns
    -------
    rows : list of dict
    total : int
        Rows of all pages.
    """

    def read(cursor, _):
        where = _where(address).join(only)
        view = address.view or NOW
        order = ", ".join([*ordered(sort, _SORTABLE[view]), _BY_HARM[view], "rowid"])
        total = cursor.execute(
            f"SELECT count(*) FROM latest WHERE {where.sql}",  # noqa: S608
            where.values,
        ).fetchall()[0][0]
        # Only what is sorted by is read of all rows, and everything of those on the page.
        on_page = f"SELECT rowid FROM latest WHERE {where.sql} ORDER BY {order} LIMIT ? OFFSET ?"  # noqa: S608
        rows = dicts(
            cursor.execute(
                f"SELECT * EXCLUDE (selector) FROM latest WHERE rowid IN ({on_page}) ORDER BY {order}",  # noqa: S608
                [*where.values, *cut(start, end)],
            )
        )
        return rows, total

    return reader.read(read)


# Pulsar's own topics are news only when something is wrong with them.
_QUIET_OWN = "own_topic AND cause = 'healthy' AND coalesce(main_cause, 'healthy') = 'healthy'"


def _where(address: SubscriptionsAddress, *, with_causes: bool = True) -> Conditions:
    where = Conditions("true" if address.own_topics else f"NOT ({_QUIET_OWN})")
    where.words(address.search, "selector").among("cluster", address.clusters)
    if with_causes:
        where.among(_CAUSE[address.view or NOW], address.causes)
    return where
