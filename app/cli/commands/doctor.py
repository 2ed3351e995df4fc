"""``throttlescope doctor``: what the sources offer, and the fix for each red line."""

from __future__ import annotations

import typer

from throttlescope.app.cli.options import (
    AdminTokenFile,
    ClusterName,
    Config,
    Debug,
    Format,
    FormatOption,
    Prometheus,
    PulsarAdmin,
    TokenFile,
)
from throttlescope.app.cli.settings import CommandOptions


def register(app: typer.Typer) -> None:
    app.command(short_help="Examine the configuration and the sources.")(doctor)


def doctor(
    context: typer.Context,
    prometheus: Prometheus = None,
    pulsar_admin: PulsarAdmin = None,
    cluster: ClusterName = None,
    token_file: TokenFile = None,
    admin_token_file: AdminTokenFile = None,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Examine the configuration and the sources: what they offer, what hides evidence, and the fix for each.

    Sends a Prometheus and an admin API only requests that change nothing. Exit code 0: verdicts can be
    made; 2: something marked failed has to be fixed first; 4: a source cannot be reached or refuses us.
    """
    from throttlescope.app.cli.tables.doctor import write_checks
    from throttlescope.app.config import find_config
    from throttlescope.app.services.doctor.doctor import examine, exit_code

    options = CommandOptions(context)
    checks = examine(options.settings(sources=options.sources), find_config(config))
    write_checks(checks, options)
    raise typer.Exit(exit_code(checks))
