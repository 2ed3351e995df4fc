"""One PromQL query of a lake from a request. In: a lake and a `QueryRequest`. Out: its answer, or how it would run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from throttlescope.app.services.promql.answer_table import default_step_ms
from throttlescope.app.services.promql.lake_queries import LakeQueries
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import format_time
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.query import DEFAULTS, Options, QueryAnswer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class QueryRequest:
    """A query at one moment, or over a range where ``start_ms`` is given.

    Attributes
    ----------
    at_ms, end_ms : int, optional
        By default the time of the lake's newest sample.
    step_ms : int, optional
        By default a 250th of the range.
    explain : bool
        Run nothing; say how it would run.
    engine : str
        ``auto``, ``local`` or ``spark``.
    """

    expr: str
    at_ms: int | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    step_ms: int | None = None
    options: Options = DEFAULTS
    explain: bool = False
    engine: str = "auto"

    @property
    def ends_at_newest(self) -> bool:
        """Whether the lake's newest sample decides the moment, or the end of the range."""
        return (self.at_ms if self.start_ms is None else self.end_ms) is None

    def times_ms(self, newest_ms: int) -> tuple[int, ...]:
        """The moment, or start, end and step of the range.

        Raises
        ------
        InputError
            Options of a moment and of a range are mixed, or the range runs backwards.
        """
        if self.start_ms is None:
            if self.end_ms is not None or self.step_ms is not None:
                raise InputError(
                    "--end and --step belong to a range",
                    fix="add --start, or evaluate at one moment with --at",
                )
            return (newest_ms if self.at_ms is None else self.at_ms,)
        if self.at_ms is not None:
            raise InputError("--at and --start exclude each other", fix="leave one of them out")
        end_ms = newest_ms if self.end_ms is None else self.end_ms
        if self.start_ms > end_ms:
            raise InputError(
                "The start is behind the end",
                got=f"start {format_time(self.start_ms)}, end {format_time(end_ms)}",
                fix="name an earlier --start, or the --end"
                if self.end_ms is None
                else "swap --start and --end",
            )
        return self.start_ms, end_ms, self.step_ms or default_step_ms(self.start_ms, end_ms)


@dataclass(frozen=True)
class QueryOutcome:
    """The answer to a request; ``plan`` where it was only explained."""

    request: QueryRequest
    newest_ms: int
    answer: QueryAnswer | None = None
    plan: str | None = None


def run_query(
    lake: Lake, request: QueryRequest, session: Callable[[contextlib.ExitStack], SparkSession]
) -> QueryOutcome:
    """Evaluate or explain a query.

    Parameters
    ----------
    session : callable
        Starts Spark where the query runs there; what it enters into the stack ends with the query.

    Raises
    ------
    InputError
        There are no samples, or as :meth:`QueryRequest.times_ms`.
    """
    with contextlib.ExitStack() as shown:
        queries = LakeQueries(lake, lambda: session(shown))
        newest_ms = queries.catalogue().newest_ms
        if newest_ms is None:
            raise InputError(
                "There are no samples in this lake",
                got=queries.lake.root,
                fix="read some with throttlescope ingest --lake DIR, or try throttlescope demo",
            )
        times = request.times_ms(newest_ms)
        if request.explain:
            bounds = times if len(times) == 3 else (*times, *times, 1)
            plan = queries.explain(request.expr, *bounds, request.options, request.engine)
            return QueryOutcome(request, newest_ms, plan=plan)
        evaluate = queries.range if len(times) == 3 else queries.instant
        answer = evaluate(request.expr, *times, request.options, request.engine)
    return QueryOutcome(request, newest_ms, answer=answer)
