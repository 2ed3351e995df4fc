"""gunicorn's worker with time limits for slow clients. In: connections. Out: answers, or closed connections.

gunicorn limits only how long it waits for a connection's first byte: a thread that reads half a request, or sends an
answer that the client does not read, would be blocked. Here a request has to be complete some time after its first byte,
and the client has to read each piece of an answer in some time. The time to compute an answer is not limited here.

That lets the server come back by itself. A client that opens new connections as fast as old ones are cut still has its threads:
to hold slow clients off without a thread for each is what a reverse proxy (nginx, HAProxy) before the server is for.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Iterable, Iterator

from gunicorn.workers import gthread

from throttlescope.app.server.security.bodies import WHOLE
from throttlescope.app.server.security.headers import with_security_headers

# Each has its own time limit: with the worker's 30 s a client needs at least 9 kB a second.
_PIECE_BYTES = 2**18
# For what a client still sends when it is answered and its connection ends.
_PARTING_S = 2.0


class BoundedWorker(gthread.ThreadWorker):
    """A worker whose threads a client can occupy for a limited time only.

    Attributes
    ----------
    receive_s : float
        From the first byte of a request to the last of its body.
    least_s : float
        For reading one that waited so long for a thread that little of its time is left. It had time to arrive, so more
        would only let a crowd of half requests hold the threads one after another.
    send_s : float
        For each piece of an answer.
    """

    receive_s = 30.0
    least_s = 1.0
    send_s = 30.0

    def __init__(self, *arguments, **named) -> None:
        super().__init__(*arguments, **named)
        self._awaited = _Awaited()

    def load_wsgi(self) -> None:
        super().load_wsgi()
        application = self.wsgi

        def watched(environ, start_response):
            client = environ["gunicorn.socket"]

            def whole() -> None:
                self._awaited.end(client)
                client.settimeout(self.send_s)

            environ[WHOLE] = whole
            answer = application(environ, start_response)
            # A file goes out in pieces of the kernel's, each with its time-out.
            return answer if isinstance(answer, environ["wsgi.file_wrapper"]) else _in_pieces(answer)

        self.wsgi = watched

    def enqueue_req(self, conn) -> None:
        conn.begun_s = time.monotonic()
        super().enqueue_req(conn)

    def handle(self, conn):
        # A connection without a request yet waits without a thread; gunicorn would block one for some seconds.
        if not conn.initialized and not conn.wait_for_data(0):
            return gthread._DEFER
        waited_s = time.monotonic() - conn.begun_s
        self._awaited.begin(conn.sock, max(self.receive_s - waited_s, self.least_s))
        try:
            keeps = super().handle(conn)
        finally:
            self._awaited.end(conn.sock)
        if keeps is False:
            # gunicorn does it in its main thread, where it keeps everybody waiting.
            _part(conn.sock)
        return keeps

    def handle_request(self, req, conn):
        try:
            keeps = super().handle_request(req, conn)
        except TimeoutError as error:
            self.log.debug("A client did not read its answer: %s", error)
            return False
        # What is left of a body that was refused is read now, and may drip as well.
        self._awaited.begin(conn.sock, self.receive_s)
        return keeps

    def handle_error(self, req, client, addr, exc):
        # What gunicorn answers here has never been at the application, which adds the headers of all other answers.
        super().handle_error(req, _ErrorSocket(client), addr, exc)

    def murder_pending(self) -> None:
        # The main thread runs this at least every second, also while it stops.
        super().murder_pending()
        if cut := self._awaited.cut():
            self.log.debug("Requests that were not complete within %s s: %s", self.receive_s, cut)


class _ErrorSocket:
    """A client's socket that gets security headers into the one answer that is sent."""

    def __init__(self, client: socket.socket) -> None:
        self._client = client

    def __getattr__(self, name: str):
        return getattr(self._client, name)

    def sendall(self, answer: bytes) -> None:
        self._client.sendall(with_security_headers(answer))


class _Awaited:
    """Sockets of requests that are being read, and until when."""

    def __init__(self) -> None:
        self._until_s: dict[socket.socket, float] = {}
        self._lock = threading.Lock()

    def begin(self, client: socket.socket, seconds: float) -> None:
        with self._lock:
            self._until_s[client] = time.monotonic() + seconds

    def end(self, client: socket.socket) -> None:
        with self._lock:
            self._until_s.pop(client, None)

    def cut(self) -> int:
        """Shut down those whose time is over; the threads that read them then see the end of the stream.

        Where something has come that was not read yet, the thread is late and not the client: on a busy machine it may not run for seconds.
        """
        now_s = time.monotonic()
        with self._lock:
            late = [
                client
                for client, until_s in self._until_s.items()
                if until_s <= now_s and not _has_unread(client)
            ]
            for client in late:
                del self._until_s[client]
                with contextlib.suppress(OSError):
                    client.shutdown(socket.SHUT_RDWR)
        return len(late)


def _has_unread(client: socket.socket) -> bool:
    """Whether something has come that was not read yet; False for a socket that is closed."""
    if client.fileno() < 0:
        return False
    look = select.poll()
    look.register(client, select.POLLIN)
    return bool(look.poll(0))


def _in_pieces(answer: Iterable[bytes]) -> Iterator[bytes]:
    try:
        for part in answer:
            # An empty part sends the headers, so it is passed on.
            for at in range(0, len(part) or 1, _PIECE_BYTES):
                yield part[at : at + _PIECE_BYTES]
    finally:
        if (close := getattr(answer, "close", None)) is not None:
            close()


def _part(client: socket.socket) -> None:
    """Say that nothing more comes, and take for a moment what is still sent: the answer is lost to who is cut off while sending."""
    with contextlib.suppress(OSError):
        client.shutdown(socket.SHUT_WR)
        until_s = time.monotonic() + _PARTING_S
        while (left_s := until_s - time.monotonic()) > 0:
            client.settimeout(left_s)
            if not client.recv(2**16):
                break
    with contextlib.suppress(OSError):
        client.shutdown(socket.SHUT_RDWR)
