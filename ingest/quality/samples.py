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

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import DataFile, Lake
from throttlescope.ingest.quality.block_facts import FACTS, HOLE_INTERVALS, block_facts
from throttlescope.ingest.quality.expectations import Check
from throttlescope.ingest.quality.findings import GateResult, judge
from throttlescope.ingest.times import block_start, format_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BACKLOG_METRICS = ("pulsar_subscription_back_log", "pulsar_subscription_back_log_no_delayed")

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
    clusters = set(clusters)
    files = [
        file
        for file in lake.files("samples", between={"block_start_ms": (block_start(start_ms), end_ms - 1)})
        if any(file.minimum["cluster"] <= cluster <= file.maximum["cluster"] for cluster in clusters)
    ]
    frame = _frame(session, lake, files, clusters).persist()
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


def _frame(session: SparkSession, lake: Lake, files: list[DataFile], clusters: set[str]) -> DataFrame:
    """One row per block with its fault columns."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    facts = _facts(session, files, clusters)
    series = Window.partitionBy("cluster", "series_id")
    in_order = series.orderBy("block_start_ms")
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    # What a block cannot know alone: its series' usual interval, and the hole between it and the one before.
    facts = facts.select(
        "*",
        F.percentile_approx("interval_ms", 0.5).over(series).alias("series_interval_ms"),
        F.last("last_ms", ignorenulls=True).over(before).alias("before_last_ms"),
        F.max("last_stale_ms").over(before).alias("before_stale_ms"),
        F.lag("block_start_ms").over(in_order).alias("before_block_ms"),
    )
    usual_ms = F.col("series_interval_ms")
    border_ms = F.col("first_ms") - F.col("before_last_ms")
    border_missing = F.when(
        border_ms > HOLE_INTERVALS * usual_ms, F.round(border_ms / usual_ms).cast("long") - 1
    ).otherwise(F.lit(0))
    border_marked = (F.col("before_stale_ms") > F.col("before_last_ms")) | (
        F.col("first_stale_ms") < F.col("first_ms")
    )
    # A block too short to know its interval: what lies between its first and last sample, by the series' interval.
    span_ms = F.col("last_ms") - F.col("first_ms")
    short_missing = F.when(
        F.col("interval_ms").isNull() & (F.col("samples") > 1) & (span_ms > HOLE_INTERVALS * usual_ms),
        F.round(span_ms / usual_ms).cast("long") + 1 - F.col("samples"),
    ).otherwise(F.lit(0))
    short_marked = (F.col("last_stale_ms") > F.col("first_ms")) & (F.col("first_stale_ms") < F.col("last_ms"))

    def split(amount, marked):
        marked = F.coalesce(marked, F.lit(False))
        zero = F.lit(0)
        return F.when(marked, zero).otherwise(amount), F.when(marked, amount).otherwise(zero)

    border = split(F.coalesce(border_missing, F.lit(0)), border_marked)
    short = split(F.coalesce(short_missing, F.lit(0)), short_marked)
    is_backlog = F.col("metric_name").isin(*BACKLOG_METRICS)
    is_counter = F.col("metric_name").rlike("(_total|_events)$")
    known = lake.spark(session, "series").select("series_id").distinct().withColumn("known", F.lit(True))
    return facts.join(known, "series_id", "left").select(
        "cluster",
        "metric_name",
        "series_id",
        "block_start_ms",
        (F.coalesce(F.col("before_block_ms") == F.col("block_start_ms"), F.lit(False)))
        .cast("long")
        .alias("repeated_blocks"),
        "repeated_timestamps",
        "falling_timestamps",
        "surplus_values",
        "outside_block",
        F.col("known").isNull().cast("long").alias("unknown_series"),
        (F.col("missing_scrapes") + border[0] + short[0]).alias("missing_scrapes"),
        F.when(is_backlog, F.col("absent_scrapes") + border[1] + short[1])
        .otherwise(F.lit(0))
        .alias("absent_backlog_scrapes"),
        F.when(is_backlog, F.col("negative_values")).otherwise(F.lit(0)).alias("negative_backlog"),
        F.when(is_counter, F.col("negative_values")).otherwise(F.lit(0)).alias("negative_counter"),
        "not_finite_values",
    )


def _facts(session: SparkSession, files: list[DataFile], clusters: set[str]) -> DataFrame:
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(FACTS)
    if not files:
        return session.createDataFrame([], schema)

    wanted = pc.field("cluster").isin(sorted(clusters))

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # One file at a time: a task's memory is that of its largest block file.
        for batch in batches:
            for path in batch.column("path").to_pylist():
                dataset = ds.dataset(path, schema=TABLES["samples"].schema, format="parquet")
                blocks = dataset.to_table(filter=wanted)
                if blocks.num_rows:
                    yield block_facts(blocks)

    paths = session.createDataFrame(pa.table({"path": [file.path for file in files]}))
    parts = min(len(files), 4 * session.sparkContext.defaultParallelism)
    return paths.repartition(parts).mapInArrow(count, schema)


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
