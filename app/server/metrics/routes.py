"""The address ``/metrics``. In: a lake. Out: a Flask blueprint."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from flask import Blueprint, Response, request

from throttlescope.app.server.api.replies import compressed, plain
from throttlescope.app.server.metrics.exposition import Exposition, default_sources
from throttlescope.app.services.server_counters import counters_text
from throttlescope.ingest.lake import Lake

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def metrics_blueprint(lake: Lake, *, checks: Iterable[Callable[[], object]] = ()) -> Blueprint:
    """``/metrics`` of one lake.

    Parameters
    ----------
    checks : iterable of callable
        The checks of ``/-/ready`` other than its tables; each raises if it fails. They have no metrics of their own, but decide
        whether the source ``lake`` is up. A table's source reads only its newest rows, and caches them.
    """

    def of_lake(_lake: Lake, _now_ms: int) -> tuple[()]:
        for check in checks:
            check()
        return ()

    exposition = Exposition(lake, default_sources() | {"lake": of_lake}, of_server=counters_text)
    blueprint = Blueprint("metrics", __name__)

    @blueprint.route(
        "/metrics", methods=("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"), provide_automatic_options=False
    )
    def metrics() -> Response:
        if request.method not in ("GET", "HEAD"):
            return plain(405, "Method Not Allowed\n", allow=("GET", "HEAD"))
        return compressed(Response(exposition.text(), content_type=CONTENT_TYPE), request)

    return blueprint
