"""``throttlescope reopen``: a past verdict with the minutes it was made from, and today's rules on them."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.options import Config, Debug, Format, FormatOption, LakeFolder
from throttlescope.app.cli.settings import CommandOptions


def register(app: typer.Typer) -> None:
    app.command(short_help="Open a past verdict and recompute it with today's rules.")(reopen)


def reopen(
    context: typer.Context,
    subscription: Annotated[
        str,
        typer.Argument(
            metavar="SUBSCRIPTION", help="persistent://tenant/ns/topic[-partition-N]#sub of one partition."
        ),
    ],
    at: Annotated[str, typer.Option("--at", metavar="T", help="A moment inside the window (UTC).")],
    cluster: Annotated[
        str | None, typer.Option("--cluster", metavar="NAME", help="Where the lake holds several.")
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="T", help="The verdict as of T, where a later run replaced it."),
    ] = None,
    lake: LakeFolder = None,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Open a stored verdict: its evidence, the minutes of signals it was made from, and what today's rules say of them.

    The minutes are those that were in the lake when the verdict was written, also where they have been repaired since.
    """
    from throttlescope.app.cli.tables.reopen import write_reopened
    from throttlescope.app.queries.verdicts import reopen_at

    options = CommandOptions(context)
    stored, as_of_ms = options.lake(absolute=False), options.time_ms("as_of")
    write_reopened(reopen_at(stored, subscription, cluster, options.time_ms("at"), as_of_ms), options)
