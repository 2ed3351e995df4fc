"""Replies on the wire. In: an endpoint's reply or error, and the request. Out: an HTTP response: envelope, compression, CORS."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain

import orjson
from flask import Request, Response

from throttlescope.app.server.api.endpoints import Reply
from throttlescope.app.services.promql.errors import ApiError
from throttlescope.ingest.core.regex import Pattern

#: A route for all of them answers a wrong one itself.
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_CORS = {
    "Access-Control-Allow-Headers": "Accept, Authorization, Content-Type, Origin",
    "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
    "Access-Control-Expose-Headers": "Date",
}
# Dashboards query over a loopback or a LAN: fast compression is better than small answers.
_LEVEL = 1
_WINDOWS = {"gzip": 31, "deflate": 15}


def succeeded(reply: Reply) -> Response:
    """``{"status": "success", "data": ...}``; a large answer is sent while it is written."""
    tail = b"".join(
        b',"%s":%s' % (name, orjson.dumps(notes))
        for name, notes in ((b"warnings", reply.warnings), (b"infos", reply.infos))
        if notes
    )
    head, pieces = b'{"status":"success","data":', reply.pieces
    if isinstance(pieces, tuple):
        body = b"".join((head, *pieces, tail, b"}"))
    else:
        body = chain((head,), pieces, (tail + b"}",))
    return Response(body, content_type="application/json")


def failed(error: ApiError) -> Response:
    """``{"status": "error", ...}`` with its status code."""
    body = {"status": "error", "errorType": error.kind, "error": error.text}
    return Response(orjson.dumps(body), error.code, content_type="application/json")


def plain(code: int, text: str, *, allow: Iterable[str] = ()) -> Response:
    """A line of text, as Go's router answers for unknown endpoints."""
    response = Response(text, code, content_type="text/plain; charset=utf-8")
    if allow:
        response.headers["Allow"] = ", ".join(sorted(allow))
    return response


def for_origin(response: Response, request: Request, allowed: Pattern) -> Response:
    """Let pages of the allowed origins read the response."""
    response.headers.add("Vary", "Origin")
    origin = request.headers.get("Origin", "")
    if origin:
        response.headers.update(_CORS)
        if allowed.matches(origin):
            response.headers["Access-Control-Allow-Origin"] = origin
    return response


def compressed(response: Response, request: Request) -> Response:
    """In the first encoding that the client names and that is known here."""
    names = (name.strip() for name in request.headers.get("Accept-Encoding", "").split(","))
    encoding = next((name for name in names if name in _WINDOWS), None)
    if encoding is None or response.status_code == 204:
        return response
    response.headers["Content-Encoding"] = encoding
    if response.is_streamed:
        response.response = _compressed(response.response, _WINDOWS[encoding])
    else:
        response.set_data(b"".join(_compressed([response.get_data()], _WINDOWS[encoding])))
    return response


def _compressed(pieces: Iterable[bytes], window: int) -> Iterator[bytes]:
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, window)
    for piece in pieces:
        if text := compressor.compress(piece):
            yield text
    yield compressor.flush()
