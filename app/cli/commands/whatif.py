"""``throttlescope whatif``: what a change would do to a subscription of the lake."""

from __future__ import annotations

from pathlib import Path
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
    app.command(short_help="Replay a subscription of the lake with something changed.")(whatif)


def whatif(
    subscription: Annotated[
        str,
        typer.Option(
            "--subscription",
            metavar="TOPIC#SUB",
            help="The subscription, as persistent://tenant/ns/topic[-partition-N]#sub; without -partition-N, all "
            "partitions together.",
            show_default=False,
        ),
    ],
    lake: LakeFolder = None,
    cluster: ClusterFilter = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="What is to be different: subscription.msg, subscription.bytes, subscription.period_s, topic.msg, topic.bytes, "
            "topic.period_s, broker.msg, broker.bytes (whole numbers; none lifts a rate), consumers, processing_ms (of one message), "
            "rate_msg (published to the topic per second) or load (times what is published now), batch_msg (messages of an entry). Repeatable; without it the backlog as it is.",
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="T", help="When the change happens (UTC). Default: the newest sample."),
    ] = None,
    window: ReplayWindow = "30m",
    history: ReplayHistory = "24h",
    horizon: Annotated[
        str, typer.Option("--horizon", metavar="DURATION", help="How far ahead is looked, at most 31d.")
    ] = "24h",
    drained_below: Annotated[
        int | None,
        typer.Option(
            "--drained-below",
            metavar="N",
            min=0,
            help="Entries that count as no backlog. Default: 100, or what comes in two periods of a limit.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the recorded backlog and both futures into FILE.html, or FILE.png where there is a Chromium.",
        ),
    ] = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Replay a subscription's last samples in the simulator, then look ahead: as it is, and with a change.

    Says when the backlog is drained, from the best to the worst that the samples allow, and what holds it then. What the
    consumers can do shows only while no limiter holds them back; where that was never seen, add --set processing_ms=N.
    Backlogs are entries (batches), rates messages, times UTC. The first run on a machine compiles the simulator, which
    takes about a minute.
    """
    import time

    from throttlescope.app.cli.commands.simulate import say_if_it_compiles
    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.presentation.figures.image import check_plot, write_figure
    from throttlescope.app.presentation.output import write_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.app.presentation.text_report import print_report
    from throttlescope.app.presentation.whatif_document import document
    from throttlescope.app.presentation.whatif_text import whatif_report
    from throttlescope.app.services.whatif.replay import Question, answer, read
    from throttlescope.ingest.lake import Lake

    settings = settings_with(config, {"lake": lake})
    if plot is not None:
        check_plot(plot)
    question = Question(subscription, cluster, tuple(set_ or ()), at, window, history, horizon, drained_below)
    progress = TerminalProgress(2 if plot is None else 3, quiet=quiet)
    with progress.step("Reading"):
        found = read(Lake(settings.lake), question, now_ms=int(time.time() * 1000))
        progress.note(f"{len(found.history.times_ms)} scrapes of {found.name}")
    with progress.step("Replaying"):
        say_if_it_compiles(progress, "Replaying")
        known = answer(found)
        progress.note(f"{len(found.observed.times_ms)} scrapes, then {horizon} at most")
    if plot is not None:
        from throttlescope.app.presentation.figures.replay import whatif_figure

        with progress.step("Drawing"):
            write_figure(plot, whatif_figure(found, known), div_id="whatif")
            progress.note(str(plot))
    if format is Format.json:
        write_json(document(found, known))
    else:
        print_report(whatif_report(found, known))
