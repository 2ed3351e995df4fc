"""What every source of a run is, and what it brings. In: nothing. Out: records that sources fill and stages read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.models.messages.units import count

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.pull.pull import PullProgress
    from throttlescope.ingest.spark.task_executor import TaskExecutor

Note = Callable[[str], None]


@dataclass(frozen=True)
class ClusterSpan:
    """Clusters and a range [start_ms, end_ms) that is to be computed for them."""

    clusters: tuple[str, ...]
    start_ms: int
    end_ms: int


@dataclass
class Ingested:
    """What one source brought, and what it had to serve for it.

    Attributes
    ----------
    spans : tuple of ClusterSpan
        What is now in the lake of the requested range.
    repaired : tuple of ClusterSpan
        Hours outside it of which samples came that had been missing.
    findings : list of dict
        Rows of ``quality`` of ingest validation, without the run's own columns.
    """

    source: str
    clusters: tuple[str, ...]
    spans: tuple[ClusterSpan, ...]
    repaired: tuple[ClusterSpan, ...] = ()
    source_requests: int = 0
    admin_requests: int = 0
    source_bytes: int = 0
    series: int = 0
    samples: int = 0
    samples_written: int = 0
    rows_quarantined: int = 0
    details: dict[str, Any] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)

    @property
    def start_ms(self) -> int | None:
        return min((span.start_ms for span in self.spans), default=None)

    @property
    def end_ms(self) -> int | None:
        return max((span.end_ms for span in self.spans), default=None)


class Source(Protocol):
    """A source that answered when it was opened."""

    name: str
    start_ms: int
    end_ms: int

    def minutes(self) -> int | None:
        """About how many minutes of subscription partitions will be read; None where the source does not say."""
        ...

    def ingest(self, executor: TaskExecutor, lake: Lake, run_id: str, note: Note) -> Ingested: ...


def minutes_of(sources: Iterable[Source]) -> int | None:
    """About how many minutes of subscription partitions will be read from all sources; None where one does not say."""
    found = [source.minutes() for source in sources]
    return None if None in found else sum(found)


def groups_of(ingested: Sequence[Ingested]) -> list[tuple[tuple[str, ...], int, int]]:
    """What is to be computed: clusters whose hours overlap or touch together; recordings of other days apart."""
    groups: list[tuple[set[str], int, int]] = []
    spans = (span for done in ingested for span in (*done.spans, *done.repaired))
    for span in sorted(spans, key=lambda span: span.start_ms):
        if groups and span.start_ms <= groups[-1][2] + BLOCK_MS:
            clusters, start_ms, end_ms = groups[-1]
            groups[-1] = (clusters | set(span.clusters), start_ms, max(end_ms, span.end_ms))
        else:
            groups.append((set(span.clusters), span.start_ms, span.end_ms))
    return [(tuple(sorted(clusters)), start_ms, end_ms) for clusters, start_ms, end_ms in groups]


def pulled_note(progress: PullProgress) -> str:
    """How far a pull is, in words."""
    return (
        f"{progress.items_done} of {progress.items} parts, {count(progress.samples)} samples, "
        f"{progress.bytes / 1e6:,.1f} MB, {count(progress.requests)} requests"
    )
