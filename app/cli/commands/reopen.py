"""``throttlescope reopen``: a past verdict with the minutes it was made from, and today's rules on them."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.options import Config, Debug, Format, FormatOption, LakeFolder


def register(app: typer.Typer) -> None:
    app.command(short_help="Open a past verdict and judge its minutes again.")(reopen)


def reopen(
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
        typer.Option(
            "--as-of", metavar="T", help="The verdict that stood at T, where a later run replaced it."
        ),
    ] = None,
    lake: LakeFolder = None,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Open a stored verdict: its evidence, the minutes of signals it was made from, and what today's rules say of them.

    The minutes are those that the lake held when the verdict was written, also where they have been repaired since.
    """
    import time

    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.cli.tables.reopen import document, print_reopened
    from throttlescope.app.presentation.output import write_json
    from throttlescope.app.queries.verdicts import window_at
    from throttlescope.ingest.core.times import parse_time
    from throttlescope.ingest.lake import Lake
    from throttlescope.models.diagnosis.reopen import reopen as open_again

    settings = settings_with(config, {"lake": lake})
    now_ms = int(time.time() * 1000)
    in_lake = Lake(settings.lake)
    as_of_ms = None if as_of is None else parse_time(as_of, now_ms=now_ms)
    key, start_ms = window_at(in_lake, subscription, cluster, parse_time(at, now_ms=now_ms), as_of_ms)
    found = open_again(in_lake, key, start_ms, as_of_ms=as_of_ms)
    if format is Format.json:
        write_json(document(found))
    else:
        print_reopened(found, now_ms=now_ms)
