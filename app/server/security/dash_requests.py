"""Requests to Dash's own addresses that no page sends. In: the Dash application. Out: 400 and 404 in one line.

Dash itself answers them with 500 and a traceback in the log, as if the server had failed.
"""

from __future__ import annotations

from dash import Dash
from dash.exceptions import DependencyException
from flask import Response, request

from throttlescope.models.messages.catalogue import sentence

_CALLBACKS = "/_dash-update-component"


def refuse_foreign_requests(app: Dash) -> None:
    """Check requests of callbacks before Dash reads them, and answer 404 for scripts that no page has."""

    @app.server.before_request
    def check():
        if request.path != _CALLBACKS or request.method != "POST":
            return None
        return (
            None
            if _is_callback(app, request.get_json(silent=True))
            else _line(sentence("server.refused.no_callback"), 400)
        )

    @app.server.errorhandler(DependencyException)
    def unknown_script(error: DependencyException) -> Response:
        return _line(sentence("server.refused.no_file"), 404)


def _line(text: str, status: int) -> Response:
    return Response(f"{text}\n", status, mimetype="text/plain")


def _is_callback(app: Dash, body: object) -> bool:
    """Whether a request names a callback, and all of its outputs, inputs and states."""
    if not isinstance(body, dict) or not isinstance(body.get("output"), str):
        return False
    # Complete from the first request on: Dash adds callbacks before this is called.
    callback = app.callback_map.get(body["output"])
    if callback is None:
        return False
    changed = body.get("changedPropIds", [])
    return (
        (callback.get("no_output") or _are_outputs(body.get("outputs"), body["output"]))
        and _are_properties(body.get("inputs", []), len(callback["inputs"]))
        and _are_properties(body.get("state", []), len(callback["state"]))
        and isinstance(changed, list)
        and all(isinstance(one, str) for one in changed)
    )


def _are_outputs(given: object, names: str) -> bool:
    """Whether these are the outputs of a callback; Dash writes the names of several as ``..a.x...b.y..``."""
    if names.startswith(".."):
        each = names[2:-2].split("...")
        return isinstance(given, list) and len(given) == len(each) and all(map(_is_output, given, each))
    return _is_output(given, names)


def _is_output(given: object, name: str) -> bool:
    if name.startswith("{"):
        # Of a pattern there are as many as components match it.
        return _is_property(given) or _are_properties(given)
    return _is_property(given) and f"{given['id']}.{given['property']}" == name


def _are_properties(given: object, count: int | None = None) -> bool:
    """Whether this is a list of ``count`` properties of components; one that matches a pattern has a list of them."""
    if not isinstance(given, list) or (count is not None and len(given) != count):
        return False
    return all(_is_property(one) or (isinstance(one, list) and all(map(_is_property, one))) for one in given)


def _is_property(given: object) -> bool:
    return (
        isinstance(given, dict)
        and isinstance(given.get("id"), str | dict)
        and isinstance(given.get("property"), str)
    )
