"""Files of a table as a DataFrame. In: a session and a list of files. Out: rows with the contract's columns.

Files on disk are read by Spark itself. Files in an object store are read by pyarrow in Spark's tasks: Spark would need a jar of its
own for them, and its session would have to know the credentials. In both, only the requested columns and ranges are read from the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake.files import DataFile
from throttlescope.ingest.lake.parquet import is_remote
from throttlescope.ingest.lake.rows import read_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Files that a task reads one after the other come to about this much, unless that left cores without work.
_TASK_BYTES = 64 << 20

Between = dict[str, tuple[int | str, int | str]]


def frame_of(
    session: SparkSession,
    table: str,
    files: Sequence[DataFile],
    columns: Sequence[str] | None = None,
    between: Between | None = None,
) -> DataFrame:
    """Rows of some files; see :meth:`Lake.spark`."""
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import from_arrow_schema

    whole = TABLES[table].loose_schema
    names = list(columns or whole.names)
    if not files:
        return session.createDataFrame(
            [], from_arrow_schema(pa.schema([whole.field(name) for name in names]))
        )
    if is_remote(files[0].path):
        return _from_store(session, whole, files, names, between or {})
    found = session.read.schema(from_arrow_schema(whole)).parquet(*(file.path for file in files))
    for name, (first, last) in (between or {}).items():
        found = found.where(F.col(name).between(first, last))
    return found.select(*names)


def _from_store(
    session: SparkSession, whole: pa.Schema, files: Sequence[DataFile], names: list[str], between: Between
) -> DataFrame:
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = pa.schema([whole.field(name) for name in names])

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for paths in batch.column("paths").to_pylist():
                yield from _rows(paths, whole, schema, between)

    shares = [{"paths": share} for share in _shares(files)]
    listed = session.createDataFrame(
        pa.Table.from_pylist(shares, pa.schema([("paths", pa.list_(pa.string()))]))
    )
    return listed.repartition(len(shares)).mapInArrow(read, from_arrow_schema(schema))


def _shares(files: Sequence[DataFile]) -> list[list[str]]:
    """Files shared out to tasks, largest first, each to the task that has least."""
    count = min(len(files), max(sum(file.size_bytes for file in files) // _TASK_BYTES, 8))
    shares, sizes = [[] for _ in range(count)], [0] * count
    for file in sorted(files, key=lambda file: -file.size_bytes):
        least = sizes.index(min(sizes))
        shares[least].append(file.path)
        sizes[least] += file.size_bytes
    return shares


def _rows(
    paths: list[str], whole: pa.Schema, schema: pa.Schema, between: Between
) -> Iterator[pa.RecordBatch]:
    where = None
    for name, (first, last) in between.items():
        inside = (pc.field(name) >= first) & (pc.field(name) <= last)
        where = inside if where is None else where & inside
    for batch in read_batches(paths, whole, columns=schema.names, where=where):
        if batch.num_rows:
            yield batch.cast(schema)
