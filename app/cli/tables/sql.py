"""Rows of an SQL query. In: an `SqlResult`. Out: a table, JSON or CSV on stdout."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import print_table, write_rows
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import counted

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.queries.sql import SqlResult

#: Rows of a table, and characters of a cell, that can still be read.
_MOST_ROWS, _LONGEST_CELL = 200, 200


def write_sql(result: SqlResult, options: CommandOptions) -> None:
    """Write the rows in the requested format."""
    write_rows(
        options.format,
        result.rows,
        table=lambda: _print(result),
        export=lambda row: dict(zip(result.columns, row, strict=True)),
        columns=lambda: result.columns,
    )


def _print(result: SqlResult) -> None:
    shown = result.rows[:_MOST_ROWS]
    left_out = len(result.rows) - len(shown)
    numeric = [
        all(isinstance(row[at], (int, float, type(None))) and row[at] is not True for row in shown)
        for at in range(len(result.columns))
    ]
    print_table(
        [
            (name, "right" if is_numeric else "left")
            for name, is_numeric in zip(result.columns, numeric, strict=True)
        ],
        [[_cell(value) for value in row] for row in shown],
        title=counted(len(result.rows), "row"),
        notes=[sentence("tables.sql.left_out", rows=counted(left_out, "row"))] if left_out else (),
    )


def _cell(value: Any) -> str:
    """A value as it is stored: a table of SQL rounds nothing."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else str(value)
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"
