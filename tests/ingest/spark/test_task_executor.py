"""Executors do what ``concurrent.futures`` promises, in this process and on Spark, and one function chooses between them."""

from __future__ import annotations

import os
import sys
import threading
import time
from concurrent.futures import Executor
from functools import partial

import pytest

from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.spark.executors import parallelism
from throttlescope.ingest.spark.task_executor import (
    InProcessExecutor,
    SparkPoolExecutor,
    TaskExecutor,
    executor_for,
    fits_in_process,
)


def divided(dividend: int, divisor: int) -> float:
    if divisor == 0:
        raise InputError("Nothing can be divided by zero", got=dividend, fix="choose another divisor")
    return dividend / divisor


@pytest.fixture
def in_process() -> InProcessExecutor:
    return InProcessExecutor()


@pytest.fixture
def on_spark(spark) -> SparkPoolExecutor:
    """An executor whose workers get the functions of this file as code: they find the folder of the tests only if the JVM was started in it."""
    from pyspark import cloudpickle

    this_file = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(this_file)
    yield SparkPoolExecutor(spark)
    cloudpickle.unregister_pickle_by_value(this_file)


@pytest.fixture
def executor(request) -> TaskExecutor:
    return request.getfixturevalue(request.param)


def both(test):
    """Run a test with each executor; only the second one is marked ``spark``."""
    return pytest.mark.parametrize(
        "executor", ["in_process", pytest.param("on_spark", marks=pytest.mark.spark)], indirect=True
    )(test)


@both
def test_map_returns_results_in_order(executor):
    assert isinstance(executor, Executor)
    assert list(executor.map(divided, [6, 8, 9], [2, 4, 3])) == [3.0, 2.0, 3.0]
    assert list(executor.map(divided, [], [])) == []


@both
def test_map_takes_more_calls_than_tasks(executor):
    numbers = range(50)
    assert list(executor.map(lambda number: number * number, numbers)) == [n * n for n in numbers]


@both
def test_submit_returns_a_future(executor):
    future = executor.submit(divided, 1, divisor=4)
    assert future.result(timeout=120) == 0.25
    assert future.done()


@both
def test_an_explained_error_is_raised_as_itself(executor):
    with pytest.raises(InputError, match=r"Nothing can be divided.*got 7.*choose another") as caught:
        list(executor.map(divided, [1, 7], [1, 0]))
    assert type(caught.value) is InputError
    assert isinstance(executor.submit(divided, 7, 0).exception(timeout=120), InputError)


@both
def test_nothing_is_taken_after_shutdown(executor):
    with executor:
        assert list(executor.map(divided, [2], [1])) == [2.0]
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(divided, 2, 1)
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.map(divided, [2], [1])


def test_in_process_calls_are_made_at_once_in_the_calling_thread(in_process):
    seen = []
    future = in_process.submit(lambda: seen.append(threading.get_ident()))
    assert future.done()
    in_process.map(lambda _: seen.append(threading.get_ident()), range(2))
    assert seen == [threading.get_ident()] * 3
    assert in_process.parallelism == 1


def test_in_process_an_error_ends_a_map_at_once(in_process):
    seen = []

    def fails(number: int) -> None:
        seen.append(number)
        raise ValueError(number)

    with pytest.raises(ValueError, match="1"):
        list(in_process.map(fails, [1, 2]))
    assert seen == [1]


def test_in_process_ctrl_c_is_not_kept_in_a_future(in_process):
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_process.submit(interrupted)


def test_on_spark_calls_are_made_in_other_processes(on_spark):
    assert os.getpid() not in set(on_spark.map(lambda _: os.getpid(), range(4)))


def test_on_spark_calls_run_side_by_side(on_spark, tmp_path):
    """As many as there are cores: each of two waits for the file of the other."""

    def meets(folder: str, number: int) -> bool:
        open(f"{folder}/{number}", "w").close()
        deadline = time.monotonic() + 60
        while not os.path.exists(f"{folder}/{1 - number}"):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    assert list(on_spark.map(partial(meets, str(tmp_path)), range(2))) == [True, True]


def test_on_spark_a_job_has_at_most_four_tasks_per_core(spark, on_spark):
    from pyspark import TaskContext

    partitions = set(on_spark.map(lambda _: TaskContext.get().partitionId(), range(30)))
    assert partitions == set(range(4 * parallelism(spark)))
    assert on_spark.parallelism == parallelism(spark)


def test_on_spark_another_error_is_sparks(on_spark):
    from pyspark.errors import PySparkException

    def fails(number: int) -> None:
        raise ValueError("an accident")

    with pytest.raises(PySparkException, match="an accident"):
        list(on_spark.map(fails, [1]))


def test_on_spark_shutdown_cancels_what_runs(on_spark, tmp_path):
    def waits(folder: str, number: int) -> None:
        open(f"{folder}/{number}", "w").close()
        time.sleep(300)

    future = on_spark.submit(waits, str(tmp_path), 1)
    deadline = time.monotonic() + 120
    while not (tmp_path / "1").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    began = time.monotonic()
    on_spark.shutdown(cancel_futures=True)
    assert future.exception(timeout=60) is not None
    assert time.monotonic() - began < 60


def test_on_spark_results_may_be_waited_for_with_a_timeout(on_spark):
    results = on_spark.map(lambda _: time.sleep(300), range(1), timeout=0.5)
    with pytest.raises(TimeoutError):
        next(results)
    on_spark.shutdown(wait=False, cancel_futures=True)


def test_what_is_small_is_done_in_this_process():
    session = object()
    assert fits_in_process(session, 10, most=10)
    assert not fits_in_process(session, 11, most=10)
    assert fits_in_process(None, 11, most=10)
    assert isinstance(executor_for(session, 10, most=10), InProcessExecutor)
    assert isinstance(executor_for(None, 11, most=10), InProcessExecutor)
    large = executor_for(session, 11, most=10)
    assert isinstance(large, SparkPoolExecutor)
    assert large.session is session


def test_an_error_is_pickled_with_its_kind():
    executor = InProcessExecutor()

    def unreachable() -> None:
        raise SourceError("A source cannot be reached", got="nothing")

    error = executor.submit(unreachable).exception()
    assert (type(error), error.exit_code) == (SourceError, 4)
