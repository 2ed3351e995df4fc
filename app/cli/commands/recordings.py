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
    from throttlescope.app.presentation.output import print_table, write_json
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.sources.recording import list_shipped, read_recording
    from throttlescope.models.messages.units import minute_text

    rows = []
    for name, folder in list_shipped().items():
        size_bytes = sum(file.stat().st_size for file in folder.iterdir())
        row = {"name": name, "folder": str(folder), "size_bytes": size_bytes}
        try:
            found = read_recording(folder)
        except InputError as error:
            rows.append(
                row | {"whole": False, "fault": str(error), "start_ms": None, "end_ms": None, "about": ""}
            )
            continue
        about = str(found.about.get("family", ""))
        rows.append(
            row
            | {
                "whole": True,
                "fault": None,
                "start_ms": found.start_ms,
                "end_ms": found.end_ms,
                "about": about,
            }
        )
    if format is Format.json:
        write_json(rows)
        return
    print_table(
        [("name", "left"), ("family", "left"), ("range (UTC)", "left"), ("kB", "right"), ("whole", "left")],
        [
            [
                row["name"],
                row["about"],
                f"{minute_text(row['start_ms'])} to {minute_text(row['end_ms'])}",
                f"{row['size_bytes'] / 1000:,.0f}",
                "yes" if row["whole"] else row["fault"],
            ]
            for row in rows
        ],
        title=f"{len(rows)} recordings",
        notes=["Each is a cluster of its own name. Times are UTC."],
    )
