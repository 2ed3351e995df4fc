"""``throttlescope serve``: the web app under gunicorn, on this machine only unless told otherwise."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import Config, Debug, LakeFolder

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8050
# Two processes answer side by side; more would only wait for the same two cores of a laptop.
_WORKERS, _THREADS = 2, 4

Port = Annotated[int, typer.Option("--port", min=1, max=65535, help="TCP port of the web app.")]
Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")]
AllowRemote = Annotated[
    bool,
    typer.Option(
        "--allow-remote", help="Allow a --host that other machines can reach. The app has no login."
    ),
]


def register(app: typer.Typer) -> None:
    app.command()(serve)


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
    check_address(host, port, allow_remote=allow_remote)
    if Lake(settings.lake).version("verdicts") is None:
        raise InputError(
            "There are no verdicts in this lake",
            got=str(settings.lake),
            fix="make some with throttlescope run --lake DIR, or try throttlescope demo",
        )
    print(f"throttlescope: http://{_in_url(host)}:{port} (Ctrl-C ends it)", file=sys.stderr, flush=True)
    _gunicorn(settings.lake.absolute(), host, port, debug=debug)


def serve_in_place(lake: Path, *, port: int) -> None:
    """Become ``throttlescope serve``: this process's threads and its Spark are gone, its terminal stays."""
    arguments = ["serve", "--lake", str(lake.absolute()), "--port", str(port)]
    os.execv(sys.executable, [sys.executable, "-m", "throttlescope.app.cli", *arguments])  # noqa: S606


def check_address(host: str, port: int, *, allow_remote: bool = False) -> None:
    """Refuse an address that other machines reach without being told twice, and a port that is taken.

    Raises
    ------
    InputError
        The address is not ours, not loopback without ``allow_remote``, or its port is in use.
    """
    import ipaddress
    import socket

    from throttlescope.ingest.errors import InputError

    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InputError("--host cannot be resolved", got=f"{host} ({error.strerror})") from None
    if not ipaddress.ip_address(address[0].split("%")[0]).is_loopback and not allow_remote:
        raise InputError(
            "The app has no login and would be open to other machines",
            got=f"--host {host}",
            expected="a loopback address such as 127.0.0.1",
            fix="leave --host out, put a proxy with a login before it, or add --allow-remote",
        )
    with socket.socket(family, kind, protocol) as probe:
        # As gunicorn binds: a port in TIME_WAIT is free, one that somebody listens on is not.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise InputError(
                f"Cannot listen on {host}:{port}", got=error.strerror, fix="choose another port with --port N"
            ) from None


def _gunicorn(lake: Path, host: str, port: int, *, debug: bool) -> None:
    from gunicorn.app.base import BaseApplication

    class Server(BaseApplication):
        def load_config(self) -> None:
            for name, value in {
                "bind": f"{_in_url(host)}:{port}",
                "workers": _WORKERS,
                "threads": _THREADS,
                "worker_class": "gthread",
                "loglevel": "debug" if debug else "warning",
                "proc_name": "throttlescope",
                # No file of gunicorn's own in the working folder.
                "control_socket_disable": True,
            }.items():
                self.cfg.set(name, value)

        def load(self):
            # Imported in the worker: a forked process must not inherit the threads of pyarrow and DuckDB.
            from throttlescope.app.web import create_server

            return create_server(lake)

    Server().run()


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
