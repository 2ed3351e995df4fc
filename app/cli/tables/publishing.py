"""Limits of publishing, in every format. In: a `Publishing`. Out: tables or JSON on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.app.presentation.output import print_table, write_result
from throttlescope.app.presentation.publishing import document, tables
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import minute_text

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.queries.publishing import Publishing


def write_publishing(found: Publishing, options: CommandOptions) -> None:
    """Write it in the requested format."""
    write_result(options.format, table=lambda: _print(found), document=lambda: document(found))


def _print(found: Publishing) -> None:
    for one in tables(found):
        if one.rows:
            print_table(one.columns, one.rows, title=one.title, notes=one.notes)
        else:
            print(f"{one.title}: {' '.join(one.notes)}")
        print()
    print(
        sentence(
            "publishing.as_of",
            samples=minute_text(found.at_ms),
            answers=minute_text(found.answered_ms),
        )
    )
