"""``throttlescope recommend``: the smallest change that drains a backlog or keeps an age, and what will not help."""

from __future__ import annotations

from dataclasses import replace
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
    ReplayHistory,
)
from throttlescope.app.cli.settings import CommandOptions


def register(app: typer.Typer) -> None:
    app.command(short_help="Find the smallest change that drains a subscription's backlog.")(recommend)


def recommend(
    context: typer.Context,
    subscription: Annotated[
        str,
        typer.Argument(
            metavar="SUBSCRIPTION",
            help="persistent://tenant/ns/topic[-partition-N]#sub; without -partition-N, all partitions together.",
        ),
    ],
    lake: LakeFolder = None,
    cluster: ClusterFilter = None,
    target: Annotated[
        str, typer.Option("--target", metavar="DURATION", help="Within this time the backlog has to drain.")
    ] = "30m",
    keep_p99_age: Annotated[
        str | None,
        typer.Option(
            "--keep-p99-age",
            metavar="DURATION",
            help="Instead: what would have kept the oldest message this young in 99 of 100 minutes.",
        ),
    ] = None,
    over: Annotated[
        str, typer.Option("--over", metavar="DURATION", help="With --keep-p99-age: how far back.")
    ] = "14d",
    share: Annotated[
        float,
        typer.Option(
            "--share",
            metavar="PERCENT",
            help="With --keep-p99-age: of so many minutes in a hundred, such as 99.9.",
        ),
    ] = 99.0,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="T", help="The moment to look at (UTC). Default: the newest sample."),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            "--window",
            metavar="DURATION",
            help="Length of the window before it that is replayed. Default: 30m, or the longest of 15m, 10m and 5m that is replayed well.",
        ),
    ] = None,
    history: ReplayHistory = "24h",
    format: FormatOption = Format.table,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Remove each cause in a replay, then look for the smallest limit, period, number of consumers or of partitions that helps.

    Prints which limiter binds next, what the change costs, how to verify it, how to roll it back, and what will not help.
    With --keep-p99-age it tries the same changes on the arrivals of two weeks, minute by minute. Commands are printed, never executed. Backlogs are entries (batches), rates messages, times UTC.
    """
    from throttlescope.app.cli.tables.recommend import write_advice, write_kept_age
    from throttlescope.app.services.recommend import WINDOWS, recommend_age, recommend_drain
    from throttlescope.app.services.slo import AgeObjective
    from throttlescope.app.services.whatif.replay import Question

    options = CommandOptions(context)
    question = Question(subscription, cluster, (), at, window, history, target, None)
    if keep_p99_age is None:
        return write_advice(
            recommend_drain(options.lake(absolute=False), question, options.now_ms, options.progress(2)),
            options,
        )
    question = replace(question, window=window or WINDOWS[0])
    objective, stored = AgeObjective.of(keep_p99_age, over, share), options.lake(absolute=False)
    write_kept_age(recommend_age(stored, question, objective, options.now_ms, options.progress(2)), options)
