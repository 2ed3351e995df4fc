"""Frames of counted faults. In: rows. Out: the few small rows that a gate judges, on Spark or in this process.

What is small is counted here, by DuckDB (:func:`~throttlescope.ingest.spark.task_executor.fits_in_process`). The SQL is the same text
for both, and so are the answers; a test compares the two.
"""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, block_start
from throttlescope.ingest.lake import DataFile, Lake
from throttlescope.ingest.lake.parquet import dataset
from throttlescope.ingest.spark.executors import parallelism
from throttlescope.ingest.spark.task_executor import fits_in_process

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset
    from pyspark.sql import DataFrame, SparkSession

#: Rows of a table that are counted in this process at most: an hour of some 3,000 subscriptions' signals.
IN_PROCESS_ROWS = 200_000


class LocalFrame:
    """Counted faults in this process."""

    source = "pandas"

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    @property
    def types(self) -> dict[str, str]:
        """Column to ``integer`` or another word."""
        return {
            field.name: "integer" if pa.types.is_integer(field.type) else str(field.type)
            for field in self.table.schema
        }

    @property
    def data(self):
        """What Great Expectations takes."""
        return self.table.to_pandas()

    def query(self, text: str) -> list[dict]:
        """Rows of a SELECT that names the frame ``{frame}``."""
        return _duckdb(text, {"frame": self.table}).to_pylist()

    def close(self) -> None:
        """Nothing has to be released."""


class SparkFrame:
    """Counted faults as a cached DataFrame: it is read several times."""

    source = "spark"

    def __init__(self, frame: DataFrame) -> None:
        self.data = frame.persist()
        self._view: str | None = None

    @property
    def types(self) -> dict[str, str]:
        from pyspark.sql.types import IntegralType

        return {
            field.name: "integer"
            if isinstance(field.dataType, IntegralType)
            else field.dataType.simpleString()
            for field in self.data.schema
        }

    def query(self, text: str) -> list[dict]:
        session = self.data.sparkSession
        if self._view is None:
            # As long as the frame: a view that is dropped takes along what is cached of its plan, and sql(..., frame=) drops its own.
            self._view = f"counted_{uuid.uuid4().hex}"
            self.data.createOrReplaceTempView(self._view)
        return [row.asDict(recursive=True) for row in session.sql(text.format(frame=self._view)).collect()]

    def close(self) -> None:
        if self._view is not None:
            self.data.sparkSession.catalog.dropTempView(self._view)
            self._view = None
        self.data.unpersist()


Frame = LocalFrame | SparkFrame


def counted_from(session: SparkSession | None, rows: Mapping[str, pa.Table | DataFrame], text: str) -> Frame:
    """Count faults by one SELECT.

    Parameters
    ----------
    rows : mapping of str to pyarrow.Table or DataFrame
        What the SELECT calls ``{name}``; all of one kind. ``{len}`` is the function that counts a list.
    """
    if all(isinstance(one, pa.Table) for one in rows.values()):
        return LocalFrame(_duckdb(text, rows))
    return SparkFrame(session.sql(text.replace("{len}", "size"), **rows))


def rows_of(
    session: SparkSession | None,
    lake: Lake,
    files: Mapping[str, list[DataFile]],
    columns: Mapping[str, list[str]],
) -> dict[str, pa.Table | DataFrame]:
    """Rows of some tables by their files: in this process where all of them are few, else on Spark.

    Parameters
    ----------
    files, columns : mapping of str to list
        By table. Without a session everything is read here.
    """
    rows = sum(file.rows for some in files.values() for file in some)
    if fits_in_process(session, rows, IN_PROCESS_ROWS):
        from throttlescope.ingest.lake.rows import read_files

        return {table: read_files(table, some, columns=columns[table]) for table, some in files.items()}
    return {table: lake.spark(session, table, some, columns=columns[table]) for table, some in files.items()}


def counted_by_hour(
    session: SparkSession | None,
    lake: Lake,
    times: Mapping[str, str],
    columns: Mapping[str, list[str]],
    text: str,
    clusters: Collection[str],
    start_ms: int,
    end_ms: int,
) -> Frame:
    """Count faults of a lake by one SELECT none of whose groups reaches over an hour of a cluster.

    Where there are many rows, every hour is a task, and DuckDB counts in it: Spark's own plan of so many sums is interpreted, and takes
    several times as long.

    Parameters
    ----------
    times, columns : mapping of str to str, to list
        Of each table that the SELECT calls ``{name}``: its column of time, and what is read.
    start_ms, end_ms : int
        Rows with a time in [start_ms, end_ms).
    """
    files = {
        table: lake.files(
            table, partition={"cluster": clusters}, between={column: (block_start(start_ms), end_ms - 1)}
        )
        for table, column in times.items()
    }
    rows = sum(file.rows for some in files.values() for file in some)
    if fits_in_process(session, rows, IN_PROCESS_ROWS):
        read = rows_of(None, lake, files, columns)
        return counted_from(
            None, {name: inside(read[name], clusters, times[name], start_ms, end_ms) for name in read}, text
        )
    tasks = [
        {
            "text": text, "times": times, "columns": columns, "cluster": cluster,
            "start_ms": max(start_ms, hour_ms), "end_ms": min(end_ms, hour_ms + BLOCK_MS),
            "paths": {
                table: [file.path for file in files[table] if _reaches(file, cluster, column, hour_ms)]
                for table, column in times.items()
            },
        }
        for cluster in sorted(clusters)
        for hour_ms in range(block_start(start_ms), end_ms, BLOCK_MS)
    ]  # fmt: skip
    tasks = [task for task in tasks if any(task["paths"].values())]
    return mapped(session, tasks, _faults_of_hour, _counted_schema(text, columns), rows)


def _reaches(file: DataFile, cluster: str, column: str, hour_ms: int) -> bool:
    return (
        file.partition["cluster"] == cluster
        and file.minimum[column] < hour_ms + BLOCK_MS
        and file.maximum[column] >= hour_ms
    )


def _counted_schema(text: str, columns: Mapping[str, list[str]]) -> pa.Schema:
    empty = {table: TABLES[table].schema.empty_table().select(names) for table, names in columns.items()}
    return _duckdb(text, empty).schema


def _faults_of_hour(
    text: str,
    times: Mapping[str, str],
    columns: Mapping[str, list[str]],
    cluster: str,
    start_ms: int,
    end_ms: int,
    paths: Mapping[str, list[str]],
) -> Iterator[pa.RecordBatch]:
    quoted, rows, inner = "'" + cluster.replace("'", "''") + "'", {}, {}
    for table, some in paths.items():
        schema = TABLES[table].schema
        # As a dataset, of which DuckDB reads what it needs, a piece at a time.
        rows[table] = dataset(some, schema=schema) if some else schema.empty_table()
        inner[table] = (
            f"(SELECT {', '.join(columns[table])} FROM rows_{table} WHERE cluster = {quoted} "  # noqa: S608
            f"AND {times[table]} >= {start_ms} AND {times[table]} < {end_ms})"
        )
    yield from _duckdb(text, rows, inner).to_batches()


def mapped(
    session: SparkSession | None,
    tasks: Sequence[dict[str, Any]],
    faults_of: Callable[..., Iterator[pa.RecordBatch]],
    schema: pa.Schema,
    rows: int,
    *,
    most: int | None = None,
) -> Frame:
    """Count faults by a function: in this process where there are few rows, else a Spark task each.

    Parameters
    ----------
    tasks : sequence of dict
        Arguments of ``faults_of``; they are pickled.
    rows : int
        Rows that all tasks read together; up to ``most`` (:data:`IN_PROCESS_ROWS`) are read here.
    """
    if fits_in_process(session, rows, IN_PROCESS_ROWS if most is None else most):
        batches = [batch for task in tasks for batch in faults_of(**task)]
        return LocalFrame(pa.Table.from_batches(batches, schema=schema))
    from pyspark.sql.pandas.types import from_arrow_schema

    def count(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for pickled in batch.column(0).to_pylist():
                yield from faults_of(**pickle.loads(pickled))  # noqa: S301 - written by this very run

    parts = min(len(tasks), 4 * parallelism(session))
    handed = pa.table({"task": pa.array([pickle.dumps(task) for task in tasks], pa.binary())})
    return SparkFrame(
        session.createDataFrame(handed).repartition(parts).mapInArrow(count, from_arrow_schema(schema))
    )


def inside(
    rows: pa.Table | DataFrame, clusters: Collection[str], time_column: str, start_ms: int, end_ms: int
) -> pa.Table | DataFrame:
    """Rows of some clusters with a time in [start_ms, end_ms)."""
    if isinstance(rows, pa.Table):
        column, low, high = pc.field(time_column), pc.scalar(start_ms), pc.scalar(end_ms)
        return rows.filter(pc.field("cluster").isin(sorted(clusters)) & (column >= low) & (column < high))
    from pyspark.sql import functions as F

    times = F.col(time_column)
    return rows.where(F.col("cluster").isin(sorted(clusters)) & (times >= start_ms) & (times < end_ms))


def _duckdb(
    text: str, rows: Mapping[str, pa.Table | Dataset], called: Mapping[str, str] | None = None
) -> pa.Table:
    """``called``: replaces ``{name}``; by default the registered rows themselves."""
    names = {name: f"rows_{name}" for name in rows} if called is None else called
    connection = duckdb.connect(config={"threads": 1})
    try:
        for name, table in rows.items():
            connection.register(f"rows_{name}", table)
        return connection.sql(text.format(len="len", **names)).to_arrow_table()
    finally:
        connection.close()
