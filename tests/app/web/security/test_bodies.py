"""Bodies of requests: up to the bound they are read, beyond it refused in one line, however they are sent."""

from __future__ import annotations

import http.client
import io

import pytest

from tests.app.web.security.few_threads import running
from throttlescope.app.server import app as web_server
from throttlescope.app.server.security.bodies import MOST_BODY_BYTES

TOO_LARGE = "The request is too large: its body has more than 10485760 bytes (10 MiB).\n"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("bodies") / "log") as one:
        yield one


@pytest.fixture(scope="module")
def app(sample_lake):
    return web_server.create_app(sample_lake).server.test_client()


class CountingStream(io.BytesIO):
    taken = 0

    def read(self, size=-1):
        got = super().read(size)
        self.taken += len(got)
        return got


def post(app, path: str, body: bytes, kind: str, *, chunked: bool):
    stream = CountingStream(body)
    sent = {
        "input_stream": stream,
        "content_type": kind,
        "environ_overrides": {"wsgi.input_terminated": True},
    }
    sent["headers"] = {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(len(body))}
    return app.post(path, **sent), stream.taken


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_too_large_body_is_refused_unread(app, chunked):
    body = b" " * (3 * MOST_BODY_BYTES)
    answer, taken = post(app, "/_dash-update-component", body, "application/json", chunked=chunked)
    assert (answer.status_code, answer.text, answer.mimetype) == (413, TOO_LARGE, "text/plain")
    assert taken == (MOST_BODY_BYTES + 1 if chunked else 0)


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_api_refuses_large_body_like_prometheus(app, chunked):
    body = b"query=1&x=".ljust(MOST_BODY_BYTES, b"y")
    answer, _ = post(app, "/api/v1/query", body, FORM, chunked=chunked)
    assert answer.get_json()["status"] == "success"
    answer, _ = post(app, "/api/v1/query", body + b"y", FORM, chunked=chunked)
    assert answer.status_code == 400
    assert answer.get_json() == {
        "status": "error",
        "errorType": "bad_data",
        "error": "error parsing form values: http: POST too large",
    }


@pytest.mark.long
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, (200, "0")),
        (MOST_BODY_BYTES, (200, str(MOST_BODY_BYTES))),
        (MOST_BODY_BYTES + 1, (413, TOO_LARGE)),
        # Its client sends it to the end before it reads the answer.
        (3 * MOST_BODY_BYTES, (413, TOO_LARGE)),
    ],
    ids=["none", "the most", "one more", "much more"],
)
def test_body_limit_over_real_connection(server, size, expected, chunked):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    pieces = (b"x" * min(2**20, size - at) for at in range(0, size, 2**20))
    headers = {} if chunked else {"Content-Length": str(size)}
    connection.request("POST", "/length", pieces, headers, encode_chunked=chunked)
    answer = connection.getresponse()
    assert (answer.status, answer.read().decode()) == expected
    connection.close()
