"""A query's work on Spark. In: its pieces, a session. Out: its value.

Spark distributes lists of files, not samples: a task reads the files of its pieces with pyarrow, one piece after the other,
and hands back what the piece gives. What meets across shards is small and meets on the driver, span by span.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.lake.rows import read_files
from throttlescope.ingest.spark.executors import parallelism
from throttlescope.ingest.spark.tags import cancel_jobs, tag_jobs, untag_jobs
from throttlescope.transforms.promql.annotations import Annotations
from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.evaluate import Value
from throttlescope.transforms.promql.lake_source import LakeSampleSource
from throttlescope.transforms.promql.series_index import SeriesIndex, with_limits
from throttlescope.transforms.promql.shards.gather import Gathering, result_of_piece
from throttlescope.transforms.promql.shards.parts import PieceResult
from throttlescope.transforms.promql.shards.work import PIECE_SAMPLES, Piece, Work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RESULT = pa.schema(
    [
        pa.field("piece", pa.int32(), nullable=False),
        pa.field("samples", pa.int64(), nullable=False),
        pa.field("result", pa.binary(), nullable=False),
    ]
)


def run_on_spark(work: Work, session: SparkSession, annotations: Annotations, budget: Budget) -> Value:
    """Do a query's work in Spark's tasks.

    Raises
    ------
    QueryError
        Of the first piece, in the order of time and shards, that failed; or the time is up and the job was cancelled.
    """
    results = _results(work, session, budget) if work.pieces else {}
    gathering = Gathering(work, annotations, budget)
    for number in range(len(work.spans)):
        gathering.add(
            [_opened(results.pop(at)) for at, piece in enumerate(work.pieces) if piece.span == number]
        )
    return gathering.value


def _results(work: Work, session: SparkSession, budget: Budget) -> dict[int, bytes]:
    """What each piece gave, pickled."""
    from pyspark.sql.pandas.types import from_arrow_schema

    left_s, text = budget.left_s, work.text

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for at, pickled in zip(
                *(batch.column(name).to_pylist() for name in ("piece", "work")), strict=True
            ):
                piece = pickle.loads(pickled)  # noqa: S301 - our own piece, from the driver
                samples, result = _run_piece(piece, text, left_s)
                row = {"piece": [at], "samples": [samples], "result": [pickle.dumps(result, 5)]}
                yield pa.RecordBatch.from_pydict(row, _RESULT)

    tasks = min(len(work.pieces), max(2 * parallelism(session), -(-work.samples // PIECE_SAMPLES)))
    rows = pa.table(
        {
            "task": pa.array([at % tasks for at in range(len(work.pieces))], pa.int32()),
            "piece": pa.array(range(len(work.pieces)), pa.int32()),
            "work": pa.array([pickle.dumps(piece, 5) for piece in work.pieces], pa.binary()),
        }
    )
    frame = session.createDataFrame(rows).repartitionById(tasks, "task")
    with _cancelled_after(session, left_s):
        try:
            answers = frame.mapInArrow(run, from_arrow_schema(_RESULT)).toArrow()
        except Exception:
            # Cancelled: say why, not how.
            budget.check_time()
            raise
    for samples in answers.column("samples").to_pylist():
        budget.load(samples)
    return dict(zip(answers.column("piece").to_pylist(), answers.column("result").to_pylist(), strict=True))


def _run_piece(piece: Piece, text: str, left_s: float) -> tuple[int, PieceResult | ThrottlescopeError]:
    """One piece, in a task: samples read, and its result, or the error that it met."""
    budget = Budget(timeout_s=left_s)
    rows = read_files("series", list(piece.series_files), columns=["series_id", "metric_name", "labels"])
    index = SeriesIndex(with_limits(rows, piece.limits))
    try:
        source = LakeSampleSource(piece.files, index, limits=piece.limits)
        result = result_of_piece(piece, text, source, budget)
    except ThrottlescopeError as error:
        return budget.loaded, error
    return budget.loaded, result


def _opened(result: bytes) -> PieceResult:
    found = pickle.loads(result)  # noqa: S301 - what our own task made
    if isinstance(found, ThrottlescopeError):
        raise found
    return found


class _cancelled_after:  # noqa: N801 - reads as what it does
    """Cancels the session's jobs of this thread when the time is up."""

    def __init__(self, session: SparkSession, seconds: float) -> None:
        self._session, self._seconds = session, seconds
        self._timer: threading.Timer | None = None

    def __enter__(self) -> None:
        if self._seconds == float("inf"):
            return
        tag = f"throttlescope-promql-{threading.get_ident()}"
        tag_jobs(self._session, tag)
        self._tag = tag
        self._timer = threading.Timer(max(self._seconds, 0), cancel_jobs, (self._session, tag))
        self._timer.daemon = True
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
            untag_jobs(self._session, self._tag)
