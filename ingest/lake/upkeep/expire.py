"""Retention. In: a lake, tables and an age. Out: the lake without the whole hours that are older, one transaction a table.

A file goes when all its rows are older; tables whose files hold a date lose whole dates. What went can still be read back by
``--as-of`` until the vacuum takes its files.

Three things stay although they are old: what the limits of younger minutes are read from (the newest snapshot of each cluster
before the age), what has begun earlier and has not ended, and the labels of series that still have samples.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES, Table
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.retry import retry
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake.files import DataFile
from throttlescope.ingest.lake.lake import ConflictError, Lake
from throttlescope.ingest.lake.rows import read_files
from throttlescope.ingest.lake.upkeep.ages import is_dated, span_of, span_of_all

#: Looked up as of a time: minutes after the age are read with the snapshot before it.
_AS_OF = ("limits", "policies", "topic_stats")
#: Said of recordings, not observed: it does not age.
_NEVER = ("truth",)
_ATTEMPTS = 5


@dataclass(frozen=True)
class Expired:
    """What went, or would go, of one table.

    Attributes
    ----------
    series : int
        Of ``series`` alone: rows of series that have no samples any more.
    """

    table: str
    files: int
    rows: int
    size_bytes: int
    start_ms: int | None
    end_ms: int | None
    series: int = 0


def expirable_tables() -> list[str]:
    """Tables whose rows have an age and may go."""
    return [name for name, contract in TABLES.items() if is_dated(contract) and name not in _NEVER]


def expire(
    lake: Lake,
    before_ms: int,
    *,
    run_id: str,
    tables: Iterable[str] | None = None,
    dry_run: bool = False,
) -> list[Expired]:
    """Remove what lies wholly before a time.

    Parameters
    ----------
    before_ms : int
        Taken down to the whole hour.
    tables : iterable of str, optional
        Only these. Default: all whose rows have an age, but for ``truth``.

    Returns
    -------
    list of Expired
        Tables that lost something, in the contracts' order.

    Raises
    ------
    InputError
        A table has no age.
    ConflictError
        Other writers replaced the same hours again and again.
    """
    known = expirable_tables()
    tables = known if tables is None else list(tables)
    for table in tables:
        if table not in known:
            raise InputError("Rows of this table have no age", got=table, expected=", ".join(known))
    before_ms -= before_ms % BLOCK_MS
    found = []
    for table in (name for name in TABLES if name in tables):
        one = _expire(lake, table, before_ms, run_id, dry_run)
        if one is not None:
            found.append(one)
        if table == "samples":
            found += _forget_series(lake, before_ms, run_id, dry_run)
    return found


def _expire(lake: Lake, table: str, before_ms: int, run_id: str, dry_run: bool) -> Expired | None:

    def remove() -> Expired | None:
        version = lake.version(table)
        old = _old_files(lake, TABLES[table], before_ms, version)
        if not old:
            return None
        if not dry_run:
            lake.commit(table, [], old, run_id=run_id)
        return Expired(
            table,
            len(old),
            sum(file.rows for file in old),
            sum(file.size_bytes for file in old),
            *(span_of_all(TABLES[table], old) or (None, None)),
        )

    return retry(
        remove,
        attempts=_ATTEMPTS,
        exhausted=lambda: ConflictError(
            f"Old hours of {table} are being written all the time", fix="run it again later"
        ),
    )


def _old_files(lake: Lake, contract: Table, before_ms: int, version: int | None) -> list[DataFile]:
    files = lake.files(contract.name, version=version)
    old = [file for file in files if (span := span_of(contract, file)) is not None and span[1] <= before_ms]
    if contract.name in _AS_OF:
        old = _without_newest(contract, files, old, before_ms)
    if any(column.name == "end_ms" for column in contract.columns):
        old = [file for file in old if _has_ended(contract.name, file, before_ms)]
    return old


def _without_newest(
    contract: Table, files: list[DataFile], old: list[DataFile], before_ms: int
) -> list[DataFile]:
    """The old files without those that hold a cluster's newest snapshot before the time."""
    newest: dict[str, int] = {}
    seen: list[tuple[DataFile, dict[str, int]]] = []
    for file in files:
        if int(file.minimum["observed_ms"]) >= before_ms:
            continue
        rows = read_files(contract.name, [file], columns=["cluster", "observed_ms"])
        rows = rows.filter(pc.less(rows.column("observed_ms"), before_ms))
        last = {
            row["cluster"]: row["observed_ms_max"]
            for row in rows.group_by("cluster").aggregate([("observed_ms", "max")]).to_pylist()
        }
        seen.append((file, last))
        for cluster, observed_ms in last.items():
            newest[cluster] = max(observed_ms, newest.get(cluster, observed_ms))
    needed = {
        file.relative_path
        for file, last in seen
        if any(newest[cluster] == observed_ms for cluster, observed_ms in last.items())
    }
    return [file for file in old if file.relative_path not in needed]


def _has_ended(table: str, file: DataFile, before_ms: int) -> bool:
    ends = read_files(table, [file], columns=["end_ms"]).column("end_ms")
    return ends.null_count == 0 and pc.max(ends).as_py() <= before_ms


def _forget_series(lake: Lake, before_ms: int, run_id: str, dry_run: bool) -> list[Expired]:
    """Take series whose last sample is older out of the catalogue: their samples have just gone."""
    stored = lake.read("series", columns=["series_id", "shard", "last_ms"])
    gone = stored.filter(pc.less(stored.column("last_ms"), before_ms))
    if not gone.num_rows:
        return []
    if not dry_run:

        def change(rows: pa.Table) -> pa.Table:
            return rows.filter(pc.greater_equal(rows.column("last_ms"), before_ms))

        lake.update("series", change, partitions_of=gone, run_id=run_id)
    return [Expired("series", 0, gone.num_rows, 0, None, None, gone.num_rows)]
