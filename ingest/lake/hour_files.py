"""Row tables from this process. In: rows with a contract's columns. Out: one file per cluster and UTC hour, as from Spark.

The twin of :mod:`~throttlescope.ingest.lake.spark_files` for what is small enough to be here: the same rows give the same files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, block_start
from throttlescope.ingest.lake.files import NewFile, write_data_file
from throttlescope.ingest.lake.staged import StagedCommit

if TYPE_CHECKING:
    from throttlescope.ingest.lake.lake import Lake


def write_hours_of(root: str, rows: pa.Table, table: str, time_column: str) -> list[NewFile]:
    """Write rows in any order; nothing is committed.

    Parameters
    ----------
    rows : pyarrow.Table
        All columns of the contract.
    time_column : str
        The column whose hour decides the file.
    """
    contract = TABLES[table]
    rows = rows.select([column.name for column in contract.columns])
    hour = pc.divide(rows.column(time_column), pa.scalar(BLOCK_MS, pa.int64()))
    found = []
    for one in (
        pa.table({"cluster": rows.column("cluster"), "hour": hour})
        .group_by(["cluster", "hour"])
        .aggregate([])
        .to_pylist()
    ):
        mine = pc.and_(pc.equal(rows.column("cluster"), one["cluster"]), pc.equal(hour, one["hour"]))
        part = rows.filter(mine).sort_by([(name, "ascending") for name in contract.key])
        found.append(write_data_file(root, table, part.combine_chunks()))
    return found


def replace_hours(
    lake: Lake,
    rows: pa.Table,
    table: str,
    *,
    run_id: str,
    time_column: str,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
) -> int | None:
    """Put rows in place of the old ones of whole UTC hours: :func:`stage_hours`, committed."""
    return lake.commit_staged(
        stage_hours(
            lake, rows, table, run_id=run_id, time_column=time_column, clusters=clusters, start_ms=start_ms, end_ms=end_ms
        )
    )  # fmt: skip


def stage_hours(
    lake: Lake,
    rows: pa.Table,
    table: str,
    *,
    run_id: str,
    time_column: str,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
) -> StagedCommit:
    """Write rows to replace the old ones of whole UTC hours; as :meth:`Lake.stage_spark`, from this process.

    Parameters
    ----------
    clusters, start_ms, end_ms
        What is replaced: the hours that touch [start_ms, end_ms) of these clusters. ``rows`` must hold all of their rows.
    """
    version = lake.version(table)
    old = lake.files(
        table,
        partition={"cluster": sorted(set(clusters))},
        between={time_column: (block_start(start_ms), end_ms + -end_ms % BLOCK_MS - 1)},
        version=version,
    )
    new = write_hours_of(lake.root, rows, table, time_column)
    return StagedCommit(table, tuple(new), tuple(old), run_id, version)
