"""How work is spread over tasks. In: a classic session, and work that is done on it. Out: the rows that each task of every stage handled.

They are Spark's own counts, from its status store: rows read from a source or a shuffle, or written to a shuffle, whichever is most. What
a task of ours reads by itself is seen by what it hands on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from pyspark.sql import SparkSession

#: A stage that was planned and skipped has no task; so many of them in a row are the end.
_END = 100


@contextlib.contextmanager
def rows_of_tasks(session: SparkSession) -> Iterator[dict[int, list[int]]]:
    """Rows of each task, by stage, of what runs in the context; filled in at its end."""
    found: dict[int, list[int]] = {}
    before = _stages(session, 0)
    first = max(before, default=-1) + 1
    yield found
    found |= _stages(session, first)


def _stages(session: SparkSession, first: int) -> dict[int, list[int]]:
    context = session.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    store, found, stage, empty = context.statusStore(), {}, first, 0
    listed = session.sparkContext._jvm.scala.jdk.javaapi.CollectionConverters.asJava
    while empty < _END:
        rows = [_rows(task) for task in listed(store.taskList(stage, 0, 100_000))]
        empty = 0 if rows else empty + 1
        if rows:
            found[stage] = rows
        stage += 1
    return found


def _rows(task) -> int:
    if task.taskMetrics().isEmpty():
        return 0
    of = task.taskMetrics().get()
    return max(
        of.inputMetrics().recordsRead(),
        of.shuffleReadMetrics().recordsRead(),
        of.shuffleWriteMetrics().recordsWritten(),
    )
