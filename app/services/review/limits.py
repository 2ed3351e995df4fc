"""Limits that were used up, and limits that never were. In: minutes of ``signals`` and ``verdicts`` of a range. Out: :class:`LimitUses`, one :class:`LimitUse` per limiter.

A shared limiter counts once: a broker's, a topic partition's, or a subscription partition's, for messages or for bytes.
It **binds** where a verdict names it, or a minute used at least 90 % of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.app.services.review.query import KEY, ReviewQuery
from throttlescope.ingest.contracts.vocabulary import LIMITERS
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.core.topic_name import PART_TEXT_SQL

#: Share of a limit from which a minute counts as nearly used up; the same as on the web app's page of limits.
NEAR_SHARE = 0.9


@dataclass(frozen=True)
class LimitUse:
    """One limiter and its use in the range.

    Attributes
    ----------
    limiter : str
        Level and unit, such as ``topic.msg``.
    owner : str
        Broker, topic partition or subscription partition that it is of.
    rate, period_s, set_by
        As it was last in force: messages (or entries) or bytes per period.
    shared_by : int
        Subscription partitions that share it.
    held_h : float
        Subscription hours in which verdicts name it.
    near_minutes, minutes : int
        With at least 90 % of it used, and with a known use.
    most_share : float or None
        Largest use / limit of a minute; None: its use is not known.
    """

    cluster: str
    limiter: str
    owner: str
    rate: int
    period_s: int | None
    set_by: str | None
    shared_by: int
    held_h: float
    near_minutes: int
    minutes: int
    most_share: float | None


@dataclass(frozen=True)
class LimitUses:
    """All limiters that were in force in the range.

    Attributes
    ----------
    limiters, bound, never, unknown : int
        How many there were; that bound; that never did; whose use is not known, and which no verdict names.
    most : list of LimitUse
        Those that bound longest.
    least : list of LimitUse
        Those that never bound, the emptiest first.
    """

    limiters: int
    bound: int
    never: int
    unknown: int
    most: list[LimitUse]
    least: list[LimitUse]


def limit_uses(query: ReviewQuery) -> LimitUses:
    """Find which limits bound in a range and which never did."""
    cursor = query.connection.cursor()
    sql = _SQL.format(minutes=query.minutes(), windows=query.windows())
    cursor.execute(f"CREATE OR REPLACE TEMP TABLE limit_uses AS {sql}", query.values())
    try:
        (total,) = _rows(
            cursor,
            "SELECT count(*) AS limiters, count(*) FILTER (bound) AS bound, count(*) FILTER (NOT bound AND minutes > 0) AS never, "
            "count(*) FILTER (NOT bound AND minutes = 0) AS unknown FROM limit_uses",
        )
        columns = "* EXCLUDE (bound)"
        most = _rows(
            cursor,
            f"SELECT {columns} FROM limit_uses WHERE bound "  # noqa: S608
            f"ORDER BY held_h DESC, near_minutes DESC, most_share DESC NULLS LAST, cluster, owner, limiter LIMIT {query.most}",
        )
        least = _rows(
            cursor,
            f"SELECT {columns} FROM limit_uses WHERE NOT bound AND minutes > 0 "  # noqa: S608
            f"ORDER BY most_share, minutes DESC, cluster, owner, limiter LIMIT {query.most}",
        )
    finally:
        cursor.execute("DROP TABLE limit_uses")
    return LimitUses(
        **total, most=[LimitUse(**row) for row in most], least=[LimitUse(**row) for row in least]
    )


def _rows(cursor, query: str) -> list[dict]:
    found = cursor.execute(query)
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def _column(limiter: str) -> str:
    return limiter.replace(".", "_")


def _level(limiter: str) -> str:
    return limiter.split(".")[0]


_OWNER = {
    "broker": "coalesce(broker, '')",
    "topic": PART_TEXT_SQL,
    "subscription": f"{PART_TEXT_SQL} || '#' || subscription",
}

# The limit when it was last in force; a limit that was removed is not described by later values.
# A topic that moved has minutes on two brokers: its own limit went with it, the broker's did not.
_SQL = f"""
WITH per_broker AS (
    SELECT {KEY}, broker, {
    ", ".join(
        f"max(rho_{_column(one)}) AS most_{_column(one)}, count(*) FILTER (rho_{_column(one)} >= {NEAR_SHARE}) AS near_{_column(one)}, "
        f"count(rho_{_column(one)}) AS known_{_column(one)}, "
        f"max(minute_ms) FILTER (limit_{_column(one)} IS NOT NULL) AS seen_{_column(one)}, "
        f"arg_max(limit_{_column(one)}, minute_ms) AS rate_{_column(one)}, "
        f"arg_max(limit_{_level(one)}_period_s, minute_ms) FILTER (limit_{_column(one)} IS NOT NULL) AS period_{_column(one)}, "
        f"arg_max(limit_{_level(one)}_set_by, minute_ms) FILTER (limit_{_column(one)} IS NOT NULL) AS by_{_column(one)}"
        for one in LIMITERS
    )
}
    FROM signals WHERE {{minutes}} GROUP BY {KEY}, broker
), observed AS (
    {
    " UNION ALL ".join(
        f"SELECT {KEY}, '{one}' AS limiter, {_OWNER[_level(one)]} AS owner, most_{_column(one)} AS most, near_{_column(one)} AS near, "
        f"known_{_column(one)} AS known, seen_{_column(one)} AS seen, rate_{_column(one)} AS rate, period_{_column(one)} AS period, "
        f"by_{_column(one)} AS set_by FROM per_broker WHERE seen_{_column(one)} IS NOT NULL"
        for one in LIMITERS
    )
}
), per_member AS (
    SELECT cluster, limiter, owner, {
    KEY.removeprefix("cluster, ")
}, max(most) AS most, sum(near) AS near, sum(known) AS known,
        max(seen) AS seen, arg_max(rate, seen) AS rate, arg_max(period, seen) AS period, arg_max(set_by, seen) AS set_by
    FROM observed GROUP BY cluster, limiter, owner, {KEY.removeprefix("cluster, ")}
), limiters AS (
    SELECT cluster, limiter, owner, arg_max(rate, seen) AS rate, arg_max(period, seen) AS period_s, arg_max(set_by, seen) AS set_by,
        count(*) AS shared_by, max(near)::BIGINT AS near_minutes, max(known)::BIGINT AS minutes, max(most) AS most_share
    FROM per_member GROUP BY cluster, limiter, owner
), windows AS (
    SELECT {
    KEY
}, limiter, side, window_end_ms, window_end_ms - greatest(window_start_ms, coalesce(max(window_end_ms) OVER (
        PARTITION BY {
    KEY
} ORDER BY window_end_ms, window_start_ms ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        window_start_ms)) AS new_ms
    FROM verdicts WHERE {{windows}}
), named AS (
    SELECT * FROM windows WHERE limiter IS NOT NULL AND side IN ('throttle', 'both') AND new_ms > 0
), placed AS (
    SELECT named.*, signals.broker FROM named LEFT JOIN signals
        ON starts_with(named.limiter, 'broker.') AND signals.minute_ms = named.window_end_ms - {MINUTE_MS}
        AND {" AND ".join(f"signals.{name} = named.{name}" for name in KEY.split(", "))}
), named_hours AS (
    SELECT cluster, limiter, CASE split_part(limiter, '.', 1) {
    " ".join(f"WHEN '{level}' THEN {owner}" for level, owner in _OWNER.items())
} END AS owner, sum(new_ms) / 3600000.0 AS held_h
    FROM placed GROUP BY ALL
)
SELECT cluster, limiter, owner, rate, period_s, set_by, shared_by, coalesce(held_h, 0.0) AS held_h, near_minutes, minutes, most_share,
    coalesce(held_h, 0) > 0 OR near_minutes > 0 AS bound
FROM limiters LEFT JOIN named_hours USING (cluster, limiter, owner)
"""  # noqa: S608
