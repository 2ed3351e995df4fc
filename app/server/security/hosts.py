"""Host names that the server answers for. In: requests. Out: those for its own names, or 400.

A foreign web page can point a name of its own to this machine and so read the app through a visitor's browser (DNS rebinding). That needs
a name: an address in ``Host`` is no danger, and probes and scrapes of Kubernetes send one.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from urllib.parse import urlsplit

from flask import Flask, Response, request

from throttlescope.ingest.core.errors import InputError
from throttlescope.models.messages.catalogue import sentence

_NAME = re.compile(r"\.?[\w-]+(\.[\w-]+)*\.?")


def check_host_name(name: str) -> str:
    """A host name as an option gives it; with a dot before it, all names below.

    Raises
    ------
    InputError
        It is an address of a page, or has a port.
    """
    try:
        is_name = _NAME.fullmatch(name) is not None and bool(_normal(name))
    except UnicodeError:
        # A part of it is longer than a name may be.
        is_name = False
    if not is_name:
        raise InputError(
            "--external-host is not a host name", got=name, expected="a name such as scope.example, without scheme, port and path"
        )  # fmt: skip
    return name


def admit_hosts(server: Flask, host: str, external_hosts: Collection[str]) -> None:
    """Refuse requests for other hosts before anything else.

    Parameters
    ----------
    host : str
        Where the server listens. On loopback it answers for loopback names only, and for ``external_hosts``. On any other address the
        ``external_hosts`` say for which names it answers, next to ``localhost`` and every address; without them it answers for all.
    """
    on_loopback = _is_loopback(host)
    if not on_loopback and not external_hosts:
        return
    names = {_normal(name) for name in ("localhost", host, *external_hosts)}

    def is_known(name: str) -> bool:
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            # ".scope.example" means the names below scope.example, and scope.example itself.
            parts = name.split(".")
            return name in names or any(f".{'.'.join(parts[i:])}" in names for i in range(len(parts)))
        return address.is_loopback or not on_loopback

    @server.before_request
    def check():
        try:
            known = is_known(_normal(urlsplit(f"//{request.host}").hostname or ""))
        except ValueError:
            known = False
        return (
            None if known else Response(sentence("server.refused.unknown_host"), 400, mimetype="text/plain")
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return _normal(host) == "localhost"


def _normal(name: str) -> str:
    # A name outside of ASCII is sent in this form.
    return name.rstrip(".").lower().encode("idna" if not name.startswith(".") else "utf-8").decode()
