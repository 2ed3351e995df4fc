"""``throttlescope now``: why does this topic's subscription have a backlog at this moment, without a lake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from throttlescope.app.cli.options import (
    AdminTokenFile,
    ClusterName,
    Config,
    Debug,
    Every,
    Format,
    FormatOption,
    Prometheus,
    PulsarAdmin,
    ReaderOption,
    TokenFile,
    Window,
)
from throttlescope.app.cli.settings import CommandOptions
from throttlescope.ingest.core.times import SECOND_MS

if TYPE_CHECKING:
    from throttlescope.app.services.diagnose_now import NowQuestion


def register(app: typer.Typer) -> None:
    app.command(short_help="Diagnose one topic at this moment, in seconds.")(now)


def now(
    context: typer.Context,
    prometheus: Prometheus = None,
    pulsar_admin: PulsarAdmin = None,
    subscription: Annotated[
        str | None,
        typer.Option(
            "--subscription",
            metavar="TOPIC#SUB",
            help="Answer for this subscription, as persistent://tenant/ns/topic[-partition-N]#sub.",
        ),
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option(
            "--topic",
            metavar="TOPIC",
            help="Answer for all subscriptions of this topic, or of one partition of it.",
        ),
    ] = None,
    cluster: ClusterName = None,
    for_: Annotated[
        str, typer.Option("--for", metavar="DURATION", help="How far back to diagnose: 5m to 6h.")
    ] = "30m",
    history: Annotated[
        str | None,
        typer.Option(
            "--history",
            metavar="DURATION",
            help="Also read this long before it, for the capacity of the consumers and what is usual. A run looks back 24h.",
        ),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--end", metavar="T", help="Diagnose the time before T (UTC). Default: now.")
    ] = None,
    deadline: Annotated[
        str, typer.Option("--deadline", metavar="DURATION", help="How long the answer may take.")
    ] = "10s",
    window: Window = None,
    every: Every = None,
    reader: ReaderOption = None,
    token_file: TokenFile = None,
    admin_token_file: AdminTokenFile = None,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Read the last minutes of one topic, diagnose them in this process and print why each subscription partition has a backlog.

    All partitions and subscriptions of the topic are read, because they share limits; limits come from the admin API. The rules
    are those of run, and nothing is written anywhere. What is not known by the deadline is reported as unknown.
    """
    from throttlescope.app.cli.tables.now import write_now
    from throttlescope.app.log import tell
    from throttlescope.app.services.diagnose_now import Deadline, diagnose_now

    options = CommandOptions(context)
    question, limit = _question(options), Deadline(options.duration_ms("deadline") / SECOND_MS)
    settings = options.settings("window", "every", sources=options.sources)
    named = cluster is not None and prometheus is not None
    answer = diagnose_now(
        question,
        settings,
        override_cluster=named,
        deadline=limit,
        note=lambda text: tell(f"now: {text}", event="note"),
    )
    write_now(answer, options)


def _question(options: CommandOptions) -> NowQuestion:
    from throttlescope.app.services.diagnose_now import NowQuestion

    end_ms = options.time_ms("end")
    return NowQuestion.of(
        subscription=options.given["subscription"],
        topic=options.given["topic"],
        end_ms=options.now_ms if end_ms is None else end_ms,
        for_ms=options.duration_ms("for_"),
        history_ms=0 if options.given["history"] is None else options.duration_ms("history"),
    )
