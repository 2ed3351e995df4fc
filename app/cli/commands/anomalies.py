"""``throttlescope anomalies``: what is unusual for each subscription, compared with the same hours of the weeks before."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    ClusterFilter,
    Config,
    Debug,
    LakeFolder,
    Master,
    Quiet,
    RowFormat,
    RowFormatOption,
    SubscriptionFilter,
)
from throttlescope.app.cli.settings import CommandOptions


def register(app: typer.Typer) -> None:
    app.command(short_help="Find what is unusual for a subscription.")(anomalies)


def anomalies(
    context: typer.Context,
    lake: LakeFolder = None,
    format: RowFormatOption = RowFormat.table,
    cluster: ClusterFilter = None,
    subscription: SubscriptionFilter = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start", metavar="T", help="Start of the range to examine (UTC). Default: a day before the end."
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--end",
            metavar="T",
            help="End of the range to examine (UTC). Default: the newest minute of the lake.",
        ),
    ] = None,
    zone: Annotated[
        str, typer.Option("--zone", metavar="ZONE", help="IANA time zone whose weeks are compared.")
    ] = "UTC",
    store: Annotated[
        bool,
        typer.Option(
            "--store",
            help="Compute the anomalies of the whole lake, or of one --cluster, and store them in the lake.",
        ),
    ] = False,
    stored: Annotated[
        bool,
        typer.Option(
            "--stored", help="Print the stored anomalies (see --store) instead of recomputing them."
        ),
    ] = False,
    master: Master = None,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Find what is unusual for a subscription: arrivals, dispatch, backlog, throttle events, or no samples at all.

    A minute is compared with the same hour of the week in the four weeks before, windows with a cause left out. A series
    needs two weeks of history before it is judged. An anomaly is not a diagnosis and not an alert.
    """
    from throttlescope.app.cli.tables.anomalies import write_anomalies
    from throttlescope.app.queries.anomalies import AnomalyFilter, select_anomalies

    options = CommandOptions(context)
    wanted = AnomalyFilter(**options.selection(), zone=zone)
    how = {"store": store, "stored": stored, "progress": options.progress(), "debug": debug}
    write_anomalies(select_anomalies(options.lake(), wanted, options.settings(), **how), options)
