"""Which names have rows that satisfy a condition? In: files of a table, and where to look. Out: the distinct values of some columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.lake.files import DataFile
from throttlescope.ingest.lake.rows import read_files
from throttlescope.ingest.spark.task_executor import TASKS_PER_CORE, TaskExecutor


def distinct(
    executor: TaskExecutor,
    table: str,
    files: Sequence[DataFile],
    columns: Sequence[str],
    where: pc.Expression,
) -> list[tuple]:
    """Values of some columns in the rows that satisfy a condition, sorted, each once.

    Parameters
    ----------
    executor : TaskExecutor
        Files are read in its calls, one after the other; only distinct values come back.
    """
    # By name, so that a call has the same names hour after hour and returns each once.
    ordered = sorted(files, key=lambda file: (file.minimum["topic"], file.relative_path))
    size = -(-len(ordered) // (TASKS_PER_CORE * executor.parallelism))
    groups = [ordered[at : at + size] for at in range(0, len(ordered), size)] if files else []
    find = partial(_distinct, table, columns=list(columns), where=where)
    return sorted({values for found in executor.map(find, groups) for values in found})


def _distinct(table: str, files: list[DataFile], columns: list[str], where: pc.Expression) -> list[tuple]:
    found = [
        read_files(table, [file], columns=columns, where=where).group_by(columns).aggregate([])
        for file in files
    ]
    rows = pa.concat_tables(found).group_by(columns).aggregate([])
    return list(zip(*(rows[name].to_pylist() for name in columns), strict=True))
