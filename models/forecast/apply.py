"""Forecasts of a lake. In: ``signals`` and ``policies`` of a range. Out: ``forecasts``, made every so often.

Rows are grouped by topic where a quota may look at all subscriptions of it, else by shares of subscriptions. Everything below
:func:`forecasts_of` is plain Python on Arrow: the same functions forecast one topic in a notebook.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, block_start, check_range
from throttlescope.ingest.lake.hour_files import replace_hours
from throttlescope.ingest.lake.rows import read_files
from throttlescope.ingest.spark.shares import SHARE, share_count, with_share
from throttlescope.ingest.spark.task_executor import SparkPoolExecutor
from throttlescope.models.diagnosis.window import by_subscription
from throttlescope.models.forecast.calibration import ForecastCalibration
from throttlescope.models.forecast.forecasts import forecasts_at
from throttlescope.models.forecast.residuals import SHIPPED
from throttlescope.models.forecast.subscription_history import SubscriptionHistory, view_of_minutes
from throttlescope.transforms.as_of import KNOWN_FOR_MS
from throttlescope.transforms.deadlines import SCOPES, TopicAnswers, slim

if TYPE_CHECKING:
    from throttlescope.ingest.lake import DataFile, Lake

EVERY_MS = 15 * MINUTE_MS
#: How far back arrivals are looked for, which tell how old a backlog is.
LOOK_BACK_MS = DAY_MS

#: Beyond this a float is no count any more.
MOST_COUNTED = 2**53
#: Columns of ``signals`` that are read.
COLUMNS = (
    *SUBSCRIPTION_KEY_NAMES, "minute_ms", "backlog_entries", "backlog_ready_entries", "in_msg_delta", "in_span_ms", "messages_per_entry",
    "limit_broker_msg", "limit_broker_bytes", "limit_broker_period_s", "limit_topic_msg", "limit_topic_bytes",
    "limit_topic_period_s", "limit_subscription_msg", "limit_subscription_bytes", "limit_subscription_period_s",
    "storage_backlog_bytes", "backlog_age_s", "consumers",
)  # fmt: skip


def build_forecasts(
    executor: Executor,
    lake: Lake,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
    run_id: str,
    *,
    every_ms: int = EVERY_MS,
) -> int:
    """Make forecasts at every so many milliseconds of [start_ms, end_ms), on the epoch grid, and write them.

    Parameters
    ----------
    executor : Executor
        Spark's, or one of this process, which then works cluster by cluster.
    clusters : iterable of str
        Clusters whose forecasts are made.
    start_ms, end_ms : int
        The whole UTC hours that it touches are replaced.
    every_ms : int
        Whole minutes.

    Returns
    -------
    int
        Rows of ``forecasts`` in those hours.

    Raises
    ------
    InputError
        The range is empty, or ``every_ms`` is not a number of whole minutes.
    """
    check_range(start_ms, end_ms)
    if every_ms <= 0 or every_ms % MINUTE_MS:
        raise InputError(
            "--every is not a number of whole minutes", got=f"{every_ms} ms", expected="such as 15m"
        )
    clusters = sorted(set(clusters))
    first_ms, last_ms = block_start(start_ms), block_start(end_ms - 1) + BLOCK_MS
    files = lake.files(
        "signals",
        partition={"cluster": clusters},
        between={"minute_ms": (first_ms - LOOK_BACK_MS, last_ms - 1)},
    )
    newest: dict[str, int] = {}
    for file in files:
        cluster = file.partition["cluster"]
        newest[cluster] = max(newest.get(cluster, 0), file.maximum["minute_ms"] + MINUTE_MS)
    policies = policies_near(lake, clusters, first_ms, last_ms)

    def forecast(key: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
        cluster = key[0].as_py()
        # What lies behind the newest minute has not happened yet.
        times_ms = range(first_ms + -first_ms % every_ms, min(last_ms, newest[cluster] + 1), every_ms)
        return forecasts_of(rows, policies[cluster], times_ms)

    replaced = {
        "run_id": run_id, "time_column": "made_at_ms", "clusters": clusters, "start_ms": first_ms, "end_ms": last_ms,
    }  # fmt: skip
    with_quota = [cluster for cluster in clusters if policies[cluster]]
    _replace(executor, lake, files, with_quota, forecast, replaced)
    written = lake.files(
        "forecasts", partition={"cluster": clusters}, between={"made_at_ms": (first_ms, last_ms - 1)}
    )
    return sum(file.rows for file in written)


@singledispatch
def _replace(
    executor: Executor,
    lake: Lake,
    files: list[DataFile],
    with_quota: list[str],
    forecast: Callable[[tuple[pa.Scalar, ...], pa.Table], pa.Table],
    replaced: dict[str, Any],
) -> None:
    """Forecast from files of ``signals`` and replace hours. In this process, unless the executor is Spark's.

    Parameters
    ----------
    with_quota : list of str
        Clusters that may have a quota, which is the only thing that looks at all subscriptions of a topic.
    forecast : callable
        Takes a key that begins with a cluster, and rows of whole topics of it.
    """
    made = [TABLES["forecasts"].loose_schema.empty_table()]
    for cluster in dict.fromkeys(file.partition["cluster"] for file in files):
        mine = [file for file in files if file.partition["cluster"] == cluster]
        rows = read_files("signals", mine, columns=list(COLUMNS))
        made.append(forecast((pa.scalar(cluster),), rows))
    replace_hours(lake, pa.concat_tables(made), "forecasts", **replaced)


@_replace.register(SparkPoolExecutor)
def _replace_on_spark(
    executor: SparkPoolExecutor,
    lake: Lake,
    files: list[DataFile],
    with_quota: list[str],
    forecast: Callable[[tuple[pa.Scalar, ...], pa.Table], pa.Table],
    replaced: dict[str, Any],
) -> None:
    # Imported here: forecasting in-process needs no Spark.
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import from_arrow_schema

    session = executor.session
    count = share_count(session, sum(file.rows for file in files))
    signals = with_share(lake.spark(session, "signals", files, columns=COLUMNS), count)
    # Where no quota can be known, a crowded topic is no group of its own.
    by_topic = F.col("cluster").isin(with_quota)
    topic = F.when(by_topic, F.col("topic"))
    share = F.when(~by_topic, F.col(SHARE))
    schema = from_arrow_schema(TABLES["forecasts"].loose_schema)
    df = signals.groupBy("cluster", topic, share).applyInArrow(forecast, schema)
    lake.replace_spark(df, "forecasts", **replaced)


def policies_near(
    lake: Lake, clusters: Iterable[str], start_ms: int, end_ms: int
) -> dict[str, list[dict[str, Any]]]:
    """What the admin API said that may speak of a range, by cluster; small enough to be sent to tasks."""
    clusters = sorted(set(clusters))
    where = (
        pc.field("cluster").isin(clusters)
        & pc.field("scope").isin(SCOPES)
        & (pc.field("observed_ms") >= start_ms - KNOWN_FOR_MS)
        & (pc.field("observed_ms") <= end_ms + KNOWN_FOR_MS)
    )
    found: dict[str, list] = {cluster: [] for cluster in clusters}
    for row in lake.read("policies", where=where).to_pylist():
        found[row["cluster"]].append(row)
    return {cluster: slim(rows) for cluster, rows in found.items()}


def forecasts_of(
    signals: pa.Table,
    policies: Sequence[Mapping[str, Any]],
    made_at_ms: Iterable[int],
    calibration: ForecastCalibration = SHIPPED,
) -> pa.Table:
    """Forecast the topics of one cluster at some times, in-process.

    Parameters
    ----------
    signals : pyarrow.Table
        Rows of ``signals`` in any order; of each topic those of all its subscriptions.
    policies : sequence of mappings
        Rows of ``policies`` of that cluster.
    made_at_ms : iterable of int
        When forecasts are made; each looks at nothing later.

    Returns
    -------
    pyarrow.Table
        Rows of ``forecasts``.
    """
    by_topic: dict[str, list[SubscriptionHistory]] = {}
    for view in views_of(signals):
        by_topic.setdefault(view.key.topic, []).append(view)
    rows = []
    for at_ms in made_at_ms:
        answers = TopicAnswers(policies, at_ms) if by_topic else None
        for topic, views in by_topic.items():
            rows += forecasts_at(views, answers.deadlines(topic), at_ms, calibration)
    return pa.Table.from_pylist(rows, schema=TABLES["forecasts"].loose_schema)


def views_of(signals: pa.Table) -> list[SubscriptionHistory]:
    """Views of all subscription partitions in some rows of ``signals``, sorted by key."""
    found = []
    for key, mine in by_subscription(signals):
        columns = {
            name: _numbers(mine.column(name)) for name in COLUMNS if name not in SUBSCRIPTION_KEY_NAMES
        }
        found.append(view_of_minutes(key, columns))
    return found


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    """A column as float64: NaN where it is NULL, infinite, or more than anything that is counted can be."""
    values = column.cast(pa.float64()).to_numpy()
    return np.where(np.abs(values) <= MOST_COUNTED, values, np.nan)
