"""The address ``/metrics``. In: a lake. Out: a Flask blueprint."""

from __future__ import annotations

from flask import Blueprint, Response, request

from throttlescope.app.api.replies import compressed, plain
from throttlescope.app.metrics.exposition import Exposition
from throttlescope.app.watching.counters import counted
from throttlescope.ingest.lake import Lake

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def metrics_blueprint(lake: Lake, exposition: Exposition | None = None) -> Blueprint:
    """``/metrics`` of one lake."""
    exposition = exposition or Exposition(lake, of_server=counted)
    blueprint = Blueprint("metrics", __name__)

    @blueprint.route(
        "/metrics", methods=("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"), provide_automatic_options=False
    )
    def metrics() -> Response:
        if request.method not in ("GET", "HEAD"):
            return plain(405, "Method Not Allowed\n", allow=("GET", "HEAD"))
        return compressed(Response(exposition.text(), content_type=CONTENT_TYPE), request)

    return blueprint
