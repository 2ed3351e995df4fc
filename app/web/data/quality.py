"""What runs did, what gates found and what was refused. In: a reader. Out: rows of ``ingest_runs``, ``quality`` and ``quarantine``, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.app.web.data.table_query import Conditions, cut

#: Rows of one page of a table.
PAGE_ROWS = 50

# Details may be long (versions and sums of recordings); the list of runs does not need them.
_RUN = (
    "run_id, cluster, command, source, start_ms, end_ms, started_ms, finished_ms, status, source_requests, admin_requests, "
    "source_bytes, series, samples, samples_written, rows_quarantined"
)
#: What did not hold comes first, an error before a warning.
_WORST_FIRST = (
    'success, severity = \'warning\', observed_ms DESC, gate, "check", "table", cluster NULLS FIRST'
)


@dataclass(frozen=True)
class Rows:
    """One page of a table; ``total`` counts all of its rows."""

    rows: list[dict]
    total: int


def runs(reader: LakeReader, page: int = 1) -> Rows:
    """Runs, newest first, each with how many findings of the gates did not hold."""

    def read(cursor, snapshot):
        source = snapshot.source("ingest_runs", snapshot.files["ingest_runs"])
        found = snapshot.source("quality", snapshot.files["quality"])
        total = cursor.execute(f"SELECT count(*) FROM {source}").fetchall()[0][0]  # noqa: S608
        rows = dicts(
            cursor.execute(
                f"""WITH shown AS (
                    SELECT {_RUN} FROM {source} ORDER BY started_ms DESC, run_id DESC LIMIT ? OFFSET ?
                ), failed AS (
                    SELECT run_id, count(*) AS checks, count(*) FILTER (NOT success AND severity = 'error') AS errors,
                           count(*) FILTER (NOT success AND severity = 'warning') AS warnings
                    FROM {found} WHERE run_id IN (SELECT run_id FROM shown) GROUP BY run_id
                )
                SELECT shown.*, coalesce(checks, 0) AS checks, coalesce(errors, 0) AS errors, coalesce(warnings, 0) AS warnings
                FROM shown LEFT JOIN failed USING (run_id) ORDER BY started_ms DESC, run_id DESC""",  # noqa: S608
                cut((page - 1) * PAGE_ROWS, page * PAGE_ROWS),
            )
        )
        return Rows(rows, total)

    return reader.read(read)


def run(reader: LakeReader, run_id: str) -> dict | None:
    """One run with its details; None where there is none of this name."""

    def read(cursor, snapshot):
        source = snapshot.source("ingest_runs", snapshot.files["ingest_runs"])
        found = dicts(cursor.execute(f"SELECT * FROM {source} WHERE run_id = ?", [run_id]))  # noqa: S608
        return found[0] if found else None

    return reader.read(read)


def findings(
    reader: LakeReader, *, run_id: str | None = None, everything: bool = False, page: int = 1
) -> Rows:
    """Findings of the gates, the worst first.

    Parameters
    ----------
    run_id : str, optional
        Of this run; None: of all.
    everything : bool
        Checks that passed too.
    """

    def read(cursor, snapshot):
        source = snapshot.source("quality", snapshot.files["quality"])
        where = _where(run_id=run_id)
        if not everything:
            where.add("NOT success")
        return _page(cursor, source, where, _WORST_FIRST, page)

    return reader.read(read)


def checked(reader: LakeReader, run_id: str | None = None) -> dict[str, int]:
    """How many findings passed and failed: ``held``, ``errors``, ``warnings``."""

    def read(cursor, snapshot):
        source = snapshot.source("quality", snapshot.files["quality"])
        where = _where(run_id=run_id)
        return dicts(
            cursor.execute(
                "SELECT count(*) FILTER (success) AS held, count(*) FILTER (NOT success AND severity = 'error') AS errors, "  # noqa: S608
                f"count(*) FILTER (NOT success AND severity = 'warning') AS warnings FROM {source} WHERE {where.sql}",
                where.values,
            )
        )[0]

    return reader.read(read)


def refused_by_reason(reader: LakeReader, run_id: str | None = None) -> list[dict]:
    """Refused rows by reason and the table that they were meant for, most first."""

    def read(cursor, snapshot):
        source = snapshot.source("quarantine", snapshot.files["quarantine"])
        where = _where(run_id=run_id)
        return dicts(
            cursor.execute(
                'SELECT reason, "table", count(*) AS kept, sum("rows")::BIGINT AS rows, count(DISTINCT run_id) AS runs, '  # noqa: S608
                f'max(observed_ms) AS newest_ms FROM {source} WHERE {where.sql} GROUP BY ALL ORDER BY 4 DESC, reason, "table"',
                where.values,
            )
        )

    return reader.read(read)


def refused(
    reader: LakeReader, *, run_id: str | None = None, reason: str | None = None, page: int = 1
) -> Rows:
    """Refused rows, newest first."""

    def read(cursor, snapshot):
        source = snapshot.source("quarantine", snapshot.files["quarantine"])
        where = _where(run_id=run_id, reason=reason)
        return _page(cursor, source, where, 'observed_ms DESC, reason, "row"', page)

    return reader.read(read)


def _page(cursor, source: str, where: Conditions, order: str, page: int) -> Rows:
    """One page of rows, and how many there are on all."""
    total = cursor.execute(f"SELECT count(*) FROM {source} WHERE {where.sql}", where.values).fetchall()[0][0]  # noqa: S608
    rows = cursor.execute(
        f"SELECT * FROM {source} WHERE {where.sql} ORDER BY {order} LIMIT ? OFFSET ?",  # noqa: S608
        [*where.values, *cut((page - 1) * PAGE_ROWS, page * PAGE_ROWS)],
    )
    return Rows(dicts(rows), total)


def _where(**wanted: str | None) -> Conditions:
    where = Conditions()
    for column, value in wanted.items():
        if value is not None:
            where.add(f"{column} = ?", value)
    return where
