"""A written incident report. In: a `WrittenIncident`. Out: a few lines or JSON on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.app.presentation.output import write_result
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import visible

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.incident.incident_request import WrittenIncident


def write_incident(made: WrittenIncident, options: CommandOptions) -> None:
    """Write what was put into the zip, in the requested format."""
    write_result(options.format, table=lambda: _print(made), document=made.as_dict)


def _print(made: WrittenIncident) -> None:
    found, verdict = made.found, made.found.verdict
    cause = "no verdict" if verdict is None else f"{verdict['cause']} {verdict['limiter'] or ''}".strip()
    print(
        visible(
            sentence(
                "tables.incident.about",
                path=made.path,
                subscription=found.name,
                verdict=cause,
                time=format_time(found.at_ms),
            )
        )
    )
    print(sentence("tables.incident.size", files=len(made.bundle.files), bytes=len(made.content)))
    for reason in made.bundle.not_made:
        print(visible(sentence("tables.incident.left_out", reason=reason)))
