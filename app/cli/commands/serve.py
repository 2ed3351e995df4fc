"""``throttlescope serve``: web app and HTTP API of a lake, on this machine only unless told otherwise."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    AdminTokenFile,
    ClusterName,
    Config,
    Debug,
    LakeFolder,
    Prometheus,
    PulsarAdmin,
    ReaderOption,
    TokenFile,
)
from throttlescope.ingest.core.lake_address import LakeAddress

_SERVED = ("verdicts", "samples")
DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8050

Port = Annotated[int, typer.Option("--port", min=1, max=65535, help="TCP port to listen on.")]
Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")]
AllowRemote = Annotated[
    bool,
    typer.Option(
        "--allow-remote",
        help="Allow a --host that other machines can reach. It serves plain HTTP: put TLS before it.",
    ),
]
QueryTimeout = Annotated[
    str,
    typer.Option(
        "--query-timeout", metavar="DURATION", help="How long a PromQL query may take, waiting included."
    ),
]
QueryMaxSamples = Annotated[
    int,
    typer.Option(
        "--query-max-samples", min=1, metavar="N", help="Samples that a PromQL query may hold at once."
    ),
]
QueryConcurrency = Annotated[
    int,
    typer.Option(
        "--query-concurrency",
        min=1,
        max=64,
        metavar="N",
        help="PromQL queries at work at once in each process.",
    ),
]
CorsOrigin = Annotated[
    str,
    typer.Option(
        "--cors-origin",
        metavar="REGEX",
        help="Origins whose pages may read the HTTP API in a browser, as Prometheus' --web.cors.origin. Default: none.",
        show_default=False,
    ),
]

Users = Annotated[
    Path | None,
    typer.Option(
        "--users",
        metavar="FILE",
        help="Let in only the people of this file, by basic authentication; throttlescope users add writes it.",
        show_default=False,
    ),
]
UserHeader = Annotated[
    str | None,
    typer.Option(
        "--user-header",
        metavar="NAME",
        help="Let in only whom a proxy names in this header, such as X-Forwarded-User.",
        show_default=False,
    ),
]
Proxy = Annotated[
    list[str] | None,
    typer.Option(
        "--proxy",
        metavar="ADDRESS",
        help="Address or network from which --user-header is believed. Repeat for more. Default: this machine.",
        show_default=False,
    ),
]
ExternalHost = Annotated[
    list[str] | None,
    typer.Option(
        "--external-host",
        metavar="NAME",
        help="Host name under which a proxy asks on loopback, such as scope.example. Repeat for more.",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    app.command(short_help="Serve the web app and the HTTP API of a lake.")(serve)


def serve(
    lake: LakeFolder = None,
    port: Port = DEFAULT_PORT,
    host: Host = DEFAULT_HOST,
    allow_remote: AllowRemote = False,
    query_timeout: QueryTimeout = "2m",
    query_max_samples: QueryMaxSamples = 50_000_000,
    query_concurrency: QueryConcurrency = 4,
    cors_origin: CorsOrigin = "",
    users: Users = None,
    user_header: UserHeader = None,
    proxy: Proxy = None,
    external_host: ExternalHost = None,
    prometheus: Prometheus = None,
    pulsar_admin: PulsarAdmin = None,
    cluster: ClusterName = None,
    reader: ReaderOption = None,
    token_file: TokenFile = None,
    admin_token_file: AdminTokenFile = None,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Serve the web app of a lake, and Prometheus' HTTP API over its samples, until interrupted (Ctrl-C).

    Grafana, promtool and other clients of Prometheus read the lake at the same address: see docs/reference/http-api.md.
    Prometheus scrapes limits and newest verdicts at /metrics: see docs/reference/metrics.md.
    Only this machine can reach it, unless --host names another address and --allow-remote says so. Nobody has to log in,
    unless --users or --user-header says how; then everything is closed to others but /healthz, /-/healthy and /-/ready.
    The sources (--prometheus, --pulsar-admin, or those of the configuration file) are asked by the button "Diagnose now" alone.
    """
    from throttlescope.app.cli.settings import SourceFlags, settings_with
    from throttlescope.ingest.core.errors import InputError

    sources = SourceFlags(
        prometheus=prometheus,
        pulsar_admin=pulsar_admin,
        cluster=cluster,
        reader=reader,
        token_file=token_file,
        admin_token_file=admin_token_file,
    )
    settings = settings_with(config, {"lake": lake}, sources)
    from throttlescope.app.server.security.login import AccessControl
    from throttlescope.app.server.security.users import read_users

    access = AccessControl(
        users, user_header, tuple(proxy or AccessControl.proxies), tuple(external_host or ())
    )
    if users is not None:
        read_users(users)
    check_address(host, allow_remote=allow_remote, has_login=access.has_login)
    tables = _tables_there(settings.lake)
    if not tables:
        raise InputError(
            "There are no verdicts and no samples in this lake",
            got=str(settings.lake),
            expected="a lake",
            fix="make one with throttlescope run --lake DIR, or try throttlescope demo",
        )
    from throttlescope.app.log import tell
    from throttlescope.app.server.app import Live
    from throttlescope.app.server.app import serve as serve_web
    from throttlescope.app.services.promql.concurrency import QueryLimits
    from throttlescope.ingest.core.regex import compile_pattern
    from throttlescope.ingest.core.times import parse_duration
    from throttlescope.transforms.promql.query import Options

    compile_pattern(cors_origin)
    timeout_ms = parse_duration(query_timeout)
    if timeout_ms == 0:
        raise InputError("--query-timeout is nothing", got=query_timeout, expected="more than 0")
    options = Options(timeout_s=timeout_ms / 1000, max_samples=query_max_samples)
    tell(
        f"throttlescope: http://{_in_url(host)}:{port} shows {settings.lake} (Ctrl-C ends it)",
        event="serving",
        address=f"{_in_url(host)}:{port}",
        lake=str(settings.lake),
    )
    serve_web(
        settings.lake.absolute(),
        host=host,
        port=port,
        limits=QueryLimits(options, running=query_concurrency),
        cors_origin=cors_origin,
        access=access,
        live=Live.of(settings),
        tables=tables,
    )


def _tables_there(lake: LakeAddress) -> tuple[str, ...]:
    """Which of the tables that are served a lake has; looked at and not opened."""
    import multiprocessing

    if not lake.is_remote:
        return tuple(table for table in _SERVED if Path(lake, table, "_delta_log").is_dir())
    # Threads of the libraries that reach a store do not survive the fork that makes the workers: another process looks.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_tables_in_store, (str(lake),))


def _tables_in_store(lake: str) -> tuple[str, ...]:
    from throttlescope.ingest.lake.open_storage import storage_of

    storage = storage_of(lake)
    return tuple(
        table
        for table in _SERVED
        if storage.exists(f"{table}/_delta_log/{0:020d}.json") or storage.list(f"{table}/_delta_log")
    )


def serve_in_place(lake: LakeAddress, *, port: int) -> None:
    """Become ``throttlescope serve``: this process's threads and its Spark are gone, its terminal stays."""
    arguments = ["serve", "--lake", str(lake.absolute()), "--port", str(port)]
    os.execv(sys.executable, [sys.executable, "-m", "throttlescope.app.cli", *arguments])  # noqa: S606


def check_address(host: str, *, allow_remote: bool = False, has_login: bool = False) -> None:
    """Refuse an address that other machines reach without being told twice.

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
            fix="leave --host out and put a proxy with TLS and a login before it, or add --allow-remote",
        )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
