"""The server started from the options of ``serve``. In: options. Out: a server that runs until it is interrupted.

All options are validated before a port is opened.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from throttlescope.app.cli.served_lake import SERVED_TABLES, begin_look, finish_look

if TYPE_CHECKING:
    from subprocess import Popen

    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.promql.concurrency import QueryLimits
    from throttlescope.ingest.core.lake_address import LakeAddress

_LOOK_EVERY_S = 2.0


def start_server(options: CommandOptions) -> None:
    """Serve a lake with the options of ``serve``.

    Raises
    ------
    InputError
        The address is open to other machines, the lake holds nothing that is served or is of another format, or an option is not
        understood.
    """
    given, settings = options.given, options.settings(sources=options.sources)
    # The server's libraries are loaded meanwhile.
    with _begin_look(settings.lake) as look:
        from throttlescope.app.log import tell
        from throttlescope.app.server.app import Live, serve
        from throttlescope.app.server.security.hosts import check_host_name
        from throttlescope.app.server.security.login import AccessControl
        from throttlescope.app.server.security.users import read_users
        from throttlescope.ingest.core.regex import compile_pattern

        users, host, port = given["users"], given["host"], given["port"]
        access = AccessControl(
            users,
            given["user_header"],
            tuple(given["proxy"] or AccessControl.proxies),
            tuple(check_host_name(name) for name in given["external_host"] or ()),
        )
        if users is not None:
            read_users(users)
        check_address(host, allow_remote=given["allow_remote"], has_login=access.has_login)
        wait_ms = 0 if given["wait"] is None else options.duration_ms("wait")
        tables = _served_tables(settings.lake, wait_ms, look)
        compile_pattern(given["cors_origin"])
        limits, address = _query_limits(options), f"{_in_url(host)}:{port}"
    tell(
        f"throttlescope: http://{address} shows {settings.lake} (Ctrl-C ends it)",
        event="serving",
        address=address,
        lake=str(settings.lake),
    )
    serve(
        settings.lake.absolute(),
        host=host,
        port=port,
        limits=limits,
        cors_origin=given["cors_origin"],
        access=access,
        live=Live.of(settings),
        tables=tables,
    )


def _query_limits(options: CommandOptions) -> QueryLimits:
    from throttlescope.app.services.promql.concurrency import QueryLimits
    from throttlescope.ingest.core.times import SECOND_MS
    from throttlescope.transforms.promql.query import Options

    timeout_ms = options.duration_ms("query_timeout", "--query-timeout must be more than 0")
    evaluation = Options(timeout_s=timeout_ms / SECOND_MS, max_samples=options.given["query_max_samples"])
    return QueryLimits(evaluation, running=options.given["query_concurrency"])


def _served_tables(lake: LakeAddress, wait_ms: int, look: Popen | None) -> tuple[str, ...]:
    """Which of the served tables a lake has; every table that is there can be read by this version.

    ``look`` is the first look, as :func:`_begin_look` began it.

    Raises
    ------
    InputError
        There is none of them after ``wait_ms``, or a table of the lake has another format.
    """
    from throttlescope.app.log import say
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import SECOND_MS

    until_s = time.monotonic() + wait_ms / SECOND_MS
    tables = finish_look(look) if look else ()
    if wait_ms and not tables:
        say(f"{lake} holds no verdicts and no samples yet; waiting for them")
    while not tables and time.monotonic() < until_s:
        time.sleep(_LOOK_EVERY_S)
        with _begin_look(lake) as look:
            tables = finish_look(look) if look else ()
    if not tables:
        raise InputError(
            "There are no verdicts and no samples in this lake",
            got=str(lake),
            expected="a lake",
            fix="make one with throttlescope run --lake DIR, or try throttlescope demo",
        )
    return tables


def _begin_look(lake: LakeAddress) -> AbstractContextManager[Popen | None]:
    """A look at a lake that has begun; None at a folder that is still empty: it is looked at again and again, and for that no process is needed."""
    if not lake.is_remote and not any(Path(lake, table, "_delta_log").is_dir() for table in SERVED_TABLES):
        return nullcontext()
    return begin_look(str(lake.absolute()))


def serve_in_place(lake: LakeAddress, *, port: int) -> None:
    """Replace this process by ``throttlescope serve``: its threads and its Spark end, its terminal stays."""
    arguments = ["serve", "--lake", str(lake.absolute()), "--port", str(port)]
    os.execv(sys.executable, [sys.executable, "-m", "throttlescope.app.cli", *arguments])  # noqa: S606


def check_address(host: str, *, allow_remote: bool = False, has_login: bool = False) -> None:
    """Refuse an address that other machines reach, unless ``--allow-remote`` confirms it.

    Raises
    ------
    InputError
        The address cannot be resolved, or is not loopback and ``allow_remote`` is false.
    """
    import ipaddress
    import socket

    from throttlescope.ingest.core.errors import InputError

    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise InputError("--host cannot be resolved", got=f"{host} ({error.strerror})") from None
    addresses = [ipaddress.ip_address(address[0].split("%")[0]) for *_, address in found]
    if not all(address.is_loopback for address in addresses) and not allow_remote:
        raise InputError(
            "Passwords would travel in the clear: the app serves plain HTTP"
            if has_login
            else "The app has no login and would be open to other machines",
            got=f"--host {host}",
            expected="a loopback address such as 127.0.0.1",
            fix="leave --host out and put a proxy with TLS and a login in front of it, or add --allow-remote",
        )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
