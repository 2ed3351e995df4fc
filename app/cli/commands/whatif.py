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
from throttlescope.app.cli.settings import CommandOptions

Subscription = Annotated[
    str,
    typer.Option(
        "--subscription",
        metavar="TOPIC#SUB",
        help="The subscription, as persistent://tenant/ns/topic[-partition-N]#sub; without -partition-N, all "
        "partitions together.",
        show_default=False,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="What is to be different: subscription.msg, subscription.bytes, subscription.period_s, topic.msg, topic.bytes, "
        "topic.period_s, broker.msg, broker.bytes (whole numbers; none lifts a rate), consumers, processing_ms (of one message), "
        "rate_msg (published to the topic per second) or load (times what is published now), batch_msg (messages of an entry). Repeatable; without it the backlog as it is.",
    ),
]
At = Annotated[
    str | None,
    typer.Option("--at", metavar="T", help="When the change happens (UTC). Default: the newest sample."),
]
Horizon = Annotated[
    str, typer.Option("--horizon", metavar="DURATION", help="How far ahead is looked, at most 31d.")
]
DrainedBelow = Annotated[
    int | None,
    typer.Option(
        "--drained-below",
        metavar="N",
        min=0,
        help="Entries that count as no backlog. Default: 100, or what comes in two periods of a limit.",
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw the recorded backlog and both futures into FILE.html, or FILE.png where there is a Chromium.",
    ),
]


def register(app: typer.Typer) -> None:
    app.command(short_help="Replay a subscription of the lake with changes.")(whatif)


def whatif(
    context: typer.Context,
    subscription: Subscription,
    lake: LakeFolder = None,
    cluster: ClusterFilter = None,
    set_: Set = None,
    at: At = None,
    window: ReplayWindow = "30m",
    history: ReplayHistory = "24h",
    horizon: Horizon = "24h",
    drained_below: DrainedBelow = None,
    plot: Plot = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Replay a subscription's last samples in the simulator, then look ahead: as it is, and with a change.

    Says when the backlog is drained, from the best to the worst that the samples allow, and what limits the drain then. What the
    consumers can do shows only while no limiter holds them back; where that was never seen, add --set processing_ms=N.
    Backlogs are entries (batches), rates messages, times UTC. The first run on a machine compiles the simulator, which
    takes about a minute.
    """
    from throttlescope.app.cli.tables.whatif import write_what_if
    from throttlescope.app.services.whatif.replay import Question
    from throttlescope.app.services.whatif.what_if import what_if

    options = CommandOptions(context)
    progress = options.plot_progress(2)
    question = Question(subscription, cluster, tuple(set_ or ()), at, window, history, horizon, drained_below)
    write_what_if(
        what_if(options.lake(absolute=False), question, options.now_ms, progress), progress, options
    )
