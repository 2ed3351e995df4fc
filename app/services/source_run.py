"""One run from a request. In: a `RunRequest`. Out: its result, and the hours diagnosed in addition to its range."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from throttlescope.app.log import tell
from throttlescope.app.pipeline.backfill.missed_hours import CaughtUp, diagnose_missed
from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.app.pipeline.run import run_pipeline
from throttlescope.ingest.core.times import format_time

if TYPE_CHECKING:
    from throttlescope.app.pipeline.backfill.chunks import Chunk
    from throttlescope.app.pipeline.backfill.run_chunks import Chunked
    from throttlescope.app.pipeline.request import RunRequest
    from throttlescope.app.pipeline.results import RunResult


@dataclass(frozen=True)
class SourceRun:
    """What a run did.

    Attributes
    ----------
    result : RunResult or Chunked
        Of the range; in chunks where it was a long one.
    missed : CaughtUp, optional
        Other hours that were diagnosed; None where none were looked for.
    """

    result: RunResult | Chunked
    missed: CaughtUp | None = None

    @property
    def clusters(self) -> tuple[str, ...]:
        """Clusters whose verdicts were computed."""
        return tuple(self.result.clusters)

    def as_dict(self) -> dict[str, Any]:
        """As it is printed in JSON."""
        return self.result.as_dict() | ({} if self.missed is None else {"missed": self.missed.as_dict()})


def run_source(request: RunRequest, *, progress: Progress = SILENT) -> SourceRun:
    """Read the range of a request, or what is new since the watermark, and compute what follows from it."""
    if not request.since_watermark:
        return SourceRun(run_pipeline(request, progress=progress))
    from throttlescope.app.pipeline.backfill.catch_up import chunks_since_watermark

    request, chunks = chunks_since_watermark(request)
    if not progress.quiet:
        tell(
            f"Since the watermark: {format_time(request.start_ms)} to {format_time(request.end_ms)}",
            event="since_watermark",
            start_ms=request.start_ms,
            end_ms=request.end_ms,
        )
    found = _run(request, chunks, progress)
    if request.command != "run" or not found.clusters:
        return SourceRun(found)
    return SourceRun(found, diagnose_missed(replace(request, clusters=found.clusters), progress=progress))


def run_diagnosis(request: RunRequest, *, missed: bool, progress: Progress = SILENT) -> SourceRun:
    """Diagnose the range of a request, and with ``missed`` other hours that no run has diagnosed."""
    result = run_pipeline(request, progress=progress)
    return SourceRun(result, diagnose_missed(request, progress=progress) if missed else None)


def _run(request: RunRequest, chunks: list[Chunk], progress: Progress) -> RunResult | Chunked:
    if len(chunks) <= 1:
        return run_pipeline(request, progress=progress)
    from throttlescope.app.pipeline.backfill.run_chunks import run_chunks

    return run_chunks(request, chunks, progress=progress)
