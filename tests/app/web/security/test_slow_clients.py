"""Clients that send or take as little as they can: each holds a thread for a bounded time, and the others are answered."""

from __future__ import annotations

import contextlib
import http.client
import socket
import time

import pytest
from gunicorn.app.base import BaseApplication

from tests.app.web.security.few_threads import LARGE_BYTES, RECEIVE_S, SEND_S, THREADS, request, running
from tests.lab.processes import free_port
from throttlescope.app.server import app as web_server
from throttlescope.app.server.security.slow_clients import BoundedWorker, _Awaited

pytestmark = pytest.mark.long

# What a busy machine may add to a time-out, and to an answer that nobody holds up.
SLACK_S = 20
AT_ONCE_S = 3.0

HALF_HEAD = b"GET / HTTP/1.1\r\nHost: local"
HALF_BODY = request("/length", "Content-Length: 10", method="POST", body=b"12345")
HALF_CHUNK = request("/length", "Transfer-Encoding: chunked", method="POST", body=b"a\r\n12345")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("few_threads") / "log") as one:
        yield one


def answer(client) -> tuple[int, bytes]:
    found = http.client.HTTPResponse(client)
    found.begin()
    return found.status, found.read()


def seconds_to_an_answer(server) -> float:
    begun_s = time.monotonic()
    with server.connect(request("/")) as client:
        assert answer(client) == (200, b"hello")
    return time.monotonic() - begun_s


def is_cut(client) -> bool:
    """Whether nothing but the end comes; waits for it."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.fixture
def clients():
    with contextlib.ExitStack() as stack:
        yield stack.enter_context


@pytest.mark.parametrize("half", [HALF_HEAD, HALF_BODY, HALF_CHUNK], ids=["head", "body", "chunk"])
def test_incomplete_requests_in_all_threads_end(server, clients, half):
    halves = [clients(server.connect(half)) for _ in range(THREADS)]
    time.sleep(0.2)
    assert seconds_to_an_answer(server) < RECEIVE_S + SLACK_S
    assert all(is_cut(client) for client in halves)


def test_late_thread_is_not_taken_for_a_slow_client():
    """What has come and was not read yet is the fault of a thread that does not run."""
    ours, theirs = socket.socketpair()
    awaited = _Awaited()
    with ours, theirs:
        awaited.begin(ours, 0.0)
        theirs.sendall(b"GET / HTTP/1.1")
        assert awaited.cut() == 0
        assert ours.recv(100) == b"GET / HTTP/1.1"
        assert awaited.cut() == 1
        assert theirs.recv(1) == b""


def test_incomplete_requests_time_out_in_parallel(server, clients):
    rounds = 12
    for _ in range(rounds * THREADS):
        clients(server.connect(HALF_HEAD))
    time.sleep(0.2)
    # The server looks once a second who is late.
    assert seconds_to_an_answer(server) < 0.8 * rounds * RECEIVE_S


@pytest.mark.parametrize(
    ("begin", "drop"),
    [
        (b"GET / HTTP/1.1\r\nX: ", b"x"),
        (request("/length", "Content-Length: 1000", method="POST"), b"x"),
        (request("/length", "Transfer-Encoding: chunked", method="POST"), b"1\r\nx\r\n"),
        # Refused by what it says of itself; what follows would be thrown away as it comes.
        (request("/length", "Content-Length: 99000000", method="POST"), b"x"),
    ],
    ids=["head", "body", "chunks", "refused body"],
)
def test_dripping_request_is_cut_off(server, clients, begin, drop):
    """It is sent a byte at a time."""
    client = clients(server.connect(begin))
    begun_s = time.monotonic()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        while time.monotonic() - begun_s < RECEIVE_S + SLACK_S:
            client.sendall(drop)
            time.sleep(0.1)
    assert RECEIVE_S - 0.5 < time.monotonic() - begun_s < RECEIVE_S + SLACK_S


def test_idle_connections_occupy_no_thread(server, clients):
    for _ in range(3 * THREADS):
        clients(server.connect())
    time.sleep(0.2)
    assert seconds_to_an_answer(server) < AT_ONCE_S


def test_lingering_clients_do_not_delay_others(server, clients):
    """They keep the connection open after their response."""
    for _ in range(THREADS - 1):
        client = clients(server.connect(request("/", "Connection: close")))
        assert answer(client) == (200, b"hello")
    assert seconds_to_an_answer(server) < AT_ONCE_S


def test_clients_not_reading_responses_are_cut_off(server, clients):
    for _ in range(THREADS):
        clients(server.connect(request("/large"), receive_buffer_bytes=4096))
    time.sleep(0.5)
    assert seconds_to_an_answer(server) < SEND_S + SLACK_S


def test_large_response_arrives_complete(server, clients):
    status, body = answer(clients(server.connect(request("/large"))))
    assert (status, len(body)) == (200, LARGE_BYTES)


def test_slow_but_complete_request_is_answered(server, clients):
    whole = request("/length", "Content-Length: 4", method="POST", body=b"1234")
    client = clients(server.connect())
    for at in range(0, len(whole), 20):
        client.sendall(whole[at : at + 20])
        time.sleep(0.1)
    assert answer(client) == (200, b"4")


def test_slow_response_is_not_cut_off(server, clients):
    client = clients(server.connect(request("/long", "Content-Length: 4", method="POST", body=b"1234")))
    assert answer(client) == (200, b"done")


def test_connection_is_reused_for_next_request(server, clients):
    client = clients(server.connect(request("/")))
    assert answer(client) == (200, b"hello")
    time.sleep(RECEIVE_S + 1.5)
    client.sendall(
        request("/length", "Transfer-Encoding: chunked", method="POST", body=b"3\r\nabc\r\n0\r\n\r\n")
    )
    assert answer(client) == (200, b"3")
    client.sendall(request("/"))
    assert answer(client) == (200, b"hello")


def test_aborted_requests_log_nothing(server, clients):
    for half in (HALF_HEAD, HALF_BODY, HALF_CHUNK):
        server.connect(half).close()
    assert seconds_to_an_answer(server) < SLACK_S
    assert server.log_file.read_text() == ""


def test_serve_uses_bounded_worker(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(BaseApplication, "run", lambda self: seen.append(self.cfg.worker_class))
    web_server.serve(tmp_path, port=free_port())
    assert seen == [BoundedWorker]
    assert (BoundedWorker.receive_s, BoundedWorker.send_s) == (30, 30)


def test_unreadable_requests_get_security_headers(server, clients):
    """gunicorn itself answers these, not the application."""
    for sent, status in (
        (request("/" + "a" * 9000), 414),
        (b"GET / HTTP/9.9\r\n\r\n", 400),
        (b"GET / x\r\n\r\n", 400),
    ):
        found = http.client.HTTPResponse(clients(server.connect(sent)))
        found.begin()
        assert found.status == status
        assert found.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert found.headers["X-Content-Type-Options"] == "nosniff"
        assert found.headers["Cache-Control"] == "no-store"
        assert len(found.read()) == int(found.headers["Content-Length"]) > 0
