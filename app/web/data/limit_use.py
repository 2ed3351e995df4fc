"""Recent use of the limits of every subscription. In: the newest minutes of ``signals``. Out: one small table next to ``latest``.

Computed at its first use. The recent hours are only read where they are not too many minutes; the newest always are.
"""

from __future__ import annotations

from collections.abc import Mapping

from throttlescope.app.web.data.latest import KEY, RECENT_MS
from throttlescope.app.web.data.reader import dicts
from throttlescope.app.web.data.snapshot import Snapshot
from throttlescope.ingest.contracts.vocabulary import LIMITERS
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake import DataFile

#: How much counts as now: one window of a verdict.
NOW_MS = 5 * MINUTE_MS
#: From which share of a limit on it is close to exhaustion.
NEAR_SHARE = 0.8
#: More minutes than this are not read for the recent hours.
MOST_MINUTES = 4_000_000


def rho_column(limiter: str) -> str:
    """``rho_topic_msg`` of ``topic.msg``."""
    return f"rho_{limiter.replace('.', '_')}"


def covers_recent(snapshot: Snapshot) -> bool:
    """Whether the recent hours are read, or the newest minutes alone."""
    return sum(file.rows for file in recent_files(snapshot, RECENT_MS)) <= MOST_MINUTES


def make_uses(snapshot: Snapshot) -> None:
    """Make sure that ``uses`` exists: per subscription partition its broker, the limit with the highest use, now and in the recent hours.

    Columns: the key, ``broker``; ``share_now``, ``limiter_now``, ``share_recent``, ``limiter_recent``. A share is
    use / limit, use summed over all that share the limit; NULL where no limit or no use is known.
    """

    def make() -> None:
        length_ms = RECENT_MS if covers_recent(snapshot) else NOW_MS
        files = recent_files(snapshot, length_ms)
        snapshot.connection.cursor().execute(
            _SQL.format(source=snapshot.source("signals", files), length=length_ms, recent=RECENT_MS)
        )

    snapshot.once("uses", make)


def recent_files(snapshot: Snapshot, length_ms: int) -> list[DataFile]:
    """Files that may hold a minute of the last ``length_ms`` before the newest verdicts of a cluster."""
    newest: dict[str, int] = {}
    for file in snapshot.files["verdicts"]:
        cluster = file.partition["cluster"]
        newest[cluster] = max(newest.get(cluster, 0), file.maximum["window_end_ms"])
    return [
        file
        for file in snapshot.files["signals"]
        if (end_ms := newest.get(file.partition["cluster"])) is not None
        and file.maximum["minute_ms"] >= end_ms - length_ms
        and file.minimum["minute_ms"] < end_ms
    ]


def nearly_used(
    cursor, snapshot: Snapshot, moments: Mapping[str, int], *, most: int
) -> tuple[list[dict], int]:
    """Limits close to exhaustion in the last minutes before a moment, the fullest first, and how many there are.

    Parameters
    ----------
    moments : mapping of str to int
        The moment of each cluster; :data:`NOW_MS` before it are read.

    Returns
    -------
    list of dict
        ``cluster``, ``limiter``, ``broker``, ``topic``, ``partition``, ``subscription`` (None where the limiter has none), ``share``, the
        largest use / limit of a minute (at least :data:`NEAR_SHARE`), ``per_s``, messages or bytes per second of the limit, and
        ``member``, the key of a subscription partition that it limits.
    """
    files = [
        file
        for file in snapshot.files["signals"]
        if (at := moments.get(file.partition["cluster"])) is not None
        and file.maximum["minute_ms"] >= at - NOW_MS
        and file.minimum["minute_ms"] < at
    ]
    ends = " UNION ALL ".join("SELECT ? AS cluster, ? AS at_ms" for _ in moments)
    values = [value for pair in moments.items() for value in pair]
    rows = dicts(
        cursor.execute(
            _NEAR_SQL.format(ends=ends, source=snapshot.source("signals", files), most=most), values
        )
    )
    return rows, (rows[0]["total"] if rows else 0)


def _fullest(when: str) -> str:
    values = [f"{when}_{rho_column(limiter)}" for limiter in LIMITERS]
    share = f"greatest({', '.join(values)})"
    cases = " ".join(
        f"WHEN {value} = {share} THEN '{limiter}'" for limiter, value in zip(LIMITERS, values, strict=True)
    )
    return f"{share} AS share_{when}, CASE {cases} END AS limiter_{when}"


_SQL = f"""
CREATE TABLE uses AS
WITH ends AS (
    SELECT cluster, max(window_end_ms) AS end_ms FROM latest GROUP BY cluster
), of_each AS (
    SELECT {KEY}, arg_max(broker, minute_ms) FILTER (broker IS NOT NULL) AS broker,
           {", ".join(f"max({rho_column(limiter)}) FILTER (minute_ms >= end_ms - {NOW_MS}) AS now_{rho_column(limiter)}" for limiter in LIMITERS)},
           {", ".join(f"CASE WHEN {{length}} = {{recent}} THEN max({rho_column(limiter)}) END AS recent_{rho_column(limiter)}" for limiter in LIMITERS)}
    FROM {{source}} JOIN ends USING (cluster)
    WHERE minute_ms < end_ms AND minute_ms >= end_ms - {{length}}
    GROUP BY {KEY}
)
SELECT {KEY}, broker, {_fullest("now")}, {_fullest("recent")} FROM of_each
"""  # noqa: S608


#: Whose limiter it is, by level: what is left out is shared.
_OWNER = {
    "broker": "broker, NULL, NULL, NULL",
    "topic": "NULL, topic, partition, NULL",
    "subscription": "NULL, topic, partition, subscription",
}


def _near_of(limiter: str) -> str:
    level, unit = limiter.split(".")
    return f"""
        SELECT cluster, '{limiter}', {_OWNER[level]}, {rho_column(limiter)}, limit_{level}_{unit} / limit_{level}_period_s,
               {{{{topic: topic, partition: partition, subscription: subscription}}}}
        FROM minutes WHERE {rho_column(limiter)} >= {NEAR_SHARE}
        """  # noqa: S608


_NEAR_SQL = f"""
WITH ends AS ({{ends}}), minutes AS (
    SELECT s.* FROM {{source}} AS s JOIN ends USING (cluster) WHERE minute_ms < at_ms AND minute_ms >= at_ms - {NOW_MS}
), near (cluster, limiter, broker, topic, partition, subscription, share, per_s, member) AS (
    {" UNION ALL ".join(map(_near_of, LIMITERS))}
)
SELECT cluster, limiter, broker, topic, partition, subscription, max(share) AS share, arg_max(per_s, share) AS per_s,
       min(member) AS member, count(*) OVER () AS total
FROM near GROUP BY cluster, limiter, broker, topic, partition, subscription
ORDER BY share DESC, cluster, limiter, broker, topic, partition, subscription LIMIT {{most}}
"""  # noqa: S608
