"""One lake. In: files that tasks wrote, or small tables of rows. Out: snapshots, as Arrow, Spark or DuckDB.

A commit is one Delta transaction of explicit remove and add actions, so a reader sees a whole
version or the one before it. Files are named by their content: what is already there is neither
removed nor added, and a commit that would change nothing is not made.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Field, Schema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

from throttlescope.ingest.contracts import TABLES, Table
from throttlescope.ingest.errors import InputError, ThrottlescopeError
from throttlescope.ingest.lake.files import DataFile, NewFile, stats_columns, write_data_file
from throttlescope.ingest.times import BLOCK_MS, block_start

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A loser of a race opens the table again and tries once more; each try takes milliseconds.
_TRIES = 20


class ConflictError(ThrottlescopeError):
    """Another writer changed the same rows since they were read."""


class Lake:
    """Delta tables below one folder.

    Parameters
    ----------
    root : str or Path
        The folder. Nothing is created before the first commit.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = str(root)

    # -- reading ---------------------------------------------------------------------------

    def version(self, table: str) -> int | None:
        """Newest version of a table; None where it was never written."""
        delta = self._open(table)
        return None if delta is None else delta.version()

    def version_at(self, table: str, time_ms: int) -> int | None:
        """The version that readers saw at a moment; None where the table was not there yet."""
        delta = self._open(table)
        if delta is None:
            return None
        return max(
            (commit["version"] for commit in delta.history() if commit["timestamp"] <= time_ms), default=None
        )

    def files(
        self,
        table: str,
        *,
        partition: dict[str, Iterable[str]] | None = None,
        between: dict[str, tuple[int | str, int | str]] | None = None,
        version: int | None = None,
    ) -> list[DataFile]:
        """Files of one snapshot, pruned by partition values and by column ranges (ends included)."""
        delta = self._open(table, version)
        return [] if delta is None else self._files(delta, table, partition, between)

    def read(
        self,
        table: str,
        *,
        columns: list[str] | None = None,
        where: pc.Expression | None = None,
        partition: dict[str, Iterable[str]] | None = None,
        between: dict[str, tuple[int | str, int | str]] | None = None,
        version: int | None = None,
    ) -> pa.Table:
        """Rows of one snapshot as Arrow, in no set order. A table never written reads as empty."""
        files = self.files(table, partition=partition, between=between, version=version)
        return read_files(table, files, columns=columns, where=where)

    def spark(self, session: SparkSession, table: str, files: list[DataFile] | None = None) -> DataFrame:
        """The snapshot (or some of its files) as a DataFrame with the contract's columns."""
        from pyspark.sql.pandas.types import from_arrow_schema

        schema = from_arrow_schema(TABLES[table].loose_schema)
        files = self.files(table) if files is None else files
        if not files:
            return session.createDataFrame([], schema)
        return session.read.schema(schema).parquet(*(file.path for file in files))

    def duckdb(self) -> duckdb.DuckDBPyConnection:
        """A connection with a view per table, all of one moment. Use a cursor per request."""
        connection = duckdb.connect()
        connection.execute("SET TimeZone = 'UTC'")
        for name, table in TABLES.items():
            paths = [file.path for file in self.files(name)]
            # What is there of a table whose newest column no file has: a real table, which every cursor sees.
            empty = table.loose_schema.empty_table()
            connection.register("empty", empty)
            connection.execute(f'CREATE TABLE "{name} without rows" AS SELECT * FROM empty')  # noqa: S608
            connection.unregister("empty")
            source = f'SELECT * FROM "{name} without rows"'  # noqa: S608
            if paths:
                quoted = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
                # By name costs a look into every file; only a table that was widened needs it.
                oldest = pq.read_schema(min(paths, key=os.path.getmtime))
                widened = not set(table.schema.names) <= set(oldest.names)
                stored = (
                    f"SELECT * FROM read_parquet([{quoted}], "  # noqa: S608
                    f"hive_partitioning = false, union_by_name = {str(widened).lower()})"
                )
                source = f"{source} UNION ALL BY NAME {stored}" if widened else stored
            connection.execute(f'CREATE VIEW "{name}" AS {source}')
        return connection

    # -- writing ---------------------------------------------------------------------------

    def commit(
        self,
        table: str,
        add: Iterable[NewFile],
        remove: Iterable[DataFile] = (),
        *,
        run_id: str,
        read_version: int | None = None,
    ) -> int | None:
        """Add and remove files in one transaction.

        Parameters
        ----------
        read_version : int, optional
            The version from which ``remove`` was taken. Files that came since and may hold the
            same keys as the new ones are a conflict.

        Returns
        -------
        int or None
            The version that holds the change; the newest one where nothing had to change.

        Raises
        ------
        ConflictError
            A file to remove is gone, or another writer added rows of the same keys meanwhile.
        """
        add_by_path = {file.relative_path: file for file in add}
        remove_by_path = {file.relative_path: file for file in remove}
        for path in add_by_path.keys() & remove_by_path.keys():
            del add_by_path[path], remove_by_path[path]
        for _ in range(_TRIES):
            delta = self._open(table)
            if delta is None:
                if remove_by_path:
                    raise ConflictError(f"Table {table} is gone", fix="run the command again")
                if not add_by_path:
                    return None
                try:
                    return self._create(table, add_by_path.values(), run_id)
                except DeltaError:
                    if self._open(table) is None:
                        raise
                    continue
            now_by_path = {file.relative_path: file for file in self._files(delta, table, None, None)}
            adds = [file for path, file in add_by_path.items() if path not in now_by_path]
            if remove_by_path.keys() - now_by_path.keys():
                raise ConflictError(
                    f"Another run replaced blocks of {table} meanwhile", fix="run the command again"
                )
            if read_version is not None and delta.version() != read_version:
                before = {file.relative_path for file in self.files(table, version=read_version)}
                came = [file for path, file in now_by_path.items() if path not in before]
                if any(new.overlaps(old) for new in adds for old in came):
                    raise ConflictError(
                        f"Another run wrote the same rows of {table} meanwhile", fix="run the command again"
                    )
            if not adds and not remove_by_path:
                return delta.version()
            if new_columns := _columns_since(delta, table):
                # Delta's own readers go by the table's schema; files from before are NULL there.
                delta.alter.add_columns(new_columns, commit_properties=_commit_properties(run_id))
                continue
            actions = [_add_action(file) for file in adds]
            actions += [_remove_action(now_by_path[path]) for path in remove_by_path]
            try:
                delta.create_write_transaction(
                    actions,
                    "append",
                    _delta_schema(TABLES[table]),
                    list(TABLES[table].partition_by) or None,
                    commit_properties=_commit_properties(run_id),
                )
            except CommitFailedError:
                time.sleep(0.01)
                continue
            return self.version(table)
        raise ConflictError(
            f"Table {table} was being written all the time", got=f"{_TRIES} lost races", fix="run again later"
        )

    def upsert(self, table: str, rows: pa.Table, *, run_id: str) -> int | None:
        """Write rows from the driver; a row whose key is already there takes the old one's place.

        For tables that fit the driver. Only the partitions that ``rows`` touch are rewritten.
        """

        def merge(existing: pa.Table) -> pa.Table:
            key = list(TABLES[table].key)
            new_keys = new.select(key).append_column("_new", pa.array([True] * new.num_rows))
            joined = existing.append_column("_row", pa.array(range(existing.num_rows), pa.int64()))
            joined = joined.select([*key, "_row"]).join(new_keys, key, join_type="left outer")
            kept = joined.filter(pc.is_null(joined["_new"]))["_row"].sort()
            return pa.concat_tables([existing.take(kept), new])

        new = TABLES[table].conform(rows)
        return self.update(table, merge, partitions_of=new, run_id=run_id)

    def update(
        self, table: str, change: Callable[[pa.Table], pa.Table], *, partitions_of: pa.Table, run_id: str
    ) -> int | None:
        """Replace the partitions that ``partitions_of`` names by ``change(their rows)``, under a retry."""
        contract = TABLES[table]
        partition = {
            name: [str(value) for value in partitions_of.column(name).unique().to_pylist()]
            for name in contract.partition_by
        }
        if partitions_of.num_rows == 0:
            return self.version(table)
        for _ in range(_TRIES):
            version = self.version(table)
            files = self.files(table, partition=partition, version=version)
            rows = change(read_files(table, files))
            new = [
                write_data_file(
                    self.root, table, part.sort_by([(name, "ascending") for name in contract.key])
                )
                for part in _split(rows, contract.partition_by)
            ]
            try:
                return self.commit(table, new, files, run_id=run_id, read_version=version)
            except ConflictError:
                continue
        raise ConflictError(f"Table {table} was being written all the time", fix="run again later")

    def replace_spark(
        self,
        df: DataFrame,
        table: str,
        *,
        run_id: str,
        time_column: str,
        clusters: Iterable[str],
        start_ms: int,
        end_ms: int,
    ) -> int | None:
        """Write a DataFrame, one file per cluster and UTC hour, in place of those hours' old rows.

        Parameters
        ----------
        time_column : str
            The column whose hour decides the file.
        clusters, start_ms, end_ms
            What is replaced: the hours that touch [start_ms, end_ms) of these clusters. ``df``
            must hold all their rows.
        """
        from throttlescope.ingest.lake.spark_files import write_hours

        clusters = set(clusters)
        version = self.version(table)
        old = [
            file
            for file in self.files(table, version=version)
            if file.partition["cluster"] in clusters
            and file.maximum[time_column] >= block_start(start_ms)
            and file.minimum[time_column] < end_ms + -end_ms % BLOCK_MS
        ]
        new = write_hours(self.root, df, table, time_column)
        return self.commit(table, new, old, run_id=run_id, read_version=version)

    # -- Delta -----------------------------------------------------------------------------

    def _path(self, table: str) -> Path:
        if table not in TABLES:
            raise InputError("No such table", got=repr(table), expected=", ".join(TABLES))
        return Path(self.root) / table

    def _open(self, table: str, version: int | None = None) -> DeltaTable | None:
        path = self._path(table)
        if not (path / "_delta_log").is_dir():
            return None
        try:
            return DeltaTable(str(path), version=version)
        except TableNotFoundError:
            return None

    def _create(self, table: str, add: Iterable[NewFile], run_id: str) -> int:
        contract = TABLES[table]
        path = self._path(table)
        path.mkdir(parents=True, exist_ok=True)
        create_table_with_add_actions(
            str(path),
            _delta_schema(contract),
            [_add_action(file) for file in add],
            mode="error",
            partition_by=list(contract.partition_by),
            name=table,
            description=contract.doc,
            commit_properties=_commit_properties(run_id),
        )
        return self.version(table)

    def _files(self, delta: DeltaTable, table: str, partition, between) -> list[DataFile]:
        contract = TABLES[table]
        actions = pa.table(delta.get_add_actions(flatten=True))
        wanted = {name: {str(value) for value in values} for name, values in (partition or {}).items()}
        stats = stats_columns(contract)
        parts = {name: actions[f"partition.{name}"].to_pylist() for name in contract.partition_by}
        lows = {
            name: actions[f"min.{name}"].to_pylist()
            for name in stats
            if f"min.{name}" in actions.column_names
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
            path = str(self._path(table) / relative)
            found.append(DataFile(path, relative, values, rows, size, low, high, committed_ms))
        return found


def read_files(
    table: str,
    files: list[DataFile],
    *,
    columns: list[str] | None = None,
    where: pc.Expression | None = None,
) -> pa.Table:
    """Rows of some files as Arrow; for tasks that were handed a list of files."""
    schema = TABLES[table].schema
    if not files:
        empty = schema.empty_table()
        return empty.select(columns) if columns else empty
    dataset = ds.dataset([file.path for file in files], schema=schema, format="parquet")
    return dataset.to_table(columns=columns, filter=where)


def _split(rows: pa.Table, partition_by: tuple[str, ...]) -> Iterable[pa.Table]:
    if not partition_by:
        if rows.num_rows:
            yield rows
        return
    for values in rows.select(list(partition_by)).group_by(list(partition_by)).aggregate([]).to_pylist():
        mask = None
        for name, value in values.items():
            same = pc.equal(rows[name], pa.scalar(value, rows.schema.field(name).type))
            mask = same if mask is None else pc.and_(mask, same)
        yield rows.filter(mask)


def _columns_since(delta: DeltaTable, table: str) -> list[Field]:
    """Columns of the contract that the stored table, which an earlier version made, does not have yet."""
    there = {field.name for field in delta.schema().fields}
    return [field for field in _delta_schema(TABLES[table]).fields if field.name not in there]


def _delta_schema(table: Table) -> Schema:
    return Schema.from_arrow(table.schema)


def _commit_properties(run_id: str) -> CommitProperties:
    return CommitProperties(custom_metadata={"run_id": run_id}, max_commit_retries=0)


def _add_action(file: NewFile) -> AddAction:
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
        modification_time=int(time.time() * 1000),
        data_change=True,
        stats=json.dumps(stats),
    )


def _remove_action(file: DataFile) -> RemoveAction:
    return RemoveAction(
        path=file.relative_path,
        deletion_timestamp=int(time.time() * 1000),
        data_change=True,
        partition_values=file.partition,
        size=file.size_bytes,
    )
