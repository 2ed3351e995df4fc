"""What anomalies read of a lake. In: its files, and a share of the subscriptions. Out: rows, some at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.lake import DataFile, read_files, read_pieces
from throttlescope.ingest.spark.task_executor import TaskExecutor
from throttlescope.models.anomaly import minutes
from throttlescope.models.anomaly import verdicts as diagnosis
from throttlescope.models.anomaly.name_ranges import NameRange
from throttlescope.models.anomaly.subscription import covered_minutes

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

#: Columns of ``signals`` that are read: to judge, and to know which minutes were scraped.
SIGNALS = (*SUBSCRIPTION_KEY_NAMES, *minutes.COLUMNS)
_SCRAPED = ("cluster", "minute_ms", "coverage_share")
_TIMES = {"signals": "minute_ms", "verdicts": "window_start_ms"}
#: Parts in which files are read, by each core.
_PIECES = 16

#: By cluster, starts of the minutes in which anything was scraped, sorted.
Covered = dict[str, np.ndarray]
#: Cluster, topic and broker.
ServedTopic = tuple[str, str, str | None]


def files_of(
    lake: Lake, table: str, clusters: Iterable[str] | None, first_ms: int, end_ms: int
) -> list[DataFile]:
    """Files of ``signals`` or ``verdicts`` with times in [first_ms, end_ms)."""
    return lake.files(
        table,
        partition=None if clusters is None else {"cluster": clusters},
        between={_TIMES[table]: (first_ms, end_ms - 1)},
    )


def signals_of_share(
    files: Sequence[DataFile], share: NameRange, first_ms: int, end_ms: int
) -> Iterator[pa.Table]:
    """Rows of ``signals`` of a share in [first_ms, end_ms), some at a time: they are rows for a moment, and arrays from then on."""
    mine = [file for file in files if share.is_in(file)]
    minute_ms = pc.field("minute_ms")
    where = share.where & (minute_ms >= first_ms) & (minute_ms < end_ms)
    # A dataset keeps the footers of its files: of weeks of them more than the rows take.
    for some in _some(mine, _PIECES):
        yield from read_pieces("signals", some, columns=list(SIGNALS), where=where)


def verdicts_of_share(
    files: Sequence[DataFile], share: NameRange, which: pc.Expression | None = None
) -> pa.Table:
    """Rows of ``verdicts`` of a share, all or some."""
    where = share.where if which is None else share.where & which
    mine = [file for file in files if share.is_in(file)]
    return read_files("verdicts", mine, columns=list(diagnosis.COLUMNS), where=where)


def minutes_covered(executor: TaskExecutor, files: Sequence[DataFile], first_ms: int, end_ms: int) -> Covered:
    """The minutes of [first_ms, end_ms) in which anything of each cluster was scraped, from files of ``signals``."""
    found: dict[str, list[np.ndarray]] = {}
    for some in executor.map(
        partial(_covered_in, first_ms, end_ms), _some(files, _PIECES * executor.parallelism)
    ):
        for cluster, starts_ms in some.items():
            found.setdefault(cluster, []).append(starts_ms)
    return {cluster: np.unique(np.concatenate(parts)) for cluster, parts in found.items()}


def _covered_in(first_ms: int, end_ms: int, files: list[DataFile]) -> Covered:
    where = (pc.field("minute_ms") >= first_ms) & (pc.field("minute_ms") < end_ms)
    return covered_minutes(read_files("signals", files, columns=list(_SCRAPED), where=where))


def _some(files: Sequence[DataFile], pieces: int) -> list[list[DataFile]]:
    """Files in so many pieces at most."""
    size = max(1, -(-len(files) // pieces))
    return [list(files[at : at + size]) for at in range(0, len(files), size)]


def topics_served(rows: pa.Table, first_ms: int) -> set[ServedTopic]:
    """Where the topics of rows of ``signals`` were served from a moment on."""
    recent = pc.greater_equal(rows.column("minute_ms"), first_ms)
    names = ["cluster", "topic", "broker"]
    distinct = rows.select(names).filter(recent).group_by(names).aggregate([])
    return set(zip(*(distinct.column(name).to_pylist() for name in names), strict=True))
