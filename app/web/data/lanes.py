"""How full the limits of one place were over time. In: a reader, a place and a range. Out: one lane per limiter, the fullest first.

A limiter is what the broker has: one of a broker, of a topic partition, or of one subscription on one. Its use is
summed over all that share it, so any of them shows it; a lane keeps the largest of each cell: a mean would hide the minute that was full.
The slow twin is ``tests/naive/limit_lanes.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.app.presentation.figures.lanes import Cell, Lane
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.data.limit_use import make_uses, rho_column
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.data.rollup import files_of, mine
from throttlescope.app.web.data.rollups import JOINED
from throttlescope.app.web.data.snapshot import Snapshot
from throttlescope.ingest.contracts.vocabulary import LIMITERS
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS

WINDOW_MS = 5 * MINUTE_MS
#: Lengths of a cell; the first with which a lane has at most :data:`MOST_CELLS`.
CELLS_MS = (*(minutes * MINUTE_MS for minutes in (5, 10, 15, 30)), BLOCK_MS, 6 * BLOCK_MS)
MOST_CELLS = 360
MOST_LANES = 24
#: Of a place with more minutes in the range only some topics are read.
MOST_MINUTES = 1_000_000
MOST_TOPICS = 100


@dataclass(frozen=True)
class Lanes:
    """Lanes of one place.

    Attributes
    ----------
    lanes : tuple of Lane
        Those that bound longest, then the fullest.
    total : int
        How many limiters there are.
    step_ms : int
        Length of a cell.
    topics_read : int or None
        Of how many topics minutes were read, where not of all.
    """

    lanes: tuple[Lane, ...]
    total: int
    step_ms: int
    topics_read: int | None


def step_of(start_ms: int, end_ms: int) -> int:
    """How long a cell is."""
    return next(
        (step for step in CELLS_MS if (end_ms - start_ms) // step <= MOST_CELLS),
        CELLS_MS[-1],
    )


def limit_lanes(
    reader: LakeReader,
    address: RollupsAddress,
    start_ms: int,
    end_ms: int,
    *,
    most_minutes: int = MOST_MINUTES,
) -> Lanes:
    """Lanes of the limiters of a place in [start_ms, end_ms).

    Parameters
    ----------
    most_minutes : int
        With more, only topics are read whose limits bound in the range, or are the fullest now.
    """

    def read(cursor, snapshot):
        make_uses(snapshot)
        step = step_of(start_ms, end_ms)
        where, values = mine(address, has_broker=True)
        count = cursor.execute(f"SELECT count(*) FROM {JOINED} WHERE {where}", values).fetchall()[0][0]  # noqa: S608
        topics = None
        if count * ((end_ms - start_ms) // MINUTE_MS) > most_minutes:
            topics = _topics(cursor, snapshot, address, start_ms, end_ms)
        query, values = _query(snapshot, address, start_ms, end_ms, step, topics)
        rows = cursor.execute(query, values).fetchall()
        return Lanes(
            tuple(
                Lane(limiter, broker, topic, partition, subscription, tuple(Cell(*cell) for cell in cells))
                for limiter, broker, topic, partition, subscription, cells, _ in rows
            ),
            rows[0][-1] if rows else 0,
            step,
            None if topics is None else len(topics),
        )

    return reader.read(read)


def _bound(snapshot: Snapshot, address: RollupsAddress, start_ms: int, end_ms: int) -> tuple[str, list]:
    """Windows of the place that end in the range and whose verdict names a limiter."""
    files = files_of(snapshot, address, "verdicts", "window_end_ms", start_ms + 1, end_ms)
    where, values = mine(address, has_broker=False)
    source = snapshot.source("verdicts", files)
    condition = f"{where} AND limiter IS NOT NULL AND window_end_ms > ? AND window_end_ms <= ?"
    return f"FROM {source} WHERE {condition}", [*values, start_ms, end_ms]


def _topics(cursor, snapshot, address, start_ms, end_ms) -> list[str]:
    bound, values = _bound(snapshot, address, start_ms, end_ms)
    found = cursor.execute(
        f"SELECT topic {bound} GROUP BY topic ORDER BY count(*) DESC, topic LIMIT {MOST_TOPICS}", values
    ).fetchall()
    where, values = mine(address, has_broker=True)
    found += cursor.execute(
        f"SELECT topic FROM {JOINED} WHERE {where} AND share_now IS NOT NULL "  # noqa: S608
        f"GROUP BY topic ORDER BY max(share_now) DESC, topic LIMIT {MOST_TOPICS}",
        values,
    ).fetchall()
    return list(dict.fromkeys(topic for (topic,) in found))[:MOST_TOPICS]


#: Whose limiter it is, by level: what is left out is shared.
_HAS = {
    "broker": "broker, NULL, NULL, NULL",
    "topic": "NULL, topic, partition, NULL",
    "subscription": "NULL, topic, partition, subscription",
}


def _query(snapshot, address, start_ms, end_ms, step, topics) -> tuple[str, list]:
    files = files_of(snapshot, address, "signals", "minute_ms", start_ms, end_ms - 1)
    where, values = mine(address, has_broker=True)
    only, chosen = ("", []) if topics is None else ("AND list_contains(?, topic)", [topics])
    bound, of_bound = _bound(snapshot, address, start_ms, end_ms)
    shares = ", ".join(f"max({rho_column(limiter)}) AS {rho_column(limiter)}" for limiter in LIMITERS)
    lanes = " UNION ALL ".join(
        f"""
        SELECT '{limiter}', {_HAS[limiter.split(".")[0]]}, cell, max({rho_column(limiter)}),
               count(*) FILTER (list_contains(bound_by, '{limiter}'))
        FROM cells WHERE {rho_column(limiter)} IS NOT NULL OR list_contains(bound_by, '{limiter}') GROUP BY ALL
        """  # noqa: S608
        for limiter in LIMITERS
    )
    query = f"""
    WITH minutes AS (
        SELECT topic, partition, subscription, minute_ms - minute_ms % {step} AS cell,
               arg_max(broker, minute_ms) AS broker, {shares}
        FROM {snapshot.source("signals", files)}
        WHERE {where} AND minute_ms >= ? AND minute_ms < ? {only} GROUP BY ALL
    ), windows AS (
        SELECT topic, partition, subscription, window_end_ms - 1 - (window_end_ms - 1) % {step} AS cell,
               list(DISTINCT limiter) AS bound_by
        {bound} {only} GROUP BY ALL
    ), cells AS (
        SELECT * FROM minutes FULL JOIN windows USING (topic, partition, subscription, cell)
    ), lanes (limiter, broker, topic, partition, subscription, cell, share, bound) AS ({lanes})
    SELECT limiter, broker, topic, partition, subscription,
           list((cell, share, bound) ORDER BY cell) AS cells, count(*) OVER () AS total
    FROM lanes GROUP BY limiter, broker, topic, partition, subscription
    ORDER BY count(*) FILTER (bound > 0) DESC, max(share) DESC NULLS LAST, limiter, broker, topic, partition, subscription
    LIMIT {MOST_LANES}
    """  # noqa: S608
    return query, [*values, start_ms, end_ms, *chosen, *of_bound, *chosen]
