"""A receiver of webhooks on loopback. In: how it is to answer. Out: its address, and the requests that came."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.app.http_server import listening

#: What each type of channel answers where it takes a message.
YES = {
    "webhook": (204, b"", {}),
    "slack": (200, b"ok", {}),
    "dingtalk": (200, b'{"errcode":0,"errmsg":"ok"}', {}),
    "wecom": (200, b'{"errcode":0,"errmsg":"ok"}', {}),
}
Reply = tuple[int, bytes, dict[str, str]]


@dataclass
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes
    at_s: float

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def query(self) -> dict[str, str]:
        return {name: values[-1] for name, values in parse_qs(urlsplit(self.path).query).items()}


@dataclass
class Receiver:
    """A receiver that answers with the next of its replies, and with the last one from then on."""

    replies: list[Reply | Callable[[BaseHTTPRequestHandler], None]]
    url: str = ""
    requests: list[Received] = field(default_factory=list)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.requests.append(Received(handler.path, headers, body, time.monotonic()))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if callable(reply):
            return reply(handler)
        status, content, more = reply
        handler.send_response(status)
        for name, value in more.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        return handler.wfile.write(content)


@contextlib.contextmanager
def receiving(
    *replies: Reply | Callable[[BaseHTTPRequestHandler], None], tls: Any = None
) -> Iterator[Receiver]:
    """A receiver that runs until the block ends; hanging answers are not waited for."""
    receiver = Receiver(list(replies))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.answer(self)

        def do_GET(self) -> None:
            receiver.answer(self)

        def log_message(self, *_: object) -> None:
            pass

    with listening(Handler, waits=False, tls=tls) as url:
        receiver.url = url
        yield receiver


def hangs(handler: BaseHTTPRequestHandler) -> None:
    """Never answers, for as long as a test takes."""
    time.sleep(20)


def drips(handler: BaseHTTPRequestHandler) -> None:
    """Sends a header's byte now and then, so that no wait for bytes is ever long."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    for _ in range(200):
        with contextlib.suppress(OSError):
            handler.wfile.write(b"x")
            handler.wfile.flush()
        time.sleep(0.1)
