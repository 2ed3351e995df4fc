"""``throttlescope serve``: web app and HTTP API of a lake, on this machine only by default."""

from __future__ import annotations

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
from throttlescope.app.cli.settings import CommandOptions

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8050

Port = Annotated[int, typer.Option("--port", min=1, max=65535, help="TCP port to listen on.")]
Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")]
AllowRemote = Annotated[
    bool,
    typer.Option(
        "--allow-remote",
        help="Allow a --host that other machines can reach. It serves plain HTTP: put a proxy with TLS in front of it.",
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
        help="PromQL queries that run at once in each process.",
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
        help="Admit only the users of this file, by basic authentication; throttlescope users add writes it.",
        show_default=False,
    ),
]
UserHeader = Annotated[
    str | None,
    typer.Option(
        "--user-header",
        metavar="NAME",
        help="Admit only users that a proxy names in this header, such as X-Forwarded-User.",
        show_default=False,
    ),
]
Proxy = Annotated[
    list[str] | None,
    typer.Option(
        "--proxy",
        metavar="ADDRESS",
        help="Address or network from which --user-header is trusted. Repeat for more. Default: this machine.",
        show_default=False,
    ),
]
ExternalHost = Annotated[
    list[str] | None,
    typer.Option(
        "--external-host",
        metavar="NAME",
        help="Host name that users type, such as scope.example, or .example for all below it; requests for other names are refused. "
        "Repeat for more. Default: only this machine's names on loopback, all names with --allow-remote.",
        show_default=False,
    ),
]

Wait = Annotated[
    str | None,
    typer.Option(
        "--wait",
        metavar="DURATION",
        help="How long to wait for a lake that is still empty, such as 30m; the port is opened when it holds verdicts or samples. "
        "Default: an empty lake is an error.",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    app.command(short_help="Serve the web app and the HTTP API of a lake.")(serve)


def serve(
    context: typer.Context,
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
    wait: Wait = None,
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
    Only this machine can reach it, unless --host names another address and --allow-remote says so. No login is needed,
    unless --users or --user-header requires one; then everything is closed to others but /healthz, /-/healthy and /-/ready.
    A lake of another format than this version reads is refused before the port is opened.
    The sources (--prometheus, --pulsar-admin, or those of the configuration file) are queried by the button "Diagnose now" alone.
    """
    from throttlescope.app.cli.serving import start_server

    start_server(CommandOptions(context))
