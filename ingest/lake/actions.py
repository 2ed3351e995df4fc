"""What a Delta log says of data files. In: files to add or remove. Out: the actions of a commit; and back, the files of a version."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping

import pyarrow as pa
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
    between: Mapping[str, tuple[int, int]] | None,
    storage: Storage,
) -> list[DataFile]:
    """The data files of a version, or those of the requested partitions and bounds, with what the log says of them."""
    contract = TABLES[table]
    actions = pa.table(delta.get_add_actions(flatten=True))
    wanted = {name: {str(value) for value in values} for name, values in (partition or {}).items()}
    stats = stats_columns(contract)
    parts = {name: actions[f"partition.{name}"].to_pylist() for name in contract.partition_by}
    lows = {
        name: actions[f"min.{name}"].to_pylist() for name in stats if f"min.{name}" in actions.column_names
    }
    highs = {name: actions[f"max.{name}"].to_pylist() for name in lows}
    found = []
    for i, (relative, rows, size, committed_ms) in enumerate(
        zip(
            *(
                actions[name].to_pylist()
                for name in ("path", "num_records", "size_bytes", "modification_time")
            ),
            strict=True,
        )
    ):
        values = {name: str(column[i]) for name, column in parts.items()}
        if any(values[name] not in allowed for name, allowed in wanted.items()):
            continue
        low = {name: column[i] for name, column in lows.items() if column[i] is not None}
        high = {name: column[i] for name, column in highs.items() if column[i] is not None}
        # Delta keeps no statistics of partition columns; the value is both bounds.
        for name in contract.partition_by:
            if name in stats:
                low[name] = high[name] = parts[name][i]
        if any(
            name in low and (low[name] > last or high[name] < first)
            for name, (first, last) in (between or {}).items()
        ):
            continue
        path = storage.address(f"{table}/{relative}")
        found.append(DataFile(path, relative, values, rows, size, low, high, committed_ms))
    return found


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
