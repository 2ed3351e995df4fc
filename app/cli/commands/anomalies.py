"""``throttlescope anomalies``: what is unusual for each subscription, beside the same hours of the weeks before."""

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


def register(app: typer.Typer) -> None:
    app.command(short_help="Find what is unusual for a subscription.")(anomalies)


def anomalies(
    lake: LakeFolder = None,
    format: RowFormatOption = RowFormat.table,
    cluster: ClusterFilter = None,
    subscription: SubscriptionFilter = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start", metavar="T", help="Start of what is judged (UTC). Default: a day before the end."
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--end", metavar="T", help="End of what is judged (UTC). Default: the newest minute of the lake."
        ),
    ] = None,
    zone: Annotated[
        str, typer.Option("--zone", metavar="ZONE", help="IANA time zone whose weeks are compared.")
    ] = "UTC",
    store: Annotated[
        bool,
        typer.Option(
            "--store", help="Judge the whole lake, or one --cluster, on Spark and write it into the lake."
        ),
    ] = False,
    stored: Annotated[
        bool, typer.Option("--stored", help="Print what --store wrote instead of judging anew.")
    ] = False,
    master: Master = None,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Find what is unusual for a subscription: arrivals, dispatch, backlog, throttle events, or no samples at all.

    A minute is compared with the same hour of the week in the four weeks before, windows with a cause left out. A series with
    less than two weeks of history is being learned. Anomalies help to look in the right place; they are no verdict and no alert.
    """
    import time

    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.presentation.anomalies import exported, exported_columns, print_anomalies
    from throttlescope.app.presentation.output import write_csv, write_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.app.queries.anomalies import (
        AnomalyFilter,
        judge_anomalies,
        read_anomalies,
        store_anomalies,
    )
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import parse_time
    from throttlescope.ingest.lake import Lake

    if store and (stored or subscription is not None):
        raise InputError(
            "--store judges whole clusters",
            got="--store beside --stored or --subscription",
            fix="leave one of them out",
        )
    settings = settings_with(config, {"lake": lake, "spark": {"master": master}})
    now_ms = int(time.time() * 1000)
    wanted = AnomalyFilter(
        cluster=cluster,
        subscription=subscription,
        start_ms=None if start is None else parse_time(start, now_ms=now_ms),
        end_ms=None if end is None else parse_time(end, now_ms=now_ms),
        zone=zone,
    )
    in_lake, progress = Lake(settings.lake.absolute()), TerminalProgress(quiet=quiet)
    if store:
        found = store_anomalies(in_lake, wanted, settings, progress=progress, debug=debug)
    elif stored:
        found = read_anomalies(in_lake, wanted)
    else:
        found = judge_anomalies(in_lake, wanted, progress=progress)
    if format is RowFormat.json:
        write_json([exported(row) for row in found.rows])
    elif format is RowFormat.csv:
        write_csv(exported_columns(), (exported(row) for row in found.rows))
    else:
        print_anomalies(found, now_ms=now_ms)
