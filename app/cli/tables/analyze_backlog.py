"""What is in a backlog, as text and for programs. In: an `AnalyzedBacklog`. Out: a table on stdout, or one dict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.app.presentation.backlog_analysis import COLUMNS, document, notes, rows, title
from throttlescope.app.presentation.output import print_table, write_result

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.analyze_backlog import AnalyzedBacklog


def write_analyzed(found: AnalyzedBacklog, options: CommandOptions) -> None:
    """Write it in the requested format."""
    write_result(
        options.format,
        table=lambda: print_table(
            [(name, "left" if number == 0 else "right") for number, name in enumerate(COLUMNS)],
            rows(found),
            title=title(found),
            notes=notes(found),
        ),
        document=lambda: document(found),
    )
