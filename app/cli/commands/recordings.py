"""``throttlescope recordings``: the installed recordings."""

from __future__ import annotations

import typer

from throttlescope.app.cli.options import Debug, Format, FormatOption
from throttlescope.app.cli.settings import CommandOptions


def register(app: typer.Typer) -> None:
    family = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Recordings of a real broker that are installed here.",
    )
    family.command("list", short_help="Print the installed recordings.")(list_recordings)
    app.add_typer(family, name="recordings")


def list_recordings(
    context: typer.Context, format: FormatOption = Format.table, debug: Debug = False
) -> None:
    """Print the installed recordings: name, range (UTC), size, and whether their files are whole."""
    from throttlescope.app.cli.tables.recordings import write_recordings
    from throttlescope.app.queries.recordings import read_recordings

    write_recordings(read_recordings(), CommandOptions(context))
