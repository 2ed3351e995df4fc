"""How late data is, in every format. In: `Freshness` of each cluster. Out: a table or JSON on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from throttlescope.app.presentation.output import TableColumn, print_rows, write_rows
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import duration_text, minute_text

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.freshness import Freshness


def _columns() -> tuple:
    return (
        TableColumn(sentence("label.cluster_heading"), lambda one: one.cluster or "-"),
        TableColumn(sentence("label.of_heading"), lambda one: one.of),
        TableColumn(sentence("label.up_to_utc"), lambda one: minute_text(one.newest_ms)),
        TableColumn(
            sentence("label.age"),
            lambda one: "-" if one.age_ms is None else duration_text(one.age_ms),
            "right",
        ),
        TableColumn(sentence("label.late"), lambda one: "yes" if one.late else "no"),
        TableColumn(sentence("label.note"), lambda one: one.note or "-"),
    )


def write_freshness(found: Sequence[Freshness], options: CommandOptions) -> None:
    """Write a row per cluster in the requested format."""
    at, limit = minute_text(options.time_ms("at")), duration_text(options.duration_ms("max_age"))
    write_rows(
        options.format,
        found,
        table=lambda: print_rows(_columns(), found, title=sentence("freshness.title", time=at, age=limit)),
        export=lambda one: one.to_json(),
    )
