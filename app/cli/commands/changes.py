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
from throttlescope.app.cli.settings import CommandOptions
from throttlescope.ingest.core.times import MINUTE_MS


def register(app: typer.Typer) -> None:
    app.command(short_help="Show which limits were changed, and what that did.")(changes)


def changes(
    context: typer.Context,
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
        str,
        typer.Option("--span", metavar="DURATION", help="How much time before and after each is compared."),
    ] = "15m",
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Show every change of an effective limit that the lake knows: old, new, who set it, when it was seen, before and after.

    A change is seen by the first answer of the admin API that has it, so its time is known as closely as runs read the limits. Compared are use of
    the limit, throttle events, slope of the backlog, publishing and verdict.
    """
    from throttlescope.app.cli.tables.changes import write_changes
    from throttlescope.app.queries.limit_changes import read_changes
    from throttlescope.app.queries.verdicts import VerdictFilter

    options = CommandOptions(context)
    span_ms = options.duration_ms(
        "span",
        "--span is too short",
        expected="a minute or more, such as 15m",
        least_ms=MINUTE_MS,
    )
    write_changes(
        read_changes(options.lake(), VerdictFilter(**options.selection()), span_ms=span_ms), options
    )
