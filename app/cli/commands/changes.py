"""``throttlescope changes``: which limits were changed, and what that did."""

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
    app.command(short_help="Show which limits were changed, and what that did.")(changes)


def changes(
    lake: LakeFolder = None,
    format: RowFormatOption = RowFormat.table,
    cluster: ClusterFilter = None,
    subscription: SubscriptionFilter = None,
    start: Annotated[
        str | None,
        typer.Option("--start", metavar="T", help="Only changes that were seen at T (UTC) or later."),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--end", metavar="T", help="Only changes that were seen before T (UTC).")
    ] = None,
    span: Annotated[
        str, typer.Option("--span", metavar="DURATION", help="How far is looked before and after each.")
    ] = "15m",
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Show every change of an effective limit that the lake knows: old, new, who set it, when it was seen, before and after.

    A change is seen by the first answer of the admin API that has it, so it is known as closely as runs ask. Compared are use of
    the limit, throttle events, slope of the backlog, publishing and verdict.
    """
    import time

    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.cli.tables.changes import flat, flat_columns, print_changes
    from throttlescope.app.presentation.output import write_csv, write_json
    from throttlescope.app.queries.limit_changes import read_changes
    from throttlescope.app.queries.verdicts import VerdictFilter
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import MINUTE_MS, parse_duration, parse_time
    from throttlescope.ingest.lake import Lake

    settings = settings_with(config, {"lake": lake})
    now_ms = int(time.time() * 1000)
    span_ms = parse_duration(span)
    if span_ms < MINUTE_MS:
        raise InputError(
            "--span is too short to be measured", got=span, expected="a minute or more, such as 15m"
        )
    wanted = VerdictFilter(
        cluster=cluster,
        subscription=subscription,
        start_ms=None if start is None else parse_time(start, now_ms=now_ms),
        end_ms=None if end is None else parse_time(end, now_ms=now_ms),
    )
    rows = read_changes(Lake(settings.lake.absolute()), wanted, span_ms=span_ms)
    if format is RowFormat.json:
        write_json([one.to_row() for one in rows])
    elif format is RowFormat.csv:
        write_csv(flat_columns(), (flat(one) for one in rows))
    else:
        print_changes(rows)
