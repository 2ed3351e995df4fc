"""The table ``signals``. In: ``samples``, ``limits`` and ``topic_stats`` of the lake. Out: a row per subscription partition and minute.

The driver prunes files by metric, time and cluster and hands them out; a task makes rows of its shards (:mod:`minutes`),
limits and stats joined as of each minute's end; then rows meet across shards, where subscriptions share a broker. Tasks run on
Spark or, one after the other, in this process. Same input, same rows: sums across rows run in the order of the key.

Why the joins as of a time are made in the tasks is in docs/decisions/0021-limits-join-in-the-task.md.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Executor
from functools import singledispatch
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import UNITS
from throttlescope.ingest.core.labels import shard_of
from throttlescope.ingest.core.metrics import BACKLOG_METRICS, METRICS, REPLICATION_BACKLOG
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, block_start, check_range, date_of
from throttlescope.ingest.lake import DataFile, Lake
from throttlescope.ingest.lake.hour_files import stage_hours
from throttlescope.ingest.lake.newest_samples import newest_samples
from throttlescope.ingest.spark.executors import on_this_machine
from throttlescope.ingest.spark.task_executor import SparkPoolExecutor
from throttlescope.transforms.as_of import KNOWN_FOR_MS
from throttlescope.transforms.broker_use import signals_of
from throttlescope.transforms.compile_minutes import compile_minutes
from throttlescope.transforms.minutes import (
    CELLS,
    REMOTE_METRICS,
    SCHEMA,
    MinutesTask,
    metrics_read,
    task_rows,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from throttlescope.ingest.lake.staged import StagedCommit

#: Bytes of sample files that one task reads at most, unless a single shard's day is more: some ten million samples.
_TASK_BYTES = 32 * 1024 * 1024

#: Series in an hour, of which a piece has more: each reads an hour of look-back again. A million samples at one a minute.
_CUT_ROWS = 20_000
#: A shard's day that is so many times what a core would get is cut: one crowded topic must not make all others wait.
_HEAVY = 1.25

#: A shard of a cluster.
_Unit = tuple[str, int]


class SignalSpan(NamedTuple):
    """Whole UTC hours, [start_ms, end_ms)."""

    start_ms: int
    end_ms: int


def build_signals(
    executor: Executor, lake: Lake, clusters: Iterable[str], start_ms: int, end_ms: int, run_id: str
) -> int:
    """Compute ``signals`` of some clusters and put them in place of the old ones: :func:`stage_signals`, committed.

    Returns
    -------
    int
        Rows of those hours.
    """
    lake.commit_staged(stage_signals(executor, lake, clusters, start_ms, end_ms, run_id))
    start_ms, end_ms = block_start(start_ms), end_ms + -end_ms % BLOCK_MS
    files = lake.files(
        "signals", partition={"cluster": sorted(set(clusters))}, between={"minute_ms": (start_ms, end_ms - 1)}
    )
    return sum(file.rows for file in files)


def stage_signals(
    executor: Executor, lake: Lake, clusters: Iterable[str], start_ms: int, end_ms: int, run_id: str
) -> StagedCommit:
    """Compute ``signals`` of some clusters; nothing is committed.

    Parameters
    ----------
    executor : Executor
        Spark's, or one of this process, which then has to hold the range's minutes.
    clusters : iterable of str
    start_ms, end_ms : int
        Range; the whole UTC hours that it touches are replaced.
    run_id : str
    """
    check_range(start_ms, end_ms)
    clusters = sorted(set(clusters))
    start_ms, end_ms = block_start(start_ms), end_ms + -end_ms % BLOCK_MS
    return _staged(executor, lake, clusters, start_ms, end_ms, run_id)


@singledispatch
def _staged(
    executor: Executor, lake: Lake, clusters: list[str], start_ms: int, end_ms: int, run_id: str
) -> StagedCommit:
    """Signals of whole hours. In this process, unless the executor is Spark's."""
    tasks = plan_tasks(lake, clusters, start_ms, end_ms, parallelism=1)
    minutes = pa.Table.from_batches([batch for task in tasks for batch in task_rows(task)], SCHEMA)
    return stage_hours(
        lake, signals_of(minutes), "signals", run_id=run_id, time_column="minute_ms", clusters=clusters,
        start_ms=start_ms, end_ms=end_ms,
    )  # fmt: skip


@_staged.register(SparkPoolExecutor)
def _staged_on_spark(
    executor: SparkPoolExecutor, lake: Lake, clusters: list[str], start_ms: int, end_ms: int, run_id: str
) -> StagedCommit:
    tasks = plan_tasks(lake, clusters, start_ms, end_ms, executor.parallelism)
    return lake.stage_spark(
        with_broker_use(_minutes(executor.session, tasks)),
        "signals",
        run_id=run_id,
        time_column="minute_ms",
        clusters=clusters,
        start_ms=start_ms,
        end_ms=end_ms,
        rows=_rows_expected(lake, clusters, start_ms, end_ms),
    )


def minutes_expected(lake: Lake, clusters: Iterable[str], start_ms: int, end_ms: int) -> int:
    """Rows of ``signals`` that samples in the lake give in the whole UTC hours that [start_ms, end_ms) touches, or a few more."""
    return sum(
        _rows_expected(lake, set(clusters), block_start(start_ms), end_ms + -end_ms % BLOCK_MS).values()
    )


def _rows_expected(
    lake: Lake, clusters: Iterable[str], start_ms: int, end_ms: int
) -> dict[tuple[str, int], int]:
    """A minute's row for every series of a backlog, by cluster and hour: as many as there can be, or a few more."""
    hours = {"block_start_ms": (start_ms, end_ms - 1)}
    files = lake.files("samples", partition={"metric_name": list(BACKLOG_METRICS)}, between=hours)
    return _minutes_of(file for file in files if file.minimum["cluster"] in clusters)


def _minutes_of(files: Iterable[DataFile]) -> Counter[tuple[str, int]]:
    """Rows of ``signals`` that files of ``samples`` give, or a few more, by cluster and hour."""
    found: Counter[tuple[str, int]] = Counter()
    for file in files:
        if file.partition["metric_name"] in BACKLOG_METRICS:
            place = file.minimum["cluster"], file.minimum["block_start_ms"]
            found[place] += file.rows * (BLOCK_MS // MINUTE_MS)
    return found


def _most_in_an_hour(files: Iterable[DataFile]) -> int:
    """The same of the hour that has most, all clusters together."""
    found: Counter[int] = Counter()
    for (_, hour_ms), rows in _minutes_of(files).items():
        found[hour_ms] += rows
    return max(found.values(), default=0)


# -- the work of the tasks ----------------------------------------------------------------------


def plan_tasks(
    lake: Lake, clusters: Iterable[str], start_ms: int, end_ms: int, parallelism: int
) -> list[MinutesTask]:
    """Share the files of whole hours [start, end) out to tasks.

    What belongs together stays together: a shard of a cluster, for a UTC day at most, with the hour before it for
    look-backs, and the broker's own series, which are in a shard apart. Tasks are many enough for all cores and small
    enough for their memory; a shard's day that is far larger than the others is cut into spans of hours.
    """
    clusters = set(clusters)
    newest_of = [newest_samples(lake, clusters, metric_name=name) for name in BACKLOG_METRICS]
    newest_ms = {cluster: max(newest.get(cluster, 0) for newest in newest_of) for cluster in clusters}
    series_paths: dict[int, list[str]] = {}
    for file in lake.files("series"):
        series_paths.setdefault(int(file.partition["shard"]), []).append(file.path)
    near = {"observed_ms": (start_ms - KNOWN_FOR_MS, end_ms + KNOWN_FOR_MS)}
    known = {table: lake.files(table, between=near) for table in ("limits", "topic_stats")}
    tasks = []
    by_day = _files_by_day(lake, clusters, metrics_read(), start_ms, end_ms)
    # Of a topic that is replicated the task sees what its remote clusters show of it, in whichever shard that is.
    replicates = any(_replicates(files) for files_of in by_day.values() for files in files_of.values())
    elsewhere = _files_by_day(lake, None, REMOTE_METRICS, start_ms, end_ms) if replicates else {}
    for day_ms, files_of in by_day.items():
        day_end_ms = day_ms + DAY_MS
        # A shard without a backlog has no subscription and no replicator.
        files_in = {
            unit: files
            for unit, files in files_of.items()
            if any(file.partition["metric_name"] in BACKLOG_METRICS for file in files)
        }
        # Bytes and minutes measure the memory, rows (series in an hour) the work: similar series take few bytes.
        size_bytes = sum(file.size_bytes for files in files_in.values() for file in files)
        at_once = _most_in_an_hour(file for files in files_in.values() for file in files)
        least = max(parallelism, -(-size_bytes // _TASK_BYTES), -(-at_once // CELLS))
        rows_of = {unit: sum(file.rows for file in files) for unit, files in files_in.items()}
        hours = SignalSpan(max(day_ms, start_ms), min(day_end_ms, end_ms))
        pieces = _cut_heavy(rows_of, hours, parallelism)
        light = {unit: rows for unit, rows in rows_of.items() if unit not in pieces}
        work = [(hours, share) for share in _shares(light, least)]
        work += [(span, [unit]) for unit, spans in sorted(pieces.items()) for span in spans]
        for span, share in work:
            # The broker's own series have no topic and so one shard: they go along with every other.
            read = set(share) | {(cluster, shard_of(cluster, "", "")) for cluster, _ in share}
            # Of the broker's shard only its own series: a topic that is in it too belongs to one task.
            files = [
                file
                for unit in read & files_of.keys()
                for file in files_of[unit]
                if (unit in share or METRICS[file.partition["metric_name"]].level == "broker")
                and span.start_ms - BLOCK_MS <= file.minimum["block_start_ms"] < span.end_ms
            ]
            shards, others = {shard for _, shard in read}, set()
            if any(_replicates(files_of[unit]) for unit in share):
                remote = elsewhere.get(day_ms, {})
                others = {cluster for cluster, _ in remote} - {cluster for cluster, _ in share}
                shards |= {shard for _, shard in remote}
                known_paths = {file.path for file in files}
                files += [file for found in remote.values() for file in found if file.path not in known_paths]
            tasks.append(
                MinutesTask(
                    start_ms=span.start_ms,
                    end_ms=span.end_ms,
                    sample_files=tuple(sorted(files, key=lambda file: file.path)),
                    series_files=tuple(
                        path for shard in sorted(shards) for path in series_paths.get(shard, ())
                    ),
                    limit_files=_near(known["limits"], day_ms, day_end_ms),
                    stats_files=_near(known["topic_stats"], day_ms, day_end_ms),
                    newest_ms={cluster: newest_ms.get(cluster, 0) for cluster, _ in share},
                    other_clusters=frozenset(others),
                )
            )
    return tasks


def _replicates(files: list[DataFile]) -> bool:
    return any(file.partition["metric_name"] == REPLICATION_BACKLOG for file in files)


def _files_by_day(
    lake: Lake, clusters: set[str] | None, metrics: Collection[str], start_ms: int, end_ms: int
) -> dict[int, dict[_Unit, list[DataFile]]]:
    """Files of ``samples`` by the UTC day that they are read for and by shard; ``clusters`` None: of all."""
    found: dict[int, dict[_Unit, list[DataFile]]] = {}
    for file in lake.files(
        "samples",
        partition={
            "metric_name": metrics,
            "date": {date_of(at_ms) for at_ms in range(start_ms - BLOCK_MS, end_ms, BLOCK_MS)},
        },
        between={"block_start_ms": (start_ms - BLOCK_MS, end_ms - 1)},
    ):
        at_ms, cluster, shard = (file.minimum[name] for name in ("block_start_ms", "cluster", "shard"))
        if clusters is not None and cluster not in clusters:
            continue
        # A block serves its own day and, as look-back, the day that begins behind it.
        for served_ms in (at_ms, at_ms + BLOCK_MS):
            if start_ms <= served_ms < end_ms:
                files = found.setdefault(served_ms - served_ms % DAY_MS, {}).setdefault((cluster, shard), [])
                if file not in files[-1:]:
                    files.append(file)
    return dict(sorted(found.items()))


def _shares(rows_of: dict[_Unit, int], count: int) -> list[list[_Unit]]:
    """Units in shares of about the same size: the largest first, each to the share that is smallest so far."""
    shares: list[list[_Unit]] = [[] for _ in range(min(len(rows_of), count))]
    sizes = [0] * len(shares)
    for unit in sorted(rows_of, key=lambda unit: (-rows_of[unit], unit)):
        smallest = sizes.index(min(sizes))
        shares[smallest].append(unit)
        sizes[smallest] += rows_of[unit]
    return shares


def _cut_heavy(
    rows_of: dict[_Unit, int], hours: SignalSpan, parallelism: int
) -> dict[_Unit, list[SignalSpan]]:
    """Units that are more than a core's share, with the spans of time that they are cut into; none shorter than an hour.

    Subscriptions of a topic share its limit, so a topic is not cut otherwise.
    """
    most = max(_CUT_ROWS, _HEAVY * sum(rows_of.values()) / parallelism)
    count = (hours.end_ms - hours.start_ms) // BLOCK_MS
    found = {}
    for unit, rows in rows_of.items():
        parts = min(count, int(-(-rows // most)))
        if parts > 1:
            edges = [hours.start_ms + BLOCK_MS * (count * part // parts) for part in range(parts + 1)]
            found[unit] = [SignalSpan(*edge) for edge in pairwise(edges)]
    return found


def _near(files: list[DataFile], start_ms: int, end_ms: int) -> tuple[str, ...]:
    """Paths of the files whose snapshots may speak of a range."""
    return tuple(
        sorted(
            file.path
            for file in files
            if file.maximum["observed_ms"] >= start_ms - KNOWN_FOR_MS
            and file.minimum["observed_ms"] <= end_ms + KNOWN_FOR_MS
        )
    )


def _minutes(session: SparkSession, tasks: list[MinutesTask]) -> DataFrame:
    """What the tasks make of their files."""
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(SCHEMA)
    if not tasks:
        return session.createDataFrame([], schema)
    if on_this_machine(session):
        compile_minutes()

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.column("task").to_pylist():
                yield from task_rows(pickle.loads(task))  # noqa: S301 - our own task, from the driver

    # As rows, so that each task gets its own work and not everybody's; by number, because dealing them out would give one
    # task two of them and another none.
    numbers = pa.array(range(len(tasks)), pa.int32())
    work = pa.array([pickle.dumps(task) for task in tasks], pa.binary())
    frame = session.createDataFrame(pa.table({"number": numbers, "task": work}))
    return frame.repartitionById(len(tasks), "number").mapInArrow(run, schema)


# -- across shards ------------------------------------------------------------------------------


def with_broker_use(minutes: DataFrame) -> DataFrame:
    """Hold the use of all subscriptions that one broker serves against its limit; exactly the columns of ``signals``."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import from_arrow_schema

    # Ordered by the key, so that the sum has the same last digit whatever order the rows came in.
    on_broker = (
        Window.partitionBy("cluster", "broker", "minute_ms")
        .orderBy(*SUBSCRIPTION_KEY_NAMES[1:])
        .rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    )
    made = {
        f"rho_broker_{unit}": F.when(
            F.col("broker").isNotNull(),
            F.sum(f"use_{unit}_per_s").over(on_broker)
            / (F.col(f"limit_broker_{unit}") / F.col("limit_broker_period_s")),
        )
        for unit in UNITS
    }
    dispatched_per_s = F.when(
        F.col("delta_span_ms") > 0, F.col("out_msg_delta") / (F.col("delta_span_ms") / F.lit(1000.0))
    )
    by_itself = F.col("broker_out_msg_rate")
    share = F.sum(dispatched_per_s).over(on_broker) / F.when(by_itself != 0, by_itself)
    is_limited = F.col("broker").isNotNull() & F.greatest(
        *(F.col(f"limit_broker_{unit}").isNotNull() for unit in UNITS)
    )
    # A broker that says nothing was dispatched leaves nothing out.
    made["broker_read_share"] = F.when(
        is_limited,
        F.when(by_itself == 0, F.lit(1.0)).otherwise(F.when(share > 1, F.lit(1.0)).otherwise(share)),
    )
    fields = from_arrow_schema(TABLES["signals"].loose_schema)
    return minutes.select(
        *(made[field.name].alias(field.name) if field.name in made else F.col(field.name) for field in fields)
    )
