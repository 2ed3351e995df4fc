"""What limits publishing, as sections of the page of limits. In: a :class:`Publishing`. Out: components."""

from __future__ import annotations

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.publishing import MOST_ROWS, PublishTable, tables
from throttlescope.app.queries.publishing import Publishing
from throttlescope.app.web.components.parts import plain_table, section


def publishing_sections(found: Publishing) -> list[html.Section]:
    """One section per table."""
    return [_section(one) for one in tables(found, most=MOST_ROWS)]


def _section(table: PublishTable) -> html.Section:
    notes = [html.P(note, className="facts" if table.rows else "quiet") for note in table.notes]
    if not table.rows:
        return section(table.title, notes)
    headings = tuple(heading for heading, _ in table.columns)
    rows = [[html.Bdi(fmt.name(cells[0], 120), className="row-name"), *cells[1:]] for cells in table.rows]
    return section(table.title, [plain_table(headings, rows), *notes])
