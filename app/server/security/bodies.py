"""Limits of request bodies. In: requests. Out: complete bodies of limited size, or 413 with the reason.

A body is read before its request is handled: while a slow client sends it, the server's time limits
apply (``slow_clients``).
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from tempfile import SpooledTemporaryFile
from typing import IO

from flask import Flask, Response

from throttlescope.models.messages.catalogue import sentence

#: Prometheus accepts forms of this size; pages send far less.
MOST_BODY_BYTES = 10 * 2**20
#: Key in a request's environment of the server's callback for when the body has been read.
WHOLE = "throttlescope.whole"

# Larger bodies are buffered in a file: there may be one per thread at once.
_IN_MEMORY_BYTES = 2**20
_PIECE_BYTES = 2**16


def bound_bodies(server: Flask) -> None:
    """Read every request's body first, and answer one of more than ``MOST_BODY_BYTES`` with 413 and one line."""
    server.config["MAX_CONTENT_LENGTH"] = MOST_BODY_BYTES
    inner = server.wsgi_app

    def read_first(environ: dict, start_response: Callable):
        _read_ahead(environ)
        environ.get(WHOLE, lambda: None)()
        return inner(environ, start_response)

    server.wsgi_app = read_first

    @server.errorhandler(413)
    def too_large(error: Exception) -> Response:
        text = sentence("server.refused.too_large", bytes=MOST_BODY_BYTES, mebibytes=MOST_BODY_BYTES // 2**20)
        return Response(f"{text}\n", 413, mimetype="text/plain")


def _read_ahead(environ: dict) -> None:
    """Replace the request's stream and length by those of the body that was read."""
    chunked = "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower()
    said_bytes = 0 if chunked else _length(environ)
    if not chunked and not 0 < said_bytes <= MOST_BODY_BYTES:
        # None, or a declared length that Flask rejects.
        return
    body = SpooledTemporaryFile(_IN_MEMORY_BYTES)  # noqa: SIM115
    read_bytes = _copy(environ["wsgi.input"], body, MOST_BODY_BYTES + 1 if chunked else said_bytes)
    if read_bytes < said_bytes:
        # The client is gone; gunicorn ignores an error of this kind.
        raise ConnectionResetError(
            errno.ECONNRESET, "the client disconnected before its request was complete"
        )
    body.seek(0)
    # Chunks do not declare their total size, and Flask would truncate them at the limit instead of rejecting them.
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    environ.update({"wsgi.input": body, "CONTENT_LENGTH": str(read_bytes)})


def _length(environ: dict) -> int:
    try:
        return int(environ.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


def _copy(source: IO[bytes], target: IO[bytes], most_bytes: int) -> int:
    copied = 0
    while copied < most_bytes and (piece := source.read(min(_PIECE_BYTES, most_bytes - copied))):
        target.write(piece)
        copied += len(piece)
    return copied
