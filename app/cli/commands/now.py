"""``throttlescope now``: why does this topic's subscription have a backlog at this moment, without a lake."""

from __future__ import annotations

from typing import Annotated

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


def register(app: typer.Typer) -> None:
    app.command(short_help="Diagnose one topic at this moment, in seconds.")(now)


def now(
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
        str, typer.Option("--for", metavar="DURATION", help="How far back is judged: 5m to 6h.")
    ] = "30m",
    history: Annotated[
        str | None,
        typer.Option(
            "--history",
            metavar="DURATION",
            help="Read so much before it too, for what the consumers can do and what is usual. A run looks back 24h.",
        ),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--end", metavar="T", help="Judge what was before T (UTC). Default: now.")
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
    """Read the last minutes of one topic, judge them in this process and print why each subscription partition has a backlog.

    All partitions and subscriptions of the topic are read, because they share limits; limits come from the admin API. The rules
    are those of run, and nothing is written anywhere. What is not known in time is said to be unknown.
    """
    import time

    from throttlescope.app.cli.settings import SourceFlags, settings_with
    from throttlescope.app.cli.tables.now import print_now
    from throttlescope.app.presentation.output import write_json
    from throttlescope.app.services.diagnose_now import Hurry, NowQuestion, diagnose_now
    from throttlescope.app.services.diagnose_now.document import document
    from throttlescope.ingest.core.times import SECOND_MS, parse_duration, parse_time

    now_ms = int(time.time() * 1000)
    sources = SourceFlags(
        prometheus=prometheus,
        pulsar_admin=pulsar_admin,
        cluster=cluster,
        reader=reader,
        token_file=token_file,
        admin_token_file=admin_token_file,
    )
    asked = NowQuestion.of(
        subscription=subscription,
        topic=topic,
        end_ms=now_ms if end is None else parse_time(end, now_ms=now_ms),
        for_ms=parse_duration(for_),
        history_ms=0 if history is None else parse_duration(history),
    )
    hurry = Hurry(parse_duration(deadline) / SECOND_MS)
    settings = settings_with(config, {"window": window, "every": every}, sources)
    answer = diagnose_now(
        asked,
        settings,
        override_cluster=cluster is not None and prometheus is not None,
        hurry=hurry,
    )
    if format is Format.json:
        write_json(document(answer))
    else:
        print_now(answer, now_ms=now_ms)
