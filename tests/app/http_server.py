"""A small HTTP server on loopback for sources that misbehave: in, a function from request to answer; out, its address."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = tuple[int, str, bytes]


@contextlib.contextmanager
def answering(
    answer: Callable[[str, str, dict[str, str]], Answer], *, tls: ssl.SSLContext | None = None
) -> Iterator[str]:
    """Serve ``answer(method, path, headers) -> (status, content type, body)``; a status of 3xx leads to the address in its body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, kind, body = answer(self.command, self.path, dict(self.headers))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if 300 <= status < 400:
                self.send_header("Location", body.decode())
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with listening(Handler, tls=tls) as url:
        yield url


@contextlib.contextmanager
def listening(
    handler: type[BaseHTTPRequestHandler], *, waits: bool = True, tls: ssl.SSLContext | None = None
) -> Iterator[str]:
    """Let a handler answer on loopback, by TLS or not; at the end answers that are under way are waited for, or not."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    server.daemon_threads = not waits
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def html(*_: object) -> Answer:
    return 200, "text/html; charset=utf-8", b"<!doctype html><title>Login</title>"


def unauthorised(*_: object) -> Answer:
    return 401, "text/plain", b"Unauthorized"
