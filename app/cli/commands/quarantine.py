"""``throttlescope quarantine``: look at refused rows, repair them, and take them back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import Config, Debug, Format, FormatOption, LakeFolder
from throttlescope.app.cli.settings import CommandOptions

Ids = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ID]...", help="Ids that list prints, or their first letters.", show_default=False
    ),
]
Reason = Annotated[
    str | None, typer.Option("--reason", metavar="CODE", help="All rows that were refused for this reason.")
]
Run = Annotated[str | None, typer.Option("--run", metavar="ID", help="All rows that this run refused.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Set a value of the row, such as labels.cluster=prod. Repeatable."
    ),
]
Unset = Annotated[
    list[str] | None,
    typer.Option("--unset", metavar="PATH", help="Remove a value, such as labels.partition. Repeatable."),
]
Known = Annotated[
    bool,
    typer.Option(
        "--known", help="Make the known repair of its reason, where it follows from the row itself."
    ),
]
Json = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="The whole row as it should have been; - is standard input."),
]


def register(app: typer.Typer) -> None:
    family = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Look at rows that were refused, repair them, and readmit them through ingest validation.",
    )
    family.command("list", short_help="Print what is in quarantine.")(list_rows)
    family.command("show", short_help="Print one whole refused row.")(show)
    family.command("repair", short_help="Repair rows without readmitting them yet.")(repair)
    family.command("readmit", short_help="Readmit rows, repaired or as they are.")(readmit)
    app.add_typer(family, name="quarantine", short_help="Repair refused rows and readmit them.")


def list_rows(
    context: typer.Context,
    reason: Reason = None,
    run: Run = None,
    everything: Annotated[bool, typer.Option("--all", help="Also rows that were readmitted.")] = False,
    lake: LakeFolder = None,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Print refused rows, the newest first: why, for which table, what was done about them, and whether ingest validation would accept them now.

    A row represents as many samples or rows as were lost with it. A known repair is one that follows from the row itself.
    """
    from throttlescope.app.cli.tables.quarantine import write_quarantined
    from throttlescope.app.queries.quarantine import read_quarantined

    options = CommandOptions(context)
    rows = read_quarantined(
        options.lake(absolute=False), reason=reason, run_id=run, with_readmitted=everything
    )
    write_quarantined(rows, options)


def show(
    context: typer.Context,
    row: Annotated[str, typer.Argument(metavar="ID", help="Id that list prints, or its first letters.")],
    lake: LakeFolder = None,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Print one refused row: as it was refused, as it was repaired, and what ingest validation says of it now."""
    from throttlescope.app.cli.tables.quarantine import write_quarantined_row
    from throttlescope.app.queries.quarantine import read_quarantined_row

    options = CommandOptions(context)
    write_quarantined_row(read_quarantined_row(options.lake(absolute=False), row), options)


def repair(
    context: typer.Context,
    ids: Ids = None,
    reason: Reason = None,
    run: Run = None,
    known: Known = False,
    set_: Set = None,
    unset: Unset = None,
    json_: Json = None,
    lake: LakeFolder = None,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Repair rows and print whether ingest validation would accept them now; readmit puts them into their table.

    The row as it was refused is kept next to the repair. A repair that is made again starts from the one before.
    """
    from throttlescope.app.cli.tables.quarantine import write_quarantined
    from throttlescope.app.services.quarantine import RowRepair, RowSelection, repair_rows

    options = CommandOptions(context)
    selection, repairs = (
        RowSelection(tuple(ids or ()), reason, run),
        RowRepair(known, set_, unset, _reader(json_)),
    )
    write_quarantined(repair_rows(options.lake(absolute=False), selection, repairs), options)


def readmit(
    context: typer.Context,
    ids: Ids = None,
    reason: Reason = None,
    run: Run = None,
    everything: Annotated[bool, typer.Option("--all", help="Every row in quarantine.")] = False,
    known: Known = False,
    set_: Set = None,
    unset: Unset = None,
    json_: Json = None,
    lake: LakeFolder = None,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Readmit rows, with the repair that was made or that is given here.

    Each passes ingest validation again. Those that fit land in their table in one transaction; what the lake already has
    stays. Those that do not stay in quarantine with their new reason, and the exit code is 2. Readmitting a row twice is harmless.
    Series whose samples were too many to be kept cannot come back: fix their labels at the source and read the range again.
    """
    from throttlescope.app.cli.tables.quarantine import write_readmitted
    from throttlescope.app.services.quarantine import RowRepair, RowSelection, readmit_rows

    options = CommandOptions(context)
    selection = RowSelection(tuple(ids or ()), reason, run, everything)
    repairs, stored = RowRepair(known, set_, unset, _reader(json_)), options.lake(absolute=False)
    write_readmitted(readmit_rows(stored, selection, repairs), stored.root, options)


def _reader(file: Path | None) -> Callable[[], str] | None:
    """Reads the text of ``--json``; - is standard input."""
    from throttlescope.ingest.core.errors import InputError

    def read() -> str:
        try:
            return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise InputError("The repaired row cannot be read", got=f"{file}: {error}") from None

    return None if file is None else read
