"""What several backlogs share, as every page names it. In: a row of ``incidents``. Out: a link to the roll-up of that topic, namespace or broker."""

from __future__ import annotations

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.models.messages.catalogue import sentence

#: The roll-up that shows it, by the ``kind`` of an incident.
_ROLLUPS = {
    "broker": "broker",
    "broker_limiter": "broker",
    "namespace_policy": "namespace",
    "topic_limiter": "topic",
}


def shared_link(row: dict, start_ms: int | None = None, end_ms: int | None = None) -> dcc.Link:
    """The place that is shared, over a range or the newest hours."""
    by, name = _ROLLUPS[row["kind"]], row["shared_with"]
    to = RollupsAddress(by, clusters=(row["cluster"],), name=name, start_ms=start_ms, end_ms=end_ms)
    return dcc.Link(
        [
            html.Span(sentence(f"page.shared.{row['kind']}"), className="row-name"),
            html.Bdi(fmt.topic_name(name, -1), className="row-place"),
        ],
        href=to.href(),
        className="row-link",
        title=fmt.name(f"{row['cluster']}: {name}"),
    )
