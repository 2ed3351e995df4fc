"""Anomalies in every format. In: `AnomalyRows`. Out: a table, JSON or CSV on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.app.presentation.anomalies import exported, exported_columns, print_anomalies
from throttlescope.app.presentation.output import write_rows

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.queries.anomalies import AnomalyRows


def write_anomalies(found: AnomalyRows, options: CommandOptions) -> None:
    """Write the rows in the requested format."""
    write_rows(
        options.format,
        found.rows,
        table=lambda: print_anomalies(found, now_ms=options.now_ms),
        export=exported,
        columns=exported_columns,
    )
