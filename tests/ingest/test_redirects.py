"""What goes along when a redirect leads on, as the servers at both ends saw it arrive."""

from __future__ import annotations

import base64

import pytest

from tests.app.http_server import answering
from tests.ingest.certificates import certificate
from tests.ingest.ways import PROMETHEUS, healthy
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.sources.access import Access
from throttlescope.ingest.sources.prometheus_api import PrometheusApi
from throttlescope.ingest.sources.pulsar_admin import PulsarAdmin

HEADERS = {"X-Scope-OrgID": "h3ader-of-a-tenant", "x-tenant-key": "h3ader-from-the-environment"}
TOKEN = {"token": "t0ken"}
BASIC = {"username": "reader", "password": "pa55"}
SENT = {"t0ken", base64.b64encode(b"reader:pa55").decode(), *HEADERS.values()}

by_each_reader = pytest.mark.parametrize("ask", PROMETHEUS.values(), ids=PROMETHEUS)
with_each_credential = pytest.mark.parametrize("credential", [TOKEN, BASIC], ids=["token", "basic"])


class Server:
    """Answers everything, or sends everything on to ``target``; ``seen`` is what arrived: paths and headers."""

    def __init__(self, target: str | None = None, status: int = 200) -> None:
        self.target, self.status, self.seen = target, status, []

    def __call__(self, method: str, path: str, headers: dict[str, str]):
        self.seen.append((path, headers))
        if self.target is not None and not path.startswith("/moved"):
            return 307, "text/plain", (self.target + path).encode()
        _, kind, body = healthy(method, path, headers)
        return self.status, kind, body

    @property
    def secrets(self) -> list[set[str]]:
        """Ours among the headers of each request."""
        return [
            {secret for secret in SENT for value in headers.values() if secret in value}
            for _, headers in self.seen
        ]


def all_of(credential: dict) -> set[str]:
    return {
        *HEADERS.values(),
        "t0ken" if "token" in credential else base64.b64encode(b"reader:pa55").decode(),
    }


def ask_admin(url: str, access: Access) -> None:
    assert PulsarAdmin([url], access).get("/admin/v2/clusters") == '["lab"]'


@pytest.fixture(autouse=True)
def _a_netrc(tmp_path, monkeypatch):
    """Has something for every server of these tests, which none of them should get."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login reader password pa55\n")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return certificate(tmp_path_factory.mktemp("tls"), "localhost", "127.0.0.1")


@pytest.mark.long
@by_each_reader
@with_each_credential
def test_prometheus_redirect_elsewhere_drops_credentials(ask, credential) -> None:
    there = Server()
    with answering(there) as target:
        first = Server(target)
        with answering(first) as url:
            ask(url, Access(**credential, headers=HEADERS))
    assert first.secrets == [all_of(credential)]
    assert there.secrets == [set()]
    # Whatever else the request needs has arrived.
    assert there.seen[0][1]["User-Agent"] == "throttlescope"


@by_each_reader
def test_redirect_within_prometheus_keeps_credentials(ask) -> None:
    server = Server("/moved")
    with answering(server) as url:
        ask(url, Access(**TOKEN, headers=HEADERS))
    assert [path.startswith("/moved") for path, _ in server.seen] == [False, True]
    assert server.secrets == [all_of(TOKEN)] * 2


@by_each_reader
def test_another_scheme_is_another_server(ask, ours) -> None:
    there = Server()
    with answering(there) as target:
        first = Server(target)
        with answering(first, tls=ours.tls()) as url:
            ask(url, Access(**TOKEN, headers=HEADERS, ca_file=ours.cert_file, cert_file=ours.cert_file,
                            key_file=ours.key_file))  # fmt: skip
    assert (first.secrets, there.secrets) == ([all_of(TOKEN)], [set()])


@pytest.mark.parametrize("ask", [PROMETHEUS["remote read"], PROMETHEUS["API"]], ids=["remote read", "API"])
@pytest.mark.parametrize("status", [401, 403])
def test_refusal_after_a_redirect_says_why(ask, status) -> None:
    there = Server("/moved", status)
    with answering(there) as target:
        first = Server(target)
        with answering(first) as url, pytest.raises(SourceError) as caught:
            ask(url, Access(**TOKEN, headers=HEADERS))
    text = str(caught.value)
    assert "a redirect led there" in text
    assert f"{target}/moved" in text
    assert "\n" not in text
    assert [path.startswith("/moved") for path, _ in there.seen] == [False, True]


def test_redirect_without_credentials_asks_for_them() -> None:
    asking = pytest.raises(SourceError, match="wants authentication")
    with answering(Server(status=401)) as target, answering(Server(target)) as url, asking:
        PrometheusApi(url, Access()).query("vector(1)", 0)


@with_each_credential
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "TLS"])
def test_redirect_between_brokers_keeps_credentials(ours, credential, tls) -> None:
    there = Server()
    with answering(there, tls=ours.tls() if tls else None) as target:
        first = Server(target)
        with answering(first, tls=ours.tls() if tls else None) as url:
            ask_admin(url, Access(**credential, headers=HEADERS, ca_file=ours.cert_file))
    assert first.secrets == there.secrets == [all_of(credential)]


def test_redirect_to_tls_keeps_credentials(ours) -> None:
    there = Server()
    with answering(there, tls=ours.tls()) as target, answering(Server(target)) as url:
        ask_admin(url, Access(**TOKEN, headers=HEADERS, ca_file=ours.cert_file))
    assert there.secrets == [all_of(TOKEN)]


@with_each_credential
def test_redirect_to_plain_text_drops_credentials(ours, credential) -> None:
    last = Server()
    with answering(last, tls=ours.tls()) as behind:
        there = Server(behind)
        with answering(there) as target:
            first = Server(target)
            with answering(first, tls=ours.tls()) as url:
                ask_admin(url, Access(**credential, headers=HEADERS, ca_file=ours.cert_file))
    assert first.secrets == [all_of(credential)]
    # Who sends plain text could be anybody, and so could those that it names.
    assert there.secrets == last.secrets == [set()]
