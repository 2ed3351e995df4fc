"""Subscriptions in shares that a task holds. In: files of ``signals``. Out: ranges of names, each with about as many rows.

Files are sorted by name, so a reader of a range of names decodes a part of each file, and what is read needs no shuffle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyarrow.compute as pc

from throttlescope.ingest.core.times import MINUTE_MS, block_start
from throttlescope.ingest.lake import DataFile, read_files

#: Rows of ``signals`` of a share, some 50 bytes each where they are judged.
SHARE_ROWS = 3_000_000
#: So many shares for each core, that one which takes longer leaves time for the others.
_PER_CORE = 4
#: Minutes of an hour whose names are looked at: all subscriptions of a moment are enough to cut them into shares.
_LOOKED_AT = 2

#: A topic and a subscription.
Name = tuple[str, str]


@dataclass(frozen=True)
class NameRange:
    """Subscriptions of a cluster, from a topic and subscription on and before another; None: no end on this side."""

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
    """All subscriptions of the clusters that files of ``signals`` have rows of, in ranges that are about as large.

    Parameters
    ----------
    parallelism : int
        Calls that run at once; 1 makes shares no smaller than has to be.
    """
    most = SHARE_ROWS
    if parallelism > 1:
        most = min(most, -(-sum(file.rows for file in files) // (_PER_CORE * parallelism)))
    by_cluster: dict[str, list[DataFile]] = {}
    for file in files:
        by_cluster.setdefault(file.partition["cluster"], []).append(file)
    found = []
    for cluster, mine in sorted(by_cluster.items()):
        count = -(-sum(file.rows for file in mine) // most)
        ends = _ends(mine, count) if count > 1 else []
        found += [NameRange(cluster, start, end) for start, end in pairwise([None, *ends, None])]
    return found


def _ends(files: Sequence[DataFile], count: int) -> list[Name]:
    """Names at which so many shares end, from some minutes of the hour with the most rows."""
    by_hour: dict[int, list[DataFile]] = {}
    for file in files:
        by_hour.setdefault(block_start(file.maximum["minute_ms"]), []).append(file)
    hour = max(by_hour.values(), key=lambda mine: sum(file.rows for file in mine))
    last_ms = max(file.maximum["minute_ms"] for file in hour)
    near = pc.field("minute_ms") > last_ms - _LOOKED_AT * MINUTE_MS
    rows = read_files("signals", hour, columns=["topic", "subscription"], where=near)
    names = (
        rows.group_by(rows.column_names)
        .aggregate([])
        .sort_by([(name, "ascending") for name in rows.column_names])
    )
    at = sorted({number * names.num_rows // count for number in range(1, count)} - {0})
    return [(row["topic"], row["subscription"]) for row in names.take(at).to_pylist()]


def _is_before(name: Name) -> pc.Expression:
    topic, subscription = name
    return (pc.field("topic") < topic) | (
        (pc.field("topic") == topic) & (pc.field("subscription") < subscription)
    )
