"""Recent use of the limits of every subscription. In: the newest minutes of ``signals``. Out: one small table next to ``latest``.

Computed at its first use. The recent hours are only read where they are not too many minutes; the newest always are.
"""

from __future__ import annotations

from throttlescope.app.web.data.latest import KEY, RECENT_MS
from throttlescope.app.web.data.snapshot import Snapshot
from throttlescope.ingest.contracts.vocabulary import LIMITERS
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake import DataFile

#: How much counts as now: one window of a verdict.
NOW_MS = 5 * MINUTE_MS
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
