"""How large a request may be. In: requests. Out: bodies that are whole and bounded, or 413 with the reason.

A body is read before anything is done for its request: whoever sends one slowly is still in the server's hands then, which
knows how long it waits (``slow_clients``).
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from tempfile import SpooledTemporaryFile
from typing import IO

from flask import Flask, Response

#: Of a form Prometheus takes as much; what pages send is far below.
MOST_BODY_BYTES = 10 * 2**20
#: Name in a request's environment of what its server wants called as soon as all of it was read.
WHOLE = "throttlescope.whole"

# Beyond it a body waits in a file: as many as there are threads may come at once.
_IN_MEMORY_BYTES = 2**20
_PIECE_BYTES = 2**16


def bound_bodies(server: Flask) -> None:
    """Read every request's body ahead, and refuse one of more than ``MOST_BODY_BYTES`` with 413 and one line."""
    server.config["MAX_CONTENT_LENGTH"] = MOST_BODY_BYTES
    inner = server.wsgi_app

    def read_first(environ: dict, start_response: Callable):
        _read_ahead(environ)
        environ.get(WHOLE, lambda: None)()
        return inner(environ, start_response)

    server.wsgi_app = read_first

    @server.errorhandler(413)
    def too_large(error: Exception) -> Response:
        text = f"The request is too large: its body has more than {MOST_BODY_BYTES} bytes ({MOST_BODY_BYTES // 2**20} MiB).\n"
        return Response(text, 413, mimetype="text/plain")


def _read_ahead(environ: dict) -> None:
    """Put a body that was read in the place of one that is still to come, and its length beside it."""
    chunked = "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower()
    said_bytes = 0 if chunked else _length(environ)
    if not chunked and not 0 < said_bytes <= MOST_BODY_BYTES:
        # None, or one that Flask refuses by what it says of itself.
        return
    body = SpooledTemporaryFile(_IN_MEMORY_BYTES)  # noqa: SIM115
    read_bytes = _copy(environ["wsgi.input"], body, MOST_BODY_BYTES + 1 if chunked else said_bytes)
    if read_bytes < said_bytes:
        # Nobody is left to answer; gunicorn passes over an error of this kind.
        raise ConnectionResetError(errno.ECONNRESET, "the client left before its request was whole")
    body.seek(0)
    # Chunks say nothing of their sum, and Flask would cut them off at the bound instead of refusing them.
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
