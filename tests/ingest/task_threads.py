"""Threads in place of Spark's tasks, where tests are about a pull and not about Spark."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from pyspark import cloudpickle


class TaskThreads(ThreadPoolExecutor):
    """Threads, each of whose calls gets a copy of its function and arguments, as a task of Spark does."""

    def __init__(self, parallelism: int = 2) -> None:
        super().__init__(parallelism)
        self.parallelism = parallelism

    def submit(self, fn: Callable, /, *args, **kwargs) -> Future:
        return super().submit(_call, cloudpickle.dumps((fn, args, kwargs)))


def _call(pickled: bytes):
    fn, args, kwargs = pickle.loads(pickled)  # noqa: S301 - pickled above
    return fn(*args, **kwargs)
