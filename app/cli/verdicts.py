"""``throttlescope verdicts``: what holds each subscription's backlog."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    ClusterFilter,
    Config,
    Debug,
    LakeFolder,
    RowFormat,
    RowFormatOption,
    SubscriptionFilter,
)


def register(app: typer.Typer) -> None:
    app.command(short_help="Print why each subscription has a backlog.")(verdicts)


def verdicts(
    lake: LakeFolder = None,
    format: RowFormatOption = RowFormat.table,
    latest: Annotated[
        bool | None,
        typer.Option(
            "--latest/--all",
            help="The newest window of each subscription, or every window. Default: every window for JSON and CSV; "
            "for a table, a line per subscription with what held it longest.",
        ),
    ] = None,
    cluster: ClusterFilter = None,
    subscription: SubscriptionFilter = None,
    cause: Annotated[
        str | None, typer.Option("--cause", metavar="CAUSE", help="Only verdicts of this cause.")
    ] = None,
    start: Annotated[
        str | None, typer.Option("--start", metavar="T", help="Only windows that end after T (UTC).")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--end", metavar="T", help="Only windows that start before T (UTC).")
    ] = None,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Print the verdicts of a lake: why each subscription has a backlog, with the naive rule's answer beside it.

    Backlogs are ready entries (batches) at the window's end, times are UTC, confidence is the probability
    that the cause is right. JSON and CSV carry evidence and missing evidence whole.
    """
    import time

    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.render import write_csv, write_json
    from throttlescope.app.render_verdicts import exported, exported_columns, print_summary, print_windows
    from throttlescope.app.verdict_rows import VerdictFilter, read_summary, read_verdicts
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.times import parse_time

    settings = settings_with(config, {"lake": lake})
    now_ms = int(time.time() * 1000)
    wanted = VerdictFilter(
        cluster=cluster,
        subscription=subscription,
        cause=cause,
        latest=bool(latest),
        start_ms=None if start is None else parse_time(start, now_ms=now_ms),
        end_ms=None if end is None else parse_time(end, now_ms=now_ms),
    )
    in_lake = Lake(settings.lake)
    if format is RowFormat.table and latest is None:
        print_summary(read_summary(in_lake, wanted), settings.objectives, now_ms=now_ms)
        return
    rows = read_verdicts(in_lake, wanted)
    if format is RowFormat.json:
        write_json([exported(row) for row in rows])
    elif format is RowFormat.csv:
        write_csv(exported_columns(), (exported(row) for row in rows))
    else:
        print_windows(rows, settings.objectives, now_ms=now_ms)
