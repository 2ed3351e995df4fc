"""Whether the client has disconnected. In: the request that is being answered. Out: yes or no.

A browser that cancels a request closes its connection; gunicorn gives the socket to the request, so that a long answer can be
given up. Other servers do not, and behind a proxy it is the proxy that decides: then every client counts as connected.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable

from flask import has_request_context, request


def disconnect_check() -> Callable[[], bool]:
    """A function that says whether the client of the current request has disconnected; any thread may call it."""
    connection = request.environ.get("gunicorn.socket") if has_request_context() else None
    if connection is None:
        return lambda: False
    return lambda: is_closed(connection)


def is_closed(connection: socket.socket) -> bool:
    """Whether the other end has closed; what it sent before, the next request, is not consumed."""
    # One each time: threads of one answer call it at once, and a poll object serves one of them. select() would fail beyond 1,023 sockets.
    poll = select.poll()
    try:
        poll.register(connection, select.POLLIN)
        return bool(poll.poll(0)) and connection.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except (OSError, ValueError):
        return True
