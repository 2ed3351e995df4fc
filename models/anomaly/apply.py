"""Anomalies of a lake. In: ``signals`` and ``verdicts``. Out: ``anomalies``, on Spark for a fleet or in this process.

Subscriptions are judged in the tasks, some of them together; what is found is little, so it is grouped and committed by the driver.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Executor
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import DAY_MS, dates_of
from throttlescope.ingest.lake.rows import read_files
from throttlescope.ingest.spark.shares import SHARE, share_count, with_share
from throttlescope.ingest.spark.task_executor import SparkPoolExecutor
from throttlescope.models.anomaly import minutes
from throttlescope.models.anomaly import verdicts as diagnosis
from throttlescope.models.anomaly.grouping import grouped, topics_judged
from throttlescope.models.anomaly.rules import RULES, AnomalyRules
from throttlescope.models.anomaly.subscription import Range, anomalies_of, covered_minutes

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

#: Days before the range whose rows are rewritten: one that was open then may have ended.
REWRITTEN_DAYS = 2
#: Rows of ``signals`` that one process reads at most; a month of 400 subscription partitions.
MOST_ROWS = 20_000_000

_SIGNALS = (*SUBSCRIPTION_KEY_NAMES, *minutes.COLUMNS)


def build_anomalies(
    executor: Executor,
    lake: Lake,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
    run_id: str,
    *,
    zone: str = "UTC",
    rules: AnomalyRules = RULES,
) -> int:
    """Judge [start_ms, end_ms) of some clusters and write ``anomalies``.

    Parameters
    ----------
    executor : Executor
        Spark's, or one of this process, which then has to hold the minutes of all those weeks.
    clusters : iterable of str
    start_ms, end_ms : int
        Range; rows that begin in it, or up to two UTC days before it, take the place of the old ones.
    zone : str
        IANA time zone whose weeks are compared.

    Returns
    -------
    int
        Rows that were written.
    """
    clusters = sorted(set(clusters))
    from_ms = start_ms - start_ms % DAY_MS - REWRITTEN_DAYS * DAY_MS
    judged = Range.of(from_ms, end_ms, zone, rules)
    found, topics = _found(executor, lake, clusters, judged)
    found = [row for row in found if row["start_ms"] >= from_ms]
    return _write(lake, grouped(found, topics), clusters, from_ms, end_ms, run_id)


@singledispatch
def _found(
    executor: Executor, lake: Lake, clusters: list[str], judged: Range
) -> tuple[list[dict[str, Any]], Counter[tuple[str, str | None]]]:
    """Rows of ``anomalies``, not grouped yet, and how many topics there were. In this process, unless the executor is Spark's."""
    inside = (pc.field("minute_ms") >= judged.first_ms) & (pc.field("minute_ms") < judged.end_ms)
    files = _files(lake, "signals", "minute_ms", clusters, judged)
    signals = read_files("signals", files, columns=list(_SIGNALS), where=inside)
    files = _files(lake, "verdicts", "window_start_ms", clusters, judged)
    verdicts = read_files("verdicts", files, columns=list(diagnosis.COLUMNS))
    places = signals.select(["cluster", "topic", "broker"])
    recent = places.filter(pc.greater_equal(signals.column("minute_ms"), judged.start_ms))
    topics = recent.group_by(recent.column_names).aggregate([])
    found = _judged(signals, verdicts, judged, covered_minutes(signals))
    return found, topics_judged(topics.to_pylist())


@_found.register(SparkPoolExecutor)
def _found_on_spark(
    executor: SparkPoolExecutor, lake: Lake, clusters: list[str], judged: Range
) -> tuple[list[dict[str, Any]], Counter[tuple[str, str | None]]]:
    # Imported here: judging in-process needs no Spark.
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import from_arrow_schema

    session = executor.session
    files = _files(lake, "signals", "minute_ms", clusters, judged)
    count = share_count(session, sum(file.rows for file in files))
    minutes = {"minute_ms": (judged.first_ms, judged.end_ms - 1)}
    signals = lake.spark(session, "signals", files, columns=_SIGNALS, between=minutes)
    said = _files(lake, "verdicts", "window_start_ms", clusters, judged)
    verdicts = lake.spark(session, "verdicts", said, columns=diagnosis.COLUMNS)
    covered = {cluster: [] for cluster in clusters}
    for row in signals.where("coverage_share > 0").select("cluster", "minute_ms").distinct().collect():
        covered[row.cluster].append(row.minute_ms)
    covered = {cluster: np.array(sorted(starts_ms), dtype=np.int64) for cluster, starts_ms in covered.items()}
    # Counted there: topics are as many as the fleet is large, brokers are few.
    recent = signals.where(F.col("minute_ms") >= judged.start_ms)
    counted = recent.groupBy("cluster", "broker").agg(F.count_distinct("topic").alias("topics"))
    whole = recent.groupBy("cluster").agg(F.count_distinct("topic").alias("topics"))
    topics = Counter(
        {(row.cluster, row.broker): row.topics for row in counted.collect() if row.broker is not None}
    )
    topics.update({(row.cluster, None): row.topics for row in whole.collect()})
    schema = TABLES["anomalies"].loose_schema

    def judge(rows: pa.Table, said: pa.Table) -> pa.Table:
        return pa.Table.from_pylist(_judged(rows, said, judged, covered), schema=schema)

    together = with_share(signals, count).groupBy(SHARE).cogroup(with_share(verdicts, count).groupBy(SHARE))
    found = together.applyInArrow(judge, from_arrow_schema(schema)).toArrow().to_pylist()
    return found, topics


def find_anomalies(
    lake: Lake,
    start_ms: int,
    end_ms: int,
    *,
    cluster: str | None = None,
    topic: str | None = None,
    partition: int | None = None,
    subscription: str | None = None,
    zone: str = "UTC",
    rules: AnomalyRules = RULES,
) -> list[dict[str, Any]]:
    """Judge [start_ms, end_ms) in this process, without writing.

    Parameters
    ----------
    cluster, topic, partition, subscription : optional
        What is judged; None leaves a question open.

    Returns
    -------
    list of dict
        Rows of ``anomalies`` that end after ``start_ms``, grouped.

    Raises
    ------
    InputError
        There are no signals of it, or more than one process reads.
    """
    judged = Range.of(start_ms, end_ms, zone, rules)
    clusters = None if cluster is None else [cluster]
    files = _files(lake, "signals", "minute_ms", clusters, judged)
    wanted = {"topic": topic, "partition": partition, "subscription": subscription}
    where = (pc.field("minute_ms") >= judged.first_ms) & (pc.field("minute_ms") < end_ms)
    mine = pc.scalar(True)
    for name, value in wanted.items():
        if value is not None:
            mine = mine & (pc.field(name) == value)
    if topic is None and sum(file.rows for file in files) > MOST_ROWS:
        raise InputError(
            "That is too much for one process",
            got=f"{sum(file.rows for file in files):,} subscription minutes",
            expected=f"at most {MOST_ROWS:,}",
            fix="name one with --subscription, or let Spark do it with --store",
        )
    span = {"minute_ms": (judged.first_ms, end_ms - 1)}
    partitions = None if clusters is None else {"cluster": clusters}
    signals = lake.read(
        "signals", columns=list(_SIGNALS), where=where & mine, partition=partitions, between=span
    )
    if not signals.num_rows:
        raise InputError(
            "There are no signals of it in this lake",
            got=lake.root,
            fix="see throttlescope verdicts for what there is, and bring more with throttlescope run",
        )
    scraped = ["cluster", "minute_ms", "coverage_share"]
    covered = covered_minutes(
        lake.read("signals", columns=scraped, where=where, partition=partitions, between=span)
    )
    window = (pc.field("window_end_ms") > judged.first_ms) & (pc.field("window_start_ms") < end_ms) & mine
    verdicts = lake.read("verdicts", columns=list(diagnosis.COLUMNS), where=window, partition=partitions)
    found = _judged(signals, verdicts, judged, covered)
    where_now = pc.greater_equal(signals.column("minute_ms"), start_ms)
    now = signals.filter(where_now).select(["cluster", "topic", "broker"])
    distinct = now.group_by(now.column_names).aggregate([])
    # With a selector the others are not known, and so not how many would be many.
    return grouped(found, topics_judged(distinct.to_pylist()) if topic is None else None)


def _judged(
    signals: pa.Table, verdicts: pa.Table, judged: Range, covered: dict[str, np.ndarray]
) -> list[dict[str, Any]]:
    incidents = diagnosis.incident_windows(verdicts)
    return diagnosis.with_verdicts(
        anomalies_of(signals, judged, incidents=incidents, covered=covered), verdicts
    )


def _files(lake: Lake, table: str, time_column: str, clusters: Iterable[str] | None, judged: Range):
    return lake.files(
        table,
        partition=None if clusters is None else {"cluster": clusters},
        between={time_column: (judged.first_ms, judged.end_ms - 1)},
    )


def _write(
    lake: Lake, rows: list[dict[str, Any]], clusters: list[str], from_ms: int, end_ms: int, run_id: str
) -> int:
    """Put rows in place of those that begin in [from_ms, end_ms)."""
    contract = TABLES["anomalies"]
    new = contract.conform(pa.Table.from_pylist(rows, schema=contract.loose_schema))

    def change(existing: pa.Table) -> pa.Table:
        begins = existing.column("start_ms")
        kept = existing.filter(pc.or_(pc.less(begins, from_ms), pc.greater_equal(begins, end_ms)))
        return pa.concat_tables([kept.select(new.column_names).cast(new.schema), new])

    touched = [
        {"cluster": cluster, "date": date}
        for cluster in clusters
        for date in sorted(dates_of(from_ms, end_ms))
    ]
    lake.update("anomalies", change, partitions_of=pa.Table.from_pylist(touched), run_id=run_id)
    return new.num_rows
