"""One lake. In: files that tasks wrote, or small tables of rows. Out: snapshots, as Arrow, Spark or DuckDB.

A commit is one Delta transaction of explicit remove and add actions, so a reader sees a whole
version or the one before it. Files are named by their content: what is already there is neither
removed nor added, and a commit that would change nothing is not made.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, PostCommitHookProperties
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import create_table_with_add_actions

from throttlescope.ingest.contracts import TABLES, Table
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.core.lake_address import LakeAddress
from throttlescope.ingest.core.retry import jitter, retry
from throttlescope.ingest.core.times import BLOCK_MS, block_start
from throttlescope.ingest.lake.actions import (
    add_action,
    columns_since,
    commit_properties,
    delta_schema,
    file_table,
    files_of,
    remove_action,
)
from throttlescope.ingest.lake.delta import DeltaTables
from throttlescope.ingest.lake.duck import confine, from_table, reaches
from throttlescope.ingest.lake.files import DataFile, NewFile, write_data_file
from throttlescope.ingest.lake.formats import format_properties
from throttlescope.ingest.lake.open_storage import storage_of
from throttlescope.ingest.lake.rows import naming_missing, read_files
from throttlescope.ingest.lake.staged import StagedCommit
from throttlescope.ingest.lake.storage import Storage
from throttlescope.ingest.lake.write_errors import naming_unwritable

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import DataFrame, SparkSession

# The writer that lost a race opens the table again; each attempt takes milliseconds.
_ATTEMPTS = 20

#: Commits that are looked at first where one of a moment is looked for.
_LOOKED_AT = 32
#: Versions after which commits that Delta does not keep any more leave the log.
_CLEANED_EVERY = 100


class ConflictError(ThrottlescopeError):
    """Another writer changed the same rows since they were read."""

    is_transient = True


class _LostRaceError(ConflictError):
    """Another writer created the next version of the table first; nothing says that it wrote the same rows."""


def _duckdb_connection() -> duckdb.DuckDBPyConnection:
    # Imported here: many commands only read files.
    import duckdb

    return duckdb.connect()


class Lake:
    """Delta tables below one folder, or below ``s3://bucket/prefix``.

    Parameters
    ----------
    root : str or Path
        The folder or the URI. Nothing is created before the first commit.

    Raises
    ------
    InputError
        The address is none that a lake can have.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = str(LakeAddress.of(root))

    def __reduce__(self):
        # Connections stay where they were made.
        return (Lake, (self.root,))

    @cached_property
    def storage(self) -> Storage:
        """Where the files are.

        Raises
        ------
        InputError
            The environment lacks what the object store needs.
        """
        return storage_of(self.root)

    @cached_property
    def _delta(self) -> DeltaTables:
        return DeltaTables(self.storage)

    # -- reading ---------------------------------------------------------------------------

    def version(self, table: str) -> int | None:
        """Newest version of a table; None where it was never written."""
        with self._delta.looking():
            delta = self._open(table)
            return None if delta is None else delta.version()

    def versions(
        self, tables: Iterable[str], *, known: Mapping[str, int | None] | None = None
    ) -> dict[str, int | None]:
        """Newest version of each table; ``known``: what they were at an earlier look, so that only what has changed since is opened."""
        known = known or {}
        return {
            table: known[table]
            if table in known and self._delta.is_still_at(table, known[table])
            else self.version(table)
            for table in tables
        }

    def version_at(self, table: str, time_ms: int) -> int | None:
        """The version that readers saw at a moment; None where the table was not there yet."""
        with self._delta.looking():
            delta = self._open(table)
            if delta is None:
                return None
            # Newest first, some at a time: most requests are for recent versions, and every commit is a file.
            limit = _LOOKED_AT
            while True:
                commits = delta.history(limit)
                for commit in commits:
                    if commit["timestamp"] <= time_ms:
                        return commit["version"]
                if len(commits) < limit:
                    return None
                limit *= _LOOKED_AT

    def files(
        self,
        table: str,
        *,
        partition: dict[str, Iterable[str]] | None = None,
        between: dict[str, tuple[int | str, int | str]] | None = None,
        version: int | None = None,
    ) -> list[DataFile]:
        """Files of one snapshot, pruned by partition values and by column ranges (ends included)."""
        with self._delta.looking():
            delta = self._open(table, version)
            return [] if delta is None else files_of(delta, table, partition, between, self.storage)

    def file_table(
        self,
        table: str,
        *,
        partition: dict[str, Iterable[str]] | None = None,
        between: dict[str, tuple[int | str, int | str]] | None = None,
    ) -> pa.Table | None:
        """The same of the newest version as rows, see :func:`~throttlescope.ingest.lake.actions.file_table`; None where it was never written."""
        with self._delta.looking():
            delta = self._open(table)
            return None if delta is None else file_table(delta, table, partition, between)

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

    def spark(
        self,
        session: SparkSession,
        table: str,
        files: list[DataFile] | None = None,
        *,
        columns: Sequence[str] | None = None,
        between: dict[str, tuple[int | str, int | str]] | None = None,
    ) -> DataFrame:
        """The snapshot, or some of its files, as a DataFrame.

        Parameters
        ----------
        columns : sequence of str, optional
            Columns of the contract; all of them by default.
        between : dict, optional
            Only rows with these columns in these ranges, ends included.
        """
        from throttlescope.ingest.lake.spark_read import frame_of

        return frame_of(session, table, self.files(table) if files is None else files, columns, between)

    @contextlib.contextmanager
    def counting(self, table: str, files: list[DataFile]) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection that reads some files of a table where they lie; one that is not there is named."""
        with _duckdb_connection() as connection, naming_missing(table, files):
            reaches(connection, self.storage)
            yield connection

    def duckdb(self, tables: Iterable[str] = TABLES) -> duckdb.DuckDBPyConnection:
        """A connection with a view of each of these tables, all of one moment. Use a cursor per request."""
        return self._with_views(_duckdb_connection(), tables)[0]

    def confined_duckdb(self, *, memory_limit_mb: int) -> duckdb.DuckDBPyConnection:
        """As :meth:`duckdb`, for queries that others wrote: nothing but the views' files can be opened.

        Parameters
        ----------
        memory_limit_mb : int
            What a query may hold (MB of 1,000,000 bytes). Nothing is written to disk beyond that.
        """
        connection, files = self._with_views(_duckdb_connection(), TABLES)
        confine(connection, files, memory_limit_mb=memory_limit_mb)
        return connection

    def _with_views(
        self, connection: duckdb.DuckDBPyConnection, tables: Iterable[str]
    ) -> tuple[duckdb.DuckDBPyConnection, list[DataFile]]:
        """The connection with a view of each table, and the files that the views read."""
        read: list[DataFile] = []
        connection.execute("SET TimeZone = 'UTC'")
        reaches(connection, self.storage)
        for name in tables:
            files = self.files(name)
            with naming_missing(name, files):
                source = from_table(connection, name, files)
                connection.execute(f'CREATE VIEW "{name}" AS SELECT * FROM {source}')  # noqa: S608
            read += files
        return connection, read

    # -- writing ---------------------------------------------------------------------------

    def commit(
        self,
        table: str,
        add: Iterable[NewFile],
        remove: Iterable[DataFile] = (),
        *,
        run_id: str,
        read_version: int | EllipsisType | None = ...,
        moved_ms: Mapping[str, int] | None = None,
    ) -> int | None:
        """Add and remove files in one transaction.

        Parameters
        ----------
        read_version : int or None, optional
            The version from which ``remove`` was taken; None where the table was not there yet. Files that came since and
            may hold the same keys as the new ones are a conflict. Where it is not given, nothing is one.
        moved_ms : mapping of str to int, optional
            The files to add have exactly the rows of those to remove; by path, when these rows came. The commit says that no
            data changed.

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

        def commit() -> int | None:
            with self._delta.looking(), naming_unwritable(self.root):
                return self._try_commit(table, add_by_path, remove_by_path, run_id, read_version, moved_ms)

        return retry(
            commit,
            attempts=_ATTEMPTS,
            # In an object store writers are a round trip apart; without jitter they would collide again.
            wait_s=jitter(0.01, 0.2 if self.storage.is_remote else 0.01),
            when=lambda error: isinstance(error, _LostRaceError),
            exhausted=lambda: ConflictError(
                f"Table {table} was being written all the time",
                got=f"{_ATTEMPTS} lost races",
                fix="run again later",
            ),
        )

    def _try_commit(
        self,
        table: str,
        add_by_path: Mapping[str, NewFile],
        remove_by_path: Mapping[str, DataFile],
        run_id: str,
        read_version: int | EllipsisType | None,
        moved_ms: Mapping[str, int] | None,
    ) -> int | None:
        """Commit once; the version that holds the change. Raises where another writer was faster."""
        delta = self._open(table)
        if delta is None:
            if remove_by_path:
                raise ConflictError(f"Table {table} is gone", fix="run the command again")
            if not add_by_path:
                return None
            try:
                return self._create(table, add_by_path.values(), run_id)
            except DeltaError as error:
                if self._open(table) is None:
                    raise
                raise _LostRaceError(f"Table {table} was created by another run") from error
        there = set(file_table(delta, table)["relative_path"].to_pylist())
        adds = [file for path, file in add_by_path.items() if path not in there]
        gone = remove_by_path.keys() - there
        if add_by_path and not adds and len(gone) == len(remove_by_path):
            # The table has the change already: a store may have accepted a commit whose answer was lost.
            return delta.version()
        if gone:
            raise ConflictError(
                f"Another run replaced blocks of {table} meanwhile", fix="run the command again"
            )
        if read_version is not ... and delta.version() != read_version:
            old = () if read_version is None else self.files(table, version=read_version)
            before = {file.relative_path for file in old}
            now = files_of(delta, table, None, None, self.storage)
            came = [file for file in now if file.relative_path not in before]
            if any(new.overlaps(old) for new in adds for old in came):
                raise ConflictError(
                    f"Another run wrote the same rows of {table} meanwhile", fix="run the command again"
                )
        if not adds and not remove_by_path:
            return delta.version()
        if new_columns := columns_since(delta, table):
            # Delta's own readers go by the table's schema; files from before are NULL there.
            delta.alter.add_columns(new_columns, commit_properties=commit_properties(run_id))
            raise _LostRaceError(f"Table {table} has new columns")
        added = [add_action(file, moved_ms) for file in adds]
        removed = [remove_action(file, moved_ms) for file in remove_by_path.values()]
        begun_at = delta.version()
        try:
            delta.create_write_transaction(
                [*added, *removed],
                "append",
                delta_schema(TABLES[table]),
                list(TABLES[table].partition_by) or None,
                commit_properties=commit_properties(run_id, len(added), len(removed)),
                # Old commits go now and then: looking for them costs as much as the commit where a log is long.
                post_commithook_properties=PostCommitHookProperties(
                    cleanup_expired_logs=(begun_at + 1) % _CLEANED_EVERY == 0
                ),
            )
        except CommitFailedError as error:
            # A store that refuses fails in the same way; then the table has no newer version.
            if self.storage.is_remote and self.version(table) == begun_at:
                raise
            raise _LostRaceError(f"Table {table} has a newer version") from error
        return self.version(table)

    def upsert(self, table: str, rows: pa.Table, *, run_id: str) -> int | None:
        """Write rows from the driver; a row whose key is already there takes the old one's place.

        For tables that fit the driver. Only the partitions that ``rows`` touch are rewritten.
        """

        def merge(existing: pa.Table) -> pa.Table:
            new_keys = _joinable_keys(new, TABLES[table])
            key = new_keys.column_names
            new_keys = new_keys.append_column("_new", pa.array([True] * new.num_rows))
            joined = _joinable_keys(existing, TABLES[table])
            joined = joined.append_column("_row", pa.array(range(existing.num_rows), pa.int64()))
            joined = joined.join(new_keys, key, join_type="left outer")
            kept = joined.filter(pc.is_null(joined["_new"]))["_row"].sort()
            return pa.concat_tables([existing.take(kept), new])

        new = TABLES[table].conform(rows)
        return self.update(table, merge, partitions_of=new, run_id=run_id)

    def update(
        self, table: str, change: Callable[[pa.Table], pa.Table], *, partitions_of: pa.Table, run_id: str
    ) -> int | None:
        """Replace the partitions that ``partitions_of`` names by ``change(their rows)``; repeated after a conflict."""
        contract = TABLES[table]
        partition = {
            name: [str(value) for value in partitions_of.column(name).unique().to_pylist()]
            for name in contract.partition_by
        }
        if partitions_of.num_rows == 0:
            return self.version(table)

        def replace() -> int | None:
            version = self.version(table)
            files = self.files(table, partition=partition, version=version)
            rows = change(read_files(table, files))
            new = [
                write_data_file(
                    self.root, table, part.sort_by([(name, "ascending") for name in contract.key])
                )
                for part in _split(rows, contract.partition_by)
            ]
            return self.commit(table, new, files, run_id=run_id, read_version=version)

        return retry(
            replace,
            attempts=_ATTEMPTS,
            exhausted=lambda: ConflictError(
                f"Table {table} was being written all the time", fix="run again later"
            ),
        )

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
        rows: Mapping[tuple[str, int], int] | None = None,
    ) -> int | None:
        """Write a DataFrame, by cluster and UTC hour, in place of those hours' old rows: :meth:`stage_spark`, committed."""
        return self.commit_staged(
            self.stage_spark(
                df, table, run_id=run_id, time_column=time_column, clusters=clusters, start_ms=start_ms,
                end_ms=end_ms, rows=rows,
            )
        )  # fmt: skip

    def stage_spark(
        self,
        df: DataFrame,
        table: str,
        *,
        run_id: str,
        time_column: str,
        clusters: Iterable[str],
        start_ms: int,
        end_ms: int,
        rows: Mapping[tuple[str, int], int] | None = None,
    ) -> StagedCommit:
        """Write a DataFrame, by cluster and UTC hour, to replace those hours' old rows.

        Parameters
        ----------
        time_column : str
            The column whose hour decides the file.
        clusters, start_ms, end_ms
            What is replaced: the hours that touch [start_ms, end_ms) of these clusters. ``df``
            must hold all their rows.
        rows : mapping of (str, int) to int, optional
            About how many rows each cluster has in the hour that starts then: one of many is several files.
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
        new = write_hours(self.root, df, table, time_column, rows)
        return StagedCommit(table, tuple(new), tuple(old), run_id, version)

    def commit_staged(self, staged: StagedCommit) -> int | None:
        """:meth:`commit` of a staged commit."""
        return self.commit(
            staged.table, staged.add, staged.remove, run_id=staged.run_id, read_version=staged.read_version
        )

    # -- Delta -----------------------------------------------------------------------------

    def _open(self, table: str, version: int | None = None) -> DeltaTable | None:
        return self._delta.open(table, version)

    def _create(self, table: str, add: Iterable[NewFile], run_id: str) -> int:
        contract = TABLES[table]
        uri = self._delta.uri(table)
        if not self.storage.is_remote:
            Path(uri).mkdir(parents=True, exist_ok=True)
        if properties := format_properties(contract):
            # Delta takes properties of ours only in a transaction without files: a table of no rows comes first.
            DeltaTable.create(
                uri,
                delta_schema(contract),
                mode="error",
                partition_by=list(contract.partition_by),
                name=table,
                description=contract.doc,
                configuration=properties,
                raise_if_key_not_exists=False,
                storage_options=self.storage.delta_options(),
                commit_properties=commit_properties(run_id),
            )
            return self.commit(table, add, run_id=run_id)
        actions = [add_action(file) for file in add]
        create_table_with_add_actions(
            uri,
            delta_schema(contract),
            actions,
            mode="error",
            partition_by=list(contract.partition_by),
            name=table,
            description=contract.doc,
            storage_options=self.storage.delta_options(),
            commit_properties=commit_properties(run_id, len(actions)),
        )
        return self.version(table)


def _joinable_keys(rows: pa.Table, table: Table) -> pa.Table:
    """The key's columns for a join: there a NULL meets nothing, but two rows of no cluster have the same key."""
    keys = rows.select(list(table.key))
    for name in table.key:
        if table.column(name).nullable:
            at, values = keys.column_names.index(name), keys.column(name)
            default = pa.scalar("" if pa.types.is_string(values.type) else 0, values.type)
            keys = keys.set_column(at, name, pc.fill_null(values, default))
            keys = keys.append_column(f"{name} is NULL", pc.is_null(values))
    return keys


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
