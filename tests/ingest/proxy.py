"""A server between us and a real Prometheus: in, what to spoil; out, an address, and what went through it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

import requests

from tests.app.http_server import listening


@dataclass
class Reply:
    """An answer on its way back; ``cut`` breaks it off after so many bytes, ``again_s`` sends it again and again, so many seconds apart."""

    status: int
    headers: dict[str, str]
    body: bytes
    cut: int | None = None
    again_s: float | None = None


@dataclass
class Proxy:
    """What went through: paths in order, the most requests under way at once, the headers and the body of each."""

    url: str
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    questions: list[bytes] = field(default_factory=list)
    most_at_once: int = 0


@contextlib.contextmanager
def proxy(
    target: str, spoil: Callable[[str, Reply], Reply | None] = lambda path, reply: None
) -> Iterator[Proxy]:
    """Pass requests on to ``target``; ``spoil(path, reply)`` may change or replace each reply."""
    lock = threading.Lock()
    under_way = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            nonlocal under_way
            question = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with lock:
                under_way += 1
                seen.most_at_once = max(seen.most_at_once, under_way)
                seen.paths.append(self.path)
                seen.headers.append(dict(self.headers))
                seen.questions.append(question)
            try:
                reply = self._forwarded(question)
                reply = spoil(self.path, reply) or reply
            finally:
                with lock:
                    under_way -= 1
            self._send(reply)

        do_POST = do_GET  # noqa: N815

        def _forwarded(self, question: bytes) -> Reply:
            headers = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "content-length")}
            answer = requests.request(
                self.command, target + self.path, data=question, headers=headers, timeout=60
            )
            return Reply(
                answer.status_code, {"Content-Type": answer.headers.get("Content-Type", "")}, answer.content
            )

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            # As Prometheus does, so that only the missing last chunk tells that something is missing.
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            body = reply.body if reply.cut is None else reply.body[: reply.cut]
            if body:
                self.wfile.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
            if reply.again_s is not None:
                self._repeat(body, reply.again_s)
            if reply.cut is None:
                self.wfile.write(b"0\r\n\r\n")
            else:
                self.close_connection = True

        def _repeat(self, body: bytes, every_s: float) -> None:
            """Until the other side has gone, or the test is long over."""
            until_s = time.monotonic() + 120
            with contextlib.suppress(OSError):
                while time.monotonic() < until_s:
                    time.sleep(every_s)
                    self.wfile.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    seen = Proxy("")
    with listening(Handler, waits=False) as seen.url:
        yield seen
