"""The addresses of the API. In: a lake and limits. Out: a Flask blueprint for ``/api``.

Addresses and methods are dispatched here and not by Flask, which would add HEAD and OPTIONS, redirect, and answer a
mistyped address with the web app's page.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from flask import Blueprint, Response, current_app, request
from werkzeug.exceptions import RequestEntityTooLarge

from throttlescope.app.server.api.endpoints import Endpoints, Reply
from throttlescope.app.server.api.parameters import Parameters, parse_form
from throttlescope.app.server.api.replies import METHODS, compressed, failed, for_origin, plain, succeeded
from throttlescope.app.services.promql.concurrency import ConcurrencyLimit, QueryLimits
from throttlescope.app.services.promql.errors import BAD_DATA, INTERNAL, ApiError, api_error_of
from throttlescope.app.services.promql.lake_queries import LakeQueries
from throttlescope.ingest.core.regex import compile_pattern

#: Origins whose pages may read the API in a browser. None, where Prometheus allows all: whatever page the operator has
#: open could read the lake.
NO_ORIGIN = ""
DEFAULT_LIMITS = QueryLimits()

_READ, _READ_OR_FORM = ("GET",), ("GET", "POST")
_LABEL_VALUES = re.compile(r"label/([^/]+)/values")
_ESCAPED_CHARACTER = re.compile(r"_([0-9a-fA-F]{1,5})_|__")


def api_blueprint(
    queries: LakeQueries,
    limits: QueryLimits = DEFAULT_LIMITS,
    *,
    concurrency: ConcurrencyLimit | None = None,
    cors_origin: str = NO_ORIGIN,
) -> Blueprint:
    """The API of one lake.

    Parameters
    ----------
    queries : LakeQueries
    limits : QueryLimits
        Per process.
    concurrency : ConcurrencyLimit, optional
        Shared with other users of the same lake in this process; by default its own.
    cors_origin : str
        Regular expression of the origins whose pages may read answers; it has to match the whole origin.
    """
    endpoints = Endpoints(queries, limits, concurrency)
    allowed = compile_pattern(cors_origin)
    blueprint = Blueprint("prometheus_api", __name__)
    table: dict[str, tuple[tuple[str, ...], Callable[[Parameters], Reply]]] = {
        "query": (_READ_OR_FORM, endpoints.query),
        "query_range": (_READ_OR_FORM, endpoints.query_range),
        "labels": (_READ_OR_FORM, endpoints.labels),
        "series": (_READ_OR_FORM, endpoints.series),
        "metadata": (_READ, endpoints.metadata),
        "status/buildinfo": (_READ, endpoints.build_information),
    }

    def found(path: str) -> tuple[tuple[str, ...], Callable[[Parameters], Reply]] | None:
        if values_of := _LABEL_VALUES.fullmatch(path):
            name = values_of.group(1)
            return _READ, lambda parameters: endpoints.label_values(parameters, _label_name(name))
        return table.get(path)

    @blueprint.route("/api/v1", defaults={"path": ""}, methods=METHODS, provide_automatic_options=False)
    @blueprint.route("/api/<path:path>", methods=METHODS, provide_automatic_options=False)
    def api(path: str) -> Response:
        version, _, path = _raw_path().removeprefix("/api/").partition("/")
        if request.method == "OPTIONS" and version == "v1":
            return for_origin(Response(status=204), request, allowed)
        endpoint = found(path) if version == "v1" else None
        if endpoint is None:
            return plain(404, "404 page not found\n")
        methods, call = endpoint
        if request.method not in methods:
            return plain(405, "Method Not Allowed\n", allow=(*methods, "OPTIONS"))
        return compressed(for_origin(_answered(call), request, allowed), request)

    return blueprint


def _answered(call: Callable[[Parameters], Reply]) -> Response:
    try:
        return succeeded(call(_parameters()))
    except Exception as error:
        shown = api_error_of(error)
        if shown.kind == INTERNAL:
            # The client gets one line; details go to the server's log.
            current_app.logger.exception("%s %s", request.method, request.path)
        return failed(shown)


def _parameters() -> Parameters:
    pairs = []
    if request.method == "POST":
        try:
            if request.mimetype == "application/x-www-form-urlencoded":
                # Limited for all of the server's addresses (app/server/security/bodies.py).
                pairs += parse_form(request.stream.read())
            elif request.mimetype == "multipart/form-data":
                pairs += [(name.encode(), value.encode()) for name, value in request.form.items(multi=True)]
        except RequestEntityTooLarge:
            # In Prometheus' words, and with its 400 where other addresses answer 413.
            raise ApiError(BAD_DATA, "error parsing form values: http: POST too large") from None
    return Parameters(pairs + parse_form(request.query_string))


def _raw_path() -> str:
    """The path with bytes that are no UTF-8 shown as Go shows them; Flask's own replaces them."""
    return request.environ["PATH_INFO"].encode("latin-1").decode(errors="backslashreplace")


def _label_name(name: str) -> str:
    """The label that an address names.

    A name that begins with ``U__`` is written with letters, digits and underscores only: ``_2e_`` is the character of
    that code, ``__`` an underscore. A name that does not follow this encoding is used unchanged.
    """
    try:
        request.environ["PATH_INFO"].encode("latin-1").decode()
    except UnicodeDecodeError:
        raise ApiError(BAD_DATA, f'invalid label name: "{name}"') from None
    if name.startswith("U__"):
        name = _unescaped(name)
    if not name:
        raise ApiError(BAD_DATA, 'invalid label name: ""')
    return name


def _unescaped(name: str) -> str:
    rest = name.removeprefix("U__")
    out, at = [], 0
    while at < len(rest):
        if rest[at] != "_":
            out.append(rest[at])
            at += 1
            continue
        found = _ESCAPED_CHARACTER.match(rest, at)
        if found is None:
            return name
        code = found.group(1)
        if code is not None and 0xD800 <= int(code, 16) <= 0xDFFF:
            return name
        out.append("_" if code is None else chr(int(code, 16)))
        at = found.end()
    return "".join(out)
