"""From a watermark to now. In: a request that begins where its sources were read to. Out: the same with a range, and its chunks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from throttlescope.app.pipeline.backfill.chunks import CHUNK_MS, Chunk, chunks_of
from throttlescope.app.pipeline.sources.open import open_sources

if TYPE_CHECKING:
    from throttlescope.app.pipeline.request import RunRequest


def chunks_since_watermark(request: RunRequest) -> tuple[RunRequest, list[Chunk]]:
    """Look up how far the sources were read, and cut the rest of the range into chunks.

    Several sources begin together, where the one that is furthest behind was read to: the others read hours again that they have,
    which changes nothing.

    Raises
    ------
    InputError
        A source was never read and no start is given for that; a watermark lies in the future, or behind the end.
    SourceError
        A source cannot be reached or refuses.
    """
    start_ms = min(source.start_ms for source in open_sources(request))
    resumed = replace(request, start_ms=start_ms, since_watermark=False)
    chunks = chunks_of(start_ms, request.end_ms)
    if chunks[-1].end_ms - chunks[0].start_ms <= CHUNK_MS:
        # What goes into one chunk is one read, wherever the grid of chunks would cut it: every hour begins with the end of the one before.
        chunks = [Chunk(chunks[0].start_ms, chunks[-1].end_ms)]
    return resumed, chunks
