"""Whether a lake is as its logs say. In: a lake. Out: what is missing, damaged or contradicts itself, file by file.

Three things are compared: the contract of a table, its log, and its files, whose names are the hashes of their bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from throttlescope.ingest.contracts import TABLES, Table
from throttlescope.ingest.core.errors import InputError, ThrottlescopeError
from throttlescope.ingest.lake.damage import is_as_written
from throttlescope.ingest.lake.duck import from_files
from throttlescope.ingest.lake.files import DataFile, stats_columns
from throttlescope.ingest.lake.lake import Lake
from throttlescope.ingest.lake.storage import StoredFile
from throttlescope.ingest.lake.upkeep.check_log import log_faults

#: Files that are read concurrently; each is in memory as a whole.
_CONCURRENT_FILES = 4

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Fault:
    """Something that is not as the log says.

    Attributes
    ----------
    path : str or None
        Below the lake; None: the table as a whole.
    what : str
        In words.
    kind : str
        ``missing`` and ``damaged`` are data files, ``log`` is a file of the log or all of it, ``contradicts`` a file that is whole
        and not what the log says, ``repeated`` a key that several rows have, ``format`` a table that this version cannot read: nothing is
        damaged, and nothing is to be repaired.
    """

    table: str
    path: str | None
    what: str
    kind: str = "log"

    @property
    def is_of_data_file(self) -> bool:
        """Whether it is one data file that is not as the log says, and not the log or the table."""
        return self.path is not None and self.kind in ("missing", "damaged", "contradicts")

    def to_row(self) -> dict[str, Any]:
        return asdict(self)


def check(
    lake: Lake, tables: Iterable[str] | None = None, *, quick: bool = False, progress: Progress | None = None
) -> list[Fault]:
    """Hold the newest version of every table against its contract, its log and its files.

    Parameters
    ----------
    quick : bool
        Compare names and sizes alone: no file is opened.
    progress : callable, optional
        Called with files done and files to do, of one table.

    Raises
    ------
    InputError
        There is no such table.
    """
    # Logs are read from their files: what is kept of them may be sound where a file no longer is.
    lake = Lake(lake.root)
    return [
        fault
        for table in (TABLES if tables is None else tables)
        for fault in _faults(lake, table, quick, progress)
    ]


def _faults(lake: Lake, table: str, quick: bool, progress: Progress | None) -> Iterator[Fault]:
    stored = {file.relative_path: file for file in lake.storage.list(table)}
    if not quick:
        yield from (Fault(table, path, what) for path, what in log_faults(lake, table, stored))
    try:
        version = lake.version(table)
        files = [] if version is None else lake.files(table, version=version)
    except ThrottlescopeError as error:
        if not stored:
            raise
        yield Fault(table, None, str(error), kind="format" if isinstance(error, InputError) else "log")
        return
    if version is None:
        # What a run wrote before it was killed in its first commit; the run that follows finds it.
        if stored:
            yield Fault(
                table, None, "there are files and no log that names them; a table begins with the next run"
            )
        return
    files.sort(key=lambda file: file.relative_path)
    whole = []
    for file in files:
        if fault := _by_name(table, file, stored.get(f"{table}/{file.relative_path}")):
            yield fault
        else:
            whole.append(file)
    if quick:
        return
    good = []
    with ThreadPoolExecutor(_CONCURRENT_FILES) as reading:
        for number, (file, fault) in enumerate(
            zip(whole, reading.map(lambda file: _by_content(lake, TABLES[table], file), whole), strict=True),
            1,
        ):
            if fault is None:
                good.append(file)
            else:
                yield fault
            if progress:
                progress(number, len(whole))
    yield from _repeated(lake, TABLES[table], good)


def _by_name(table: str, file: DataFile, there: StoredFile | None) -> Fault | None:
    path = f"{table}/{file.relative_path}"
    if there is None:
        return Fault(table, path, f"missing, with {file.rows} rows", "missing")
    if there.size_bytes != file.size_bytes:
        return Fault(table, path, f"{there.size_bytes} bytes, not {file.size_bytes}", "damaged")
    return None


def _by_content(lake: Lake, contract: Table, file: DataFile) -> Fault | None:
    path = f"{contract.name}/{file.relative_path}"
    content = lake.storage.read(path)
    if content is None:
        # A concurrent vacuum deletes nothing that the newest version names, but that version may be another one by now.
        still = {one.relative_path for one in lake.files(contract.name)}
        if file.relative_path not in still:
            return None
        return Fault(contract.name, path, f"missing, with {file.rows} rows", "missing")
    if not is_as_written(file.relative_path, content):
        return Fault(
            contract.name,
            path,
            f"its bytes are not those that were written, with {file.rows} rows",
            "damaged",
        )
    try:
        footer = pq.read_metadata(pa.BufferReader(content))
        what = _contradiction(contract, file, footer)
    except (pa.ArrowException, OSError) as error:
        return Fault(contract.name, path, f"no Parquet: {error}", "damaged")
    return what and Fault(contract.name, path, what, "contradicts")


def _contradiction(contract: Table, file: DataFile, footer: pq.FileMetaData) -> str | None:
    """What the log says of a file and the file does not, in words; None where they agree."""
    if footer.num_rows != file.rows:
        return f"{footer.num_rows} rows, and the log says {file.rows}"
    stored = footer.schema.to_arrow_schema()
    for column in contract.columns:
        if column.name in stored.names and not _alike(stored.field(column.name).type, column.type):
            return f"{column.name} is {stored.field(column.name).type}, and the contract says {column.type}"
    for name, (low, high) in _bounds(footer, {*stats_columns(contract), *contract.partition_by}).items():
        if name in file.partition and {str(low), str(high)} != {file.partition[name]}:
            return f"{name} is {low}, and the log says {file.partition[name]}"
        said = file.minimum.get(name), file.maximum.get(name)
        if name not in file.partition and None not in said and said != (low, high):
            return f"{name} is from {low} to {high}, and the log says from {said[0]} to {said[1]}"
    return None


def _alike(stored: pa.DataType, declared: pa.DataType) -> bool:
    if pa.types.is_nested(declared):
        return pa.types.is_nested(stored)
    if pa.types.is_large_string(stored) or pa.types.is_dictionary(stored):
        return pa.types.is_string(declared)
    return stored.equals(declared)


def _bounds(footer: pq.FileMetaData, names: set[str]) -> dict[str, tuple[Any, Any]]:
    """The least and the greatest value of columns of which every row group tells them."""
    found: dict[str, tuple[Any, Any]] = {}
    for i in range(footer.num_columns):
        name = footer.schema.column(i).path
        if name not in names:
            continue
        statistics = [footer.row_group(g).column(i).statistics for g in range(footer.num_row_groups)]
        if statistics and all(one is not None and one.has_min_max for one in statistics):
            found[name] = min(one.min for one in statistics), max(one.max for one in statistics)
    return found


def _repeated(lake: Lake, contract: Table, files: list[DataFile]) -> Iterator[Fault]:
    """Keys that are there twice. Equal keys have equal partition values, so a partition at a time is enough."""

    def place(file: DataFile) -> list[tuple[str, str]]:
        return sorted(file.partition.items())

    key = ", ".join(f'"{name}"' for name in contract.key)
    if not files:
        return
    try:
        with lake.counting(contract.name, files) as connection:
            for partition, some in groupby(sorted(files, key=place), key=place):
                count, rows = connection.execute(
                    f"SELECT count(*), coalesce(sum(n), 0) FROM (SELECT {key}, count(*) AS n "  # noqa: S608
                    f"FROM {from_files(list(some), union_by_name=True)} GROUP BY ALL HAVING n > 1)"
                ).fetchone()
                if count:
                    where = ", ".join(f"{name} {value}" for name, value in partition)
                    what = f"{count} keys are there more than once, in {rows} rows"
                    yield Fault(contract.name, None, f"{what} of {where}" if where else what, "repeated")
    except (ThrottlescopeError, duckdb.Error) as error:
        yield Fault(contract.name, None, f"its keys cannot be read: {error}", "damaged")
