"""Where independent calls run: in this process or as tasks of Spark. In: a function and its arguments. Out: its results, in order.

Both have the interface of :class:`concurrent.futures.Executor`. One function chooses between them by size: :func:`fits_in_process`.
Not to be confused with Spark's own executors, the processes of a cluster (:mod:`throttlescope.ingest.spark.executors`).
"""

from __future__ import annotations

import pickle
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.spark.executors import parallelism
from throttlescope.ingest.spark.tags import cancel_jobs, tag_jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Tasks of one job for each core: calls take different times, and small tasks even that out.
TASKS_PER_CORE = 4

_RESULT = pa.schema(
    [pa.field("number", pa.int32(), nullable=False), pa.field("result", pa.binary(), nullable=False)]
)


def fits_in_process(session: SparkSession | None, rows: int, most: int) -> bool:
    """Whether work on so many rows is done in this process: a Spark job takes seconds before it has read a row.

    Parameters
    ----------
    session : SparkSession or None
        None: there is no Spark, so everything is done here.
    most : int
        Rows that this process reads at most, where there is a session.
    """
    return session is None or rows <= most


def executor_for(session: SparkSession | None, rows: int, most: int) -> TaskExecutor:
    """The executor for work on so many rows, by :func:`fits_in_process`."""
    return InProcessExecutor() if fits_in_process(session, rows, most) else SparkPoolExecutor(session)


class TaskExecutor(Executor):
    """An executor that says how many calls it runs at once.

    Attributes
    ----------
    parallelism : int
    """

    parallelism: int = 1

    def __init__(self) -> None:
        self._is_shut = False

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._is_shut = True

    def _check_open(self) -> None:
        if self._is_shut:
            raise RuntimeError("cannot schedule new futures after shutdown")


class InProcessExecutor(TaskExecutor):
    """Calls in the calling thread, one after the other; each has returned when :meth:`submit` or :meth:`map` returns."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        self._check_open()
        future: Future = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
    ) -> Iterator[Any]:
        """Results in order; the first error is raised at once, and no further call is made."""
        self._check_open()
        return iter([fn(*args) for args in zip(*iterables, strict=False)])


class SparkPoolExecutor(TaskExecutor):
    """Calls in tasks of Spark, as a ``ProcessPoolExecutor`` makes them in processes.

    The function goes to every task, arguments only to the task that needs them. A :class:`ThrottlescopeError` of a call is raised here
    as itself; after any other exception Spark tries the task again, as it is configured, and then the job has failed.

    Parameters
    ----------
    session : SparkSession
        It is left running when the executor is shut down.
    """

    def __init__(self, session: SparkSession) -> None:
        super().__init__()
        self.session = session
        self._tag = f"calls-{uuid.uuid4().hex[:12]}"
        self._jobs: list[threading.Thread] = []

    @property
    def parallelism(self) -> int:
        return parallelism(self.session)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """One call: a job of one task. Many calls of one function are cheaper with :meth:`map`."""
        (future,) = self._start(lambda: fn(*args, **kwargs), [()])
        return future

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
    ) -> Iterator[Any]:
        """Results in order, of one job; ``chunksize`` is not needed: the number of tasks follows from the cores."""
        futures = self._start(fn, list(zip(*iterables, strict=False)))
        end_s = None if timeout is None else time.monotonic() + timeout
        return (future.result(None if end_s is None else end_s - time.monotonic()) for future in futures)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no further calls; with ``cancel_futures`` jobs that run are cancelled, and their futures end with an error."""
        super().shutdown(wait, cancel_futures=cancel_futures)
        if cancel_futures:
            cancel_jobs(self.session, self._tag)
        if wait:
            for job in self._jobs:
                job.join()

    def _start(self, fn: Callable[..., Any], calls: list[tuple]) -> list[Future]:
        self._check_open()
        futures: list[Future] = [Future() for _ in calls]
        for future in futures:
            future.set_running_or_notify_cancel()
        if calls:
            # A daemon: a program that ends does not wait for its jobs.
            job = threading.Thread(target=self._run_job, args=(fn, calls, futures), daemon=True)
            self._jobs = [*(one for one in self._jobs if one.is_alive()), job]
            job.start()
        return futures

    def _run_job(self, fn: Callable[..., Any], calls: list[tuple], futures: list[Future]) -> None:
        """Fulfil the futures of some calls; runs in a thread of its own, whose jobs carry the executor's tag."""
        from pyspark.sql.pandas.types import from_arrow_schema

        try:
            tag_jobs(self.session, self._tag)
            # Few calls need no count of cores, which is a job of its own behind Spark Connect.
            few = len(calls) <= TASKS_PER_CORE
            tasks = len(calls) if few else min(len(calls), TASKS_PER_CORE * self.parallelism)
            rows = pa.table(
                {
                    "task": pa.array([number % tasks for number in range(len(calls))], pa.int32()),
                    "number": pa.array(range(len(calls)), pa.int32()),
                    "call": pa.array([pickle.dumps(call, 5) for call in calls], pa.binary()),
                }
            )
            frame = self.session.createDataFrame(rows).repartitionById(tasks, "task")
            # Not toArrow(): where the program ends, a thread that waits inside Arrow takes it down with a fatal error.
            for row in frame.mapInArrow(_task(fn), from_arrow_schema(_RESULT)).collect():
                value, error = pickle.loads(row.result)  # noqa: S301 - written by our own task
                if error is None:
                    futures[row.number].set_result(value)
                else:
                    futures[row.number].set_exception(error)
        except BaseException as error:
            for future in futures:
                if not future.done():
                    future.set_exception(error)


def _task(fn: Callable[..., Any]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number, call in zip(
                batch.column("number").to_pylist(), batch.column("call").to_pylist(), strict=True
            ):
                try:
                    result = fn(*pickle.loads(call)), None  # noqa: S301 - from the driver of this very job
                except ThrottlescopeError as error:
                    result = None, error
                yield pa.RecordBatch.from_pydict(
                    {"number": [number], "result": [pickle.dumps(result, 5)]}, _RESULT
                )

    return run
