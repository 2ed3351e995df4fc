"""``throttlescope promql``: evaluate PromQL over a lake."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    AsOf,
    Config,
    Debug,
    LakeFolder,
    Master,
    Quiet,
    RowFormat,
    RowFormatOption,
)
from throttlescope.app.log import say


class EvaluationPlace(StrEnum):
    auto = "auto"
    local = "local"
    spark = "spark"


def register(app: typer.Typer) -> None:
    app.command(short_help="Evaluate PromQL over a lake.")(promql)


def promql(
    expr: Annotated[
        str,
        typer.Argument(metavar="EXPR", help="A PromQL expression, in quotes.", show_default=False),
    ],
    lake: LakeFolder = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="T",
            help="The moment to evaluate at (UTC). Default: the time of the lake's newest sample.",
        ),
    ] = None,
    start: Annotated[
        str | None, typer.Option("--start", metavar="T", help="First step of a range (UTC).")
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--end",
            metavar="T",
            help="End of the range, included where a step falls on it (UTC). Default: the time of the lake's newest "
            "sample.",
        ),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            "--step",
            metavar="DURATION",
            help="Distance of two steps. Default: a 250th of the range in whole seconds, 1s at least.",
        ),
    ] = None,
    format: RowFormatOption = RowFormat.table,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Print how the query would run and which files it would read; run nothing."
        ),
    ] = False,
    engine: Annotated[
        EvaluationPlace,
        typer.Option("--engine", help="Where the query runs; auto takes Spark for many samples."),
    ] = EvaluationPlace.auto,
    lookback: Annotated[
        str,
        typer.Option(
            "--lookback", metavar="DURATION", help="How long a sample is its series' current value."
        ),
    ] = "5m",
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="DURATION", help="How long the query may take.")
    ] = "2m",
    max_samples: Annotated[
        int,
        typer.Option("--max-samples", min=1, metavar="N", help="Samples that the query may hold at once."),
    ] = 50_000_000,
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
    import contextlib
    import time

    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.cli.tables.promql import print_answer, print_csv, print_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.app.services.promql.lake_queries import LakeQueries
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import format_time, parse_duration
    from throttlescope.ingest.lake.time_travel import lake_as_of
    from throttlescope.transforms.promql.query import Options

    settings = settings_with(config, {"lake": lake, "spark": {"master": master}})
    now_ms = int(time.time() * 1000)
    in_lake = settings.lake if as_of is None else lake_as_of(settings.lake, as_of, "samples", now_ms=now_ms)
    options = Options(
        lookback_ms=_above_zero(parse_duration(lookback), "--lookback"),
        timeout_s=_above_zero(parse_duration(timeout), "--timeout") / 1000,
        max_samples=max_samples,
    )
    with contextlib.ExitStack() as shown:

        def session():
            from throttlescope.app.pipeline.spark_session import start_spark

            shown.enter_context(TerminalProgress(1, quiet=quiet).step("evaluating on Spark"))
            return start_spark(settings, debug=debug)

        queries = LakeQueries(in_lake, session)
        newest_ms = queries.catalogue().newest_ms
        if newest_ms is None:
            raise InputError(
                "There are no samples in this lake",
                got=str(settings.lake),
                fix="read some with throttlescope ingest --lake DIR, or try throttlescope demo",
            )
        moments = _moments(at, start, end, step, now_ms=now_ms, newest_ms=newest_ms)
        if explain:
            bounds = moments if len(moments) == 3 else (*moments, *moments, 1)
            text = queries.explain(expr, *bounds, options, engine.value)
        else:
            evaluate = queries.range if len(moments) == 3 else queries.instant
            answer = evaluate(expr, *moments, options, engine.value)
    if not quiet and (end if start else at) is None:
        what = "The range ends" if start else "Evaluated"
        say(f"{what} at {format_time(newest_ms)}, the time of the lake's newest sample.")
    if explain:
        print(text)
        return
    for note in (*answer.warnings, *answer.infos):
        say(note)
    if format is RowFormat.json:
        print_json(answer)
    elif format is RowFormat.csv:
        print_csv(answer)
    else:
        print_answer(expr, answer, newest_ms=newest_ms, now_ms=now_ms)


def _moments(
    at: str | None, start: str | None, end: str | None, step: str | None, *, now_ms: int, newest_ms: int
) -> tuple[int, ...]:
    """The moment, or start, end and step of the range, in milliseconds."""
    from throttlescope.app.services.promql.answer_table import default_step_ms
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import format_time, parse_duration, parse_time

    if start is None:
        if end is not None or step is not None:
            raise InputError(
                "--end and --step belong to a range", fix="add --start, or ask at one moment with --at"
            )
        return (newest_ms if at is None else parse_time(at, now_ms=now_ms),)
    if at is not None:
        raise InputError("--at and --start exclude each other", fix="leave one of them out")
    start_ms = parse_time(start, now_ms=now_ms)
    end_ms = newest_ms if end is None else parse_time(end, now_ms=now_ms)
    if start_ms > end_ms:
        raise InputError(
            "The start is behind the end",
            got=f"start {format_time(start_ms)}, end {format_time(end_ms)}",
            fix="swap --start and --end" if end else "name an earlier --start, or the --end",
        )
    if step is None:
        step_ms = default_step_ms(start_ms, end_ms)
    else:
        step_ms = _above_zero(parse_duration(step), "--step")
    return start_ms, end_ms, step_ms


def _above_zero(duration_ms: int, name: str) -> int:
    from throttlescope.ingest.core.errors import InputError

    if duration_ms <= 0:
        raise InputError(f"{name} is nothing", got=f"{duration_ms} ms", expected="more than 0")
    return duration_ms
