"""``throttlescope recordings``: what recordings there are."""

from __future__ import annotations

import typer

from throttlescope.app.cli.options import Debug, Format, FormatOption


def register(app: typer.Typer) -> None:
    family = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Recordings of a real broker that are installed here.",
    )
    family.command("list", short_help="Print them.")(list_recordings)
    app.add_typer(family, name="recordings")


def list_recordings(format: FormatOption = Format.table, debug: Debug = False) -> None:
    """Print the installed recordings: name, range (UTC), size, and whether their files are whole."""
    raise NotImplementedError
