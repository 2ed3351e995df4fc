"""Subscription partitions in shares that a task can hold. In: files of ``signals``. Out: ranges of names, each with about as many rows.

Files are sorted by name, so a reader of a range of names decodes a part of each file, and what is read needs no shuffle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyarrow.compute as pc

from throttlescope.ingest.core.times import MINUTE_MS, block_start
from throttlescope.ingest.lake import DataFile, read_files
from throttlescope.ingest.lake.files import GROUP_ROWS
from throttlescope.ingest.spark.task_executor import TASKS_PER_CORE

#: Rows of ``signals`` of a share, some 50 bytes each where they are judged.
SHARE_ROWS = 3_000_000
#: Minutes of an hour whose names are looked at: all subscriptions of a moment are enough to cut them into shares.
_LOOKED_AT = 2

#: In the order in which rows of a file are sorted. Tenant and namespace are in a topic's name.
_NAMES = ("topic", "partition", "subscription")
Name = tuple[str, int, str]


@dataclass(frozen=True)
class NameRange:
    """Subscription partitions of a cluster, from one on and before another; None: no end on this side."""

    cluster: str
    start: Name | None = None
    end: Name | None = None

    @property
    def where(self) -> pc.Expression:
        """The range as a filter of rows."""
        found = pc.field("cluster") == self.cluster
        if self.start is not None:
            found = found & ~_is_before(self.start)
        return found if self.end is None else found & _is_before(self.end)

    def is_in(self, file: DataFile) -> bool:
        """Whether a file may have rows of it."""
        if file.partition["cluster"] != self.cluster:
            return False
        first, last = file.minimum["topic"], file.maximum["topic"]
        return (self.start is None or last >= self.start[0]) and (self.end is None or first <= self.end[0])


def shares_of(files: Sequence[DataFile], parallelism: int) -> list[NameRange]:
    """All subscription partitions of the clusters that files of ``signals`` have rows of, in ranges that are about as large.

    Parameters
    ----------
    parallelism : int
        Calls that run at once; with 1 there are as few shares as possible.
    """
    by_cluster: dict[str, list[DataFile]] = {}
    for file in files:
        by_cluster.setdefault(file.partition["cluster"], []).append(file)
    whole = sum(file.rows for file in files)
    found = []
    for cluster, mine in sorted(by_cluster.items()):
        rows, fullest = sum(file.rows for file in mine), _fullest_hour(mine)
        # A group of rows of a file is decoded as a whole: each share that has a row of it decodes it again.
        groups = -(-sum(file.rows for file in fullest) // GROUP_ROWS)
        wished = -(-TASKS_PER_CORE * parallelism * rows // whole) if parallelism > 1 else 1
        count = max(-(-rows // SHARE_ROWS), min(wished, max(groups, parallelism)))
        ends = _ends(fullest, count) if count > 1 else []
        found += [NameRange(cluster, start, end) for start, end in pairwise([None, *ends, None])]
    return found


def _fullest_hour(files: Sequence[DataFile]) -> list[DataFile]:
    """The files of the hour with the most rows."""
    by_hour: dict[int, list[DataFile]] = {}
    for file in files:
        by_hour.setdefault(block_start(file.maximum["minute_ms"]), []).append(file)
    return max(by_hour.values(), key=lambda mine: sum(file.rows for file in mine))


def _ends(files: Sequence[DataFile], count: int) -> list[Name]:
    """Names at which so many shares end, from the last minutes of some files."""
    last_ms = max(file.maximum["minute_ms"] for file in files)
    near = pc.field("minute_ms") > last_ms - _LOOKED_AT * MINUTE_MS
    rows = read_files("signals", list(files), columns=list(_NAMES), where=near)
    names = rows.group_by(list(_NAMES)).aggregate([]).sort_by([(name, "ascending") for name in _NAMES])
    at = sorted({number * names.num_rows // count for number in range(1, count)} - {0})
    return [tuple(row[name] for name in _NAMES) for row in names.take(at).to_pylist()]


def _is_before(name: Name) -> pc.Expression:
    fields = [pc.field(column) for column in _NAMES]
    topic, partition, subscription = (field < value for field, value in zip(fields, name, strict=True))
    same_topic, same_partition, _ = (field == value for field, value in zip(fields, name, strict=True))
    return topic | (same_topic & (partition | (same_partition & subscription)))
