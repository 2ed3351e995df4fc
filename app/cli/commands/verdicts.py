"""``throttlescope verdicts``: why each subscription has a backlog."""

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
from throttlescope.app.cli.settings import CommandOptions


class VerdictsBy(StrEnum):
    subscription = "subscription"


def register(app: typer.Typer) -> None:
    app.command(short_help="Print why each subscription has a backlog.")(verdicts)


def verdicts(
    context: typer.Context,
    lake: LakeFolder = None,
    format: RowFormatOption = RowFormat.table,
    latest: Annotated[
        bool | None,
        typer.Option(
            "--latest/--all",
            help="The newest window of each subscription, or every window. Default: every window for JSON and CSV; "
            "for a table, a line per subscription with its main cause.",
        ),
    ] = None,
    cluster: ClusterFilter = None,
    subscription: SubscriptionFilter = None,
    by: Annotated[
        VerdictsBy | None,
        typer.Option(
            "--by",
            help="The newest window of each subscription over its partitions: the worst, and how many share its cause.",
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
    """Print the verdicts of a lake: why each subscription has a backlog, next to the naive rule's answer.

    Backlogs are ready entries (batches) at the window's end, times are UTC, confidence is the probability
    that the cause is right. JSON and CSV carry evidence and missing evidence whole. With --subscription the table is followed
    by the consumers of what is not healthy, where they were measured: which of them are slow.
    """
    from throttlescope.app.cli.tables.verdicts import shape_of, write_verdicts
    from throttlescope.app.queries.verdicts import VerdictFilter
    from throttlescope.app.services.verdict_listing import list_verdicts

    options = CommandOptions(context)
    wanted = VerdictFilter(**options.selection(), cause=cause, latest=bool(latest))
    write_verdicts(list_verdicts(options.lake_as_of("verdicts"), wanted, shape_of(options)), options)
