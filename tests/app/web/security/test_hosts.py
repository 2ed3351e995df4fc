"""Host names that the server answers for, on loopback and on other addresses."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.app.commands import throttlescope
from throttlescope.app.server.security.hosts import admit_hosts, check_host_name
from throttlescope.ingest.core.errors import InputError

ANYWHERE = "0.0.0.0"  # noqa: S104
PODS_ADDRESS, SERVICE = "10.42.0.7:8050", "scope.monitoring.svc:8050"


def answered(listens_on, external_hosts, asked):
    server = Flask(__name__)
    admit_hosts(server, listens_on, external_hosts)
    server.add_url_rule("/", view_func=lambda: "here")
    answer = server.test_client().get("/", headers={"Host": asked})
    assert answer.status_code in (200, 400)
    assert (answer.text == "here") == (answer.status_code == 200)
    assert ("--external-host" in answer.text) == (answer.status_code == 400)
    return answer.status_code == 200


@pytest.mark.parametrize(
    ("listens_on", "external_hosts", "yes", "no"),
    [
        (
            "127.0.0.1", (), ["127.0.0.1:8050", "localhost", "LOCALHOST:8050", "[::1]:8050", "localhost."],
            ["scope.example", PODS_ADDRESS, "localhost.example", "127.0.0.1.example", "[::2]"],
        ),
        ("::1", (), ["[::1]:8050", "localhost"], ["scope.example"]),
        ("127.0.0.2", (), ["127.0.0.2:8050", "localhost"], ["scope.example", PODS_ADDRESS]),
        ("localhost", (), ["127.0.0.1:8050", "localhost"], ["scope.example", PODS_ADDRESS]),
        (
            "127.0.0.1", ("scope.example",), ["scope.example", "Scope.Example:443", "localhost"],
            ["a.scope.example", "evil-scope.example", PODS_ADDRESS],
        ),
        (ANYWHERE, (), ["scope.example", PODS_ADDRESS, SERVICE, "localhost"], []),
        (
            ANYWHERE, ("scope.example", "scope.monitoring.svc"), ["scope.example", PODS_ADDRESS, SERVICE, "[fd00::7]:8050", "127.0.0.1"],
            ["other.example", "example", "scope.example.other"],
        ),
        (ANYWHERE, (".scope.example",), ["a.scope.example", "a.b.scope.example", "scope.example"], ["ascope.example", "example"]),
        ("10.42.0.7", ("scope.example",), [PODS_ADDRESS, "scope.example"], ["other.example"]),
        ("scope-7.example", ("scope.example",), ["scope-7.example", "scope.example"], ["scope-8.example"]),
        (ANYWHERE, ("bücher.example",), ["xn--bcher-kva.example"], ["bcher.example"]),
    ],
)  # fmt: skip
def test_known_hosts_are_answered(listens_on, external_hosts, yes, no):
    assert [asked for asked in yes if not answered(listens_on, external_hosts, asked)] == []
    assert [asked for asked in no if answered(listens_on, external_hosts, asked)] == []


def test_malformed_host_is_refused():
    assert not answered(ANYWHERE, ("scope.example",), "scope.example:port@other.example")
    assert not answered("127.0.0.1", (), "[::1")


@pytest.mark.parametrize(
    "name",
    [
        "https://scope.example",
        "scope.example:443",
        "scope.example/path",
        "",
        "*.example",
        f"{'a' * 64}.example",
    ],
)
def test_address_is_no_host_name(name):
    with pytest.raises(InputError, match="without scheme, port and path"):
        check_host_name(name)


@pytest.mark.long
def test_external_host_is_checked_at_start(tmp_path):
    done = throttlescope(
        "serve", "--lake", str(tmp_path / "none"), "--external-host", "https://scope.example"
    )
    assert done.code == 2
    assert done.line.startswith(
        "throttlescope: --external-host is not a host name; got https://scope.example; expected a name"
    )
