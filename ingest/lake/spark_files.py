"""Row tables from Spark. In: a DataFrame with a contract's columns. Out: one file per cluster and UTC hour, several where it is full.

How an hour is cut follows from its rows alone, so that any cluster of machines writes the same files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake.files import NewFile, write_data_file

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Rows of a file, about: what one task holds while it writes, some hundred bytes each. An hour of 8,000 subscription partitions.
FILE_ROWS = 500_000

_HOUR, _PART = "_hour", "_part"


def write_hours(
    root: str,
    df: DataFrame,
    table: str,
    time_column: str,
    rows: Mapping[tuple[str, int], int] | None = None,
) -> list[NewFile]:
    """Let Spark's tasks write the files of ``df`` and return their descriptions.

    Each task holds one file of one cluster's hour at a time, so its memory grows neither with the range nor with the fleet.

    Parameters
    ----------
    rows : mapping of (str, int) to int, optional
        About how many rows a cluster has in the UTC hour that starts then (epoch ms). An hour with more than
        :data:`FILE_ROWS` is cut by a hash of the subscription partition, all rows of which stay in one file.
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
        .withColumn(_PART, _part_of(rows or {}))
        .repartition("cluster", _HOUR, _PART)
        .sortWithinPartitions("cluster", _HOUR, _PART, *contract.key)
    )
    return [NewFile.from_json(row.file) for row in placed.mapInArrow(write, "file string").collect()]


def _part_of(rows: Mapping[tuple[str, int], int]) -> Column:
    """Which part of its hour a row belongs to."""
    from pyspark.sql import functions as F

    parts = {
        f"{start_ms // BLOCK_MS} {cluster}": -(-count // FILE_ROWS)
        for (cluster, start_ms), count in sorted(rows.items())
        if count > FILE_ROWS
    }
    if not parts:
        return F.lit(0)
    known = F.create_map(*(F.lit(one) for pair in parts.items() for one in pair))
    count = F.try_element_at(known, F.concat_ws(" ", _HOUR, "cluster"))
    return F.when(count.isNull(), 0).otherwise(F.pmod(F.xxhash64(*SUBSCRIPTION_KEY_NAMES), count).cast("int"))


def _hours(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Cut rows that are sorted by cluster, hour and part into one table for each."""
    of_hour, hour_now = [], None
    for batch in batches:
        place = (batch.column(name).to_pylist() for name in ("cluster", _HOUR, _PART))
        start = 0
        for hour, run in groupby(zip(*place, strict=True)):
            length = sum(1 for _ in run)
            if of_hour and hour != hour_now:
                yield pa.Table.from_batches(of_hour)
                of_hour = []
            of_hour.append(batch.slice(start, length))
            hour_now = hour
            start += length
    if of_hour:
        yield pa.Table.from_batches(of_hour)
