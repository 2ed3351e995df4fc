"""Limits as they are in force, one row per limiter. In: the newest rows of ``limits`` and minutes of ``signals``. Out: a page of rows.

``limits`` has the limits of each subscription partition; a topic's or a broker's limiter is one thing that many share, so it is one
row here. Both small tables are computed at their first use: ``limit_rows`` (newest row of each subscription partition and
level) and ``limiters`` (one row per limiter and unit, with its use in the recent range).
"""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.data.latest import KEY, RECENT_MS
from throttlescope.app.web.data.limit_use import NOW_MS, covers_recent, recent_files, rho_column
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.app.web.data.snapshot import Snapshot
from throttlescope.app.web.data.table_query import Conditions, Sort, cut, ordered
from throttlescope.ingest.contracts.vocabulary import LEVELS, LIMITERS, UNITS
from throttlescope.ingest.core.times import DAY_MS
from throttlescope.ingest.core.topic_name import PART_TEXT_SQL
from throttlescope.ingest.lake import DataFile

#: From which share on a limit counts as nearly used up in a minute, and below which it was not half used.
NEAR_SHARE, LOOSE_SHARE = 0.9, 0.5

_SORTABLE = {
    "cluster": "cluster",
    "limiter": "limiter",
    "owner": "owner",
    "rate": "per_s",
    "set_by": "r.set_by",
    "shared_by": "shared_by",
    "share": "share",
    "near": "near_minutes",
    "observed": "observed_ms",
}
_ORDERS = {
    None: "share DESC NULLS LAST",
    "often": "near_minutes DESC, share DESC NULLS LAST",
    "never": "share, per_s DESC NULLS LAST",
}


@dataclass(frozen=True)
class Known:
    """How much of the limits is known, and how fresh it is.

    Attributes
    ----------
    limiters : int
        That have a rate.
    observed_ms : int or None
        When the admin API last answered; None: no limits were ever read.
    oldest_ms : int or None
        The oldest answer that is still used.
    use_ms : int
        Length of the range, up to the newest verdicts, over which use was read.
    subscriptions : int
        Subscription partitions that were judged in the last day.
    unknown : dict of str to int
        Those of them whose limit is not known, by level.
    namespaces : tuple of str
        Where limits are known; the first thousand.
    """

    limiters: int
    observed_ms: int | None
    oldest_ms: int | None
    use_ms: int
    subscriptions: int
    unknown: dict[str, int]
    namespaces: tuple[str, ...]


def known(reader: LakeReader) -> Known:
    """How many limits are known, of which subscriptions, and how fresh they are."""

    def read(cursor, snapshot):
        make_limiters(snapshot)
        limiters = cursor.execute("SELECT count(*) FROM limiters WHERE r.rate IS NOT NULL").fetchall()[0][0]
        newest, oldest = cursor.execute(
            "SELECT max(observed_ms), min(observed_ms) FROM limit_rows"
        ).fetchall()[0]
        subscriptions = cursor.execute("SELECT count(*) FROM latest").fetchall()[0][0]
        with_limit = dict(cursor.execute("SELECT level, subscriptions FROM limits_by_level").fetchall())
        namespaces = cursor.execute("SELECT namespace FROM limits_namespaces ORDER BY namespace").fetchall()
        return Known(
            limiters,
            newest,
            oldest,
            RECENT_MS if covers_recent(snapshot) else NOW_MS,
            subscriptions,
            {level: subscriptions - with_limit.get(level, 0) for level in LEVELS},
            tuple(name for (name,) in namespaces),
        )

    return reader.read(read)


def limiters(
    reader: LakeReader,
    address: LimitsAddress,
    *,
    sort: Sort = (),
    start: int = 0,
    end: int = 100,
    only: Conditions | None = None,
) -> tuple[list[dict], int]:
    """One page of limiters.

    Parameters
    ----------
    sort : sequence of (column, descending)
        Unknown columns are ignored; ties and no order fall back to the use.
    start, end : int
        Rows [start, end) of the order.
    only : Conditions, optional
        On columns of ``limiters``, in addition to the address.

    Returns
    -------
    rows : list of dict
        ``cluster``, ``limiter`` (level and unit), ``owner`` parts (``broker``, ``topic``, ``partition``, ``subscription``; None where it
        has none), ``r`` (``rate`` per ``period_s``; ``counts``, ``relative``, ``set_by``, ``read_batch_entries``, ``read_size_bytes``),
        ``observed_ms``, ``shared_by`` subscription partitions, ``member``, the key of one of them; of the recent range ``share``, the
        largest use / limit of a minute, ``near_minutes`` with at least :data:`NEAR_SHARE` of it, ``minutes`` that are known.
    total : int
        Rows of all pages.
    """

    def read(cursor, snapshot):
        make_limiters(snapshot)
        where = _where(address).join(only)
        order = [*ordered(sort, _SORTABLE), _ORDERS[address.use], "cluster, owner, limiter"]
        total = cursor.execute(
            f"SELECT count(*) FROM limiters WHERE {where.sql}",  # noqa: S608
            where.values,
        ).fetchall()[0][0]
        rows = dicts(
            cursor.execute(
                f"SELECT * FROM limiters WHERE {where.sql} ORDER BY {', '.join(order)} LIMIT ? OFFSET ?",  # noqa: S608
                [*where.values, *cut(start, end)],
            )
        )
        return rows, total

    return reader.read(read)


def _where(address: LimitsAddress) -> Conditions:
    where = Conditions("true" if address.without else "r.rate IS NOT NULL")
    where.words(address.search, "lower(cluster || ' ' || owner)")
    where.among("cluster", address.clusters).among("level", address.levels).among("r.set_by", address.set_by)
    if address.namespaces:
        # A broker's limit is of every namespace that it has.
        where.add("list_has_any(?, namespaces)", list(address.namespaces))
    if address.use == "often":
        where.add("near_minutes > 0")
    elif address.use == "never":
        where.add(f"share < {LOOSE_SHARE}")
    return where


def newest_limit_files(snapshot: Snapshot) -> list[DataFile]:
    """Files that may hold an answer of the last day before the newest."""
    newest = max((file.maximum["observed_ms"] for file in snapshot.files["limits"]), default=0)
    return [file for file in snapshot.files["limits"] if file.maximum["observed_ms"] > newest - DAY_MS]


def make_limiters(snapshot: Snapshot) -> None:
    """Make ``limit_rows`` and ``limiters`` unless they exist."""

    def make() -> None:
        length_ms = RECENT_MS if covers_recent(snapshot) else NOW_MS
        cursor = snapshot.connection.cursor()
        cursor.execute(_ROWS_SQL.format(source=snapshot.source("limits", newest_limit_files(snapshot))))
        # Every view shows these counts: they are made once.
        cursor.execute(
            f"CREATE TABLE limits_by_level AS SELECT level, count(*) AS subscriptions FROM limit_rows JOIN latest USING ({KEY}) GROUP BY level"  # noqa: S608
        )
        cursor.execute(
            "CREATE TABLE limits_namespaces AS SELECT DISTINCT namespace FROM limit_rows ORDER BY namespace LIMIT 1000"
        )
        minutes = snapshot.source("signals", recent_files(snapshot, length_ms))
        cursor.execute(_LIMITERS_SQL.format(source=minutes, length=length_ms))

    snapshot.once("limiters", make)


# An answer is used for a day; older ones are ignored.
_ROWS_SQL = f"""
CREATE TABLE limit_rows AS
SELECT {KEY}, level, max(observed_ms) AS observed_ms,
       arg_max({{{{rate_msg: rate_msg, rate_bytes: rate_bytes, period_s: period_s, counts: counts,
                relative: relative_to_publish, set_by: set_by, broker: broker, exempt_caught_up: exempt_caught_up,
                read_batch_entries: read_batch_entries, read_size_bytes: read_size_bytes,
                answered_ms: coalesce(answered_ms, observed_ms)}}}}, observed_ms) AS r
FROM (SELECT *, max(observed_ms) OVER (PARTITION BY cluster) AS newest_ms FROM {{source}})
WHERE observed_ms > newest_ms - {DAY_MS} GROUP BY {KEY}, level
"""  # noqa: S608

_OWNER = f"""
    CASE WHEN level = 'broker' THEN coalesce({{broker}}, '') END AS broker,
    CASE WHEN level != 'broker' THEN topic END AS topic,
    CASE WHEN level != 'broker' THEN partition END AS partition,
    CASE WHEN level = 'subscription' THEN subscription END AS subscription,
    CASE level WHEN 'broker' THEN coalesce({{broker}}, '')
        ELSE {PART_TEXT_SQL}
             || CASE level WHEN 'subscription' THEN '#' || subscription ELSE '' END END AS owner
"""

_LIMITERS_SQL = f"""
CREATE TABLE limiters AS
WITH ends AS (
    SELECT cluster, max(window_end_ms) AS end_ms FROM latest GROUP BY cluster
), minutes AS (
    SELECT {KEY}, arg_max(broker, minute_ms) AS broker,
           {
    ", ".join(
        f"max({rho_column(one)}) AS share_{rho_column(one)}, count_if({rho_column(one)} >= {NEAR_SHARE}) AS near_{rho_column(one)}, count({rho_column(one)}) AS known_{rho_column(one)}"
        for one in LIMITERS
    )
}
    FROM {{source}} JOIN ends USING (cluster)
    WHERE minute_ms < end_ms AND minute_ms >= end_ms - {{length}} GROUP BY {KEY}
), by_limiter AS (
    {
    " UNION ALL ".join(
        f"SELECT cluster, topic, partition, subscription, broker AS seen_on, '{one.split('.')[0]}' AS level, '{one}' AS limiter, "
        f"share_{rho_column(one)} AS share, near_{rho_column(one)} AS near, known_{rho_column(one)} AS known "
        f"FROM minutes WHERE known_{rho_column(one)} > 0"
        for one in LIMITERS
    )
}
), used AS (
    SELECT cluster, limiter, owner, max(share) AS share, max(near) AS near_minutes, max(known) AS minutes
    FROM (SELECT cluster, limiter, share, near, known, {
    _OWNER.format(broker="seen_on")
} FROM by_limiter) GROUP BY cluster, limiter, owner
), owned AS (
    SELECT cluster, namespace, level, observed_ms, r, {_OWNER.format(broker="r.broker")},
           {{{{cluster: cluster, topic: limit_rows.topic, partition: limit_rows.partition, subscription: limit_rows.subscription}}}} AS member
    FROM limit_rows
), grouped AS (
    SELECT cluster, level, broker, topic, partition, subscription, owner, arg_max(r, observed_ms) AS r,
           max(observed_ms) AS observed_ms, count(*) AS shared_by, list(DISTINCT namespace) AS namespaces, min(member) AS member
    FROM owned GROUP BY cluster, level, broker, topic, partition, subscription, owner
), each AS (
    {
    " UNION ALL ".join(
        f"SELECT * EXCLUDE (r), level || '.{unit}' AS limiter, "
        f"{{{{rate: r.rate_{unit}, period_s: r.period_s, counts: r.counts, relative: r.relative, set_by: r.set_by, "
        "read_batch_entries: r.read_batch_entries, read_size_bytes: r.read_size_bytes}} AS r FROM grouped"
        for unit in UNITS
    )
}
)
SELECT each.*, r.rate / r.period_s AS per_s, share, coalesce(near_minutes, 0) AS near_minutes, coalesce(minutes, 0) AS minutes
FROM each LEFT JOIN used USING (cluster, limiter, owner)
"""  # noqa: S608
