"""``throttlescope verdicts``: what holds each subscription's backlog."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    AsOf,
    ClusterFilter,
    Config,
    Debug,
    LakeFolder,
    RowFormat,
    RowFormatOption,
    SubscriptionFilter,
)


class VerdictsBy(StrEnum):
    subscription = "subscription"


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
    by: Annotated[
        VerdictsBy | None,
        typer.Option(
            "--by",
            help="The newest window of each subscription over its partitions: the worst, and who shares its cause.",
        ),
    ] = None,
    cause: Annotated[
        str | None, typer.Option("--cause", metavar="CAUSE", help="Only verdicts of this cause.")
    ] = None,
    start: Annotated[
        str | None, typer.Option("--start", metavar="T", help="Only windows that end after T (UTC).")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--end", metavar="T", help="Only windows that start before T (UTC).")
    ] = None,
    as_of: AsOf = None,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Print the verdicts of a lake: why each subscription has a backlog, with the naive rule's answer beside it.

    Backlogs are ready entries (batches) at the window's end, times are UTC, confidence is the probability
    that the cause is right. JSON and CSV carry evidence and missing evidence whole. With --subscription the table is followed
    by the consumers of what is not healthy, where they were measured: which of them are slow.
    """
    import time
    from dataclasses import replace

    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.cli.tables.consumers import print_consumers, print_partitions
    from throttlescope.app.presentation.output import write_csv, write_json
    from throttlescope.app.presentation.verdicts import (
        exported,
        exported_columns,
        print_summary,
        print_windows,
    )
    from throttlescope.app.queries.consumers import read_slowest
    from throttlescope.app.queries.verdicts import VerdictFilter, read_summary, read_verdicts
    from throttlescope.ingest.core.times import parse_time
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.lake.time_travel import lake_as_of
    from throttlescope.models.diagnosis.partitions import ROW_COLUMNS, over_partitions

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
    in_lake = (
        Lake(settings.lake) if as_of is None else lake_as_of(settings.lake, as_of, "verdicts", now_ms=now_ms)
    )
    if by is not None:
        found = over_partitions(read_verdicts(in_lake, replace(wanted, latest=True)))
        if format is RowFormat.json:
            write_json([one.to_row() for one in found])
        elif format is RowFormat.csv:
            write_csv(ROW_COLUMNS, (one.to_row() for one in found))
        else:
            print_partitions(found, now_ms=now_ms)
        return
    if format is RowFormat.table and latest is None:
        print_summary(read_summary(in_lake, wanted), settings.objectives, now_ms=now_ms)
        if subscription is not None:
            print_consumers(read_slowest(in_lake, read_verdicts(in_lake, replace(wanted, latest=True))))
        return
    rows = read_verdicts(in_lake, wanted)
    if format is RowFormat.json:
        write_json([exported(row) for row in rows])
    elif format is RowFormat.csv:
        write_csv(exported_columns(), (exported(row) for row in rows))
    else:
        print_windows(rows, settings.objectives, now_ms=now_ms)
        if subscription is not None:
            print_consumers(read_slowest(in_lake, rows))
