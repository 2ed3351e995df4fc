"""Rows that come to the driver. In: a piece of work. Out: how many rows Spark handed over, by the module that asked for them."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator

from pyspark.sql.classic.dataframe import DataFrame

#: Ways from Spark to the driver. ``count`` and the like hand over one row, by way of these.
WAYS = ("collect", "toArrow", "toPandas", "toLocalIterator", "tail")


@contextlib.contextmanager
def rows_to_driver() -> Iterator[Counter[str]]:
    """Count, for the length of the context, the rows of every answer by the module of ours that asked."""
    found: Counter[str] = Counter()
    before = {name: getattr(DataFrame, name) for name in WAYS}

    def counting(name: str):
        def way(self, *arguments, **named):
            answer = before[name](self, *arguments, **named)
            asker = _asker()
            if name == "toLocalIterator":
                return _counted(answer, found, asker)
            found[asker] += answer.num_rows if name == "toArrow" else len(answer)
            return answer

        return way

    for name in WAYS:
        setattr(DataFrame, name, counting(name))
    try:
        yield found
    finally:
        for name, way in before.items():
            setattr(DataFrame, name, way)


def _counted(rows, found: Counter[str], asker: str):
    for row in rows:
        found[asker] += 1
        yield row


def _asker() -> str:
    """The innermost module that is neither this one nor Spark's: ours, or a library's that works for us."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != __name__ and not name.startswith("pyspark"):
            return name
        frame = frame.f_back
    return "?"
