"""Pieces of work are small enough for a task, and enough for all cores."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import from_arrow_schema

from throttlescope.ingest.spark.pieces import on_spark, share_size


@pytest.mark.parametrize(
    ("count", "rows_each", "parallelism", "size"),
    [
        (100, 1_000, 1, 500),  # as few pieces as possible
        (100, 1_000, 2, 13),  # eight pieces
        (100_000, 1_000, 2, 500),  # no more than a task holds
        (3, 1_000, 8, 1),
        (0, 0, 2, 1),
        (5, 10**9, 1, 1),
    ],
)
def test_share_is_what_a_task_holds(count, rows_each, parallelism, size):
    assert share_size(count, rows_each, parallelism) == size


@pytest.mark.parametrize("count", [1, 5, 40])
def test_each_piece_is_done_once(spark, count):
    schema = pa.schema([("piece", pa.int64()), ("square", pa.int64())])

    def run(piece):
        yield pa.RecordBatch.from_pydict({"piece": [piece], "square": [piece * piece]}, schema)

    frame = on_spark(spark, list(range(count)), lambda piece: piece, run, from_arrow_schema(schema))
    assert sorted(map(tuple, frame.collect())) == [(piece, piece * piece) for piece in range(count)]
    assert frame.rdd.getNumPartitions() == min(count, 8)
