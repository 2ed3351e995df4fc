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


def files_of(
    delta: DeltaTable,
    table: str,
    partition: Mapping[str, Iterable[object]] | None,
    between: Mapping[str, tuple[int | str, int | str]] | None,
    storage: Storage,
) -> list[DataFile]:
    """The data files of a version, or those of the requested partitions and bounds, with what the log says of them."""
    contract = TABLES[table]
    actions = pa.table(delta.get_add_actions(flatten=True))
    stats = [name for name in stats_columns(contract) if f"min.{name}" in actions.column_names]
    # Delta keeps no statistics of partition columns; the value is both bounds.
    bounds = {name: (f"min.{name}", f"max.{name}") for name in stats} | {
        name: (f"partition.{name}",) * 2 for name in contract.partition_by if name in stats_columns(contract)
    }
    # Of a month's hundred thousand files an hour is a few hundred: the others never become objects of Python.
    actions = actions.filter(_wanted(actions, partition or {}, between or {}, bounds))
    found = []
    for row in actions.to_pylist():
        values = {name: str(row[f"partition.{name}"]) for name in contract.partition_by}
        low = {name: row[least] for name, (least, _) in bounds.items() if row[least] is not None}
        high = {name: row[greatest] for name, (_, greatest) in bounds.items() if row[greatest] is not None}
        path = storage.address(f"{table}/{row['path']}")
        found.append(
            DataFile(
                path,
                row["path"],
                values,
                row["num_records"],
                row["size_bytes"],
                low,
                high,
                row["modification_time"],
            )
        )
    return found


def _wanted(
    actions: pa.Table,
    partition: Mapping[str, Iterable[object]],
    between: Mapping[str, tuple[int | str, int | str]],
    bounds: Mapping[str, tuple[str, str]],
) -> pa.ChunkedArray:
    """Which files may hold rows of these partitions and ranges; one without statistics may."""
    wanted = pa.chunked_array([pa.repeat(True, actions.num_rows)])
    for name, values in partition.items():
        allowed = pa.array(sorted({str(value) for value in values}), pa.string())
        wanted = pc.and_(wanted, pc.is_in(actions[f"partition.{name}"].cast(pa.string()), value_set=allowed))
    for name, (first, last) in between.items():
        if name in bounds:
            least, greatest = bounds[name]
            inside = pc.and_(pc.less_equal(actions[least], last), pc.greater_equal(actions[greatest], first))
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
