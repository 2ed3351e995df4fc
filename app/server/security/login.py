"""Who is asking. In: requests. Out: the ones that are let through, or 401 and 403 with the reason.

Two ways, never both: basic authentication against a file of users, or the header that a proxy sets
after it has checked the person. A header is believed only from the proxy's own address.
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

#: Asked by what watches the process; they say nothing of what is in the lake.
OPEN_PATHS = ("/healthz", "/-/healthy", "/-/ready")

_REMEMBERED_S = 300
_MOST_REMEMBERED = 1000
# A check takes a tenth of a second of a core on purpose: guessing must not take both.
_CHECKS_AT_ONCE = 1
_LONGEST_USER = 300


@dataclass(frozen=True)
class Doors:
    """How people are let in; the default lets everybody in who can reach the server.

    Parameters
    ----------
    users_file : Path, optional
        Basic authentication against it.
    user_header : str, optional
        Header in which a proxy names the person, such as ``X-Forwarded-User``.
    proxies : tuple of str
        Addresses or networks from which that header is believed.
    external_hosts : tuple of str
        Host names under which a proxy asks, beside this machine's own.

    Raises
    ------
    InputError
        Both ways at once, or a proxy that is no address.
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
            raise InputError("The user header is no name of a header", got=self.user_header)
        try:
            networks = tuple(ipaddress.ip_network(proxy) for proxy in self.proxies)
        except ValueError as error:
            raise InputError(
                "A trusted proxy is no address or network", got=str(error), expected="10.0.0.5 or 10.0.0.0/24"
            ) from error
        object.__setattr__(self, "networks", networks)

    @property
    def has_login(self) -> bool:
        return self.users_file is not None or self.user_header is not None


#: Everybody who can reach the server; that is this machine, unless told otherwise.
OPEN_DOORS = Doors()


def guard(server: Flask, doors: Doors) -> None:
    """Ask every request who it is, before anything else is done for it."""
    if doors.users_file is not None:
        check = _Basic(UsersFile(doors.users_file))
    elif doors.user_header is not None:
        check = _Header(doors)
    else:
        return

    @server.before_request
    def ask():
        return None if request.path in OPEN_PATHS else check()


class _Basic:
    """Basic authentication; a person who was let in is remembered for some minutes, by a keyed digest."""

    def __init__(self, users: UsersFile) -> None:
        self._users = users
        self._key = secrets.token_bytes(32)
        self._remembered: dict[bytes, float] = {}
        self._turn = threading.Semaphore(_CHECKS_AT_ONCE)

    def __call__(self) -> Response | None:
        given = request.authorization
        if given is None or given.type != "basic" or given.username is None or given.password is None:
            return _ask("Log in")
        if not self._lets_in(given.username, given.password):
            return _ask("Unknown name or wrong password")
        g.user = given.username
        return None

    def _lets_in(self, name: str, password: str) -> bool:
        said = f"{self._users.version()}\0{len(name)}\0{name}\0{password}".encode("utf-8", "surrogatepass")
        digest = hmac.new(self._key, said, hashlib.sha256).digest()
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
    """The header that a proxy sets; whoever asks past the proxy is refused."""

    def __init__(self, doors: Doors) -> None:
        self._doors = doors

    def __call__(self) -> Response | None:
        if not self._is_proxy(request.remote_addr):
            return _refuse("This server is asked through its proxy only.")
        user = request.headers.get(self._doors.user_header, "").strip()
        # The server joins several of one header by commas: somebody may have smuggled theirs past the proxy.
        if not user or "," in user or len(user) > _LONGEST_USER:
            return _refuse(f"The proxy did not name one person in {self._doors.user_header}.")
        g.user = user
        return None

    def _is_proxy(self, address: str | None) -> bool:
        try:
            found = ipaddress.ip_address(address or "")
        except ValueError:
            return False
        return any(found in network for network in self._doors.networks)


def _ask(reason: str) -> Response:
    headers = {"WWW-Authenticate": 'Basic realm="throttlescope", charset="UTF-8"'}
    return Response(f"{reason}.\n", 401, headers, mimetype="text/plain")


def _refuse(reason: str) -> Response:
    return Response(f"{reason}\n", 403, mimetype="text/plain")
