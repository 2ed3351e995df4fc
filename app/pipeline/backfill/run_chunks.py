"""Chunks, one after the other. In: a request and its chunks. Out: what each brought, and progress with the time that is left.

Spark is started once, if all chunks together are too much for this process. The oldest chunk comes first: what a later hour looks back to is there when it is computed, so that
every hour is computed once, and what the source will forget next is read first. Episodes and anomalies, which look at days and
weeks, are made once, when all chunks are there.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from throttlescope.app.pipeline.backfill.chunks import Chunk
from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.app.pipeline.request import RunRequest
from throttlescope.app.pipeline.results import RunResult
from throttlescope.app.pipeline.run import run_pipeline
from throttlescope.app.pipeline.sources.open import open_sources
from throttlescope.app.pipeline.sources.source import minutes_of
from throttlescope.app.pipeline.spark_session import SparkIfNeeded
from throttlescope.ingest.lake import Lake
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, duration_text, minute_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass
class Chunked:
    """What a run in chunks did.

    Attributes
    ----------
    chunks, chunks_before : int
        How many there were to do, and how many had been done before.
    clusters : tuple of str
        What was found at the sources.
    idle : int
        Chunks of which the source had nothing.
    took_s : float
    chunk_s : list of float
        Seconds of each chunk, in order.
    """

    command: str
    lake: str
    start_ms: int
    end_ms: int
    chunks: int
    chunks_before: int = 0
    clusters: tuple[str, ...] = ()
    idle: int = 0
    samples: int = 0
    samples_written: int = 0
    source_requests: int = 0
    source_bytes: int = 0
    warnings: int = 0
    verdicts: dict[str, int] = field(default_factory=dict)
    hours_computed: dict[str, int] = field(default_factory=dict)
    took_s: float = 0.0
    chunk_s: list[float] = field(default_factory=list)

    def take(self, result: RunResult, took_s: float) -> None:
        """Add a chunk."""
        self.clusters = tuple(sorted({*self.clusters, *result.clusters}))
        self.idle += result.idle
        for done in result.sources:
            for name in ("samples", "samples_written", "source_requests", "source_bytes"):
                setattr(self, name, getattr(self, name) + getattr(done, name))
        self.warnings += result.warnings
        for name, found in (("verdicts", result.verdicts), ("hours_computed", result.hours_computed)):
            mine = getattr(self, name)
            for key, number in (found or {}).items():
                mine[key] = mine.get(key, 0) + number
        self.chunk_s.append(round(took_s, 2))

    def as_dict(self) -> dict[str, Any]:
        """As it is printed in JSON."""
        return dict(vars(self))


def run_chunks(
    request: RunRequest,
    chunks: Sequence[Chunk],
    *,
    before: int = 0,
    progress: Progress = SILENT,
    session: SparkSession | None = None,
    after: Callable[[], object] = lambda: None,
) -> Chunked:
    """Do chunks in the order of time.

    Parameters
    ----------
    request : RunRequest
        Its range is that of all chunks.
    before : int
        Chunks that were done before; they are counted, not done.
    after : callable
        Called after each chunk.

    Raises
    ------
    ThrottlescopeError
        A chunk failed: those before it are in the lake, and the same command goes on with it.
    """
    began_s = time.monotonic()
    found = Chunked(
        request.command, Lake(request.settings.lake.absolute()).root, request.start_ms, request.end_ms,
        len(chunks), before,
    )  # fmt: skip
    follows = request.command != "ingest"
    progress.expect(len(chunks) + 1 + follows)
    with progress.step(sentence("pipeline.step.chunks")):
        minutes = _minutes(request, chunks) if session is None else 0
        if before:
            progress.note(before_words(before))
    spark = SparkIfNeeded(request.settings, debug=request.debug, session=session)
    if spark.starts_for(minutes):
        progress.expect_more(1)
        with progress.step("Starting Spark"):
            session = spark.session_for(minutes)
    for number, chunk in enumerate(chunks):
        with progress.step(f"{minute_text(chunk.start_ms)} to {minute_text(chunk.end_ms)}"):
            one_s = time.monotonic()
            part = replace(request, start_ms=chunk.start_ms, end_ms=chunk.end_ms, part_of_many=True)
            result = run_pipeline(part, session=session)
            found.take(result, time.monotonic() - one_s)
            after()
            progress.note(chunk_words(result, found.chunk_s, len(chunks) - number - 1))
    if follows and (found.clusters or before):
        with progress.step(sentence("pipeline.step.whole_range")):
            # The run that did the chunks before may have been stopped before this step: then it is due for them too. What is there stays.
            whole = request.diagnosis(clusters=() if before else found.clusters)
            found.warnings += run_pipeline(whole, session=session).warnings
    found.took_s = round(time.monotonic() - began_s, 2)
    return found


def _minutes(request: RunRequest, chunks: Sequence[Chunk]) -> int | None:
    """About how many minutes of subscription partitions all chunks have; None where a source does not say."""
    if not chunks:
        return 0
    whole = replace(request, start_ms=chunks[0].start_ms, end_ms=chunks[-1].end_ms)
    return minutes_of(open_sources(whole))


def before_words(chunks: int) -> str:
    """Chunks that were done before, in words."""
    return f"{count(chunks)} {'chunk was' if chunks == 1 else 'chunks were'} done before"


def chunk_words(result: RunResult, chunk_s: Sequence[float], left: int) -> str:
    """What a chunk brought, and how long the others will take by the median so far, in words.

    Parameters
    ----------
    chunk_s : sequence of float
        Seconds of the chunks so far, this one's included.
    left : int
        How many are still to be done.
    """
    text = "no samples" if result.idle else f"{count(sum(done.samples for done in result.sources))} samples"
    if result.verdicts is not None:
        text += f", {count(sum(result.verdicts.values()))} verdicts"
    if left:
        # The lower of two in the middle: the first chunk also starts Spark's workers and compiles, and takes several times as long.
        text += f", about {duration_text(round(statistics.median_low(chunk_s) * left * 1000))} left"
    return text
