"""Rows of data files. In: files of a version. Out: Arrow; or which of them are not there, or damaged."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.lake.damage import UNREADABLE, DamagedFilesError, damaged
from throttlescope.ingest.lake.duck import from_table
from throttlescope.ingest.lake.files import GROUP_ROWS, DataFile
from throttlescope.ingest.lake.formats import MissingFilesError
from throttlescope.ingest.lake.open_storage import storage_of
from throttlescope.ingest.lake.parquet import dataset, is_remote, reporting_store_errors

#: Groups of rows, and files, that are decoded ahead of the reader.
_GROUPS_AHEAD, _FILES_AHEAD = 4, 2


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
    with naming_missing(table, files), reporting_store_errors(files[0].path):
        found = dataset([file.path for file in files], schema=schema)
        return found.to_table(columns=columns, filter=where)


def of_topics(files: Iterable[DataFile], topics: Sequence[str]) -> list[DataFile]:
    """The files that may have rows of some topics, which are sorted; the fewer, the nearer their names are."""
    first, last = (topics[0], topics[-1]) if topics else ("", "")
    return [file for file in files if file.minimum["topic"] <= last and first <= file.maximum["topic"]]


def read_topics(
    table: str, files: Sequence[DataFile], topics: Sequence[str], *, columns: Sequence[str]
) -> pa.Table:
    """Rows of some topics, in no set order: for few topics of many and many columns."""
    return _read_named(table, files, pa.table({"topic": pa.array(topics, pa.string())}), columns)


def read_subscriptions(
    table: str, files: Sequence[DataFile], names: Sequence[tuple], *, columns: Sequence[str]
) -> pa.Table:
    """Rows of some subscription partitions, in no set order; those of others on the same topics are left where they are.

    Parameters
    ----------
    names : sequence of tuple
        Their keys, in the order of :data:`SUBSCRIPTION_KEY_NAMES`.
    """
    keys = [TABLES[table].loose_schema.field(name) for name in SUBSCRIPTION_KEY_NAMES]
    values = [pa.array([name[at] for name in names], key.type) for at, key in enumerate(keys)]
    return _read_named(table, files, pa.table(values, pa.schema(keys)), columns)


def _read_named(table: str, files: Sequence[DataFile], names: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Rows whose values of some columns, the topic among them, are those of a row of ``names``.

    DuckDB decodes the other columns only near such a row. In an object store, where it would fetch each column of each group
    of rows by itself, :func:`read_files` does it.
    """
    topics = sorted(set(names["topic"].to_pylist()))
    files, columns = of_topics(files, topics), list(columns)
    if not files:
        return read_files(table, [], columns=columns)
    # By the first and the last name groups of rows are left out unread; the list of names alone would look into each.
    first, last = topics[0], topics[-1]
    if is_remote(files[0].path):
        where = (pc.field("topic") >= first) & (pc.field("topic") <= last)
        for key in names.column_names:
            where &= pc.field(key).isin(names[key].unique())
        rows = read_files(table, files, columns=columns, where=where)
        return rows.join(names, names.column_names, join_type="left semi")
    import duckdb

    with naming_missing(table, files), duckdb.connect(config={"threads": pa.cpu_count()}) as connection:
        source = from_table(connection, table, files)
        connection.register("names", names)
        listed, keys = (", ".join(f'"{name}"' for name in some) for some in (columns, names.column_names))
        found = connection.sql(
            f"SELECT {listed} FROM {source} WHERE topic BETWEEN $first AND $last "  # noqa: S608
            f"AND topic IN (SELECT topic FROM names) AND ({keys}) IN (SELECT ({keys}) FROM names)",
            params={"first": first, "last": last},
        ).to_arrow_table()
    schema = TABLES[table].schema
    return found.cast(pa.schema([schema.field(name) for name in columns]))


def read_pieces(
    table: str, files: list[DataFile], *, columns: list[str], where: pc.Expression
) -> Iterator[pa.Table]:
    """The rows of :func:`read_files`, some :data:`GROUP_ROWS` at a time, for a reader that keeps less of a row than it is."""
    if not files:
        return
    with naming_missing(table, files):
        piece: list[pa.RecordBatch] = []
        paths = [file.path for file in files]
        for batch in read_batches(paths, TABLES[table].schema, columns=columns, where=where):
            piece.append(batch)
            if sum(one.num_rows for one in piece) >= GROUP_ROWS:
                yield pa.Table.from_batches(piece)
                piece = []
        if piece:
            yield pa.Table.from_batches(piece)


def read_batches(
    paths: Sequence[str], schema: pa.Schema, *, columns: list[str], where: pc.Expression | None
) -> Iterator[pa.RecordBatch]:
    """Rows of some files in their order, a group of rows of a file at most at a time; few are decoded ahead."""
    with reporting_store_errors(paths[0]):
        # The batch's size counts: so many batches' rows are decoded ahead, in groups.
        yield from dataset(paths, schema).to_batches(
            columns=columns,
            filter=where,
            batch_size=GROUP_ROWS,
            batch_readahead=_GROUPS_AHEAD,
            fragment_readahead=_FILES_AHEAD,
        )


@contextlib.contextmanager
def naming_missing(table: str, files: list[DataFile]) -> Iterator[None]:
    """Where reading files of a table fails within it because some are not there, or are damaged, say which."""
    try:
        yield
    except _unreadable() as error:
        if _is_of_no_file(error):
            raise
        if gone := _missing(files):
            raise MissingFilesError.of(table, gone) from error
        # Most readers name the file that they stopped at: only that one is read again then.
        named = [file for file in files if file.relative_path in str(error)]
        if broken := damaged(named or files):
            raise DamagedFilesError.of(table, broken) from error
        raise


def _unreadable() -> tuple[type[BaseException], ...]:
    """What readers raise on a file that is gone or holds no Parquet: DuckDB many things, some without a class of their own."""
    # Imported where something was raised: many commands read without it.
    import duckdb

    return (*UNREADABLE, duckdb.Error)


def _is_of_no_file(error: BaseException) -> bool:
    import duckdb

    no_files = (duckdb.ProgrammingError, duckdb.InterruptException, duckdb.OutOfMemoryException)
    return isinstance(error, no_files) and not isinstance(error, duckdb.InvalidInputException)


def _missing(files: list[DataFile]) -> list[str]:
    storages = {file.path.removesuffix(file.relative_path) for file in files}
    there = {root: storage_of(root) for root in storages}
    return [
        file.relative_path
        for file in files
        if not there[file.path.removesuffix(file.relative_path)].exists(file.relative_path)
    ]
