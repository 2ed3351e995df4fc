"""Forecasts of a lake. In: ``signals`` and ``policies`` of a range. Out: ``forecasts``, made every so often.

Only minutes of subscriptions with a backlog are read, and of their topics where a quota may look at all subscriptions. Everything
below :func:`forecasts_of` is plain Python on Arrow: the same functions forecast one topic in a notebook.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import singledispatch
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, block_start, check_range
from throttlescope.ingest.lake.distinct import distinct
from throttlescope.ingest.lake.hour_files import replace_hours
from throttlescope.ingest.lake.rows import of_topics, read_subscriptions, read_topics
from throttlescope.ingest.spark.pieces import on_spark, share_size
from throttlescope.ingest.spark.task_executor import SparkPoolExecutor, TaskExecutor
from throttlescope.models.diagnosis.window import SubscriptionKey, by_subscription
from throttlescope.models.forecast.calibration import ForecastCalibration
from throttlescope.models.forecast.forecasts import forecasts_at
from throttlescope.models.forecast.residuals import SHIPPED
from throttlescope.models.forecast.subscription_history import SubscriptionHistory, view_of_minutes
from throttlescope.models.forecast.trace import DRAINED_ENTRIES
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
    executor: TaskExecutor,
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
    executor : TaskExecutor
        Spark's, or one of this process.
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

    shares = []
    for cluster in newest:
        mine = [file for file in files if file.partition["cluster"] == cluster]
        shares += shares_of(executor, mine, with_policies=bool(policies[cluster]))

    def forecast(share: ForecastShare) -> pa.Table:
        # What lies behind the newest minute has not happened yet.
        times_ms = range(first_ms + -first_ms % every_ms, min(last_ms, newest[share.cluster] + 1), every_ms)
        return forecasts_of(minutes_of(share), policies[share.cluster], times_ms)

    replaced = {
        "run_id": run_id, "time_column": "made_at_ms", "clusters": clusters, "start_ms": first_ms, "end_ms": last_ms,
    }  # fmt: skip
    _replace(executor, lake, shares, forecast, replaced)
    written = lake.files(
        "forecasts", partition={"cluster": clusters}, between={"made_at_ms": (first_ms, last_ms - 1)}
    )
    return sum(file.rows for file in written)


@dataclass(frozen=True, eq=False)
class ForecastShare:
    """Subscription partitions of a cluster that may have forecasts, and where their minutes are.

    Attributes
    ----------
    names : list of SubscriptionKey
        Sorted.
    files : list of DataFile
        Files of ``signals`` that may have rows of them.
    with_topics : bool
        All subscriptions of their topics are read: quotas look at the slowest.
    """

    names: list[SubscriptionKey]
    files: list[DataFile]
    with_topics: bool

    @property
    def cluster(self) -> str:
        return self.names[0].cluster


def shares_of(
    executor: TaskExecutor, files: list[DataFile], *, with_policies: bool, topic: str | None = None
) -> list[ForecastShare]:
    """Subscription partitions of a cluster with a backlog, in shares of neighbours by name that a call can hold.

    Parameters
    ----------
    files : list of DataFile
        Files of ``signals`` of that cluster.
    with_policies : bool
        Deadlines exist for any backlog, but only where policies are known; otherwise one counts from :data:`DRAINED_ENTRIES` on.
    topic : str, optional
        Only this one.
    """
    above = 0 if with_policies else DRAINED_ENTRIES
    # Either may be NULL or no number.
    waits = (pc.field("backlog_entries") > above) | (pc.field("backlog_ready_entries") > above)
    if topic is not None:
        waits = waits & (pc.field("topic") == topic)
    names = [
        SubscriptionKey(*one) for one in distinct(executor, "signals", files, SUBSCRIPTION_KEY_NAMES, waits)
    ]
    hours = len({file.minimum["minute_ms"] // BLOCK_MS for file in files})
    most = share_size(len(names), hours * (BLOCK_MS // MINUTE_MS), executor.parallelism)
    found: list[list[SubscriptionKey]] = []
    for _, together in groupby(names, key=lambda name: name.topic if with_policies else name):
        mine = list(together)
        if not found or len(found[-1]) + len(mine) > most:
            found.append([])
        found[-1] += mine
    return [
        ForecastShare(mine, of_topics(files, sorted({name.topic for name in mine})), with_policies)
        for mine in found
    ]


def minutes_of(share: ForecastShare) -> pa.Table:
    """A share's rows of ``signals``."""
    if share.with_topics:
        topics = sorted({name.topic for name in share.names})
        return read_topics("signals", share.files, topics, columns=COLUMNS)
    return read_subscriptions("signals", share.files, share.names, columns=COLUMNS)


@singledispatch
def _replace(
    executor: Executor,
    lake: Lake,
    shares: list[ForecastShare],
    forecast: Callable[[ForecastShare], pa.Table],
    replaced: dict[str, Any],
) -> None:
    """Forecast shares and replace hours. In this process, unless the executor is Spark's."""
    made = [TABLES["forecasts"].loose_schema.empty_table(), *map(forecast, shares)]
    replace_hours(lake, pa.concat_tables(made), "forecasts", **replaced)


@_replace.register(SparkPoolExecutor)
def _replace_on_spark(
    executor: SparkPoolExecutor,
    lake: Lake,
    shares: list[ForecastShare],
    forecast: Callable[[ForecastShare], pa.Table],
    replaced: dict[str, Any],
) -> None:
    # Imported here: forecasting in-process needs no Spark.
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(TABLES["forecasts"].loose_schema)
    df = on_spark(
        executor.session,
        shares,
        lambda share: len(share.names),
        lambda share: forecast(share).to_batches(),
        schema,
    )
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
