"""``throttlescope promql``: evaluate PromQL over a lake."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from throttlescope.app.cli.options import (
    AsOf,
    Config,
    Debug,
    LakeFolder,
    Lookback,
    Master,
    Quiet,
    RowFormat,
    RowFormatOption,
)
from throttlescope.app.cli.settings import CommandOptions
from throttlescope.ingest.core.times import SECOND_MS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from throttlescope.app.services.promql.query_request import QueryRequest


class EvaluationPlace(StrEnum):
    auto = "auto"
    local = "local"
    spark = "spark"


Expr = Annotated[
    str,
    typer.Argument(metavar="EXPR", help="A PromQL expression, in quotes.", show_default=False),
]
At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="T",
        help="The moment to evaluate at (UTC). Default: the time of the lake's newest sample.",
    ),
]
Start = Annotated[str | None, typer.Option("--start", metavar="T", help="First step of a range (UTC).")]
End = Annotated[
    str | None,
    typer.Option(
        "--end",
        metavar="T",
        help="End of the range, included where a step falls on it (UTC). Default: the time of the lake's newest "
        "sample.",
    ),
]
Step = Annotated[
    str | None,
    typer.Option(
        "--step",
        metavar="DURATION",
        help="Distance of two steps. Default: a 250th of the range in whole seconds, 1s at least.",
    ),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain", help="Print how the query would run and which files it would read; run nothing."
    ),
]
Engine = Annotated[
    EvaluationPlace,
    typer.Option("--engine", help="Where the query runs; auto takes Spark for many samples."),
]
Timeout = Annotated[str, typer.Option("--timeout", metavar="DURATION", help="How long the query may take.")]
MaxSamples = Annotated[
    int,
    typer.Option("--max-samples", min=1, metavar="N", help="Samples that the query may hold at once."),
]


def register(app: typer.Typer) -> None:
    app.command(short_help="Evaluate PromQL over a lake.")(promql)


def promql(
    context: typer.Context,
    expr: Expr,
    lake: LakeFolder = None,
    at: At = None,
    start: Start = None,
    end: End = None,
    step: Step = None,
    format: RowFormatOption = RowFormat.table,
    explain: Explain = False,
    engine: Engine = EvaluationPlace.auto,
    lookback: Lookback = "5m",
    timeout: Timeout = "2m",
    max_samples: MaxSamples = 50_000_000,
    as_of: AsOf = None,
    master: Master = None,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Evaluate PromQL over a lake, at one moment or over a range, as Prometheus 3.5 evaluates it.

    JSON is what Prometheus' HTTP API returns under data; CSV has a line per point; a table is cut to what can be
    read. Warnings go to stderr. The numbers have the units of the metrics.
    """
    from throttlescope.app.cli.tables.promql import write_answer
    from throttlescope.app.services.promql.query_request import run_query

    options = CommandOptions(context)
    write_answer(run_query(options.lake_as_of("samples"), _query(options), _session_of(options)), options)


def _query(options: CommandOptions) -> QueryRequest:
    from throttlescope.app.services.promql.query_request import QueryRequest
    from throttlescope.transforms.promql.query import Options

    given = options.given
    return QueryRequest(
        given["expr"],
        options.time_ms("at"),
        **options.times_ms(),
        step_ms=None if given["step"] is None else options.duration_ms("step", "--step must be more than 0"),
        options=Options(
            lookback_ms=options.duration_ms("lookback", "--lookback must be more than 0"),
            timeout_s=options.duration_ms("timeout", "--timeout must be more than 0") / SECOND_MS,
            max_samples=given["max_samples"],
        ),
        explain=given["explain"],
        engine=str(given["engine"]),
    )


def _session_of(options: CommandOptions) -> Callable[[contextlib.ExitStack], SparkSession]:
    """Starts Spark when the query needs it, with a line of progress until the query has ended."""

    def start(shown: contextlib.ExitStack) -> SparkSession:
        from throttlescope.app.pipeline.spark_session import start_spark

        shown.enter_context(options.progress(1).step("evaluating on Spark"))
        return start_spark(options.settings(), debug=options.given["debug"])

    return start
