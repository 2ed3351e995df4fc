"""Installed recordings in every format. In: rows of `read_recordings`. Out: a table or JSON on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import Column, print_rows, write_rows
from throttlescope.models.messages.units import minute_text

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions

_COLUMNS = (
    Column("name", lambda row: row["name"]),
    Column("family", lambda row: row["about"]),
    Column("range (UTC)", lambda row: f"{minute_text(row['start_ms'])} to {minute_text(row['end_ms'])}"),
    Column("kB", lambda row: f"{row['size_bytes'] / 1000:,.0f}", "right"),
    Column("whole", lambda row: "yes" if row["whole"] else row["fault"]),
)
_NOTE = "Each is a cluster of its own name. Times are UTC."


def write_recordings(rows: Sequence[dict[str, Any]], options: CommandOptions) -> None:
    """Write a row per recording in the requested format."""
    title = f"{len(rows)} recordings"
    write_rows(options.format, rows, table=lambda: print_rows(_COLUMNS, rows, title=title, notes=[_NOTE]))
