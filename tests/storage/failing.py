"""A server between us and a real S3 server. In: when it is to fail, and how. Out: an address, and what was written through it."""

from __future__ import annotations

import contextlib
import http.client
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit

_BUSY = (
    b'<?xml version="1.0" encoding="UTF-8"?>'
    b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
)


@dataclass
class FailingStore:
    """The server.

    Attributes
    ----------
    written : list of str
        Paths of the puts that the store has answered, in order.
    fails : threading.Event
        It has begun to fail; nothing reaches the store since.
    failed_s : float or None
        When it began, by the monotonic clock.
    """

    url: str
    written: list[str] = field(default_factory=list)
    fails: threading.Event = field(default_factory=threading.Event)
    failed_s: float | None = None


@contextlib.contextmanager
def failing_store(
    target: str,
    how: Literal["silent", "503"],
    begins: Callable[[FailingStore, str, str], bool] = lambda store, method, path: True,
) -> Iterator[FailingStore]:
    """Pass requests on, until ``begins(store, method, path)`` is true: from then on keep silent, or answer 503."""
    host, ended = urlsplit(target).netloc, threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = urlsplit(self.path).path
            if begins(store, self.command, path):
                store.failed_s = store.failed_s or time.monotonic()
                store.fails.set()
            if not store.fails.is_set():
                self._pass_on(content)
                if self.command == "PUT":
                    store.written.append(path)
            elif how == "silent":
                ended.wait()
                self.close_connection = True
            else:
                self._answer(503, [("Content-Type", "application/xml")], _BUSY)

        do_PUT = do_POST = do_DELETE = do_HEAD = do_GET  # noqa: N815

        def _pass_on(self, content: bytes) -> None:
            store_side = http.client.HTTPConnection(host, timeout=60)
            # As they came: the signature is of the headers, the host among them.
            store_side.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                store_side.putheader(name, value)
            store_side.endheaders(content)
            answer = store_side.getresponse()
            body = answer.read()
            skipped = ("transfer-encoding", "connection", "content-length")
            headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in skipped]
            length = answer.getheader("Content-Length") if self.command == "HEAD" else None
            self._answer(answer.status, headers, body, length)
            store_side.close()

        def _answer(
            self, status: int, headers: list[tuple[str, str]], body: bytes, length: str | None = None
        ) -> None:
            self.send_response_only(status)
            for name, value in headers:
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", length or str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def handle_one_request(self) -> None:
            # A client that has waited long enough goes away.
            with contextlib.suppress(ConnectionError):
                super().handle_one_request()
                return
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    store = FailingStore(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
