"""Up to when a source was read. In: what a pull read. Out: rows of ``watermarks``, and where the next pull begins.

A watermark says that everything of [since, complete until) was requested and what the source had is in the lake. It is written
after the samples, so that a run that is killed leaves one that is too old, never one that is too new. A range read by hand
somewhere else does not move it: it moves only over what was read without a hole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.incremental import ALL
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.selector import Selector
from throttlescope.ingest.core.times import MINUTE_MS, format_time
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.manifest import without_credentials

#: Read again below a watermark: what a rule looks back to (5 minutes), and scrapes that came late into a server (10).
OVERLAP_MS = 15 * MINUTE_MS
#: Clocks of two machines may be so far apart.
CLOCK_SKEW_MS = MINUTE_MS

_NAMES = ("source", "selectors", "cluster")


@dataclass(frozen=True)
class SourceKey:
    """A source and what is requested of it; each has watermarks and gaps of its own.

    Attributes
    ----------
    source : str
        Address, without a password.
    selectors : str
        Sorted, apart by blanks; empty: the default set, whole.
    cluster : str
        Its cluster; ``*`` where it has several, or none is known yet.
    """

    source: str
    selectors: str
    cluster: str

    @classmethod
    def of(cls, address: str, selectors: Iterable[Selector], cluster: str | None) -> SourceKey:
        """The key of an address and selectors in any order."""
        sorted_selectors = " ".join(sorted(str(selector) for selector in selectors))
        return cls(without_credentials(address), sorted_selectors, cluster or ALL)

    @property
    def where(self) -> pc.Expression:
        """The rows of this source; those of all its clusters where its own is not known yet."""
        mine = (pc.field("source") == self.source) & (pc.field("selectors") == self.selectors)
        return mine if self.cluster == ALL else mine & pc.field("cluster").isin([self.cluster, ALL])


@dataclass(frozen=True)
class Watermark:
    """Up to when all metrics of a source are complete: the least of them."""

    cluster: str
    since_ms: int
    complete_until_ms: int


def watermark(lake: Lake, key: SourceKey) -> Watermark | None:
    """The watermark of a source; None where it was never read."""
    rows = lake.read("watermarks", where=key.where).to_pylist()
    if not rows:
        return None
    # A source that got a second cluster is read under another name from then on; the newest name speaks.
    cluster = max(rows, key=lambda row: row["complete_until_ms"])["cluster"]
    own = [row for row in rows if row["cluster"] == cluster]
    return Watermark(
        cluster, max(row["since_ms"] for row in own), min(row["complete_until_ms"] for row in own)
    )


def check_clock(lake: Lake, key: SourceKey, now_ms: int) -> None:
    """Refuse a watermark from the future.

    Raises
    ------
    InputError
        This machine's clock stepped back since, or another machine's ran ahead.
    """
    rows = lake.read("watermarks", where=key.where).to_pylist()
    ahead = [row for row in rows if row["complete_until_ms"] > now_ms + CLOCK_SKEW_MS]
    if ahead:
        worst = max(ahead, key=lambda row: row["complete_until_ms"])
        raise InputError(
            "A watermark lies in the future: a clock stepped back, or was ahead when it was written",
            got=f"{worst['metric_name']} of {key.source} complete until {format_time(worst['complete_until_ms'])}, "
            f"written by run {worst['run_id']}; it is {format_time(now_ms)} here",
            expected="a watermark in the past",
            fix="set this machine's clock; if it is right, add --reset-watermark, and the requested range takes its place",
        )


def begin_ms(mark: Watermark) -> int:
    """Where the next read begins: the watermark less the overlap, not before its own beginning."""
    return max(mark.since_ms, mark.complete_until_ms - OVERLAP_MS)


def advance(
    lake: Lake,
    key: SourceKey,
    metrics: Iterable[str],
    start_ms: int,
    end_ms: int,
    *,
    now_ms: int,
    run_id: str,
    kept_since_ms: int | None = None,
    reset: bool = False,
) -> None:
    """Move the watermarks of a source over a range that was read.

    Parameters
    ----------
    metrics : iterable of str
        Requested metrics, including those that the source does not have. Other metrics with a watermark of this source were
        requested with them and have no series now: their watermark moves too.
    kept_since_ms : int, optional
        What the source has forgotten before; a hole that lies there cannot be filled, and the watermark begins behind it.
    reset : bool
        Forget what was there.
    """
    requested = set(metrics)

    def change(existing: pa.Table) -> pa.Table:
        rows = {
            (row["source"], row["selectors"], row["cluster"], row["metric_name"]): row
            for row in existing.to_pylist()
        }
        own = {
            name: row
            for (*of, name), row in rows.items()
            if tuple(of) == (key.source, key.selectors, key.cluster)
        }
        for name in sorted(requested | own.keys()):
            before = None if reset else own.get(name)
            since_ms, until_ms = _joined(before, start_ms, end_ms, kept_since_ms)
            moved = before is None or (since_ms, until_ms) != (
                before["since_ms"],
                before["complete_until_ms"],
            )
            rows[key.source, key.selectors, key.cluster, name] = {
                **{one: getattr(key, one) for one in _NAMES},
                "metric_name": name,
                "since_ms": since_ms,
                "complete_until_ms": until_ms,
                "read_ms": now_ms if moved else before["read_ms"],
                "run_id": run_id if moved else before["run_id"],
            }
        return pa.Table.from_pylist(list(rows.values()), schema=TABLES["watermarks"].schema)

    lake.update("watermarks", change, partitions_of=pa.table({"source": [key.source]}), run_id=run_id)


def _joined(before: dict | None, start_ms: int, end_ms: int, kept_since_ms: int | None) -> tuple[int, int]:
    """What is complete after [start, end) was read."""
    if before is None:
        return start_ms, end_ms
    since_ms, until_ms = before["since_ms"], before["complete_until_ms"]
    if start_ms <= until_ms and end_ms >= since_ms:
        return min(since_ms, start_ms), max(until_ms, end_ms)
    if start_ms > until_ms and kept_since_ms is not None and until_ms < kept_since_ms:
        # The source no longer has the samples in between.
        return start_ms, end_ms
    return since_ms, until_ms
