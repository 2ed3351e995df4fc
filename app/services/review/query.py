"""Parameters and SQL conditions of a review. In: a range and clusters. Out: conditions in SQL, and rows as dicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

KEY = ", ".join(SUBSCRIPTION_KEY_NAMES)
_AT_ONCE = 10_000


@dataclass(frozen=True)
class ReviewQuery:
    """The range [start_ms, end_ms), and the selected cluster; None: all.

    Attributes
    ----------
    connection : duckdb.DuckDBPyConnection
        Views of all tables, of one version, so that all parts read the same data.
    most : int
        Rows that a list has at most.
    """

    connection: duckdb.DuckDBPyConnection
    start_ms: int
    end_ms: int
    cluster: str | None = None
    most: int = 10

    def values(self) -> dict[str, Any]:
        """Values of ``$start_ms``, ``$end_ms`` and, if one is selected, ``$cluster``."""
        values: dict[str, Any] = {"start_ms": self.start_ms, "end_ms": self.end_ms}
        return values if self.cluster is None else values | {"cluster": self.cluster}

    def windows(self) -> str:
        """Condition on rows of ``verdicts``: windows that end inside the range."""
        return self._and_cluster("window_end_ms > $start_ms AND window_end_ms <= $end_ms")

    def minutes(self) -> str:
        """Condition on rows of ``signals``."""
        return self._and_cluster("minute_ms >= $start_ms AND minute_ms < $end_ms")

    def spans(self) -> str:
        """Condition on rows of ``episodes``: those that were there during a part of the range."""
        return self._and_cluster("start_ms < $end_ms AND (end_ms IS NULL OR end_ms > $start_ms)")

    def rows(self, query: str, **more: Any) -> list[dict[str, Any]]:
        """All rows of an answer."""
        return list(self.stream(query, **more))

    def stream(self, query: str, **more: Any) -> Iterator[dict[str, Any]]:
        """Rows of an answer, some at a time."""
        cursor = self.connection.cursor()
        found = cursor.execute(query, self.values() | more)
        names = [column[0] for column in found.description]
        while part := found.fetchmany(_AT_ONCE):
            for row in part:
                yield dict(zip(names, row, strict=True))

    def _and_cluster(self, condition: str) -> str:
        return condition if self.cluster is None else f"{condition} AND cluster = $cluster"
