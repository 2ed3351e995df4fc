"""``throttlescope forecast``: when a backlog has drained, and what drops messages before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

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
from throttlescope.app.cli.settings import CommandOptions

At = Annotated[
    str | None,
    typer.Option("--at", metavar="T", help="When the forecast is made (UTC). Default: the newest minute."),
]
Replay = Annotated[
    bool,
    typer.Option(
        "--replay",
        help="With --subscription: add to each drain what a replay of its limits and consumers says.",
    ),
]
BackTest = Annotated[
    bool,
    typer.Option(
        "--back-test",
        help="Make forecasts of drains all along the history instead, and compare them with the outcome.",
    ),
]
Stored = Annotated[
    bool,
    typer.Option("--stored", help="With --back-test: evaluate the stored forecasts of the lake."),
]
Every = Annotated[
    str,
    typer.Option("--every", metavar="DURATION", help="With --back-test: distance of two forecasts."),
]
Start = Annotated[
    str | None, typer.Option("--start", metavar="T", help="With --back-test: start of the history (UTC).")
]
End = Annotated[
    str | None, typer.Option("--end", metavar="T", help="With --back-test: its end, excluded (UTC).")
]


def register(app: typer.Typer) -> None:
    app.command(short_help="Forecast drains and deadlines, or back-test forecasts.")(forecast)


def forecast(
    context: typer.Context,
    lake: LakeFolder = None,
    subscription: SubscriptionFilter = None,
    cluster: ClusterFilter = None,
    at: At = None,
    replay: Replay = False,
    back_test: BackTest = False,
    stored: Stored = False,
    every: Every = "1m",
    start: Start = None,
    end: End = None,
    format: FormatOption = Format.table,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Forecast when a backlog is drained at this rate, and when message TTL or a backlog quota acts before.

    Each has a 90 % interval, based on how far earlier forecasts were off on recordings of a real broker; "never at
    this rate" is an answer. Deadlines need policies in the lake (--pulsar-admin when it was made). Backlogs are entries
    (batches), times UTC. With --back-test forecasts are made of what was known at each time and compared with what came:
    one that meets a change or the end of the history first is undecided.
    """
    from throttlescope.app.cli.tables.forecast import write_back_test, write_forecasts
    from throttlescope.app.services.forecast.forecast_request import (
        BackTestRequest,
        ForecastRequest,
        run_back_test,
        run_forecasts,
    )

    options = CommandOptions(context)
    _check(options.given)
    stored_in, times = options.lake(absolute=False), options.times_ms()
    if back_test:
        every_ms = options.duration_ms("every", "--every must be more than 0", expected="such as 1m")
        request = BackTestRequest(cluster, None if stored else every_ms, **times)
        return write_back_test(run_back_test(stored_in, request, options.progress(1)), options)
    request = ForecastRequest(cluster, subscription, options.time_ms("at"), replay)
    write_forecasts(run_forecasts(stored_in, request, options.progress(1)), options)


def _check(given: Mapping[str, Any]) -> None:
    """Refuse options that do not go together."""
    from throttlescope.ingest.core.errors import InputError

    if given["back_test"]:
        if given["subscription"] or given["at"] or given["replay"]:
            raise InputError(
                "--back-test is of the whole history",
                got="--subscription, --at or --replay",
                fix="leave them out",
            )
    elif given["start"] or given["end"] or given["stored"]:
        raise InputError(
            "--start, --end and --stored go with --back-test", fix="say when the forecast is made with --at"
        )
    elif given["replay"] and given["subscription"] is None:
        raise InputError("--replay takes seconds for each subscription", fix="name one with --subscription")
