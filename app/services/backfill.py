"""A backfill from a request. In: a `RunRequest` and the length of a chunk. Out: what was done, or a plan of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.app.pipeline.backfill.chunks import chunks_of
from throttlescope.app.pipeline.backfill.finished_chunks import left_of
from throttlescope.app.pipeline.backfill.run_chunks import Chunked, run_chunks
from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.ingest.lake import Lake

if TYPE_CHECKING:
    from throttlescope.app.pipeline.backfill.read_estimate import Planned
    from throttlescope.app.pipeline.request import RunRequest


def run_backfill(request: RunRequest, chunk_ms: int, *, progress: Progress = SILENT) -> Chunked:
    """Ingest and diagnose the chunks that are not in the lake yet, oldest first."""
    chunks = chunks_of(request.start_ms, request.end_ms, chunk_ms)
    left = left_of(Lake(request.settings.lake.absolute()), request, chunks)
    return run_chunks(request, left, before=len(chunks) - len(left), progress=progress)


def plan_backfill(request: RunRequest, chunk_ms: int) -> list[Planned]:
    """What each chunk would read; no samples are read, and nothing is written."""
    from throttlescope.app.pipeline.backfill.read_estimate import plan_chunks
    from throttlescope.app.pipeline.sources.open import open_sources

    lake = Lake(request.settings.lake.absolute())
    chunks = chunks_of(request.start_ms, request.end_ms, chunk_ms)
    left = left_of(lake, request, chunks)
    return plan_chunks(lake, open_sources(request), chunks, left)
