"""``throttlescope serve``: the web app, on this machine only unless told otherwise."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import Config, Debug, LakeFolder

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8050

Port = Annotated[int, typer.Option("--port", min=1, max=65535, help="TCP port of the web app.")]
Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")]
AllowRemote = Annotated[
    bool,
    typer.Option(
        "--allow-remote", help="Allow a --host that other machines can reach. The app has no login."
    ),
]


def register(app: typer.Typer) -> None:
    app.command(short_help="Serve the web app of a lake.")(serve)


def serve(
    lake: LakeFolder = None,
    port: Port = DEFAULT_PORT,
    host: Host = DEFAULT_HOST,
    allow_remote: AllowRemote = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Serve the web app of a lake until interrupted (Ctrl-C).

    Only this machine can reach it, unless --host names another address and --allow-remote says so.
    """
    from throttlescope.app.cli.settings import settings_with
    from throttlescope.ingest.errors import InputError
    from throttlescope.ingest.lake import Lake

    settings = settings_with(config, {"lake": lake})
    check_address(host, allow_remote=allow_remote)
    if Lake(settings.lake).version("verdicts") is None:
        raise InputError(
            "There are no verdicts in this lake",
            got=str(settings.lake),
            fix="make some with throttlescope run --lake DIR, or try throttlescope demo",
        )
    from throttlescope.app.web.server import serve as serve_web

    print(
        f"throttlescope: http://{_in_url(host)}:{port} shows {settings.lake} (Ctrl-C ends it)",
        file=sys.stderr,
        flush=True,
    )
    serve_web(settings.lake.absolute(), host=host, port=port)


def serve_in_place(lake: Path, *, port: int) -> None:
    """Become ``throttlescope serve``: this process's threads and its Spark are gone, its terminal stays."""
    arguments = ["serve", "--lake", str(lake.absolute()), "--port", str(port)]
    os.execv(sys.executable, [sys.executable, "-m", "throttlescope.app.cli", *arguments])  # noqa: S606


def check_address(host: str, *, allow_remote: bool = False) -> None:
    """Refuse an address that other machines reach without being told twice.

    Raises
    ------
    InputError
        The address cannot be resolved, or is not loopback and ``allow_remote`` is false.
    """
    import ipaddress
    import socket

    from throttlescope.ingest.errors import InputError

    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise InputError("--host cannot be resolved", got=f"{host} ({error.strerror})") from None
    addresses = [ipaddress.ip_address(address[0].split("%")[0]) for *_, address in found]
    if not all(address.is_loopback for address in addresses) and not allow_remote:
        raise InputError(
            "The app has no login and would be open to other machines",
            got=f"--host {host}",
            expected="a loopback address such as 127.0.0.1",
            fix="leave --host out, put a proxy with a login before it, or add --allow-remote",
        )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
