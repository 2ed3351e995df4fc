"""Queries of a lake. In: a lake, a text, the times. Out: an :class:`Answer`, computed here or on Spark, or the plan of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.lake_source import LakeSource
from throttlescope.transforms.promql.query import DEFAULTS, Answer, Options, instant_query, range_query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Place = Literal["auto", "local", "spark"]


class Engine:
    """Evaluates PromQL over a lake.

    Parameters
    ----------
    lake : Lake
    session : callable, optional
        Makes (or returns) the Spark session; called only when a query runs there. Without it queries run here.
    """

    def __init__(self, lake: Lake, session: Callable[[], SparkSession] | None = None) -> None:
        self.lake, self.session = lake, session

    def instant(
        self, text: str, time_ms: int, options: Options = DEFAULTS, *, place: Place = "auto"
    ) -> Answer:
        """Evaluate at one moment. Raises as :func:`query.instant_query`."""
        return instant_query(text, self._source(), time_ms, options)

    def range(
        self,
        text: str,
        start_ms: int,
        end_ms: int,
        step_ms: int,
        options: Options = DEFAULTS,
        *,
        place: Place = "auto",
    ) -> Answer:
        """Evaluate at every step of a range. Raises as :func:`query.range_query`."""
        return range_query(text, self._source(), start_ms, end_ms, step_ms, options)

    def explain(
        self,
        text: str,
        start_ms: int,
        end_ms: int,
        step_ms: int,
        options: Options = DEFAULTS,
        *,
        place: Place = "auto",
    ) -> str:
        """The plan, what is pruned, the shard labels and the stages, as text; nothing is evaluated."""
        raise NotImplementedError

    def _source(self) -> LakeSource:
        return LakeSource(self.lake.files("samples"), self.lake.read("series"))
