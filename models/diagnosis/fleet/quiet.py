"""Hours are screened where they lie. In: hours. Out: files of ``verdicts`` with the quiet windows, and the windows that are left."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from functools import singledispatch

import pyarrow as pa

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.lake import write_data_file
from throttlescope.ingest.lake.files import NewFile
from throttlescope.ingest.spark.pieces import on_spark
from throttlescope.ingest.spark.task_executor import SparkPoolExecutor
from throttlescope.models.diagnosis.fleet.hours import Hour, read_minutes
from throttlescope.models.diagnosis.healthy_fast_path import COLUMNS, answers
from throttlescope.models.diagnosis.window import SubscriptionKey

#: Verdicts of one file at most: what a task holds while it writes. An hour of 10,000 subscriptions is 120,000.
_FILE_ROWS = 250_000

_SCHEMA = pa.schema(
    [
        pa.field("cluster", pa.string()),
        pa.field("namespace", pa.string()),
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("subscription", pa.string()),
        pa.field("starts_ms", pa.list_(pa.int64())),
        pa.field("file", pa.string()),
    ]
)


def judge_quiet(
    executor: Executor, root: str, hours: list[Hour]
) -> tuple[list[NewFile], dict[SubscriptionKey, list[int]]]:
    """Screen all hours, in this process unless the executor is Spark's.

    Returns
    -------
    files : list of NewFile
        Written, not committed.
    left : dict of SubscriptionKey to list of int
        Starts (epoch ms) of the windows that the screen left, in no set order.
    """
    files, left = [], {}
    for row in _screened(executor, root, hours).to_pylist() if hours else ():
        if row["file"] is not None:
            files.append(NewFile.from_json(row["file"]))
        else:
            key = SubscriptionKey(*(row[name] for name in SUBSCRIPTION_KEY_NAMES))
            left.setdefault(key, []).extend(row["starts_ms"])
    return files, left


@singledispatch
def _screened(executor: Executor, root: str, hours: list[Hour]) -> pa.Table:
    return pa.Table.from_batches([batch for hour in hours for batch in screen_hour(root, hour)], _SCHEMA)


@_screened.register(SparkPoolExecutor)
def _screened_on_spark(executor: SparkPoolExecutor, root: str, hours: list[Hour]) -> pa.Table:
    from pyspark.sql.pandas.types import from_arrow_schema

    return on_spark(
        executor.session,
        hours,
        lambda hour: hour.rows,
        lambda hour: screen_hour(root, hour),
        from_arrow_schema(_SCHEMA),
    ).toArrow()


def screen_hour(root: str, hour: Hour) -> Iterator[pa.RecordBatch]:
    """Screen one hour: a row for each file that was written, and one for each subscription that has windows left."""
    grid, columns = hour.grid, list(COLUMNS)
    waiting, waiting_rows = [], 0
    for answer in answers(_minutes(hour, columns), grid):
        waiting.append(answer.verdicts)
        waiting_rows += answer.verdicts.num_rows
        if waiting_rows >= _FILE_ROWS:
            yield from _written(root, waiting)
            waiting, waiting_rows = [], 0
        if answer.left:
            yield _batch(
                starts_ms=[starts_ms for _, starts_ms in answer.left],
                **dict(
                    zip(
                        SUBSCRIPTION_KEY_NAMES,
                        zip(*(key for key, _ in answer.left), strict=True),
                        strict=True,
                    )
                ),
            )
    if waiting_rows:
        yield from _written(root, waiting)


def _minutes(hour: Hour, columns: list[str]) -> pa.Table:
    grid = hour.grid
    return pa.concat_tables([read_minutes(file, grid.start_ms, grid.end_ms, columns) for file in hour.files])


def _written(root: str, parts: list[pa.Table]) -> Iterator[pa.RecordBatch]:
    yield _batch(file=[write_data_file(root, "verdicts", pa.concat_tables(parts)).to_json()])


def _batch(**columns: list) -> pa.RecordBatch:
    count = len(next(iter(columns.values())))
    return pa.RecordBatch.from_arrays(
        [
            pa.array(columns[field.name], field.type)
            if field.name in columns
            else pa.nulls(count, field.type)
            for field in _SCHEMA
        ],
        schema=_SCHEMA,
    )
