"""HTTP exchanges as they were. In: requests of a browser or of a test to one server. Out: the bytes of each request and answer.

As ZAP does, it is a proxy between the two. Only the server that is judged is reached through it.
"""

from __future__ import annotations

import contextlib
import http.client
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import urlsplit

_ANSWER_S = 300
#: Between two neighbours only, or set anew for what is sent on.
_OF_ONE_HOP = {
    "connection",
    "proxy-connection",
    "keep-alive",
    "transfer-encoding",
    "content-length",
    "accept-encoding",
}


class Exchange(NamedTuple):
    """One request with its answer; headers begin with their first line and end with an empty one, bodies are decoded."""

    request_header: bytes
    request_body: bytes
    answer_header: bytes
    answer_body: bytes

    @property
    def status(self) -> int:
        return int(self.answer_header.split(b" ", 2)[1])

    @property
    def named(self) -> str:
        """Method and address, without the server."""
        method, url, _ = self.request_header.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
        return f"{method} {path_of(url)}"


def path_of(url: str) -> str:
    """Path and query of an address."""
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


class Recorder:
    """Sends requests on to one server, and keeps every exchange."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.exchanges: list[Exchange] = []

    def send(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b""
    ) -> Exchange:
        """Send one request."""
        host = urlsplit(self.target).netloc
        given = {"Host": host, "User-Agent": "throttlescope-judge", "Accept": "*/*"} | (headers or {})
        return self.forward(method, self.target + path, list(given.items()), body)

    def forward(self, method: str, url: str, headers: list[tuple[str, str]], body: bytes) -> Exchange:
        kept = [(name, value) for name, value in headers if name.lower() not in _OF_ONE_HOP]
        # Rules read texts: nothing is compressed.
        kept.append(("Accept-Encoding", "identity"))
        if body:
            kept.append(("Content-Length", str(len(body))))
        connection = http.client.HTTPConnection(urlsplit(self.target).netloc, timeout=_ANSWER_S)
        with contextlib.closing(connection):
            connection.putrequest(method, path_of(url) or "/", skip_host=True, skip_accept_encoding=True)
            for name, value in kept:
                connection.putheader(name, value)
            connection.endheaders(body or None)
            answer = connection.getresponse()
            data = answer.read()
            first = f"HTTP/1.1 {answer.status} {answer.reason}"
            exchange = Exchange(
                _header(f"{method} {url} HTTP/1.1", kept), body, _header(first, answer.getheaders()), data
            )
        self.exchanges.append(exchange)
        return exchange


def _header(first: str, headers: list[tuple[str, str]]) -> bytes:
    lines = [first, *(f"{name}: {value}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address) -> None:
        # A browser that closes a page closes its connections.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def proxy_of(recorder: Recorder) -> Iterator[str]:
    """A proxy for a browser, on a loopback port; its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_request(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if not self.path.startswith(recorder.target + "/"):
                self.send_error(403)
                return
            exchange = recorder.forward(self.command, self.path, list(self.headers.items()), body)
            first, *headers = exchange.answer_header.decode("latin-1").strip().split("\r\n")
            self.send_response_only(exchange.status, first.split(" ", 2)[2])
            for line in headers:
                name, _, value = line.partition(": ")
                if name.lower() not in _OF_ONE_HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(exchange.answer_body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(exchange.answer_body)

        do_GET = do_POST = do_HEAD = do_OPTIONS = do_PUT = do_DELETE = do_PATCH = handle_request  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
