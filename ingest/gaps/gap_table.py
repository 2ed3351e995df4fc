"""The record of gaps. In: what is missing of a range. Out: rows of ``gaps``: new, closed, and due for another read.

A gap is recorded once and keeps the time at which it was found. A range that is read again settles the gaps in it: what came is
closed, what is still missing stays open and was retried, and of one that came in part the rest stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.incremental import ALL
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS
from throttlescope.ingest.gaps.find import SHORTEST_MS, MissingStretch
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.watermarks import SourceKey

#: The first retry is made by the next read, the second twice this later; distances double up to a day.
FIRST_RETRY_MS = BLOCK_MS // 2
LONGEST_RETRY_MS = DAY_MS


@dataclass(frozen=True)
class Gap:
    """One row of ``gaps``."""

    source: str
    selectors: str
    cluster: str
    metric_name: str
    start_ms: int
    end_ms: int
    reason: str
    state: str
    found_ms: int
    run_id: str
    retries: int = 0
    retried_ms: int | None = None
    closed_ms: int | None = None

    @property
    def name(self) -> tuple:
        return self.source, self.selectors, self.cluster, self.metric_name, self.start_ms

    def is_due(self, now_ms: int) -> bool:
        """Whether it is time to read it again."""
        wait_ms = min(FIRST_RETRY_MS * 2**self.retries, LONGEST_RETRY_MS)
        return self.retried_ms is None or now_ms >= self.retried_ms + wait_ms


def open_gaps(lake: Lake, key: SourceKey | None = None) -> list[Gap]:
    """Gaps that may still be closed, oldest first; of all sources without a key."""
    rows = lake.read("gaps", where=None if key is None else key.where).to_pylist()
    return sorted((Gap(**row) for row in rows if row["state"] == "open"), key=lambda gap: gap.start_ms)


def due(lake: Lake, key: SourceKey, now_ms: int, kept_since_ms: int) -> list[Gap]:
    """Open gaps that it is time to try again, as far as the source still keeps their time."""
    return [gap for gap in open_gaps(lake, key) if gap.end_ms > kept_since_ms and gap.is_due(now_ms)]


def record(
    lake: Lake, key: SourceKey, start_ms: int, end_ms: int, reason: str, *, now_ms: int, run_id: str
) -> None:
    """Record that nothing of [start, end) came."""
    whole = [MissingStretch(key.cluster, ALL, start_ms, end_ms)]
    settle(lake, key, whole, start_ms, end_ms, now_ms=now_ms, run_id=run_id, reason=reason)


def settle(
    lake: Lake,
    key: SourceKey,
    missing: Sequence[MissingStretch],
    start_ms: int,
    end_ms: int,
    *,
    now_ms: int,
    run_id: str,
    kept_since_ms: int | None = None,
    reason: str = "no_samples",
) -> list[Gap]:
    """Update the gaps with what is missing of a range that was just read.

    Parameters
    ----------
    missing : sequence of MissingStretch
        All that is missing in [start, end).
    kept_since_ms : int, optional
        Gaps that end before it are lost.

    Returns
    -------
    list of Gap
        Gaps that were closed, whole or in part.
    """
    closed: list[Gap] = []

    def change(existing: pa.Table) -> pa.Table:
        closed.clear()
        gaps = {gap.name: gap for gap in (Gap(**row) for row in existing.to_pylist())}
        left = list(missing)
        for gap in [gap for gap in gaps.values() if _is_of(gap, key) and gap.state == "open"]:
            if gap.start_ms < end_ms and gap.end_ms > start_ms:
                rest = _rest(gap, left, start_ms, end_ms)
                left = [part for one in left for part in _outside(one, gap)]
                _keep(gaps, gap, rest, now_ms, closed)
            elif kept_since_ms is not None and gap.end_ms <= kept_since_ms:
                gaps[gap.name] = replace(gap, state="lost", closed_ms=now_ms)
        for one in left:
            gap = Gap(
                key.source, key.selectors, one.cluster, one.metric_name, one.start_ms, one.end_ms, reason,
                "open", now_ms, run_id,
            )  # fmt: skip
            # What was found before keeps the time at which it was found.
            if gap.name not in gaps or gaps[gap.name].state != "open":
                gaps[gap.name] = gap
        return pa.Table.from_pylist([vars(gap) for gap in gaps.values()], schema=TABLES["gaps"].schema)

    if missing or lake.version("gaps") is not None:
        lake.update("gaps", change, partitions_of=pa.table({"source": [key.source]}), run_id=run_id)
    return closed


def _keep(gaps: dict, gap: Gap, rest: list[tuple[int, int]], now_ms: int, closed: list[Gap]) -> None:
    """Put what is left of a gap in its place."""
    if rest == [(gap.start_ms, gap.end_ms)]:
        gaps[gap.name] = replace(gap, retries=gap.retries + 1, retried_ms=now_ms)
        return
    closed.append(gap)
    gaps[gap.name] = replace(gap, state="closed", closed_ms=now_ms)
    for low_ms, high_ms in rest:
        part = replace(gap, start_ms=low_ms, end_ms=high_ms, retries=gap.retries + 1, retried_ms=now_ms)
        gaps[part.name] = part


def _rest(gap: Gap, missing: Iterable[MissingStretch], start_ms: int, end_ms: int) -> list[tuple[int, int]]:
    """What of a gap is still missing: what was not requested, and what did not come."""
    parts = [(gap.start_ms, min(gap.end_ms, start_ms)), (max(gap.start_ms, end_ms), gap.end_ms)]
    parts += [
        (max(gap.start_ms, one.start_ms), min(gap.end_ms, one.end_ms))
        for one in missing
        if _speaks_of(one, gap)
    ]
    joined: list[tuple[int, int]] = []
    for low_ms, high_ms in sorted(part for part in parts if part[0] < part[1]):
        if joined and low_ms <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(joined[-1][1], high_ms)
        else:
            joined.append((low_ms, high_ms))
    return [part for part in joined if part[1] - part[0] >= SHORTEST_MS]


def _speaks_of(one: MissingStretch, gap: Gap) -> bool:
    same_cluster = ALL in (gap.cluster, one.cluster) or gap.cluster == one.cluster
    return same_cluster and one.metric_name in (gap.metric_name, ALL)


def _outside(one: MissingStretch, gap: Gap) -> list[MissingStretch]:
    """The parts of a stretch that no recorded gap covers yet."""
    if not _speaks_of(one, gap) or one.end_ms <= gap.start_ms or one.start_ms >= gap.end_ms:
        return [one]
    parts = [(one.start_ms, gap.start_ms), (gap.end_ms, one.end_ms)]
    return [replace(one, start_ms=low, end_ms=high) for low, high in parts if high - low >= SHORTEST_MS]


def _is_of(gap: Gap, key: SourceKey) -> bool:
    return (gap.source, gap.selectors) == (key.source, key.selectors) and (
        key.cluster == ALL or gap.cluster in (key.cluster, ALL)
    )
