"""Frames of counted faults: in, rows; out, the few small rows that a gate judges, on Spark or in this process.

A Spark job takes seconds before it has read a row, so what is small is counted here, by DuckDB. The SQL is the same text
for both, and so are the answers; a test holds the two against each other.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.lake import DataFile, Lake
from throttlescope.ingest.spark.executors import parallelism

if TYPE_CHECKING:
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
        """Nothing is held."""


class SparkFrame:
    """Counted faults as a cached DataFrame: it is read several times."""

    source = "spark"

    def __init__(self, frame: DataFrame) -> None:
        self.data = frame.persist()

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
        return [row.asDict(recursive=True) for row in session.sql(text, frame=self.data).collect()]

    def close(self) -> None:
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
    if session is None or sum(file.rows for some in files.values() for file in some) <= IN_PROCESS_ROWS:
        from throttlescope.ingest.lake.lake import read_files

        return {table: read_files(table, some, columns=columns[table]) for table, some in files.items()}
    return {table: lake.spark(session, table, some, columns=columns[table]) for table, some in files.items()}


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
    if session is None or rows <= (IN_PROCESS_ROWS if most is None else most):
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


def _duckdb(text: str, rows: Mapping[str, pa.Table]) -> pa.Table:
    connection = duckdb.connect(config={"threads": 1})
    try:
        for name, table in rows.items():
            connection.register(f"rows_{name}", table)
        return connection.sql(
            text.format(len="len", **{name: f"rows_{name}" for name in rows})
        ).to_arrow_table()
    finally:
        connection.close()
