"""Who is let in: by a file of users, by a proxy's header, and nobody else past either."""

from __future__ import annotations

import base64
import os

import pytest

from throttlescope.app.server import app
from throttlescope.app.server.security.login import AccessControl
from throttlescope.app.server.security.users import add_user, read_users, remove_user
from throttlescope.ingest.core.errors import InputError

PASSWORD = "correct horse: battery"  # noqa: S105


def basic(name: str, password: str = PASSWORD) -> dict:
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


@pytest.fixture
def users(tmp_path):
    path = tmp_path / "users"
    assert add_user(path, "amélie", PASSWORD)
    return path


@pytest.fixture
def client(sample_lake, users):
    return app.create_app(sample_lake, access=AccessControl(users)).server.test_client()


PATHS = (
    "/",
    "/_dash-layout",
    "/api/v1/labels",
    "/api/throttlescope/v1/verdicts",
    "/metrics",
    "/export/nothing",
    "/assets/app.js",
)


@pytest.mark.long
@pytest.mark.parametrize("path", PATHS)
def test_only_health_check_needs_no_login(client, path):
    answer = client.get(path)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Basic ")
    assert answer.headers["Content-Security-Policy"]
    assert client.get("/healthz").status_code == 200


@pytest.mark.long
def test_only_listed_users_can_log_in(client):
    assert client.get("/", headers=basic("amélie")).status_code == 200
    assert client.get("/", headers=basic("amélie")).status_code == 200
    for wrong in (basic("amélie", "wrong"), basic("amelie"), basic(""), {"Authorization": "Basic !!"}):
        assert client.get("/", headers=wrong).status_code == 401
    assert client.get("/", headers={"Authorization": "Bearer x"}).status_code == 401


@pytest.mark.long
def test_removed_user_is_refused_at_once(client, users):
    """Although successful logins are cached."""
    add_user(users, "bo", PASSWORD)
    assert client.get("/", headers=basic("bo")).status_code == 200
    remove_user(users, "bo")
    assert client.get("/", headers=basic("bo")).status_code == 401


@pytest.mark.long
def test_old_password_is_refused_after_change(client, users):
    assert client.get("/", headers=basic("amélie")).status_code == 200
    assert not add_user(users, "amélie", "another one 123")
    assert client.get("/", headers=basic("amélie")).status_code == 401
    assert client.get("/", headers=basic("amélie", "another one 123")).status_code == 200


def test_user_header_is_trusted_from_proxy_only(sample_lake):
    """A repeated header is refused."""
    access = AccessControl(user_header="X-Forwarded-User", external_hosts=("scope.example",))
    client = app.create_app(sample_lake, access=access).server.test_client()
    named = {"X-Forwarded-User": "amélie"}
    assert client.get("/", headers=named | {"Host": "scope.example"}).status_code == 200
    assert client.get("/", headers={"Host": "scope.example"}).status_code == 403
    assert client.get("/", headers=named | {"Host": "other.example"}).status_code == 400
    assert client.get("/", headers={"X-Forwarded-User": "  "}).status_code == 403
    assert client.get("/", headers=[("X-Forwarded-User", "a"), ("X-Forwarded-User", "b")]).status_code == 403
    elsewhere = {"REMOTE_ADDR": "192.0.2.7"}
    assert client.get("/", headers=named, environ_base=elsewhere).status_code == 403
    assert client.get("/healthz", environ_base=elsewhere).status_code == 200


def test_proxies_can_be_a_network(sample_lake):
    access = AccessControl(user_header="X-User", proxies=("192.0.2.0/24",))
    client = app.create_app(sample_lake, host="0.0.0.0", access=access).server.test_client()  # noqa: S104
    assert (
        client.get("/", headers={"X-User": "a"}, environ_base={"REMOTE_ADDR": "192.0.2.7"}).status_code == 200
    )
    assert client.get("/", headers={"X-User": "a"}).status_code == 403


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"users_file": "x", "user_header": "X-User"}, "exclude each other"),
        ({"user_header": "X User"}, "not a valid header name"),
        ({"user_header": "X-User", "proxies": ("proxy.example",)}, "not an address or network"),
    ],
)
def test_invalid_options_raise(parts, says):
    with pytest.raises(InputError, match=says):
        AccessControl(**parts)


@pytest.mark.long
def test_users_file_is_hashed_and_private(users):
    text = users.read_text()
    assert PASSWORD not in text
    assert text.startswith("amélie:scrypt:")
    assert users.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("amélie\n", "Line 1"),
        ("# people\namélie:secret in the clear\n", "Line 2"),
        ("a:scrypt:1$2$3\na:scrypt:1$2$3\n", "repeats a name"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_invalid_users_file_is_refused(tmp_path, text, says):
    """The error does not show its content."""
    path = tmp_path / "users"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(0o600)
    with pytest.raises(InputError, match=says) as refused:
        read_users(path)
    assert "secret" not in str(refused.value)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
def test_users_file_writable_by_others_is_refused(users):
    users.chmod(0o666)
    with pytest.raises(InputError, match="Other accounts may write"):
        read_users(users)


@pytest.mark.parametrize("name", ["", "a:b", " a", "a\nb", "x" * 101])
def test_invalid_user_names_are_refused(tmp_path, name):
    with pytest.raises(InputError, match="cannot be used to log in"):
        add_user(tmp_path / "users", name, PASSWORD)
    assert not (tmp_path / "users").exists()


def test_a_short_password_is_refused(tmp_path):
    with pytest.raises(InputError, match="7 characters"):
        add_user(tmp_path / "users", "bo", "1234567")
