"""Pieces of work in tasks of Spark. In: a session, pieces, and what does one. Out: a DataFrame of the rows that they give.

For results that are too many for the driver; those of :class:`~throttlescope.ingest.spark.task_executor.SparkPoolExecutor` come to it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from throttlescope.ingest.spark.executors import parallelism
from throttlescope.ingest.spark.task_executor import TASKS_PER_CORE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Rows that a task holds, some hundred bytes each; the pieces of one read no more, unless a single piece does.
_TASK_ROWS = 500_000


def share_size(count: int, rows_each: int, parallelism: int) -> int:
    """How many of ``count`` names, each with so many rows, are one piece of work: a task holds them, and there are pieces for all cores.

    Parameters
    ----------
    parallelism : int
        Calls that run at once; with 1 there are as few pieces as possible.
    """
    most = max(1, _TASK_ROWS // max(1, rows_each))
    return most if parallelism == 1 else min(most, max(1, -(-count // (TASKS_PER_CORE * parallelism))))


def on_spark(
    session: SparkSession, work: list[object], rows: Callable[[object], int],
    run: Callable[[object], Iterable[pa.RecordBatch]], schema: str,
) -> DataFrame:  # fmt: skip
    """Let Spark's tasks do some pieces of work, the largest first; small ones share a task.

    Parameters
    ----------
    rows : function
        How many rows a piece reads, or what else its time follows.
    run : function
        Does one piece; its batches have the columns of ``schema``.
    """
    tasks = _tasks(work, rows, parallelism(session))

    def run_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for pieces in batch.column("work").to_pylist():
                for piece in pickle.loads(pieces):  # noqa: S301 - our own work, from the driver
                    yield from run(piece)

    table = pa.table(
        {
            "task": pa.array(range(len(tasks)), pa.int32()),
            "work": pa.array([pickle.dumps(task) for task in tasks], pa.binary()),
        }
    )
    # By number: dealing them out would give one task two of them and another none.
    frame = session.createDataFrame(table).repartitionById(len(tasks), "task")
    return frame.mapInArrow(run_task, schema)


def _tasks(work: list[object], rows: Callable[[object], int], parallelism: int) -> list[list[object]]:
    total = sum(rows(piece) for piece in work)
    count = max(1, min(len(work), max(TASKS_PER_CORE * parallelism, -(-total // _TASK_ROWS))))
    tasks: list[list[object]] = [[] for _ in range(count)]
    sizes = [0] * count
    for piece in sorted(work, key=rows, reverse=True):
        smallest = sizes.index(min(sizes))
        tasks[smallest].append(piece)
        sizes[smallest] += rows(piece)
    return tasks
