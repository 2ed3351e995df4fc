"""``throttlescope quarantine``: look at refused rows, repair them, and take them back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import Config, Debug, Format, FormatOption, LakeFolder

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
    bool, typer.Option("--known", help="Make the known repair of its reason, where the row itself tells it.")
]
Json = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="The whole row as it should have been; - is standard input."),
]


def register(app: typer.Typer) -> None:
    family = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Look at rows that were refused, repair them, and take them back through the door that refused them.",
    )
    family.command("list", short_help="Print what is in quarantine.")(list_rows)
    family.command("show", short_help="Print one refused row, whole.")(show)
    family.command("repair", short_help="Repair rows, without taking them back yet.")(repair)
    family.command("readmit", short_help="Take rows back, repaired or as they are.")(readmit)
    app.add_typer(family, name="quarantine", short_help="Repair refused rows and take them back.")


def list_rows(
    reason: Reason = None,
    run: Run = None,
    everything: Annotated[bool, typer.Option("--all", help="Also rows that were taken back.")] = False,
    lake: LakeFolder = None,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Print refused rows, the newest first: why, for which table, what was done about them, and whether the door would take them now.

    A row stands for as many samples or rows as were lost with it. A known repair is one that the row itself tells.
    """
    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.cli.tables.quarantine import print_rows
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.quarantine.readmit import known_reason
    from throttlescope.ingest.quarantine.rows import kept_rows

    known_reason(reason)
    settings = settings_with(config, {"lake": lake})
    rows = [
        one
        for one in kept_rows(Lake(settings.lake), taken_back=everything)
        if (reason is None or one.reason == reason) and (run is None or one.run_id == run)
    ]
    print_rows(rows, as_json=format is Format.json)


def show(
    row: Annotated[str, typer.Argument(metavar="ID", help="Id that list prints, or its first letters.")],
    lake: LakeFolder = None,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Print one refused row: as it was refused, as it was repaired, and what the door says of it now."""
    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.cli.tables.quarantine import print_row
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.quarantine.rows import chosen, kept_rows

    settings = settings_with(config, {"lake": lake})
    (found,) = chosen(kept_rows(Lake(settings.lake), taken_back=True), [row])
    print_row(found, as_json=format is Format.json)


def repair(
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
    """Repair rows and say whether the door would take them now; readmit takes them back.

    The row as it was refused is kept beside the repair. A repair that is made again starts from the one before.
    """
    from dataclasses import replace

    from throttlescope.app.cli.tables.quarantine import print_rows
    from throttlescope.ingest.pull.manifest import new_run_id
    from throttlescope.ingest.quarantine.readmit import mark

    in_lake, rows = _chosen(lake, config, ids, reason, run, everything=False)
    rows = [replace(one, state="repaired") for one in _repaired(rows, known, set_, unset, json_, must=True)]
    mark(in_lake, rows, new_run_id())
    print_rows(rows, as_json=format is Format.json)


def readmit(
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
    """Take rows back, with the repair that was made or that is given here.

    Each goes through the door that refused it. Those that fit land in their table in one transaction; what the lake holds already
    stays. Those that do not stay in quarantine with their new reason, and the exit code is 2. Taking a row back twice is harmless.
    Series whose samples were too many to be kept cannot come back: mend their labels at the source and read the range again.
    """
    from throttlescope.app.cli.tables.quarantine import print_readmitted
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.pull.manifest import new_run_id
    from throttlescope.ingest.quarantine.readmit import readmit as take_back

    in_lake, rows = _chosen(lake, config, ids, reason, run, everything=everything)
    rows = _repaired(rows, known, set_, unset, json_, must=False)
    run_id = new_run_id()
    done = take_back(in_lake, rows, run_id)
    print_readmitted(done, run_id, in_lake.root, as_json=format is Format.json)
    if done.refused:
        first = done.refused[0]
        raise InputError(
            f"{len(done.refused)} of {len(done.refused) + len(done.taken)} rows still do not fit and stay in quarantine",
            got=f"{first.id}: {first.reason}, {first.fault}",
            fix=f"throttlescope quarantine show {first.id}; then repair it",
        )


def _chosen(lake, config, ids, reason, run, *, everything):
    from throttlescope.app.cli.settings import settings_with
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.quarantine.readmit import known_reason
    from throttlescope.ingest.quarantine.rows import chosen, kept_rows

    known_reason(reason)
    in_lake = Lake(settings_with(config, {"lake": lake}).lake)
    # A row that is named is found also where it was taken back: doing it again changes nothing.
    rows = chosen(
        kept_rows(in_lake, taken_back=bool(ids)), ids or [], reason=reason, run_id=run, everything=everything
    )
    return in_lake, rows


def _repaired(rows, known, settings, removals, file, *, must):
    """Rows with the repairs that were asked for."""
    import json
    from dataclasses import replace

    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.quarantine.repairs import known_repair, whole, with_values

    if must and not (known or settings or removals or file):
        raise InputError(
            "No repair is given", fix="add --known, --set PATH=VALUE, --unset PATH or --json FILE"
        )
    if file is not None and len(rows) != 1:
        raise InputError("--json is one row", got=f"{len(rows)} rows", fix="name one id")
    given = None if file is None else whole(sys.stdin.read() if str(file) == "-" else _text(file))
    repaired = []
    for one in rows:
        row, changed = (one.row, False) if given is None else (given, True)
        if known and (found := known_repair(one.reason, row)) is not None:
            row, changed = found[0], True
        if settings or removals:
            row, changed = with_values(row, settings or (), removals or ()), True
        repaired.append(
            replace(one, repaired=json.dumps(row, sort_keys=True)) if changed and one.is_open else one
        )
    if (
        must
        and known
        and not (settings or removals or file)
        and all(one.repaired is None for one in repaired)
    ):
        raise InputError(
            "There is no known repair of these rows",
            got=f"{len(rows)} rows",
            fix="say what is right with --set PATH=VALUE",
        )
    return repaired


def _text(file: Path) -> str:
    from throttlescope.ingest.core.errors import InputError

    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError("The repaired row cannot be read", got=f"{file}: {error}") from None
