"""``throttlescope forecast``: when a backlog is gone, and what takes messages away before."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    ClusterFilter,
    Config,
    Debug,
    Format,
    FormatOption,
    LakeFolder,
    Quiet,
    SubscriptionFilter,
)


def register(app: typer.Typer) -> None:
    app.command(short_help="Forecast drains and deadlines, or see how forecasts came true.")(forecast)


def forecast(
    lake: LakeFolder = None,
    subscription: SubscriptionFilter = None,
    cluster: ClusterFilter = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="T", help="When the forecast is made (UTC). Default: the newest minute."
        ),
    ] = None,
    replay: Annotated[
        bool,
        typer.Option(
            "--replay",
            help="With --subscription: put beside each drain what a replay of its limits and consumers says.",
        ),
    ] = False,
    back_test: Annotated[
        bool,
        typer.Option(
            "--back-test",
            help="Make forecasts of drains all along the history instead, and tell how they came true.",
        ),
    ] = False,
    stored: Annotated[
        bool,
        typer.Option(
            "--stored", help="With --back-test: judge the forecasts that the lake holds, as they were made."
        ),
    ] = False,
    every: Annotated[
        str,
        typer.Option("--every", metavar="DURATION", help="With --back-test: distance of two forecasts."),
    ] = "1m",
    start: Annotated[
        str | None, typer.Option("--start", metavar="T", help="With --back-test: start of the history (UTC).")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--end", metavar="T", help="With --back-test: its end, excluded (UTC).")
    ] = None,
    format: FormatOption = Format.table,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Forecast when a backlog is drained at this rate, and when message TTL or a backlog quota acts before.

    Each with a 90 % interval, which rests on how far earlier forecasts were off on recordings of a real broker; "never at
    this rate" is an answer. Deadlines need policies in the lake (--pulsar-admin when it was made). Backlogs are entries
    (batches), times UTC. With --back-test forecasts are made of what was known at each time and held against what came:
    one that meets a change or the end of the history first is undecided.
    """
    import time

    from throttlescope.app.cli.commands.simulate import say_if_it_compiles
    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.presentation.forecast import exported, print_back_test, print_forecasts
    from throttlescope.app.presentation.output import write_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.app.services.forecast.back_test import back_test_lake
    from throttlescope.app.services.forecast.forecasts import forecast_lake, with_replays
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import check_range, parse_duration, parse_time
    from throttlescope.ingest.lake import Lake

    settings = settings_with(config, {"lake": lake})
    now_ms = int(time.time() * 1000)
    at_ms, start_ms, end_ms = (
        None if text is None else parse_time(text, now_ms=now_ms) for text in (at, start, end)
    )
    in_lake = Lake(settings.lake)
    if not back_test:
        if start or end or stored:
            raise InputError(
                "--start, --end and --stored go with --back-test",
                fix="say when the forecast is made with --at",
            )
        if replay and subscription is None:
            raise InputError(
                "--replay takes seconds for each subscription", fix="name one with --subscription"
            )
        rows, made_ms = forecast_lake(in_lake, cluster=cluster, subscription=subscription, at_ms=at_ms)
        if replay:
            progress = TerminalProgress(1, quiet=quiet)
            with progress.step("Replaying"):
                say_if_it_compiles(progress, "Replaying")
                rows = with_replays(in_lake, rows, note=progress.note)
        if format is Format.json:
            write_json([exported(row) for row in rows])
        else:
            print_forecasts(rows, made_ms=made_ms, now_ms=now_ms)
        return
    if subscription or at or replay:
        raise InputError(
            "--back-test is of the whole history",
            got="--subscription, --at or --replay",
            fix="leave them out",
        )
    every_ms = parse_duration(every)
    if every_ms <= 0:
        raise InputError("--every is no distance", got=every, expected="such as 1m")
    if start_ms is not None and end_ms is not None:
        check_range(start_ms, end_ms)
    progress = TerminalProgress(1, quiet=quiet)
    with progress.step("Forecasting the past"):
        found = back_test_lake(
            in_lake,
            every_ms=None if stored else every_ms,
            cluster=cluster,
            start_ms=start_ms,
            end_ms=end_ms,
            note=progress.note,
        )
        progress.note(f"{found.made:,} forecasts")
    if format is Format.json:
        write_json(found.to_json())
    else:
        print_back_test(found)
