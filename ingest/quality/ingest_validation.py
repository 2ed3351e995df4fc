"""The gate after ingest validation. In: the catalogue and the lake's log. Out: what is wrong with series and with hours.

Why each check has its severity:

- A repeated series, a series that is not named by its hash, lacks a label that names its subscription, has a partition
  that is no number or lies in another shard than its topic: every join of such series is wrong, and ingest
  validation refuses them. *Errors.*
- A topic that is not a topic's name, or a namespace that is not the topic's own: a Prometheus without ``honor_labels`` puts Kubernetes'
  namespace there. Series still join with each other, but with no limit of the admin API. *Warning.*
- Three times the series of the most of the hours before: a label has begun to take new values. Nothing is wrong yet, and
  reading will soon be slow. *Warning.*
- Less than half of the series that were usual: brokers that are no longer scraped, or a restart. What is there is right.
  *Warning*, as for an hour without any sample between two with some, and for a source that has fallen behind by more
  than the look-back.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.times import BLOCK_MS, block_start, format_time
from throttlescope.ingest.lake import DataFile, Lake
from throttlescope.ingest.lake.newest_samples import newest_samples
from throttlescope.ingest.lake.rows import read_files
from throttlescope.ingest.quality import hours_stored, series_shape
from throttlescope.ingest.quality.checks import CHECK_LAKE, GateCheck
from throttlescope.ingest.quality.findings import GateResult, judge
from throttlescope.ingest.quality.frames import LocalFrame, mapped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NO_BEFORE = (("without_before", "without an hour before them in the lake"),)

SERIES_CHECKS = (
    GateCheck(
        "series_key_unique", "repeated_series", "error", "repeated series", "one row per series_id",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "series_named_by_hash", "misnamed_series", "error", "ids that are no hash", "32 hex digits",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "key_labels_present", "lacking_labels", "error", "missing labels",
        "namespace, topic and subscription, as far as the metric has them",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "partition_is_number", "crooked_partition", "error", "partitions that are no number", "whole numbers from -1",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "series_in_its_shard", "misplaced_series", "error", "series in another shard", "the shard of the topic",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "topic_is_name", "crooked_topic", "warning", "topics that are no topic's name",
        "persistent://tenant/namespace/name",
        fix="check the label topic at the source, or map it with [clusters.NAME.labels]",
    ),
    GateCheck(
        "namespace_of_topic", "foreign_namespace", "warning", "namespaces that are not the topic's",
        "tenant/namespace as in the topic; a rename in [clusters.NAME.labels] repairs it",
        fix="scrape with honor_labels, or rename the label with [clusters.NAME.labels]",
    ),
)  # fmt: skip

HOUR_CHECKS = (
    GateCheck(
        "series_not_multiplied", "surplus_series", "warning", "more series than before",
        f"at most {hours_stored.JUMP_TIMES} times the most of the {hours_stored.HOURS_BEFORE} hours before", not_judged=_NO_BEFORE,
        fix="find the label that takes new values (count by (label) in Prometheus), and drop it in the scrape configuration",
    ),
    GateCheck(
        "series_not_lost", "lost_series", "warning", "fewer series than before",
        f"at least {hours_stored.LOST_SHARE:.0%} of the usual number of the {hours_stored.HOURS_BEFORE} hours before",
        not_judged=_NO_BEFORE,
        fix="check in Prometheus (up) that all brokers are still scraped",
    ),
    GateCheck(
        "hours_present", "missing_hours", "warning", "hours without samples", "samples in every hour between two others",
        fix="read the hours again; if they stay empty, the source has no samples of them",
    ),
    GateCheck(
        "samples_fresh", "late_minutes", "warning", "minutes without a sample before the end",
        f"a sample in the last {hours_stored.LATE_MS // 60_000} minutes of a range that has just ended",
        not_judged=(("not_recent", "of ranges that ended long ago"),),
        fix="check that Prometheus scrapes, and how far remote storage is behind it",
    ),
)  # fmt: skip

_COLUMNS = ["cluster", "metric_name", "series_id", "labels", "shard", "first_ms", "last_ms"]


def check_ingested(
    session: SparkSession | None,
    lake: Lake,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
    run_id: str,
    *,
    now_ms: int | None = None,
) -> GateResult:
    """Check the catalogue and the hours that touch [start_ms, end_ms) of some clusters.

    Parameters
    ----------
    session : SparkSession, optional
        Without one everything is counted in this process.
    now_ms : int, optional
        The moment that freshness is compared with; the clock's by default.
    """
    clusters = sorted(set(clusters))
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    return GateResult.of(
        (
            _series(session, lake, clusters, start_ms, end_ms, run_id),
            _hours(lake, clusters, start_ms, end_ms, run_id, now_ms),
        )
    )


def _series(
    session: SparkSession | None, lake: Lake, clusters: list[str], start_ms: int, end_ms: int, run_id: str
) -> GateResult:
    files = lake.files("series")
    shards: dict[str, list[DataFile]] = {}
    for file in files:
        shards.setdefault(file.partition["shard"], []).append(file)
    tasks = [
        {"files": some, "clusters": clusters, "start_ms": start_ms, "end_ms": end_ms}
        for some in shards.values()
    ]
    frame = mapped(session, tasks, _faults_of_shard, series_shape.FAULTS, sum(file.rows for file in files))
    return judge(
        frame,
        SERIES_CHECKS,
        gate="door",
        table="series",
        row_word="series",
        run_id=run_id,
        example_columns=("series_id", "metric_name"),
        describe=lambda example: with_labels(lake, example),
    )


def _faults_of_shard(
    files: list[DataFile], clusters: list[str], start_ms: int, end_ms: int
) -> Iterator[pa.RecordBatch]:
    """Faults of the series of one shard that have a sample in the hours of the range."""
    inside = (pc.field("last_ms") >= block_start(start_ms)) & (pc.field("first_ms") < end_ms)
    rows = read_files("series", files, columns=_COLUMNS, where=inside & pc.field("cluster").isin(clusters))
    if rows.num_rows:
        yield from series_shape.series_faults(rows).to_batches()


def _hours(
    lake: Lake, clusters: list[str], start_ms: int, end_ms: int, run_id: str, now_ms: int
) -> GateResult:
    before_ms = block_start(start_ms) - hours_stored.HOURS_BEFORE * BLOCK_MS
    files = [
        file
        for file in lake.files("samples", between={"block_start_ms": (before_ms, end_ms - 1)})
        if file.minimum["cluster"] in clusters
    ]
    return judge(
        LocalFrame(hours_stored.hour_faults(files, newest_samples(lake, clusters), start_ms, end_ms, now_ms)),
        HOUR_CHECKS,
        gate="door",
        table="samples",
        row_word="hours of metrics",
        run_id=run_id,
        example_columns=("metric_name", "hour_ms"),
        describe=lambda example: {
            "metric_name": example["metric_name"],
            "hour": format_time(example["hour_ms"]),
        },
    )


def with_labels(lake: Lake, example: dict) -> dict:
    """The example with the labels of its series: a hash means nothing to a reader."""
    found = lake.read("series", columns=["labels"], where=pc.field("series_id") == example["series_id"])
    return example | {"labels": dict(found.column("labels")[0].as_py()) if found.num_rows else None}
