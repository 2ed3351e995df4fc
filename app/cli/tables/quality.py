"""Findings of the gates on a terminal. In: rows of ``quality``. Out: a table, JSON or CSV on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import TableColumn, print_rows, write_rows
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, counted, minute_text

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.gates import Checked


def _columns() -> tuple:
    return (
        TableColumn(sentence("label.run_heading"), lambda row: row["run_id"]),
        TableColumn(sentence("label.cluster_heading"), lambda row: row["cluster"] or "-"),
        TableColumn(sentence("label.gate_heading"), lambda row: row["gate"]),
        TableColumn(sentence("label.check_heading"), lambda row: row["check"]),
        TableColumn(sentence("label.table_heading"), lambda row: row["table"]),
        TableColumn(sentence("label.severity_heading"), lambda row: row["severity"]),
        TableColumn(sentence("label.passed"), lambda row: "yes" if row["success"] else "no"),
        TableColumn(sentence("label.rows_heading"), lambda row: count(row["rows"]), "right"),
        TableColumn(sentence("label.observed"), lambda row: row["observed"] or "-"),
        TableColumn(sentence("label.expected_heading"), lambda row: row["expected"] or "-"),
        TableColumn(sentence("label.checked_utc"), lambda row: minute_text(row["observed_ms"])),
    )


def write_findings(rows: Sequence[dict[str, Any]], options: CommandOptions, *, after: str = "") -> None:
    """Write findings in the requested format; ``after`` ends the title of the table."""
    _write(rows, options, f"{counted(len(rows), 'finding')}{after}")


def write_checked(result: Checked, span: tuple[int, int], options: CommandOptions) -> None:
    """Write what gates found in a range in the requested format."""
    start, end = map(format_time, span)
    _write(result.failures(), options, f"{start} to {end}: {result.words}")


def _write(rows: Sequence[dict[str, Any]], options: CommandOptions, title: str) -> None:
    names = [column.name for column in TABLES["quality"].columns if column.name != "date"]
    write_rows(
        options.format,
        rows,
        table=lambda: print_rows(_columns(), rows, title=title, notes=[sentence("tables.utc")], heads=4),
        export=lambda row: {name: row[name] for name in names},
        columns=lambda: names,
    )
