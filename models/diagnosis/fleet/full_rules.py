"""The windows that the screen left. In: their starts, and files of ``signals``. Out: files with their verdicts, by the rules.

A task reads the rows of the subscriptions that it judges from the files themselves: whole rows of the hours in which their windows
lie, and of a day before them what the rules look back to. No row of ``signals`` goes through a shuffle.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import singledispatch

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import BLOCK_MS, block_start
from throttlescope.ingest.lake import DataFile
from throttlescope.ingest.lake.files import NewFile
from throttlescope.ingest.lake.hour_files import write_hours_of
from throttlescope.ingest.lake.rows import of_topics, read_subscriptions
from throttlescope.ingest.spark.pieces import on_spark
from throttlescope.ingest.spark.task_executor import TASKS_PER_CORE, SparkPoolExecutor
from throttlescope.models.diagnosis.fleet.hours import touches
from throttlescope.models.diagnosis.history import HISTORY_COLUMNS, HISTORY_MS
from throttlescope.models.diagnosis.verdict import diagnose
from throttlescope.models.diagnosis.window import MinuteColumns, SubscriptionKey, Window, by_subscription

#: Windows, and subscriptions, that are judged together: a task holds two days of their minutes.
_SHARE_WINDOWS, _SHARE_SUBSCRIPTIONS = 4_000, 200

Left = dict[SubscriptionKey, list[int]]


@dataclass(frozen=True, eq=False)
class LeftShare:
    """Subscription partitions of a cluster that are judged together.

    Attributes
    ----------
    left : dict of SubscriptionKey to list of int
        Starts of their windows, epoch ms.
    files : list of DataFile
        Files of ``signals`` that may have rows of them, of the windows and of the day before.
    """

    left: Left
    files: list[DataFile]

    @property
    def windows(self) -> int:
        return sum(len(starts_ms) for starts_ms in self.left.values())


_TABLE, _TIME = "verdicts", "window_start_ms"


@singledispatch
def judge_left(
    executor: Executor, root: str, files: list[DataFile], left: Left, window_ms: int
) -> list[NewFile]:
    """Judge the windows that the screen left, in this process unless the executor is Spark's.

    Parameters
    ----------
    root : str
        The lake's folder or URI.
    files : list of DataFile
        Files of ``signals`` of the windows and of the day before them.
    left : dict of SubscriptionKey to list of int
        Starts of the windows, epoch ms; not empty.

    Returns
    -------
    list of NewFile
        Files of ``verdicts``, written and not committed.
    """
    judged = [judge_share(share, window_ms) for share in share_out(left, files, parallelism=1)]
    return write_hours_of(root, pa.concat_tables(judged), _TABLE, _TIME)


@judge_left.register(SparkPoolExecutor)
def _judge_left_on_spark(
    executor: SparkPoolExecutor, root: str, files: list[DataFile], left: Left, window_ms: int
) -> list[NewFile]:
    from pyspark.sql.pandas.types import from_arrow_schema

    from throttlescope.ingest.lake.spark_files import write_hours

    shares = share_out(left, files, executor.parallelism)
    schema = from_arrow_schema(TABLES[_TABLE].loose_schema)
    verdicts = on_spark(
        executor.session,
        shares,
        lambda share: share.windows,
        lambda share: judge_share(share, window_ms).to_batches(),
        schema,
    )
    rows = Counter(
        (key.cluster, block_start(at_ms)) for key, starts_ms in left.items() for at_ms in starts_ms
    )
    return write_hours(root, verdicts, _TABLE, _TIME, rows)


def share_out(left: Left, files: list[DataFile], parallelism: int) -> list[LeftShare]:
    """Subscriptions in shares of neighbours by name, which are near each other in every file, with about as many windows each.

    Parameters
    ----------
    parallelism : int
        Calls that run at once; with 1 there are as few shares as a task can hold.
    """
    windows = sum(len(starts_ms) for starts_ms in left.values())
    wished = (
        _SHARE_WINDOWS if parallelism == 1 else min(_SHARE_WINDOWS, windows // (TASKS_PER_CORE * parallelism))
    )
    shares: list[Left] = []
    cluster, size = None, 0
    for key in sorted(left):
        fits = shares and size + len(left[key]) <= wished and len(shares[-1]) < _SHARE_SUBSCRIPTIONS
        if not fits or key.cluster != cluster:
            shares.append({})
            cluster, size = key.cluster, 0
        shares[-1][key] = left[key]
        size += len(left[key])
    return [LeftShare(mine, _files_of(files, mine)) for mine in shares]


def _files_of(files: list[DataFile], mine: Left) -> list[DataFile]:
    cluster = next(iter(mine)).cluster
    topics = sorted({key.topic for key in mine})
    return of_topics((file for file in files if file.partition["cluster"] == cluster), topics)


def judge_share(share: LeftShare, window_ms: int) -> pa.Table:
    """Judge some windows in-process, each with what is known before it; returns rows of ``verdicts``."""
    verdicts = []
    for key, mine in by_subscription(minutes_of(share, window_ms)):
        columns = MinuteColumns(mine)
        minutes_ms = columns["minute_ms"]
        for start_ms in sorted(share.left[key]):
            low = bisect_left(minutes_ms, start_ms)
            high = bisect_left(minutes_ms, start_ms + window_ms, low)
            window = Window(key, start_ms, start_ms + window_ms, columns, low, high)
            verdicts.append(diagnose(window).to_row())
    return pa.Table.from_pylist(verdicts, schema=TABLES["verdicts"].loose_schema)


def minutes_of(share: LeftShare, window_ms: int) -> pa.Table:
    """Rows of ``signals`` of a share: whole ones of the hours that its windows touch, and of a day before, what is looked back to."""
    touched = {
        hour_ms
        for starts_ms in share.left.values()
        for start_ms in starts_ms
        for hour_ms in range(start_ms - start_ms % BLOCK_MS, start_ms + window_ms, BLOCK_MS)
    }
    first_ms, last_ms = min(touched) - HISTORY_MS, max(touched) + BLOCK_MS
    whole, before = [], []
    for file in share.files:
        if any(touches(file, hour_ms, hour_ms + BLOCK_MS) for hour_ms in touched):
            whole.append(file)
        elif touches(file, first_ms, last_ms):
            before.append(file)
    names = sorted(share.left)
    rows = pa.concat_tables(
        [
            read_subscriptions("signals", whole, names, columns=TABLES["signals"].loose_schema.names),
            read_subscriptions("signals", before, names, columns=[*SUBSCRIPTION_KEY_NAMES, *HISTORY_COLUMNS]),
        ],
        promote_options="default",
    )
    return rows.filter((pc.field("minute_ms") >= first_ms) & (pc.field("minute_ms") < last_ms))
