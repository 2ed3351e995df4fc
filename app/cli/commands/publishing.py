"""``throttlescope publishing``: what limits publishing, how much of it is used, and whose producers are stopped."""

from __future__ import annotations

import typer

from throttlescope.app.cli.options import ClusterFilter, Config, Debug, Format, FormatOption, LakeFolder
from throttlescope.app.cli.settings import CommandOptions


def register(app: typer.Typer) -> None:
    app.command(short_help="Show what limits publishing, and how much of it is used.")(publishing)


def publishing(
    context: typer.Context,
    lake: LakeFolder = None,
    format: FormatOption = Format.table,
    cluster: ClusterFilter = None,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Show limits of publishing (topic, namespace, resource group, broker) with their use, totals by namespace and tenant, and full quotas.

    Limits are those that the admin API last answered: runs ask about topics with a backlog and topics whose producers are paused. Use is of
    the newest samples. A backlog quota that holds or refuses producers is listed, because nothing published is no sign of no traffic then.
    """
    from throttlescope.app.cli.tables.publishing import write_publishing
    from throttlescope.app.queries.publishing import read_publishing

    options = CommandOptions(context)
    write_publishing(read_publishing(options.lake(), options.given["cluster"]), options)
