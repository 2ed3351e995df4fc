"""Row tables from Spark. In: a DataFrame with a contract's columns. Out: one file per cluster and UTC hour."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake.files import NewFile, write_data_file
from throttlescope.ingest.times import BLOCK_MS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_HOUR = "_hour"


def write_hours(root: str, df: DataFrame, table: str, time_column: str) -> list[NewFile]:
    """Let Spark's tasks write the files of ``df`` and return their descriptions.

    Each task holds one cluster's hour at a time, so its memory does not grow with the range.
    """
    from pyspark.sql import functions as F

    contract = TABLES[table]
    names = [column.name for column in contract.columns]

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in _hours(batches):
            file = write_data_file(root, table, rows.select(names))
            yield pa.RecordBatch.from_pydict({"file": [file.to_json()]})

    placed = (
        df.select(*names, F.floor(F.col(time_column) / BLOCK_MS).alias(_HOUR))
        .repartition("cluster", _HOUR)
        .sortWithinPartitions("cluster", _HOUR, *contract.key)
    )
    return [NewFile.from_json(row.file) for row in placed.mapInArrow(write, "file string").collect()]


def _hours(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Cut rows that are sorted by cluster and hour into one table per cluster and hour."""
    held, held_hour = [], None
    for batch in batches:
        clusters, hours = batch.column("cluster").to_pylist(), batch.column(_HOUR).to_pylist()
        start = 0
        for hour, run in groupby(zip(clusters, hours, strict=True)):
            length = sum(1 for _ in run)
            if held and hour != held_hour:
                yield pa.Table.from_batches(held)
                held = []
            held.append(batch.slice(start, length))
            held_hour = hour
            start += length
    if held:
        yield pa.Table.from_batches(held)
