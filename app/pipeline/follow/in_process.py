"""Tasks of a pull in this process. In: what a pull asks of a Spark session. Out: the same, done here, one item after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pyarrow as pa


class HereAndNow:
    """As much of a Spark session as :func:`~throttlescope.ingest.pull.pull.run_items` asks for."""

    sparkContext = SimpleNamespace(  # noqa: N815 - Spark's own word
        defaultParallelism=1, addJobTag=lambda tag: None, cancelJobsWithTag=lambda tag: None
    )

    def range(self, start: int, end: int, step: int, partitions: int) -> _Tasks:
        return _Tasks(None)


class _Tasks:
    def __init__(self, run: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]] | None) -> None:
        self._run = run

    def mapInArrow(self, run: Callable, schema: str) -> _Tasks:  # noqa: N802
        return _Tasks(run)

    def collect(self) -> list[dict[str, Any]]:
        batch = pa.record_batch([pa.array([0])], names=["id"])
        return [row for answer in self._run(iter([batch])) for row in answer.to_pylist()]
