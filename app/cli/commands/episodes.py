"""``throttlescope episodes``: each backlog from its start to its drain, and what several share."""

from __future__ import annotations

from enum import StrEnum
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


class EpisodesBy(StrEnum):
    subscription = "subscription"
    topic = "topic"
    namespace = "namespace"
    broker = "broker"
    limiter = "limiter"


def register(app: typer.Typer) -> None:
    app.command(short_help="Follow each backlog from its start to its drain.")(episodes)


def episodes(
    lake: LakeFolder = None,
    format: RowFormatOption = RowFormat.table,
    cluster: ClusterFilter = None,
    subscription: SubscriptionFilter = None,
    open: Annotated[bool, typer.Option("--open", help="Only what is not drained.")] = False,
    start: Annotated[
        str | None, typer.Option("--start", metavar="T", help="Only what ends after T (UTC), or is open.")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--end", metavar="T", help="Only what begins before T (UTC).")
    ] = None,
    incidents: Annotated[
        bool, typer.Option("--incidents", help="Several at once that share a limiter or a broker, instead.")
    ] = False,
    by: Annotated[
        EpisodesBy | None,
        typer.Option("--by", help="Counts by subscription, topic, namespace, broker or limiter."),
    ] = None,
    store: Annotated[
        bool,
        typer.Option(
            "--store", help="First judge the lake, or one --cluster, on Spark and write it into the lake."
        ),
    ] = False,
    master: Master = None,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Follow each backlog from its start to its drain: since when, how high, what held it when, and what happened meanwhile.

    A lake without stored episodes is judged here, from its signals and verdicts; nothing is written then. Backlogs are ready
    entries (batches), times are UTC.
    """
    import time

    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.presentation.episodes import (
        ROLLUP_COLUMNS,
        exported,
        exported_columns,
        print_episodes,
        print_incidents,
        print_rollups,
    )
    from throttlescope.app.presentation.output import write_csv, write_json
    from throttlescope.app.queries.episodes import (
        EpisodeFilter,
        read_episodes,
        read_incidents,
        read_rollups,
        store_episodes,
    )
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import parse_time
    from throttlescope.ingest.lake import Lake

    if incidents and by is not None:
        raise InputError("Incidents are not counted", got="--incidents beside --by", fix="leave one out")
    if store and subscription is not None:
        raise InputError(
            "--store judges whole clusters", got="--store beside --subscription", fix="leave one of them out"
        )
    settings = settings_with(config, {"lake": lake, "spark": {"master": master}})
    now_ms = int(time.time() * 1000)
    wanted = EpisodeFilter(
        cluster=cluster,
        subscription=subscription,
        open=open,
        start_ms=None if start is None else parse_time(start, now_ms=now_ms),
        end_ms=None if end is None else parse_time(end, now_ms=now_ms),
    )
    in_lake = Lake(settings.lake.absolute())
    if store:
        from throttlescope.app.presentation.progress import TerminalProgress

        store_episodes(in_lake, wanted, settings, progress=TerminalProgress(quiet=quiet), debug=debug)
    if by is not None:
        rows = read_rollups(in_lake, wanted, by.value)
        columns = list(ROLLUP_COLUMNS)
    else:
        table = "incidents" if incidents else "episodes"
        rows = (read_incidents if incidents else read_episodes)(in_lake, wanted)
        columns = exported_columns(table)
    if format is not RowFormat.table:
        rows = rows if by is not None else [exported(row, table) for row in rows]
    if format is RowFormat.json:
        write_json(rows)
    elif format is RowFormat.csv:
        write_csv(columns, rows)
    elif by is not None:
        print_rollups(rows, by.value)
    elif incidents:
        print_incidents(rows)
    else:
        print_episodes(rows, now_ms=now_ms)
