"""Which chunks are in the lake. In: ``ingest_runs``. Out: chunks that a run of the same question finished.

The lake is the only memory: another machine goes on where this one was killed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from throttlescope.app.pipeline.backfill.chunks import Chunk
from throttlescope.ingest.pull.watermarks import OVERLAP_MS

if TYPE_CHECKING:
    from throttlescope.app.pipeline.request import RunRequest
    from throttlescope.ingest.lake import Lake


def question(request: RunRequest) -> str:
    """A text that is equal for equal requests of the same sources with the same settings, whatever the range."""
    settings = request.settings
    parts: list[Any] = [settings.window, settings.every, request.override_cluster]
    for name, cluster in sorted(settings.clusters.items()):
        url = None if cluster.prometheus is None else cluster.prometheus.url
        parts.append([name, url, sorted(cluster.match), sorted(cluster.labels.renames().items())])
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def left_of(lake: Lake, request: RunRequest, chunks: Iterable[Chunk]) -> list[Chunk]:
    """Chunks that no run has finished; one that was read before its last scrapes came is not finished."""
    where = (pc.field("command") == "backfill") & (pc.field("status") == "done")
    rows = lake.read(
        "ingest_runs", columns=["start_ms", "end_ms", "started_ms", "details"], where=where
    ).to_pylist()
    own = question(request)
    done = [row for row in rows if json.loads(row["details"]).get("question") == own]
    return [chunk for chunk in chunks if not any(_holds(row, chunk) for row in done)]


def _holds(row: dict[str, Any], chunk: Chunk) -> bool:
    settled = row["started_ms"] >= chunk.end_ms + OVERLAP_MS
    return settled and row["start_ms"] <= chunk.start_ms and row["end_ms"] >= chunk.end_ms
