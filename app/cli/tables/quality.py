"""Findings of the gates on a terminal. In: rows of ``quality``. Out: a table, JSON or CSV on stdout."""

from __future__ import annotations

from typing import Any

from throttlescope.app.presentation.output import print_table, write_csv, write_json
from throttlescope.ingest.contracts import TABLES
from throttlescope.models.messages.units import count, minute_text


def print_findings(rows: list[dict[str, Any]], format: str, title: str) -> None:
    """Print findings.

    Parameters
    ----------
    format : str
        ``table``, ``json`` or ``csv``.
    """
    names = [column.name for column in TABLES["quality"].columns if column.name != "date"]
    if format == "json":
        write_json([{name: row[name] for name in names} for row in rows])
    elif format == "csv":
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
            title=title,
            notes=["Times are UTC."],
            heads=4,
        )  # fmt: skip
