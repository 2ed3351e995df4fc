"""What holds every subscription now. In: verdicts of a day. Out: ``verdict_latest``, one row per subscription partition.

Next to the newest verdict are since when it has applied, and the main cause of the recent hours. All of it is
recomputed from the verdicts of the 24 hours before the cluster's newest one: nothing is carried on from earlier rows that a
later run may have changed. Topics are taken some at a time, so that memory does not grow with the fleet.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS
from throttlescope.ingest.lake.parquet import parquet_file, read_parquet, row_groups
from throttlescope.models.diagnosis.standing import COLUMNS, TEXTS, standing

if TYPE_CHECKING:
    from throttlescope.ingest.lake import DataFile, Lake

#: How far back "since" is looked for.
LOOK_BACK_MS = DAY_MS
#: Verdicts that are in memory together: a few hundred megabytes.
_ROWS_AT_ONCE = 3_000_000

_SCHEMA = TABLES["verdicts"].loose_schema


def build_latest(lake: Lake, clusters: Iterable[str], run_id: str) -> int:
    """Replace the rows of some clusters by what their verdicts say now.

    Returns
    -------
    int
        Rows of these clusters.

    Raises
    ------
    ConflictError
        Others wrote the table all the time.
    """
    clusters = sorted(set(clusters))
    rows = TABLES["verdict_latest"].loose_schema.empty_table()

    def recomputed(_: pa.Table) -> pa.Table:
        # Under the retry: a later run has seen the verdicts of a faster one.
        nonlocal rows
        files = lake.files("verdicts", partition={"cluster": clusters})
        rows = pa.concat_tables([rows.slice(0, 0), *(latest_of(mine) for mine in _by_cluster(files))])
        return rows

    lake.update("verdict_latest", recomputed, partitions_of=pa.table({"cluster": clusters}), run_id=run_id)
    return rows.num_rows


def latest_of(files: Sequence[DataFile], *, rows_at_once: int = _ROWS_AT_ONCE) -> pa.Table:
    """What the verdicts of one cluster say now.

    Parameters
    ----------
    files : sequence of DataFile
        All files of its ``verdicts``, in any order; those of the last day are read.

    Returns
    -------
    pyarrow.Table
        Rows of ``verdict_latest``, sorted by key.
    """
    if not files:
        return TABLES["verdict_latest"].loose_schema.empty_table()
    end_ms = max(file.maximum["window_end_ms"] for file in files)
    since_ms = end_ms - LOOK_BACK_MS
    files = [file for file in files if file.maximum["window_end_ms"] > since_ms]
    parts = [
        standing(_read(files, since_ms, first, after), end_ms)
        for first, after in _topics(files, rows_at_once)
    ]
    return pa.concat_tables(parts).sort_by([(name, "ascending") for name in TABLES["verdict_latest"].key])


def _read(files: Sequence[DataFile], since_ms: int, first: str | None, after: str | None) -> pa.Table:
    """Windows that end after ``since_ms`` of the topics [first, after); None: from the beginning, to the end."""
    parts = []
    for file in files:
        if _lies_outside(file.minimum["topic"], file.maximum["topic"], first, after):
            continue
        where = _topic_within(first, after)
        groups = None if where is None else row_groups(file.path, where)
        with parquet_file(file.path, read_dictionary=list(TEXTS)) as parquet:
            groups = range(parquet.num_row_groups) if groups is None else groups
            rows = parquet.read_row_groups(groups, columns=list(COLUMNS))
        if file.minimum["window_end_ms"] <= since_ms:
            rows = rows.filter(pc.greater(rows.column("window_end_ms"), since_ms))
        if first is not None or after is not None:
            rows = rows.filter(_within(rows.column("topic"), first, after))
        # A file from before a column was there lacks it.
        for name in set(COLUMNS) - set(rows.column_names):
            rows = rows.append_column(name, pa.nulls(rows.num_rows, _SCHEMA.field(name).type))
        parts.append(rows.select(COLUMNS))
    return pa.concat_tables(parts, promote_options="default") if parts else _SCHEMA.empty_table()


def _topic_within(first: str | None, after: str | None) -> pc.Expression | None:
    """Whether a row's topic is in [first, after)."""
    parts = [] if first is None else [pc.field("topic") >= first]
    parts += [] if after is None else [pc.field("topic") < after]
    return functools.reduce(operator.and_, parts) if parts else None


def _lies_outside(least: str, greatest: str, first: str | None, after: str | None) -> bool:
    return (after is not None and least >= after) or (first is not None and greatest < first)


def _within(topics: pa.ChunkedArray, first: str | None, after: str | None) -> pa.ChunkedArray:
    """Which of some topics, read as dictionaries, are in [first, after)."""
    found = []
    for chunk in topics.chunks:
        names = chunk.dictionary
        inside = pa.repeat(pa.scalar(True), len(names))
        if first is not None:
            inside = pc.and_(inside, pc.greater_equal(names, first))
        if after is not None:
            inside = pc.and_(inside, pc.less(names, after))
        found.append(inside.take(chunk.indices))
    return pa.chunked_array(found, pa.bool_())


def _topics(files: Sequence[DataFile], rows_at_once: int) -> Iterator[tuple[str | None, str | None]]:
    """Ranges of topics with about so many rows each, as the largest file has them."""
    pieces = -(-sum(file.rows for file in files) // rows_at_once)
    bounds: list[str | None] = [None]
    if pieces > 1:
        found = pa.concat_tables(read_parquet(file.path, ["topic"]) for file in _one_hour(files))
        topics = found.column("topic").combine_chunks().sort()
        at = [topics[i * len(topics) // pieces].as_py() for i in range(1, pieces)]
        bounds += sorted(set(at))
    yield from zip(bounds, [*bounds[1:], None], strict=True)


def _one_hour(files: Sequence[DataFile]) -> list[DataFile]:
    """The files of the hour with most rows: together they have about every topic."""
    hours: dict[int, list[DataFile]] = {}
    for file in files:
        hours.setdefault(file.minimum["window_start_ms"] // BLOCK_MS, []).append(file)
    return max(hours.values(), key=lambda mine: sum(file.rows for file in mine))


def _by_cluster(files: Iterable[DataFile]) -> Iterable[list[DataFile]]:
    found: dict[str, list[DataFile]] = {}
    for file in files:
        found.setdefault(file.partition["cluster"], []).append(file)
    return found.values()
