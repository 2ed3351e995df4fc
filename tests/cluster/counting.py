"""Rows that come to the driver. In: a piece of work. Out: how many rows this process was handed and read, by the module that asked for them.

Three ways lead here: answers of Spark, files that this process reads by pyarrow, and answers of DuckDB. Spark's tasks are
processes of their own, so what they read is not counted.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql.classic.dataframe import DataFrame

from throttlescope.ingest.lake import parquet

#: Ways from Spark to the driver. ``count`` and the like hand over one row, by way of these.
SPARK = ("collect", "toArrow", "toPandas", "toLocalIterator", "tail")
ARROW = ("read", "read_row_group", "read_row_groups", "iter_batches")
#: All ways out of DuckDB that are used anywhere, and their like.
DUCKDB = (
    "fetchall", "fetchmany", "fetchone", "fetchdf", "df", "fetchnumpy", "arrow", "to_arrow_table", "to_arrow_reader",
    "fetch_arrow_table", "fetch_record_batch",
)  # fmt: skip
#: Modules that read for others: whoever calls them asks.
READERS = (
    "throttlescope.ingest.lake.lake", "throttlescope.ingest.lake.rows", "throttlescope.ingest.lake.parquet",
    "throttlescope.ingest.lake.duck", "throttlescope.ingest.core.retry",
    "throttlescope.ingest.quality.frames",
)  # fmt: skip


@dataclass
class Read:
    """What came to this process.

    Attributes
    ----------
    rows, bytes : dict of str to int
        By the module that asked. Bytes are Arrow's; a row of Python objects counts eight for each of its values.
    """

    rows: dict[str, int] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)

    def add(self, asker: str, rows: int, bytes_: int) -> None:
        self.rows[asker] = self.rows.get(asker, 0) + rows
        self.bytes[asker] = self.bytes.get(asker, 0) + bytes_


@contextlib.contextmanager
def rows_to_driver() -> Iterator[Read]:
    """Count, for the length of the context, the rows of every answer and file by the module of ours that asked."""
    found = Read()
    with contextlib.ExitStack() as stack:
        for name in SPARK:
            stack.enter_context(_counted_way(DataFrame, name, found))
        for name in ARROW:
            stack.enter_context(_counted_way(pq.ParquetFile, name, found))
        for owner in (duckdb.DuckDBPyConnection, duckdb.DuckDBPyRelation):
            for name in set(DUCKDB) & set(dir(owner)):
                stack.enter_context(_counted_way(owner, name, found))
        stack.enter_context(_everywhere(parquet.dataset, _counted_dataset(found)))
        yield found


@contextlib.contextmanager
def _counted_way(owner: type, name: str, found: Read) -> Iterator[None]:
    before = getattr(owner, name)

    def way(self, *arguments, **named):
        asker = _asker()
        return _counted(before(self, *arguments, **named), found, asker)

    setattr(owner, name, way)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _counted_dataset(found: Read) -> Callable[..., Any]:
    """``parquet.dataset``, whose datasets count what is read of them: pyarrow's own class cannot be changed."""
    before = parquet.dataset

    class Counted:
        def __init__(self, dataset: ds.Dataset) -> None:
            self._dataset = dataset

        def __getattr__(self, name: str) -> Any:
            there = getattr(self._dataset, name)
            if name not in ("to_table", "to_batches", "head", "take"):
                return there
            return lambda *arguments, **named: _counted(there(*arguments, **named), found, _asker())

    return lambda *arguments, **named: Counted(before(*arguments, **named))


@contextlib.contextmanager
def _everywhere(before: Callable[..., Any], after: Callable[..., Any]) -> Iterator[None]:
    """One function in the place of another, wherever a module of ours has it under its own name."""

    def put(old: Callable[..., Any], new: Callable[..., Any]) -> None:
        for name, module in list(sys.modules.items()):
            if name.startswith("throttlescope"):
                for attribute, value in list(vars(module).items()):
                    if value is old:
                        setattr(module, attribute, new)

    put(before, after)
    try:
        yield
    finally:
        put(after, before)


def _counted(answer: Any, found: Read, asker: str) -> Any:
    """The answer, with its rows counted; those of a stream as they are taken."""
    if answer is None:
        return answer
    if isinstance(answer, pa.Table):
        found.add(asker, answer.num_rows, answer.nbytes)
    elif isinstance(answer, tuple):
        found.add(asker, 1, 8 * len(answer))
    elif isinstance(answer, dict):
        found.add(asker, max(map(len, answer.values()), default=0), sum(map(len, answer.values())) * 8)
    elif isinstance(answer, pa.RecordBatchReader):
        stream = _stream(answer, found, asker)
        return pa.RecordBatchReader.from_batches(answer.schema, stream)
    elif isinstance(answer, list):
        found.add(asker, sum(_rows(row) for row in answer), sum(_bytes(row) for row in answer))
    elif hasattr(answer, "__len__"):
        found.add(asker, len(answer), 0)
    else:
        return _stream(answer, found, asker)
    return answer


def _rows(row: Any) -> int:
    """A row of Spark is one; the result of a call in a task is as many as there are rows and names in its lists."""
    packed = getattr(row, "result", None)
    return _items(pickle.loads(packed)) if isinstance(packed, bytes) else 1  # noqa: S301 - of our own task


def _items(value: Any) -> int:
    return sum(_items(one) for one in value) if isinstance(value, list | tuple | set) else 1


def _bytes(row: Any) -> int:
    return sum(len(value) if isinstance(value, bytes) else 8 for value in row)


def _stream(parts: Any, found: Read, asker: str) -> Iterator[Any]:
    for part in parts:
        of_arrow = isinstance(part, pa.RecordBatch)
        found.add(asker, part.num_rows if of_arrow else 1, part.nbytes if of_arrow else 8 * len(part))
        yield part


def _asker() -> str:
    """The innermost module of ours that does not read for another one; else a library's that works for us."""
    frame, first = sys._getframe(1), None
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("throttlescope.") and name not in READERS:
            return name
        if name != __name__ and not name.startswith(("pyspark", "contextlib", "throttlescope", "pyarrow")):
            first = first or name
        frame = frame.f_back
    return first or "?"
