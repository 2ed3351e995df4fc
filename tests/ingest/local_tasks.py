"""Stands in for a Spark session where tests are about a pull and not about Spark: its tasks are threads of this process."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pyarrow as pa
from pyspark import cloudpickle


class LocalTasks:
    """As much of a session as a pull uses."""

    def __init__(self, cores: int = 2) -> None:
        self.interrupted: list[str] = []
        self.sparkContext = SimpleNamespace(
            defaultParallelism=cores, addJobTag=lambda tag: None, cancelJobsWithTag=self.interrupted.append
        )

    def range(self, start: int, end: int, step: int, partitions: int) -> _Frame:
        return _Frame(partitions)


class _Frame:
    def __init__(self, partitions: int, function=None) -> None:
        self._partitions, self._function = partitions, function

    def mapInArrow(self, function, schema: str) -> _Frame:  # noqa: N802
        return _Frame(self._partitions, function)

    def collect(self) -> list[dict]:
        rows: list[dict] = []
        failures: list[BaseException] = []

        def run(partition: int) -> None:
            try:
                batch = pa.record_batch([pa.array([partition])], names=["id"])
                # As Spark does: every task has a copy of its own.
                function = cloudpickle.loads(cloudpickle.dumps(self._function))
                for answer in function(iter([batch])):
                    rows.extend(answer.to_pylist())
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=run, args=(i,)) for i in range(self._partitions)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        return rows
