"""Topics, namespaces and brokers, counted. In: a reader and an address. Out: one row per place from the newest verdicts in memory.

A mean over subscriptions would hide the one with a problem, so a place counts them and names its worst.
"""

from __future__ import annotations

from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.data.limit_use import covers_recent, make_uses
from throttlescope.app.web.data.newest import NOW, RECENT
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.app.web.data.table_query import Conditions, Sort, cut, ordered

#: What names a place, of a row of ``latest`` joined with its row of ``uses``.
PLACE = {"topic": "topic", "namespace": "namespace", "broker": "broker"}
JOINED = "latest LEFT JOIN uses USING (cluster, namespace, topic, partition, subscription)"

#: Columns of ``latest`` and ``uses`` by the view.
_OF_VIEW = {
    NOW: {"cause": "cause", "limiter": "limiter", "rank": "cause_rank", "backlog": "backlog_entries"},
    RECENT: {"cause": "main_cause", "limiter": "main_limiter", "rank": "main_rank", "backlog": "main_peak_entries"},
}  # fmt: skip
_SORTABLE = {
    "name": "name",
    "cluster": "cluster",
    "worst": "worst_rank",
    "subscriptions": "subscriptions",
    "troubled": "troubled",
    "backlog": "backlog_entries",
    "share": "share",
}
_BY_HARM = "troubled = 0, worst_entries DESC NULLS LAST, worst_rank, share DESC NULLS LAST, cluster, name"


def share_view(view: str, *, recent_is_read: bool) -> str:
    """Over which time the most used limit is known: ``recent`` only where the recent minutes are few enough to be read."""
    return RECENT if view == RECENT and recent_is_read else NOW


def places(
    reader: LakeReader,
    address: RollupsAddress,
    *,
    sort: Sort = (),
    start: int = 0,
    end: int = 100,
) -> tuple[list[dict], int]:
    """One page of places, worst first.

    Parameters
    ----------
    sort : sequence of (column, descending)
        Unknown columns are ignored; ties and no order fall back to harm.
    start, end : int
        Rows [start, end) of the order.

    Returns
    -------
    rows : list of dict
        ``cluster``, ``name`` (None: subscriptions whose broker no scrape named); ``subscriptions`` (partitions), ``topics``,
        ``troubled`` of them, ``causes`` {cause: subscriptions}; ``worst``, the one that is not healthy with the
        largest backlog: its key, ``cause``, ``limiter``, ``backlog_entries``, ``rank`` (None: all are healthy);
        ``backlog_entries``, summed (None: none measured), ``measured`` of how many; ``share``, the largest use / limit, and its ``limiter``.
    total : int
        Rows of all pages.
    """

    def read(cursor, snapshot):
        make_uses(snapshot)
        where = _where(address)
        name = PLACE[address.by]
        if end <= start:
            return [], _count(cursor, name, where)
        order = ordered(sort, _SORTABLE)
        # What is long to count is only counted of the page's own rows.
        query = f"""
            WITH page AS (
                SELECT *, count(*) OVER () AS total FROM ({_grouped(address, covers_recent(snapshot), where.sql)})
                ORDER BY {", ".join([*order, _BY_HARM])} LIMIT ? OFFSET ?
            ), more AS ({_details(address, where.sql)})
            SELECT page.* EXCLUDE (worst_entries, worst_rank), more.* EXCLUDE (cluster, name)
            FROM page JOIN more ON page.cluster = more.cluster AND page.name IS NOT DISTINCT FROM more.name
            ORDER BY {", ".join([*(f"page.{part}" for part in order), _BY_HARM.replace("cluster, name", "page.cluster, page.name")])}
            """  # noqa: S608
        rows = dicts(cursor.execute(query, [*where.values, *cut(start, end), *where.values]))
        total = rows[0]["total"] if rows else _count(cursor, name, where) if start else 0
        return [{key: row[key] for key in row if key != "total"} for row in rows], total

    return reader.read(read)


def recent_is_read(reader: LakeReader) -> bool:
    """Whether the most used limit of the recent hours is known, or only that of now."""
    return reader.read(lambda _, snapshot: covers_recent(snapshot))


def _count(cursor, name: str, where: Conditions) -> int:
    return cursor.execute(
        f"SELECT count(*) FROM (SELECT DISTINCT cluster, {name} FROM {JOINED} WHERE {where.sql})",  # noqa: S608
        where.values,
    ).fetchall()[0][0]


def _where(address: RollupsAddress) -> Conditions:
    name = f"lower(cluster || ' ' || coalesce({PLACE[address.by]}, ''))"
    return Conditions().words(address.search, name).among("cluster", address.clusters)


def _grouped(address: RollupsAddress, recent_is_read: bool, where: str) -> str:
    """What places are sorted by."""
    view = address.view or NOW
    of, share, name = _OF_VIEW[view], share_view(view, recent_is_read=recent_is_read), PLACE[address.by]
    troubled = f"FILTER (coalesce({of['cause']}, 'healthy') != 'healthy')"
    return f"""
        SELECT cluster, {name} AS name, count(*) AS subscriptions, count(*) {troubled} AS troubled,
               max({of["backlog"]}) {troubled} AS worst_entries,
               arg_max({of["rank"]}, coalesce({of["backlog"]}, -1)) {troubled} AS worst_rank,
               sum({of["backlog"]}) AS backlog_entries, count({of["backlog"]}) AS measured,
               max(share_{share}) AS share, arg_max(limiter_{share}, share_{share}) AS limiter
        FROM {JOINED} WHERE {where} GROUP BY cluster, {name}
        """  # noqa: S608


def _details(address: RollupsAddress, where: str) -> str:
    """The other columns, of the places of ``page``."""
    of, name = _OF_VIEW[address.view or NOW], PLACE[address.by]
    cause = f"coalesce({of['cause']}, 'healthy')"
    worst = (
        "{cluster: cluster, namespace: namespace, topic: topic, partition: partition, subscription: subscription, "
        f"cause: {of['cause']}, limiter: {of['limiter']}, backlog_entries: {of['backlog']}, rank: {of['rank']}}}"
    )
    return f"""
        SELECT cluster, {name} AS name, count(DISTINCT topic) AS topics, histogram({cause}) AS causes,
               first({worst} ORDER BY {of["backlog"]} DESC NULLS LAST, {of["rank"]}, topic, partition, subscription)
                   FILTER ({cause} != 'healthy') AS worst
        FROM {JOINED} WHERE {where} AND (cluster, coalesce({name}, '')) IN (SELECT (cluster, coalesce(name, '')) FROM page)
        GROUP BY cluster, {name}
        """  # noqa: S608
