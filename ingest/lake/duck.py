"""DuckDB over a lake's files. In: a connection, and files of a snapshot. Out: SQL that reads them, on disk or in an object store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake.files import DataFile
from throttlescope.ingest.lake.storage import Storage

if TYPE_CHECKING:
    import duckdb


def reaches(connection: duckdb.DuckDBPyConnection, storage: Storage) -> None:
    """Let a connection, and every cursor of it, read files of a storage."""
    if storage.is_remote:
        from throttlescope.ingest.lake.duck_files import store_files

        # DuckDB's own reader of S3 is an extension that it would have to download.
        connection.register_filesystem(store_files())


def confine(
    connection: duckdb.DuckDBPyConnection, files: Sequence[DataFile], *, memory_limit_mb: int
) -> None:
    """Let a connection, and every cursor of it, open only some files, and take so much memory; this cannot be undone.

    It can still be used to write into these files: what runs on it has to be a SELECT.
    """
    settings: dict[str, object] = {
        "memory_limit": f"{memory_limit_mb}MB",
        # What does not fit into memory is an error; it does not fill a disk.
        "temp_directory": "",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        # A name that is no table would otherwise be looked for among Python's variables.
        "python_enable_replacements": False,
        "allowed_paths": [file.path for file in files],
        "enable_external_access": False,
        # The last one: from here on none of them can be set.
        "lock_configuration": True,
    }
    for name, value in settings.items():
        connection.execute(f"SET {name} = ?", [value])


def from_files(files: Sequence[DataFile], *, union_by_name: bool = False) -> str:
    """SQL after FROM that reads some files; at least one."""
    quoted = ", ".join("'" + file.path.replace("'", "''") + "'" for file in files)
    more = ", union_by_name = true" if union_by_name else ""
    return f"read_parquet([{quoted}], hive_partitioning = false{more})"


def from_table(connection: duckdb.DuckDBPyConnection, table: str, files: Sequence[DataFile]) -> str:
    """SQL after FROM that reads some files of a table, or none, with all of its columns.

    One that a file lacks, because an earlier version wrote it, is NULL there.
    """
    if files and not is_widened(connection, files, TABLES[table].schema.names):
        return from_files(files)
    # In a schema of their own: SHOW TABLES lists the lake's tables, and only them.
    connection.execute("CREATE SCHEMA IF NOT EXISTS without_rows")
    empty = f'without_rows."{table}"'
    make_empty(connection, empty, TABLES[table].loose_schema)
    return with_all_columns(empty, files) if files else empty


def make_empty(connection: duckdb.DuckDBPyConnection, name: str, schema: pa.Schema) -> None:
    """Make a table without rows. A real one: what is only registered is not seen by cursors."""
    connection.register("empty", schema.empty_table())
    connection.execute(f"CREATE TABLE {name} AS SELECT * FROM empty")  # noqa: S608
    connection.unregister("empty")


def is_widened(
    connection: duckdb.DuckDBPyConnection, files: Sequence[DataFile], columns: Iterable[str]
) -> bool:
    """Whether some files were written before a table had all of its columns. Only the oldest is looked into; at least one."""
    oldest = min(files, key=lambda file: file.committed_ms)
    # DuckDB looks, so that a file that is gone is the same fault here as in any query.
    described = connection.execute(f"DESCRIBE SELECT * FROM {from_files([oldest])}").fetchall()  # noqa: S608
    return not set(columns) <= {row[0] for row in described}


def with_all_columns(empty: str, files: Sequence[DataFile]) -> str:
    """SQL after FROM that reads files of which some lack columns: those are NULL. Every file is opened for it.

    Parameters
    ----------
    empty : str
        A table without rows that has them all (:func:`make_empty`): it may be that no file has the newest one.
    """
    stored = from_files(files, union_by_name=True)
    return f"(SELECT * FROM {empty} UNION ALL BY NAME SELECT * FROM {stored})"  # noqa: S608
