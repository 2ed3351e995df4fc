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


def register(app: typer.Typer) -> None:
    app.command(short_help="Examine the configuration and the sources.")(doctor)


def doctor(
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

    Asks a Prometheus and an admin API only questions that change nothing. Exit code 0: verdicts can be
    made; 2: something marked failed has to be mended first; 4: a source cannot be reached or refuses us.
    """
    from throttlescope.app.cli.settings import SourceFlags, settings_with
    from throttlescope.app.config import find_config
    from throttlescope.app.presentation.output import print_table, write_json
    from throttlescope.app.services.doctor.doctor import as_dict, examine, exit_code

    sources = SourceFlags(
        prometheus=prometheus,
        pulsar_admin=pulsar_admin,
        cluster=cluster,
        token_file=token_file,
        admin_token_file=admin_token_file,
    )
    settings = settings_with(config, {}, sources)
    checks = examine(settings, find_config(config))
    code = exit_code(checks)
    if format is Format.json:
        write_json({"exit_code": code, "checks": [as_dict(check) for check in checks]})
    else:
        print_table(
            [
                ("cluster", "left"),
                ("where", "left"),
                ("check", "left"),
                ("status", "left"),
                ("found", "left"),
                ("fix", "left"),
            ],
            [[c.cluster or "-", c.area, c.check, c.status, c.found, c.fix or "-"] for c in checks],
            title="throttlescope doctor",
            heads=3,
            notes=[
                "ok; warning: verdicts come, with less evidence; failed: mend it first; skipped: could not be asked. "
                "Times are UTC."
            ],
        )
    raise typer.Exit(code)
