"""The windows that the screen left. In: their starts, and files of ``signals``. Out: files with their verdicts, by the rules.

Tasks read the files and take the rows of the subscriptions that have windows left: whole rows of the hours in which those
windows lie, and of a day before them what the rules look back to. Rows travel as packed tables, a few per file, not cell by
cell; what is to be judged together is chosen by the number of windows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import BLOCK_MS, block_start
from throttlescope.ingest.lake import DataFile
from throttlescope.ingest.lake.files import NewFile
from throttlescope.ingest.lake.hour_files import write_hours_of
from throttlescope.ingest.spark.task_executor import SparkPoolExecutor
from throttlescope.models.diagnosis.fleet.hours import on_spark, read_minutes, touches
from throttlescope.models.diagnosis.history import HISTORY_COLUMNS, HISTORY_MS
from throttlescope.models.diagnosis.verdict import diagnose
from throttlescope.models.diagnosis.window import MinuteColumns, SubscriptionKey, Window, by_subscription

#: Windows, and subscriptions, that are judged together: a task holds two days of their minutes.
_SHARE_WINDOWS, _SHARE_SUBSCRIPTIONS = 4_000, 200

Left = dict[SubscriptionKey, list[int]]


@dataclass(frozen=True)
class FleetPiece:
    """What is read of one file."""

    file: DataFile
    start_ms: int
    end_ms: int
    whole: bool

    @property
    def rows(self) -> int:
        return self.file.rows


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
    shares, share_of = _shared(left, parallelism=1)
    # Packed here too: a day of the minutes of all these subscriptions may be most of a fleet's.
    packed: list[list[pa.Buffer]] = [[] for _ in shares]
    for piece in pieces(files, left, window_ms):
        for share, rows in take(piece, share_of):
            packed[share].append(pa.py_buffer(_pack(rows)))
    judged = [
        judge_share(_unpacked(packed[share]), {one: left[one] for one in keys}, window_ms)
        for share, keys in enumerate(shares)
    ]
    return write_hours_of(root, pa.concat_tables(judged), _TABLE, _TIME)


@judge_left.register(SparkPoolExecutor)
def _judge_left_on_spark(
    executor: SparkPoolExecutor, root: str, files: list[DataFile], left: Left, window_ms: int
) -> list[NewFile]:
    from pyspark.sql.pandas.types import from_arrow_schema

    from throttlescope.ingest.lake.spark_files import write_hours

    shares, share_of = _shared(left, executor.parallelism)
    work = pieces(files, left, window_ms)

    def read(piece: FleetPiece) -> Iterator[pa.RecordBatch]:
        for share, rows in take(piece, share_of):
            yield pa.RecordBatch.from_pydict(
                {"share": pa.array([share], pa.int32()), "rows": pa.array([_pack(rows)], pa.binary())}
            )

    def judge(key: tuple[pa.Scalar, ...], packed: pa.Table) -> pa.Table:
        rows = _unpacked(rows.as_buffer() for rows in packed.column("rows").combine_chunks())
        return judge_share(rows, {one: left[one] for one in shares[key[0].as_py()]}, window_ms)

    packed = on_spark(executor.session, work, lambda piece: piece.rows, read, "share int, rows binary")
    schema = from_arrow_schema(TABLES[_TABLE].loose_schema)
    verdicts = packed.repartition(len(shares), "share").groupBy("share").applyInArrow(judge, schema)
    rows = Counter(
        (key.cluster, block_start(at_ms)) for key, starts_ms in left.items() for at_ms in starts_ms
    )
    return write_hours(root, verdicts, _TABLE, _TIME, rows)


def _shared(left: Left, parallelism: int) -> tuple[list[list[SubscriptionKey]], dict[SubscriptionKey, int]]:
    """Shares of the subscriptions, and the share of each."""
    shares = share_out(left, parallelism)
    return shares, {key: number for number, share in enumerate(shares) for key in share}


def share_out(left: Left, parallelism: int) -> list[list[SubscriptionKey]]:
    """Subscriptions in shares of about as many windows each, the busiest first."""
    windows = sum(len(starts_ms) for starts_ms in left.values())
    count = max(parallelism, -(-windows // _SHARE_WINDOWS), -(-len(left) // _SHARE_SUBSCRIPTIONS))
    shares: list[list[SubscriptionKey]] = [[] for _ in range(min(count, len(left)))]
    sizes = [0] * len(shares)
    for key in sorted(left, key=lambda key: (-len(left[key]), key)):
        smallest = sizes.index(min(sizes))
        shares[smallest].append(key)
        sizes[smallest] += len(left[key])
    return shares


def take(piece: FleetPiece, share_of: dict[SubscriptionKey, int]) -> Iterator[tuple[int, pa.Table]]:
    """A file's rows of the subscriptions that are requested, share by share."""
    names = list(SUBSCRIPTION_KEY_NAMES)
    columns = TABLES["signals"].loose_schema.names if piece.whole else [*names, *HISTORY_COLUMNS]
    # Whole rows of a fleet's hour are a gigabyte: those of other topics are dropped while they are decoded.
    topics = pa.array({key.topic for key in share_of}, pa.string())
    rows = read_minutes(piece.file, piece.start_ms, piece.end_ms, list(columns), topics)
    if not rows.num_rows:
        return
    numbers = rows.select(names)
    distinct = numbers.group_by(names).aggregate([]).to_pylist()
    wanted = [SubscriptionKey(**key) for key in distinct if SubscriptionKey(**key) in share_of]
    if not wanted:
        return
    keys = pa.Table.from_pylist([key._asdict() for key in wanted], schema=numbers.schema)
    keys = keys.append_column("share", pa.array([share_of[key] for key in wanted], pa.int32()))
    numbered = numbers.append_column("row", pa.array(np.arange(rows.num_rows)))
    requested = numbered.join(keys, names, join_type="inner").select(["share", "row"]).sort_by("row")
    for share in sorted(requested["share"].unique().to_pylist()):
        mask = pc.equal(requested["share"], share)
        yield share, rows.take(requested["row"].filter(mask).combine_chunks())


def judge_share(rows: pa.Table, left: Left, window_ms: int) -> pa.Table:
    """Judge some windows in-process, each with what is known before it.

    Parameters
    ----------
    rows : pyarrow.Table
        Rows of ``signals`` of these subscriptions in any order.
    """
    verdicts = []
    for key, mine in by_subscription(rows):
        columns = MinuteColumns(mine)
        minutes_ms = columns["minute_ms"]
        for start_ms in sorted(left.get(key, ())):
            low = bisect_left(minutes_ms, start_ms)
            high = bisect_left(minutes_ms, start_ms + window_ms, low)
            window = Window(key, start_ms, start_ms + window_ms, columns, low, high)
            verdicts.append(diagnose(window).to_row())
    return pa.Table.from_pylist(verdicts, schema=TABLES["verdicts"].loose_schema)


def pieces(files: list[DataFile], left: Left, window_ms: int) -> list[FleetPiece]:
    """What has to be read for the windows of each cluster: whole rows of the hours that they touch, a day before the first."""
    requested: dict[str, set[int]] = {}
    for key, starts_ms in left.items():
        touched = requested.setdefault(key.cluster, set())
        for start_ms in starts_ms:
            touched.update(range(start_ms - start_ms % BLOCK_MS, start_ms + window_ms, BLOCK_MS))
    found = []
    for cluster, touched in requested.items():
        first_ms, last_ms = min(touched) - HISTORY_MS, max(touched) + BLOCK_MS
        for file in files:
            if file.partition["cluster"] == cluster and touches(file, first_ms, last_ms):
                whole = any(touches(file, hour_ms, hour_ms + BLOCK_MS) for hour_ms in touched)
                found.append(FleetPiece(file, first_ms, last_ms, whole))
    return found


def _pack(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(rows.combine_chunks())
    return sink.getvalue().to_pybytes()


def _unpacked(packed: Iterable[pa.Buffer]) -> pa.Table:
    # What lies within the windows' hours is there with all columns, the rest with those that are looked back to.
    tables = [pa.ipc.open_stream(rows).read_all() for rows in packed]
    return pa.concat_tables(tables, promote_options="default")
