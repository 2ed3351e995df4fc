"""The exported rules as files of the web app. In: a request. Out: a rules file for Prometheus, and inhibition rules for Alertmanager."""

from __future__ import annotations

from flask import Blueprint, Response, request

from throttlescope.app.presentation.links.paths import ALERTS_PATH
from throttlescope.app.rules_export.export import INHIBIT_NAME, RULES_NAME, inhibit_document, rules_document
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.ingest.core.errors import InputError

RULES_PATH, INHIBIT_PATH = f"{ALERTS_PATH}/{RULES_NAME}", f"{ALERTS_PATH}/{INHIBIT_NAME}"


def rules_blueprint() -> Blueprint:
    """Two addresses."""
    blueprint = Blueprint("exported_rules", __name__)

    @blueprint.route(RULES_PATH)
    def rules() -> Response:
        # The address of this request is one that its reader can open.
        try:
            return _file(rules_document(ExportOptions(external_url=request.host_url.rstrip("/"))), RULES_NAME)
        except InputError as error:
            return Response(f"{error}\n", 400, content_type="text/plain; charset=utf-8")

    @blueprint.route(INHIBIT_PATH)
    def inhibit() -> Response:
        return _file(inhibit_document(), INHIBIT_NAME)

    return blueprint


def _file(text: str, name: str) -> Response:
    return Response(
        text,
        content_type="application/yaml; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )
