"""Findings of the gates on a terminal. In: rows of ``quality``. Out: a table, JSON or CSV on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import Column, print_rows, write_rows
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.units import count, minute_text

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.gates import Checked


_COLUMNS = (
    Column("run", lambda row: row["run_id"]),
    Column("cluster", lambda row: row["cluster"] or "-"),
    Column("gate", lambda row: row["gate"]),
    Column("check", lambda row: row["check"]),
    Column("table", lambda row: row["table"]),
    Column("severity", lambda row: row["severity"]),
    Column("held", lambda row: "yes" if row["success"] else "no"),
    Column("rows", lambda row: count(row["rows"]), "right"),
    Column("observed", lambda row: row["observed"] or "-"),
    Column("expected", lambda row: row["expected"] or "-"),
    Column("checked (UTC)", lambda row: minute_text(row["observed_ms"])),
)


def write_findings(rows: Sequence[dict[str, Any]], options: CommandOptions, *, after: str = "") -> None:
    """Write findings in the requested format; ``after`` ends the title of the table."""
    _write(rows, options, f"{len(rows)} finding{'' if len(rows) == 1 else 's'}{after}")


def write_checked(result: Checked, span: tuple[int, int], options: CommandOptions) -> None:
    """Write what gates found in a range in the requested format."""
    start, end = map(format_time, span)
    _write(result.failures(), options, f"{start} to {end}: {result.words}")


def _write(rows: Sequence[dict[str, Any]], options: CommandOptions, title: str) -> None:
    names = [column.name for column in TABLES["quality"].columns if column.name != "date"]
    write_rows(
        options.format,
        rows,
        table=lambda: print_rows(_COLUMNS, rows, title=title, notes=["Times are UTC."], heads=4),
        export=lambda row: {name: row[name] for name in names},
        columns=lambda: names,
    )
