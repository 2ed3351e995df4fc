"""``throttlescope quality``: what the gates found."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.options import Config, Debug, LakeFolder, RowFormat, RowFormatOption


def register(app: typer.Typer) -> None:
    app.command(short_help="Print what the quality gates found.")(quality)


def quality(
    lake: LakeFolder = None,
    format: RowFormatOption = RowFormat.table,
    run: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="Only findings of this run. Default: every run.")
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed/--all", help="Only what did not hold, or every check.")
    ] = True,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Print the quality rows of a lake: what a gate checked, what it saw and what it expected.

    An error stopped its run at the gate; a warning did not. Times are UTC.
    """
    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.render import count, minute_text, print_table, write_csv, write_json
    from throttlescope.ingest.contracts import TABLES
    from throttlescope.ingest.lake import Lake

    settings = settings_with(config, {"lake": lake})
    rows = Lake(settings.lake).read("quality").to_pylist()
    rows = [row for row in rows if (run is None or row["run_id"] == run) and not (failed and row["success"])]
    rows.sort(
        key=lambda row: (
            row["observed_ms"],
            row["run_id"],
            row["gate"],
            row["check"],
            row["table"],
            row["cluster"] or "",
        )
    )
    names = [column.name for column in TABLES["quality"].columns if column.name != "date"]
    if format is RowFormat.json:
        write_json([{name: row[name] for name in names} for row in rows])
    elif format is RowFormat.csv:
        write_csv(names, rows)
    else:
        print_table(
            [
                ("run", "left"), ("cluster", "left"), ("gate", "left"), ("check", "left"), ("table", "left"),
                ("severity", "left"), ("held", "left"), ("rows", "right"), ("observed", "left"), ("expected", "left"),
                ("checked (UTC)", "left"),
            ],
            [
                [
                    row["run_id"], row["cluster"] or "-", row["gate"], row["check"], row["table"], row["severity"],
                    "yes" if row["success"] else "no", count(row["rows"]), row["observed"] or "-",
                    row["expected"] or "-", minute_text(row["observed_ms"]),
                ]
                for row in rows
            ],
            title=f"{len(rows)} finding{'' if len(rows) == 1 else 's'}" + (" that did not hold" if failed else ""),
            notes=["Times are UTC."],
            heads=4,
        )  # fmt: skip
