"""``throttlescope recommend``: the smallest change that drains a backlog or keeps an age, and what will not help."""

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
    ReplayHistory,
    ReplayWindow,
)


def register(app: typer.Typer) -> None:
    app.command(short_help="Find the smallest change that drains a subscription's backlog.")(recommend)


def recommend(
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
        str, typer.Option("--target", metavar="DURATION", help="Within this the backlog is to be gone.")
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
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="T", help="The moment it is asked for (UTC). Default: the newest sample."
        ),
    ] = None,
    window: ReplayWindow = "30m",
    history: ReplayHistory = "24h",
    format: FormatOption = Format.table,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Lift each cause in a replay, then look for the smallest limit, period, number of consumers or of partitions that helps.

    Says which limiter binds next, what it costs, how to see that it works, how to take it back, and what will not help.
    With --keep-p99-age it sweeps the same levers over the arrivals of two weeks, minute by minute. Commands are printed, never executed. Backlogs are entries (batches), rates messages, times UTC.
    """
    import time

    from throttlescope.app.cli.commands.simulate import say_if_it_compiles
    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.presentation.advice import advice_report, document, facts
    from throttlescope.app.presentation.output import write_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.app.presentation.text_report import print_report
    from throttlescope.app.services.slo import ask, durations
    from throttlescope.app.services.whatif.replay import Question, read
    from throttlescope.ingest.lake import Lake
    from throttlescope.models.recommendation import advise

    settings = settings_with(config, {"lake": lake})
    now_ms = int(time.time() * 1000)
    objective = None if keep_p99_age is None else durations(keep_p99_age, over)
    question = Question(subscription, cluster, (), at, window, history, target, None)
    progress = TerminalProgress(2, quiet=quiet)
    with progress.step("Reading"):
        found = read(Lake(settings.lake), question, now_ms=now_ms)
        progress.note(f"{len(found.history.times_ms)} scrapes of {found.name}")
    if objective is not None:
        from throttlescope.app.cli.tables import slo

        with progress.step("Sweeping"):
            say_if_it_compiles(progress, "Sweeping")
            asked = ask(Lake(settings.lake), found, *objective, progress.note)
        if format is Format.json:
            write_json(slo.document(found, asked))
        else:
            slo.print_kept(found, asked, now_ms=now_ms)
        return
    with progress.step("Replaying"):
        say_if_it_compiles(progress, "Replaying")
        advice = advise(found.observed, history=found.history, target_s=found.horizon_s)
        progress.note(f"{len(advice.counterfactuals.rows)} levers")
    if format is Format.json:
        write_json(document(facts(found, advice)))
    else:
        print_report(advice_report(found, advice, now_ms=now_ms))
