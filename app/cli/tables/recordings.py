"""Installed recordings in every format. In: rows of `read_recordings`. Out: a table or JSON on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import TableColumn, print_rows, write_rows
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import minute_text

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions


def _columns() -> tuple:
    return (
        TableColumn(sentence("label.name_heading"), lambda row: row["name"]),
        TableColumn(sentence("label.family_heading"), lambda row: row["about"]),
        TableColumn(
            sentence("label.range_utc"),
            lambda row: f"{minute_text(row['start_ms'])} to {minute_text(row['end_ms'])}",
        ),
        TableColumn(sentence("label.kb"), lambda row: f"{row['size_bytes'] / 1000:,.0f}", "right"),
        TableColumn(sentence("label.whole"), lambda row: "yes" if row["whole"] else row["fault"]),
    )


def write_recordings(rows: Sequence[dict[str, Any]], options: CommandOptions) -> None:
    """Write a row per recording in the requested format."""
    title = f"{len(rows)} recordings"
    write_rows(
        options.format,
        rows,
        table=lambda: print_rows(_columns(), rows, title=title, notes=[sentence("tables.recordings.note")]),
    )
