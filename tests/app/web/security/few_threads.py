"""``serve``'s worker with few threads and little patience, and an application of four addresses. Out: its address and its log.

Run as a program it is that server.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.lab.processes import free_port, log_tail, running_process

THREADS = 3
RECEIVE_S = 2.0
SEND_S = 2.0
LARGE_BYTES = 50_000_000


@dataclass(frozen=True)
class Server:
    """A running server, and its clients' first step."""

    port: int
    log_file: Path

    def connect(self, sent: bytes = b"", *, receive_buffer_bytes: int | None = None) -> socket.socket:
        client = socket.socket()
        if receive_buffer_bytes is not None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        client.settimeout(60)
        client.connect(("127.0.0.1", self.port))
        client.sendall(sent)
        return client


def request(path: str, *headers: str, method: str = "GET", body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@contextlib.contextmanager
def running(log_file: Path) -> Iterator[Server]:
    """The server for the length of the context."""
    server = Server(free_port(), log_file)
    command = [sys.executable, "-m", "tests.app.web.security.few_threads", str(server.port)]
    with running_process(command, log_file, max_lifetime_s=600) as process:
        deadline_s = time.monotonic() + 120
        while True:
            with contextlib.suppress(OSError), server.connect(request("/")) as client:
                if client.recv(1):
                    break
            if process.poll() is not None or time.monotonic() > deadline_s:
                raise RuntimeError(f"the server is not ready:\n{log_tail(log_file)}")
            time.sleep(0.1)
        yield server


def _application():
    from flask import Flask, request

    from throttlescope.app.server.security.bodies import bound_bodies

    app = Flask(__name__)
    app.add_url_rule("/", "hello", lambda: "hello")
    app.add_url_rule("/length", "length", lambda: str(len(request.get_data())), methods=["POST"])
    app.add_url_rule("/long", "long", lambda: time.sleep(2 * RECEIVE_S) or "done", methods=["POST"])
    app.add_url_rule("/large", "large", lambda: b"x" * LARGE_BYTES)
    bound_bodies(app)
    return app


def _serve(port: int) -> None:
    from gunicorn.app.base import BaseApplication

    from throttlescope.app.server.security.slow_clients import BoundedWorker

    BoundedWorker.receive_s, BoundedWorker.send_s, BoundedWorker.least_s = RECEIVE_S, SEND_S, 0.1

    class Small(BaseApplication):
        def load_config(self):
            for name, value in (
                ("bind", f"127.0.0.1:{port}"),
                ("workers", 1),
                ("threads", THREADS),
                ("worker_class", BoundedWorker),
                ("keepalive", 100),
                ("loglevel", "warning"),
                ("control_socket_disable", True),
            ):
                self.cfg.set(name, value)

        def load(self):
            return _application()

    Small().run()


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
