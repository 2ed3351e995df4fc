"""Anomalies of a lake. In: ``signals`` and ``verdicts``. Out: ``anomalies`` and ``baselines``, on Spark for a fleet or in this process.

What was usual at a midnight is computed by the first run after it and kept in ``baselines``; the other runs of the day read the judged
days alone. Subscriptions are judged in shares, each of which reads its own rows. What is found is little, so it is grouped and
committed by the driver.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import DAY_MS, dates_of
from throttlescope.ingest.lake import DataFile
from throttlescope.ingest.spark.task_executor import InProcessExecutor, TaskExecutor
from throttlescope.models.anomaly import verdicts as diagnosis
from throttlescope.models.anomaly.grouping import grouped, topics_judged
from throttlescope.models.anomaly.kept_baselines import BaselineWeeks, KeptBaselines
from throttlescope.models.anomaly.lake_rows import (
    SIGNALS,
    Covered,
    ServedTopic,
    files_of,
    minutes_covered,
    signals_of_share,
    topics_served,
    verdicts_of_share,
)
from throttlescope.models.anomaly.minutes import MinutesTable
from throttlescope.models.anomaly.name_ranges import NameRange, shares_of
from throttlescope.models.anomaly.rules import RULES, AnomalyRules
from throttlescope.models.anomaly.subscription import Range, anomalies_of, judged_by

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

#: Days before the range whose rows are rewritten: one that was open then may have ended.
REWRITTEN_DAYS = 2
#: Rows of ``signals`` that one process reads at most; a month of 400 subscription partitions.
MOST_ROWS = 20_000_000


def build_anomalies(
    executor: TaskExecutor,
    lake: Lake,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
    run_id: str,
    *,
    zone: str = "UTC",
    rules: AnomalyRules = RULES,
) -> int:
    """Judge [start_ms, end_ms) of some clusters and write ``anomalies``, and ``baselines`` where those that are kept do not hold.

    Parameters
    ----------
    executor : TaskExecutor
        Spark's, or one of this process.
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
    judged = _judged_range(start_ms, end_ms, zone, rules)
    baselines: dict[str, KeptBaselines] = {}
    for cluster in clusters:
        weeks = BaselineWeeks.of(lake, cluster, judged)
        baselines[cluster] = weeks.kept(lake) or weeks.computed(executor, lake, run_id)
    found, topics = _found(executor, lake, baselines, judged)
    found = [row for row in found if row["start_ms"] >= judged.start_ms]
    return _write(lake, grouped(found, topics_judged(topics)), clusters, judged.start_ms, end_ms, run_id)


def rows_to_read(
    lake: Lake,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
    *,
    zone: str = "UTC",
    rules: AnomalyRules = RULES,
) -> int:
    """Rows of ``signals`` that :func:`build_anomalies` would read: those of the weeks before only where no baselines are kept."""
    clusters = sorted(set(clusters))
    judged = _judged_range(start_ms, end_ms, zone, rules)
    files = files_of(lake, "signals", clusters, judged.read_ms, end_ms)
    for cluster in clusters:
        weeks = BaselineWeeks.of(lake, cluster, judged)
        if weeks.kept(lake) is None:
            files += weeks.signals
    return sum(file.rows for file in files)


def _judged_range(start_ms: int, end_ms: int, zone: str, rules: AnomalyRules) -> Range:
    return Range.of(start_ms - start_ms % DAY_MS - REWRITTEN_DAYS * DAY_MS, end_ms, zone, rules)


def _found(
    executor: TaskExecutor, lake: Lake, baselines: dict[str, KeptBaselines], judged: Range
) -> tuple[list[dict[str, Any]], set[ServedTopic]]:
    """Rows of ``anomalies`` of some clusters, not grouped yet, and the topics that were judged."""
    signals, verdicts = (
        files_of(lake, table, baselines, judged.read_ms, judged.end_ms) for table in ("signals", "verdicts")
    )
    covered = minutes_covered(executor, signals, judged.read_ms, judged.end_ms)
    judge = partial(_judge_share, signals, verdicts, baselines, covered, judged)
    found: list[dict[str, Any]] = []
    topics: set[ServedTopic] = set()
    for rows, there in executor.map(judge, shares_of(signals, executor.parallelism)):
        found += rows
        topics |= there
    return found, topics


def _judge_share(
    signals: list[DataFile],
    verdicts: list[DataFile],
    baselines: dict[str, KeptBaselines],
    covered: Covered,
    judged: Range,
    share: NameRange,
) -> tuple[list[dict[str, Any]], set[ServedTopic]]:
    """Judge the subscription partitions of a share: those that have minutes, and those that have baselines, which may be silent."""
    table, topics = MinutesTable(), set()
    for rows in signals_of_share(signals, share, judged.read_ms, judged.end_ms):
        table.add(rows)
        topics |= topics_served(rows, judged.start_ms)
    usual = baselines[share.cluster].of_share(share)
    said = verdicts_of_share(verdicts, share)
    incidents = diagnosis.incident_windows(said)
    found = judged_by(usual, table, judged, incidents=incidents, covered=covered)
    return diagnosis.with_verdicts(found, said), topics


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
    files = files_of(lake, "signals", clusters, judged.first_ms, end_ms)
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
        "signals", columns=list(SIGNALS), where=where & mine, partition=partitions, between=span
    )
    if not signals.num_rows:
        raise InputError(
            "There are no signals of it in this lake",
            got=lake.root,
            fix="see throttlescope verdicts for what there is, and bring more with throttlescope run",
        )
    covered = minutes_covered(InProcessExecutor(), files, judged.first_ms, end_ms)
    window = (pc.field("window_end_ms") > judged.first_ms) & (pc.field("window_start_ms") < end_ms) & mine
    verdicts = lake.read("verdicts", columns=list(diagnosis.COLUMNS), where=window, partition=partitions)
    incidents = diagnosis.incident_windows(verdicts)
    found = anomalies_of(signals, judged, incidents=incidents, covered=covered)
    topics = topics_served(signals, start_ms)
    # With a selector the others are not known, and so not how many would be many.
    return grouped(diagnosis.with_verdicts(found, verdicts), topics_judged(topics) if topic is None else None)


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
