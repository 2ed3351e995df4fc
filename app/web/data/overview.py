"""What the first page reads. In: a reader. Out: counts a day before, the next losses, what is shared, what is largest, the last run."""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.app.web.data.latest import KEY
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS

#: A forecast that is older than its cluster's newest verdict by this is ignored.
FORECAST_KNOWN_MS = 2 * BLOCK_MS


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


def counts_a_day_before(reader: LakeReader) -> dict[str, int] | None:
    """Subscriptions by cause 24 hours before each cluster's newest verdict; None where nothing was judged then."""

    return reader.read(
        lambda cursor, _: (
            dict(cursor.execute("SELECT cause, subscriptions FROM day_before").fetchall()) or None
        )
    )


def next_losses(reader: LakeReader, *, most: int = 8) -> list[dict]:
    """Deadlines at which messages are lost or producers blocked, the earliest first: newest forecasts that expect one.

    Returns
    -------
    list of dict
        Columns of ``forecasts``, with ``cause`` and ``limiter`` of the newest verdict and the cluster's newest ``window_end_ms``.
    """

    def read(cursor, snapshot):
        newest = _newest(cursor)
        files = [
            file
            for file in snapshot.files["forecasts"]
            if (end_ms := newest.get(file.partition["cluster"])) is not None
            and file.maximum["made_at_ms"] > end_ms - FORECAST_KNOWN_MS
        ]
        return dicts(
            cursor.execute(
                f"""
                WITH made AS (
                    SELECT * FROM {snapshot.source("forecasts", files)}
                    QUALIFY row_number() OVER (
                        PARTITION BY {KEY}, kind ORDER BY made_at_ms DESC, method = 'replay' DESC) = 1
                )
                SELECT made.*, latest.cause, latest.limiter, latest.window_end_ms FROM made JOIN latest USING ({KEY})
                WHERE kind != 'drain' AND state = 'expected' AND NOT stale
                      AND made_at_ms > window_end_ms - {FORECAST_KNOWN_MS}
                ORDER BY predicted_ms, {KEY} LIMIT ?
                """,  # noqa: S608
                [most],
            )
        )

    return reader.read(read)


def open_incidents(reader: LakeReader, *, most: int = 8) -> list[dict]:
    """What several open episodes share, those with most subscriptions first; columns of ``incidents`` without members."""

    def read(cursor, snapshot):
        source = snapshot.source("incidents", snapshot.files["incidents"])
        return dicts(
            cursor.execute(
                f"SELECT * EXCLUDE (members) FROM {source} WHERE end_ms IS NULL "  # noqa: S608
                "ORDER BY subscriptions DESC, start_ms, cluster, kind, shared_with LIMIT ?",
                [most],
            )
        )

    return reader.read(read)


def open_episodes(reader: LakeReader, *, most: int = 8) -> tuple[list[dict], int]:
    """Backlogs that are not drained, the largest first, and how many there are, with the cause of their newest verdict.

    One that is at its floor is left out, though its episode stays open for a few minutes: it may come back.
    """

    def read(cursor, snapshot):
        source = snapshot.source("episodes", snapshot.files["episodes"])
        open_rows = f"FROM {source} WHERE end_ms IS NULL AND over_until_ms >= known_until_ms - {MINUTE_MS}"
        total = cursor.execute(f"SELECT count(*) {open_rows}").fetchall()[0][0]
        rows = dicts(
            cursor.execute(
                f"SELECT open.*, latest.cause, latest.limiter FROM "  # noqa: S608
                f"(SELECT {KEY}, since_ms, known_until_ms, last_entries, peak_entries, state {open_rows}) AS open "
                f"LEFT JOIN latest USING ({KEY}) ORDER BY last_entries DESC, {KEY} LIMIT ?",
                [most],
            )
        )
        return rows, total

    return reader.read(read)


def judged(reader: LakeReader) -> frozenset[str]:
    """Which of the tables that the first page reads have any rows."""
    return reader.read(
        lambda _, snapshot: frozenset(
            table for table in ("episodes", "forecasts", "incidents") if snapshot.versions[table] is not None
        )
    )


def last_run(reader: LakeReader) -> LastRun | None:
    """How the newest run ended."""

    def read(cursor, snapshot):
        source = snapshot.source("ingest_runs", snapshot.files["ingest_runs"])
        rows = cursor.execute(
            "SELECT command, status, finished_ms, max(CASE WHEN status = 'done' THEN finished_ms END) OVER () "  # noqa: S608
            f"FROM {source} ORDER BY finished_ms DESC LIMIT 1"
        ).fetchall()
        return LastRun(*rows[0]) if rows else None

    return reader.read(read)


def _newest(cursor) -> dict[str, int]:
    """End of each cluster's newest verdict."""
    return dict(cursor.execute("SELECT cluster, max(window_end_ms) FROM latest GROUP BY cluster").fetchall())
