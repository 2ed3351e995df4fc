"""The gate between ingest and transforms: in, the blocks of a range; out, what is wrong with them.

Why each check has its severity:

- A repeated block or timestamp, falling times, unequal lengths, samples outside their hour, a series without labels:
  every difference, rate and join computed from such blocks is wrong, and ingest never writes them. *Errors.*
- Missing scrapes happen whenever Prometheus restarts or a network drops, and the minutes concerned carry their
  coverage on to the verdict. *Warning.*
- Scrapes absent after a staleness marker say that the broker did not expose the subscription's backlog: the topic was
  unloaded, or the broker was down. *Warning.*
- A negative backlog is what a broker really prints when ``exposePreciseBacklogInPrometheus`` is off and its two
  counters disagree. Refusing it would refuse the source; the verdict has to doubt it. *Warning*, as for negative
  counters and values that are no numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import DataFile, Lake
from throttlescope.ingest.quality.block_facts import HOLE_INTERVALS
from throttlescope.ingest.quality.block_faults import FAULTS, faults_of_files
from throttlescope.ingest.quality.expectations import Check
from throttlescope.ingest.quality.findings import GateResult, judge
from throttlescope.ingest.times import block_start, format_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_KEY = TABLES["samples"].key

CHECKS = (
    Check(
        "block_key_unique", "repeated_blocks", "error", "repeated blocks",
        f"one row per {' and '.join(_KEY)}", unique=_KEY,
    ),
    Check(
        "timestamp_key_unique", "repeated_timestamps", "error", "samples at a time that the series already has",
        "one sample per series and time",
    ),
    Check("timestamps_rise", "falling_timestamps", "error", "times before their predecessor", "rising times"),
    Check(
        "values_match_timestamps", "surplus_values", "error", "values too many or too few",
        "as many values as timestamps",
    ),
    Check(
        "block_holds_its_times", "outside_block", "error", "times outside their block",
        "times inside the block's hour",
    ),
    Check(
        "series_in_catalogue", "unknown_series", "error", "blocks of series that the catalogue does not have",
        "every series_id is in series",
    ),
    Check(
        "scrapes_complete", "missing_scrapes", "warning", "missing scrapes",
        f"no distance above {HOLE_INTERVALS} of the series' median interval",
    ),
    Check(
        "backlog_exposed", "absent_backlog_scrapes", "warning", "scrapes without the subscription's backlog",
        "the backlog series does not end and come back",
    ),
    Check("backlog_not_negative", "negative_backlog", "warning", "negative backlog samples", "backlog >= 0"),
    Check("counters_not_negative", "negative_counter", "warning", "negative counter samples", "counters >= 0"),
    Check("values_finite", "not_finite_values", "warning", "samples that are NaN or infinite", "finite values"),
)  # fmt: skip


def check_samples(
    session: SparkSession, lake: Lake, clusters: Iterable[str], start_ms: int, end_ms: int, run_id: str
) -> GateResult:
    """Check the blocks that touch [start_ms, end_ms) of some clusters.

    Returns
    -------
    GateResult
        Rows for ``quality``; ``stopped`` where nothing may be computed from these blocks.
    """
    frame = _frame(session, lake, set(clusters), start_ms, end_ms).persist()
    try:
        return judge(
            frame,
            CHECKS,
            gate="samples",
            table="samples",
            row_word="blocks",
            run_id=run_id,
            example_columns=("series_id", "metric_name", "block_start_ms"),
            describe=lambda example: _with_labels(lake, example),
        )
    finally:
        frame.unpersist()


def _frame(session: SparkSession, lake: Lake, clusters: set[str], start_ms: int, end_ms: int) -> DataFrame:
    """One row per block with its fault columns.

    All blocks of a series are in files of one metric, cluster and shard. A task therefore gets such a group of files
    whole and in order of time, and nothing has to be shuffled for what one block has to know of the one before.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    between = {"block_start_ms": (block_start(start_ms), end_ms - 1)}
    groups: dict[tuple[str, str, int], list[DataFile]] = defaultdict(list)
    for file in lake.files("samples", between=between):
        if file.minimum["cluster"] in clusters:
            key = (file.partition["metric_name"], file.minimum["cluster"], file.minimum["shard"])
            groups[key].append(file)
    catalogue: dict[int, list[str]] = defaultdict(list)
    for file in lake.files("series"):
        catalogue[int(file.partition["shard"])].append(file.path)
    tasks = [
        {
            "blocks": [file.path for file in sorted(files, key=lambda file: file.minimum["block_start_ms"])],
            "catalogue": catalogue[shard],
            "metric_name": metric_name,
        }
        for (metric_name, _, shard), files in groups.items()
    ]
    schema = from_arrow_schema(FAULTS)
    if not tasks:
        return session.createDataFrame([], schema)

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.to_pylist():
                yield from faults_of_files(**task)

    parts = min(len(tasks), 4 * session.sparkContext.defaultParallelism)
    return session.createDataFrame(pa.Table.from_pylist(tasks)).repartition(parts).mapInArrow(count, schema)


def _with_labels(lake: Lake, example: dict) -> dict:
    """Name the series by its labels; nobody knows it by its hash."""
    found = lake.read("series", columns=["labels"], where=pc.field("series_id") == example["series_id"])
    labels = dict(found.column("labels")[0].as_py()) if found.num_rows else None
    return {
        "series_id": example["series_id"],
        "metric_name": example["metric_name"],
        "labels": labels,
        "block": format_time(example["block_start_ms"]),
    }
