"""How results look. In: rows of plain values. Out: a table, JSON or CSV on stdout, all safe to show.

Label values come from other people's systems: control characters are made visible before they
reach a terminal, and a CSV cell never begins like a spreadsheet formula.
"""

from __future__ import annotations

import csv
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.language import STORED_LANGUAGE, use
from throttlescope.models.messages.units import duration_text, minute_text, visible

if TYPE_CHECKING:
    from rich.console import Console

# A pipe has no width; this one keeps a verdict on one line, whatever its topic is called.
_PIPE_COLUMNS = 240
# The wide forms are the same signs to a spreadsheet with a Chinese or Japanese locale.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@dataclass(frozen=True)
class TableColumn:
    """One column of a table: its heading with the unit, how a row shows in it, and ``left`` or ``right``."""

    heading: str
    show: Callable[[Any], str]
    justify: str = "left"


def print_rows(
    columns: Sequence[TableColumn],
    rows: Iterable[Any],
    *,
    title: str,
    notes: Sequence[str] = (),
    heads: int = 1,
) -> None:
    """Print rows in declared columns; see :func:`print_table`."""
    print_table(
        [(column.heading, column.justify) for column in columns],
        [[column.show(row) for column in columns] for row in rows],
        title=title,
        notes=notes,
        heads=heads,
    )


def write_result(
    format: str,
    *,
    table: Callable[[], None],
    document: Callable[[], Any] | None = None,
    json: Callable[[], None] | None = None,
    csv: Callable[[], None] | None = None,
) -> None:
    """Write a result in the requested format; the others are not made.

    JSON and CSV are for programs: their text is English in every language of the process.

    Parameters
    ----------
    format : str
        ``table``, ``json`` or ``csv``: the value of ``--format``.
    table, json, csv : callable
        Writes that format on stdout.
    document : callable
        Returns the JSON document; takes the place of ``json``.
    """
    if document is not None:
        json = lambda: write_json(document())  # noqa: E731
    writers = {"table": table, "json": json, "csv": csv}
    if format == "table":
        writers[format]()
    else:
        with use(STORED_LANGUAGE):
            writers[format]()


def write_rows(
    format: str,
    rows: Iterable[Any],
    *,
    table: Callable[[], None],
    export: Callable[[Any], dict[str, Any]] = dict,
    columns: Callable[[], Sequence[str]] | None = None,
    flat: Callable[[Any], dict[str, Any]] | None = None,
) -> None:
    """Write rows in the requested format: a table for people, a list of objects, or lines of CSV.

    Parameters
    ----------
    export : callable
        A row as plain values, for JSON and CSV.
    columns : callable
        Names of the columns of CSV.
    flat : callable
        A row for CSV, where ``export`` nests.
    """
    write_result(
        format,
        table=table,
        document=lambda: [export(row) for row in rows],
        csv=lambda: write_csv(columns() if columns else (), map(flat or export, rows)),
    )


def print_table(
    columns: Sequence[tuple[str, str]],
    rows: Iterable[Sequence[str]],
    *,
    title: str,
    notes: Sequence[str] = (),
    heads: int = 1,
    stream: TextIO | None = None,
) -> None:
    """Print a table on stdout; on a terminal that is too narrow for it, a paragraph per row.

    Parameters
    ----------
    columns : sequence of (str, str)
        Heading with its unit, and ``left`` or ``right``.
    rows : iterable of sequences of str
        Cells; control characters are made visible here.
    title, notes
        A line above, and lines below: units, time zone, how fresh the data is.
    heads : int
        How many first columns name a row; they are its headline in a paragraph.
    stream : file, optional
        Written to instead of stdout, as wide as a pipe and without colours.
    """
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    wide = stream is not None or (not sys.stdout.isatty() and "COLUMNS" not in os.environ)
    # In a notebook rich would bypass a redirected stdout.
    console = Console(
        width=_PIPE_COLUMNS if wide else None,
        soft_wrap=False,
        highlight=False,
        force_jupyter=False,
        file=stream,
        color_system="auto" if stream is None else None,
        force_terminal=None if stream is None else False,
    )
    rows = [[visible(cell) for cell in row] for row in rows]
    table = Table()
    for heading, justify in columns:
        table.add_column(heading, justify="right" if justify == "right" else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    # Printed by itself: a title of the table's own is broken at the table's width.
    console.print(Text(visible(title), style="bold"))
    if Measurement.get(console, console.options.update_width(10_000), table).maximum <= console.width:
        console.print(table)
    else:
        _print_paragraphs(console, columns, rows, heads)
    for note in notes:
        console.print(Text(visible(note)))


def _print_paragraphs(
    console: Console, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]], heads: int
) -> None:
    """A paragraph per row: its first cells as a headline, then heading and cell of the others."""
    from rich.padding import Padding
    from rich.text import Text

    for row in rows:
        console.print(
            Text(" ".join(cell for cell in row[:heads] if cell != "-"), style="bold"), overflow="fold"
        )
        facts = (
            f"{heading} {cell}"
            for (heading, _), cell in zip(columns[heads:], row[heads:], strict=True)
            if cell != "-"
        )
        console.print(Padding(Text("; ".join(facts)), (0, 0, 0, 2), expand=False))


def write_json(value: Any, stream: TextIO | None = None) -> None:
    """Write one JSON document; a number that JSON does not know (NaN, infinity) becomes null."""
    stream = stream or sys.stdout
    json.dump(_finite(value), stream, indent=2, allow_nan=False, ensure_ascii=False)
    stream.write("\n")


def write_csv(columns: Sequence[str], rows: Iterable[dict[str, Any]], stream: TextIO | None = None) -> None:
    """Write CSV with a header. Lists and objects become JSON text; NULL is an empty cell."""
    # Every text in quotes: a lone carriage return would otherwise begin a row.
    writer = csv.writer(stream or sys.stdout, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    # A heading may be a label's name, which may be any text.
    writer.writerow([_csv_cell(name) for name in columns])
    for row in rows:
        writer.writerow([_csv_cell(row[name]) for name in columns])


def freshness(data_end_ms: int | None, now_ms: int | None) -> str:
    """One line on how old the data is; without ``now_ms`` until when it goes."""
    if data_end_ms is None:
        return sentence("tables.freshness.none")
    newest = minute_text(data_end_ms)
    if now_ms is None:
        return sentence("tables.freshness.until", newest=newest)
    if now_ms < data_end_ms:
        return sentence("tables.freshness.ahead", newest=newest)
    return sentence("tables.freshness.age", newest=newest, age=duration_text(now_ms - data_end_ms))


def _csv_cell(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    if isinstance(value, (list, dict)):
        value = json.dumps(_finite(value), allow_nan=False, ensure_ascii=False)
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return value


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return value
