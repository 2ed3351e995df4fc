"""What a Delta log says of data files. In: files to add or remove. Out: the actions of a commit; and back, the files of a version."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, Field, Schema
from deltalake.transaction import AddAction, RemoveAction

from throttlescope.ingest.contracts import TABLES, Table
from throttlescope.ingest.lake.files import DataFile, NewFile, stats_columns
from throttlescope.ingest.lake.storage import Storage

#: Keys of a commit's information.
FILES_ADDED, FILES_REMOVED = "files_added", "files_removed"
#: How columns of :func:`file_table` begin that say what a file holds.
PARTITION, MINIMUM, MAXIMUM = "partition.", "minimum.", "maximum."

Partition = Mapping[str, Iterable[object]]
Bounds = Mapping[str, tuple[int | str, int | str]]


def files_of(
    delta: DeltaTable, table: str, partition: Partition | None, between: Bounds | None, storage: Storage
) -> list[DataFile]:
    """The data files of a version, or those of the requested partitions and bounds, with what the log says of them."""
    found = []
    for row in file_table(delta, table, partition, between).to_pylist():
        values, low, high = (
            {name[len(start) :]: value for name, value in row.items() if name.startswith(start)}
            for start in (PARTITION, MINIMUM, MAXIMUM)
        )
        found.append(
            DataFile(
                storage.address(f"{table}/{row['relative_path']}"),
                row["relative_path"],
                values,
                row["rows"],
                row["size_bytes"],
                {name: value for name, value in low.items() if value is not None},
                {name: value for name, value in high.items() if value is not None},
                row["committed_ms"],
            )
        )
    return found


def file_table(
    delta: DeltaTable, table: str, partition: Partition | None = None, between: Bounds | None = None
) -> pa.Table:
    """The same as Arrow: a month has a hundred thousand files, which would be seconds and hundreds of megabytes as objects.

    Returns
    -------
    pyarrow.Table
        A row per file: ``relative_path``, ``rows``, ``size_bytes``, ``committed_ms``, and for each column that files are cut by
        ``partition.NAME`` as text, or ``minimum.NAME`` and ``maximum.NAME``.
    """
    contract = TABLES[table]
    actions = pa.table(delta.get_add_actions(flatten=True))
    columns = {
        "relative_path": actions["path"],
        "rows": actions["num_records"],
        "size_bytes": actions["size_bytes"],
        "committed_ms": actions["modification_time"],
    }
    for name in contract.partition_by:
        columns[PARTITION + name] = actions[f"partition.{name}"].cast(pa.string())
    for name in stats_columns(contract):
        # Delta keeps no statistics of partition columns; the value is both bounds.
        is_part = name in contract.partition_by
        least, greatest = [f"partition.{name}"] * 2 if is_part else (f"min.{name}", f"max.{name}")
        if least in actions.column_names:
            columns[MINIMUM + name], columns[MAXIMUM + name] = actions[least], actions[greatest]
    found = pa.table(columns)
    return found.filter(_wanted(found, partition or {}, between or {}))


def _wanted(files: pa.Table, partition: Partition, between: Bounds) -> pa.ChunkedArray:
    """Which files may hold rows of these partitions and ranges; one without statistics may."""
    wanted = pa.chunked_array([pa.repeat(True, files.num_rows)])
    for name, values in partition.items():
        allowed = pa.array(sorted({str(value) for value in values}), pa.string())
        wanted = pc.and_(wanted, pc.is_in(files[PARTITION + name], value_set=allowed))
    for name, (first, last) in between.items():
        if MINIMUM + name in files.column_names:
            inside = pc.and_(
                pc.less_equal(files[MINIMUM + name], last), pc.greater_equal(files[MAXIMUM + name], first)
            )
            wanted = pc.and_(wanted, pc.fill_null(inside, True))
    return wanted


def columns_since(delta: DeltaTable, table: str) -> list[Field]:
    """Columns of the contract that the stored table, which an earlier version made, does not have yet."""
    there = {field.name for field in delta.schema().fields}
    return [field for field in delta_schema(TABLES[table]).fields if field.name not in there]


def delta_schema(table: Table) -> Schema:
    return Schema.from_arrow(table.schema)


def commit_properties(run_id: str, added: int = 0, removed: int = 0) -> CommitProperties:
    """The first line of a commit: how many files follow, so that a commit which lost its end is recognised."""
    said = {"run_id": run_id, FILES_ADDED: str(added), FILES_REMOVED: str(removed)}
    return CommitProperties(custom_metadata=said, max_commit_retries=0)


def add_action(file: NewFile, moved_ms: Mapping[str, int] | None = None) -> AddAction:
    stats = {
        "numRecords": file.rows,
        "minValues": {k: v for k, v in file.minimum.items() if k not in file.partition},
        "maxValues": {k: v for k, v in file.maximum.items() if k not in file.partition},
        "nullCount": {},
    }
    return AddAction(
        path=file.relative_path,
        size=file.size_bytes,
        partition_values=file.partition,
        modification_time=(moved_ms or {}).get(file.relative_path, int(time.time() * 1000)),
        data_change=moved_ms is None,
        stats=json.dumps(stats),
    )


def remove_action(file: DataFile, moved_ms: Mapping[str, int] | None = None) -> RemoveAction:
    return RemoveAction(
        path=file.relative_path,
        deletion_timestamp=int(time.time() * 1000),
        data_change=moved_ms is None,
        partition_values=file.partition,
        size=file.size_bytes,
    )
