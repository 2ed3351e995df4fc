"""Verdicts of a lake. In: a lake and filters. Out: one plain dict per verdict, oldest window first."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import CAUSES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import MINUTE_MS, format_time
from throttlescope.ingest.lake.rows import naming_missing
from throttlescope.models.diagnosis.window import SubscriptionKey

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake
    from throttlescope.models.diagnosis.reopen import Reopened

#: Ages of the minute of ``signals`` that a window ends with: the topic's, and the subscription's own by metric and by admin API.
AGES = ("backlog_age_s", "subscription_backlog_age_s", "stats_backlog_age_s")

_OF_SIGNALS = ", ".join(f"signals.{name}" for name in AGES)
_KEY = ", ".join(SUBSCRIPTION_KEY_NAMES)
_NEWEST = f"row_number() OVER (PARTITION BY {_KEY} ORDER BY window_start_ms DESC, window_end_ms DESC)"


@dataclass(frozen=True)
class VerdictFilter:
    """Which verdicts; None means any.

    Attributes
    ----------
    subscription : str, optional
        ``persistent://tenant/ns/topic[-partition-N]#sub``; without the suffix every partition.
    latest : bool
        Only the newest window of every subscription partition.
    start_ms, end_ms : int, optional
        Only windows that touch [start_ms, end_ms).
    """

    cluster: str | None = None
    subscription: str | None = None
    cause: str | None = None
    latest: bool = False
    start_ms: int | None = None
    end_ms: int | None = None


def read_verdicts(lake: Lake, wanted: VerdictFilter) -> list[dict[str, Any]]:
    """Rows of ``verdicts`` with two more columns.

    Returns
    -------
    list of dict
        The contract's columns without ``date``; ``since_ms``, the start of the unbroken run of
        windows with this cause and limiter; :data:`AGES`, from the window's last minute.

    Raises
    ------
    InputError
        There is no verdict in the lake at all, or a filter is not understood.
    """
    before, after, values = _conditions(wanted)
    newest = f"QUALIFY {_NEWEST} = 1" if wanted.latest else ""
    # Runs of equal causes are found before a filter on time narrows them; the filter on a cause applies to what is left.
    query = f"""
        WITH ordered AS (
            SELECT *, lag(cause) OVER w AS cause_before, lag(limiter) OVER w AS limiter_before,
                lag(window_end_ms) OVER w AS end_before_ms
            FROM verdicts WINDOW w AS (PARTITION BY {_KEY} ORDER BY window_start_ms, window_end_ms)
        ), runs AS (
            SELECT *, max(CASE WHEN cause IS DISTINCT FROM cause_before OR limiter IS DISTINCT FROM limiter_before
                    OR window_start_ms > end_before_ms THEN window_start_ms END)
                OVER (PARTITION BY {_KEY} ORDER BY window_start_ms, window_end_ms) AS since_ms
            FROM ordered
        ), narrowed AS (
            SELECT * EXCLUDE (cause_before, limiter_before, end_before_ms, date) FROM runs WHERE {before} {newest}
        )
        SELECT narrowed.*, {_OF_SIGNALS} FROM narrowed LEFT JOIN signals
            ON signals.minute_ms = narrowed.window_end_ms - {MINUTE_MS}
            AND {" AND ".join(f"signals.{name} = narrowed.{name}" for name in SUBSCRIPTION_KEY_NAMES)}
        WHERE {after}
        ORDER BY {_KEY}, window_start_ms, window_end_ms
    """  # noqa: S608
    return _rows(lake, query, values)


def window_at(
    lake: Lake, subscription: str, cluster: str | None, at_ms: int, as_of_ms: int | None = None
) -> tuple[SubscriptionKey, int]:
    """The key of one subscription partition, and the start of the newest window around a moment.

    Raises
    ------
    InputError
        The name is not understood, matches several partitions or clusters, or has no window there.
    """
    name = SubscriptionName.of(subscription)
    where = (pc.field("topic") == name.topic) & (pc.field("subscription") == name.subscription)
    where &= (pc.field("window_start_ms") <= at_ms) & (pc.field("window_end_ms") > at_ms)
    if name.partition is not None:
        where &= pc.field("partition") == name.partition
    rows = lake.read(
        "verdicts",
        columns=[*SUBSCRIPTION_KEY_NAMES, "window_start_ms"],
        where=where,
        partition=None if cluster is None else {"cluster": [cluster]},
        version=None if as_of_ms is None else lake.version_at("verdicts", as_of_ms),
    ).to_pylist()
    if not rows:
        raise InputError(
            "There is no verdict of this subscription at that moment",
            got=f"{subscription} at {format_time(at_ms)}",
            fix="throttlescope verdicts --all --subscription NAME lists its windows",
        )
    starts = {SubscriptionKey(*(row[name] for name in SUBSCRIPTION_KEY_NAMES)): 0 for row in rows}
    if len(starts) > 1:
        several = "partitions" if len({key.cluster for key in starts}) == 1 else "clusters"
        raise InputError(
            f"That is a subscription of several {several}",
            got=", ".join(
                sorted({str(key.partition if several == "partitions" else key.cluster) for key in starts})
            ),
            expected="one",
            fix="write topic-partition-N#sub" if several == "partitions" else "add --cluster NAME",
        )
    return next(iter(starts)), max(row["window_start_ms"] for row in rows)


def reopen_at(
    lake: Lake, subscription: str, cluster: str | None, at_ms: int, as_of_ms: int | None = None
) -> Reopened:
    """The stored verdict of the window around a moment, judged again by today's rules.

    Raises
    ------
    InputError
        As :func:`window_at`.
    """
    from throttlescope.models.diagnosis.reopen import reopen

    key, start_ms = window_at(lake, subscription, cluster, at_ms, as_of_ms)
    return reopen(lake, key, start_ms, as_of_ms=as_of_ms)


def read_summary(lake: Lake, wanted: VerdictFilter) -> list[dict[str, Any]]:
    """One row per subscription partition: its main cause, and its cause now.

    Returns
    -------
    list of dict
        The key columns; ``cause``, ``limiter`` and ``side`` of the main cause, the longest one (anything before
        ``unknown``, that before ``healthy``) with its ``confidence`` (mean) and :data:`AGES` (greatest), ``naive_side`` (most frequent), ``from_ms``, ``to_ms`` and
        ``held_ms`` (overlaps counted once); ``cause_now``, ``limiter_now``, ``end_ms`` of the
        newest window; ``backlog_entries``, the greatest of all windows; ``rules_version``.
    """
    before, after, values = _conditions(wanted)
    query = f"""
        WITH narrowed AS (
            SELECT *, window_end_ms - greatest(window_start_ms, coalesce(max(window_end_ms) OVER (
                PARTITION BY {_KEY} ORDER BY window_start_ms, window_end_ms
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), window_start_ms)) AS new_ms
            FROM verdicts WHERE {before}
        ), newest AS (
            SELECT {_KEY}, cause AS cause_now, limiter AS limiter_now, window_end_ms AS end_ms
            FROM narrowed QUALIFY {_NEWEST} = 1
        ), ages AS (
            SELECT narrowed.* EXCLUDE (date), {_OF_SIGNALS} FROM narrowed LEFT JOIN signals
                ON signals.minute_ms = narrowed.window_end_ms - {MINUTE_MS}
                AND {" AND ".join(f"signals.{name} = narrowed.{name}" for name in SUBSCRIPTION_KEY_NAMES)}
        ), by_cause AS (
            SELECT {_KEY}, side, cause, limiter, avg(confidence) AS confidence,
                {", ".join(f"max({name}) AS {name}" for name in AGES)},
                mode(naive_side ORDER BY naive_side) AS naive_side,
                min(window_start_ms) AS from_ms, max(window_end_ms) AS to_ms, sum(new_ms) AS held_ms,
                max(rules_version) AS rules_version
            FROM ages GROUP BY {_KEY}, side, cause, limiter
        ), longest AS (
            SELECT * FROM by_cause QUALIFY row_number() OVER (PARTITION BY {_KEY} ORDER BY
                CASE cause WHEN 'healthy' THEN 2 WHEN 'unknown' THEN 1 ELSE 0 END, held_ms DESC, cause, limiter) = 1
        ), largest AS (
            SELECT {_KEY}, max(backlog_entries) AS backlog_entries FROM narrowed GROUP BY {_KEY}
        )
        SELECT * FROM longest JOIN largest USING ({_KEY}) JOIN newest USING ({_KEY}) WHERE {after} ORDER BY {_KEY}
    """  # noqa: S608
    return _rows(lake, query, values)


def check_cause(cause: str) -> None:
    """Refuse what is no cause."""
    if cause not in CAUSES:
        near = difflib.get_close_matches(cause, CAUSES, n=1)
        raise InputError(
            "There is no such cause",
            got=cause,
            expected=", ".join(CAUSES),
            fix=f"did you mean {near[0]}?" if near else None,
        )


def require_verdicts(lake: Lake) -> None:
    """Refuse a lake that has none, such as a mistyped one.

    Raises
    ------
    InputError
        There are no verdicts, or they have another format.
    """
    if lake.version("verdicts") is None:
        raise InputError(
            "There are no verdicts in this lake",
            got=lake.root,
            fix="make some with throttlescope run --lake DIR, or correct --lake",
        )


def _rows(lake: Lake, query: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    require_verdicts(lake)
    with (
        naming_missing("signals", lake.files("signals")),
        naming_missing("verdicts", lake.files("verdicts")),
        lake.duckdb(("signals", "verdicts")) as connection,
    ):
        found = connection.execute(query, values)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def _conditions(wanted: VerdictFilter) -> tuple[str, str, dict[str, Any]]:
    before, values = ["true"], {}
    if wanted.cluster is not None:
        before.append("cluster = $cluster")
        values["cluster"] = wanted.cluster
    if wanted.subscription is not None:
        name = SubscriptionName.of(wanted.subscription)
        before += ["topic = $topic", "subscription = $subscription"]
        values |= {"topic": name.topic, "subscription": name.subscription}
        if name.partition is not None:
            before.append("partition = $partition")
            values["partition"] = name.partition
    if wanted.start_ms is not None:
        before.append("window_end_ms > $start_ms")
        values["start_ms"] = wanted.start_ms
    if wanted.end_ms is not None:
        before.append("window_start_ms < $end_ms")
        values["end_ms"] = wanted.end_ms
    after = "true"
    if wanted.cause is not None:
        check_cause(wanted.cause)
        after = "cause = $cause"
        values["cause"] = wanted.cause
    return " AND ".join(before), after, values
