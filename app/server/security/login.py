"""Authentication. In: requests. Out: the authenticated ones, or 401 and 403 with the reason.

Either basic authentication against a file of users, or the header that a proxy sets after it has
authenticated the person. The header is trusted only from the proxy's own address.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from flask import Flask, Response, g, request

from throttlescope.app.server.security.users import UsersFile
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.messages.catalogue import sentence

#: Health checks; they contain nothing of the lake.
OPEN_PATHS = ("/healthz", "/-/healthy", "/-/ready")

_REMEMBERED_S = 300
_MOST_REMEMBERED = 1000
# A check takes a tenth of a second of a core on purpose: guessing must not occupy both cores.
_CHECKS_AT_ONCE = 1
_LONGEST_USER = 300


@dataclass(frozen=True)
class AccessControl:
    """Authentication of the server; by default everybody who can reach it has access.

    Parameters
    ----------
    users_file : Path, optional
        Basic authentication against it.
    user_header : str, optional
        Header with the person's name that a proxy sets, such as ``X-Forwarded-User``.
    proxies : tuple of str
        Addresses or networks from which that header is trusted.
    external_hosts : tuple of str
        Host names that users type: requests for others are refused, but for this machine's own.

    Raises
    ------
    InputError
        Both kinds at once, or a proxy that is not an address.
    """

    users_file: Path | None = None
    user_header: str | None = None
    proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    external_hosts: tuple[str, ...] = ()
    networks: tuple = field(init=False, repr=False, default=())

    def __post_init__(self) -> None:
        if self.users_file is not None and self.user_header is not None:
            raise InputError(
                "A file of users and a user header exclude each other",
                got="both",
                fix="let the proxy log people in, or throttlescope, not both",
            )
        if self.user_header is not None and not self.user_header.replace("-", "").isalnum():
            raise InputError("The user header is not a valid header name", got=self.user_header)
        try:
            networks = tuple(ipaddress.ip_network(proxy) for proxy in self.proxies)
        except ValueError as error:
            raise InputError(
                "A trusted proxy is not an address or network",
                got=str(error),
                expected="10.0.0.5 or 10.0.0.0/24",
            ) from error
        object.__setattr__(self, "networks", networks)

    @property
    def has_login(self) -> bool:
        return self.users_file is not None or self.user_header is not None


#: Everybody who can reach the server; that is this machine by default.
OPEN_ACCESS = AccessControl()


def guard(server: Flask, access: AccessControl) -> None:
    """Authenticate every request before anything else."""
    if access.users_file is not None:
        check = _Basic(UsersFile(access.users_file))
    elif access.user_header is not None:
        check = _Header(access)
    else:
        return

    @server.before_request
    def ask():
        return None if request.path in OPEN_PATHS else check()


class _Basic:
    """Basic authentication; an authenticated person is cached for some minutes, by a keyed digest."""

    def __init__(self, users: UsersFile) -> None:
        self._users = users
        self._key = secrets.token_bytes(32)
        self._remembered: dict[bytes, float] = {}
        self._turn = threading.Semaphore(_CHECKS_AT_ONCE)

    def __call__(self) -> Response | None:
        given = request.authorization
        if given is None or given.type != "basic" or given.username is None or given.password is None:
            return _unauthorized("Log in.")
        if not self._lets_in(given.username, given.password):
            return _unauthorized(sentence("server.refused.wrong_password"))
        g.user = given.username
        return None

    def _lets_in(self, name: str, password: str) -> bool:
        account = f"{self._users.version()}\0{len(name)}\0{name}\0{password}".encode("utf-8", "surrogatepass")
        digest = hmac.new(self._key, account, hashlib.sha256).digest()
        now = time.monotonic()
        if self._remembered.get(digest, 0) > now:
            return True
        with self._turn:
            if not self._users.lets_in(name, password):
                return False
        if len(self._remembered) >= _MOST_REMEMBERED:
            self._remembered = {}
        self._remembered[digest] = now + _REMEMBERED_S
        return True


class _Header:
    """Authentication by a proxy's header; requests that bypass the proxy are rejected."""

    def __init__(self, access: AccessControl) -> None:
        self._access = access

    def __call__(self) -> Response | None:
        if not self._is_proxy(request.remote_addr):
            return _forbidden(sentence("server.refused.not_the_proxy"))
        user = request.headers.get(self._access.user_header, "").strip()
        # The server joins repeated headers by commas: a client may have added its own.
        if not user or "," in user or len(user) > _LONGEST_USER:
            return _forbidden(sentence("server.refused.no_user", header=self._access.user_header))
        g.user = user
        return None

    def _is_proxy(self, address: str | None) -> bool:
        try:
            found = ipaddress.ip_address(address or "")
        except ValueError:
            return False
        return any(found in network for network in self._access.networks)


def _unauthorized(reason: str) -> Response:
    headers = {"WWW-Authenticate": 'Basic realm="throttlescope", charset="UTF-8"'}
    return Response(f"{reason}\n", 401, headers, mimetype="text/plain")


def _forbidden(reason: str) -> Response:
    return Response(f"{reason}\n", 403, mimetype="text/plain")
