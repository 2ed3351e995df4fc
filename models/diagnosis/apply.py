"""The rules on Spark. In: ``signals`` of a range. Out: ``verdicts``, one row per subscription partition and window.

Rows are grouped by topic partition, so that a group holds the subscriptions that share a topic's limiter. Everything
below :func:`verdicts_of` is plain Python on Arrow: the same functions judge one window in a notebook.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES, TOPIC_KEY_NAMES
from throttlescope.ingest.times import BLOCK_MS, MINUTE_MS, block_start, check_range
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.history import HISTORY_COLUMNS, HISTORY_MS
from throttlescope.models.diagnosis.verdict import diagnose
from throttlescope.models.diagnosis.window import MinuteColumns, SubscriptionKey, check_grid, windows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from throttlescope.ingest.lake import DataFile, Lake

WINDOW_MS = 5 * MINUTE_MS


def build_verdicts(
    session: SparkSession,
    lake: Lake,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
    run_id: str,
    *,
    window_ms: int = WINDOW_MS,
    every_ms: int = WINDOW_MS,
) -> int:
    """Judge every window that has a minute of [start_ms, end_ms) in it, and write the verdicts.

    Parameters
    ----------
    clusters : iterable of str
        Clusters whose verdicts are built.
    window_ms, every_ms : int
        Length of a window and distance between the starts of two, on the epoch grid, in whole minutes.

    Returns
    -------
    int
        Rows of ``verdicts`` in the hours that were written.

    Notes
    -----
    Verdicts are replaced by whole UTC hours of their window's start. A window whose minutes have not all come yet is
    left to the run that brings them; until then it has no verdict.
    """
    # Imported here: judging windows in-process needs no Spark.
    from pyspark.sql.pandas.types import from_arrow_schema

    check_range(start_ms, end_ms)
    check_grid(window_ms, every_ms)
    clusters = sorted(set(clusters))
    # Windows that began earlier and reach into the range are judged now that it is there, and with them their hour.
    first_ms = block_start((start_ms - window_ms) // every_ms * every_ms + every_ms)
    last_ms = block_start(end_ms - 1) + BLOCK_MS
    files = _files_of(lake, "signals", "minute_ms", clusters, first_ms, last_ms + window_ms)
    bounds = _bounds(files, first_ms, last_ms + window_ms - MINUTE_MS)

    def judge(key: tuple[pa.Scalar, ...], rows: pa.Table, before: pa.Table) -> pa.Table:
        cluster = key[0].as_py()
        if cluster not in bounds:
            return TABLES["verdicts"].loose_schema.empty_table()
        rows = pa.concat_tables([rows, before], promote_options="default")
        return verdicts_of(rows, *bounds[cluster], window_ms=window_ms, every_ms=every_ms)

    schema = from_arrow_schema(TABLES["verdicts"].loose_schema)
    signals = lake.spark(session, "signals", files)
    earlier = _files_of(lake, "signals", "minute_ms", clusters, first_ms - HISTORY_MS, first_ms)
    before = _before(signals, lake.spark(session, "signals", earlier), first_ms)
    df = (
        signals.groupBy(*TOPIC_KEY_NAMES)
        .cogroup(before.groupBy(*TOPIC_KEY_NAMES))
        .applyInArrow(judge, schema)
    )
    lake.replace_spark(
        df,
        "verdicts",
        run_id=run_id,
        time_column="window_start_ms",
        clusters=clusters,
        start_ms=first_ms,
        end_ms=last_ms,
    )
    written = _files_of(lake, "verdicts", "window_start_ms", clusters, first_ms, last_ms - 1)
    return sum(file.rows for file in written)


def verdicts_of(
    signals: pa.Table, start_ms: int, end_ms: int, *, window_ms: int = WINDOW_MS, every_ms: int = WINDOW_MS
) -> pa.Table:
    """Judge all windows inside [start_ms, end_ms) of some subscriptions, in-process.

    Parameters
    ----------
    signals : pyarrow.Table
        Rows of ``signals`` in any order. Rows before ``start_ms`` are history: a day of it, with the columns of
        :data:`~history.HISTORY_COLUMNS`, is as good as all.

    Returns
    -------
    pyarrow.Table
        Rows of ``verdicts``.
    """
    rows = [
        diagnose(window).to_row()
        for key, columns in _subscriptions(signals)
        for window in windows(
            key, columns, window_ms=window_ms, every_ms=every_ms, first_start_ms=start_ms, end_ms=end_ms
        )
    ]
    return pa.Table.from_pylist(rows, schema=TABLES["verdicts"].loose_schema)


def _before(signals: DataFrame, earlier: DataFrame, first_ms: int) -> DataFrame:
    """A day of what the rules look back to, of the subscriptions for which they will: those with a backlog to explain."""
    from pyspark.sql import functions as F

    keys = list(SUBSCRIPTION_KEY_NAMES)
    batch = F.least(
        F.coalesce("read_batch_entries", F.lit(t.READ_BATCH_ENTRIES)), F.lit(t.READ_BATCH_ENTRIES)
    )
    asked = signals.where((F.col("backlog_ready_entries") >= batch) | (F.col("consumers") <= 0)).select(keys)
    # Files hold whole hours, and the first one's hour is in ``signals`` already.
    past = earlier.where(F.col("minute_ms") < first_ms).select(*keys, *HISTORY_COLUMNS)
    return past.join(F.broadcast(asked.distinct()), keys, "left_semi")


def verdict_latest(lake: Lake) -> pa.Table:
    """The newest verdict of every subscription partition, with the columns of ``verdicts``, sorted by key."""
    contract = TABLES["verdicts"]
    columns = ", ".join(f'"{column.name}"' for column in contract.columns)
    key = ", ".join(f'"{name}"' for name in SUBSCRIPTION_KEY_NAMES)
    connection = lake.duckdb()
    try:
        newest = connection.sql(
            f"SELECT {columns} FROM verdicts QUALIFY row_number() OVER "  # noqa: S608 - our own names
            f"(PARTITION BY {key} ORDER BY window_end_ms DESC, window_start_ms DESC) = 1 ORDER BY {key}"
        ).to_arrow_table()
    finally:
        connection.close()
    return newest.cast(contract.loose_schema)


def _subscriptions(signals: pa.Table) -> Iterator[tuple[SubscriptionKey, MinuteColumns]]:
    names = list(SUBSCRIPTION_KEY_NAMES)
    ordered = signals.sort_by([(name, "ascending") for name in [*names, "minute_ms"]]).combine_chunks()
    if ordered.num_rows == 0:
        return
    keys = list(zip(*(ordered.column(name).to_pylist() for name in names), strict=True))
    low = 0
    for high in range(1, len(keys) + 1):
        if high == len(keys) or keys[high] != keys[low]:
            yield SubscriptionKey(*keys[low]), MinuteColumns(ordered.slice(low, high - low))
            low = high


def _bounds(files: Iterable[DataFile], start_ms: int, end_ms: int) -> dict[str, tuple[int, int]]:
    """From when to when each cluster has signals, within [start_ms, end_ms).

    A window that reaches out of it would be judged by a part of its minutes only because the rest was never ingested.
    """
    spans: dict[str, tuple[int, int]] = {}
    for file in files:
        cluster = file.partition["cluster"]
        first_ms, last_ms = spans.get(cluster, (end_ms, start_ms))
        spans[cluster] = (
            max(start_ms, min(first_ms, file.minimum["minute_ms"])),
            min(end_ms, max(last_ms, file.maximum["minute_ms"] + MINUTE_MS)),
        )
    return spans


def _files_of(
    lake: Lake, table: str, time_column: str, clusters: Iterable[str], start_ms: int, end_ms: int
) -> list[DataFile]:
    """Files of some clusters that may hold rows with ``start_ms`` <= time <= ``end_ms``."""
    return lake.files(
        table,
        partition={"cluster": clusters},
        between={time_column: (start_ms, end_ms)},
    )
