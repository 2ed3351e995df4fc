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
from throttlescope.app.cli.settings import CommandOptions


class EpisodesBy(StrEnum):
    subscription = "subscription"
    topic = "topic"
    namespace = "namespace"
    broker = "broker"
    limiter = "limiter"


def register(app: typer.Typer) -> None:
    app.command(short_help="Follow each backlog from its start to its drain.")(episodes)


def episodes(
    context: typer.Context,
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
        bool,
        typer.Option(
            "--incidents",
            help="Instead, incidents: several episodes at once that share a limiter or a broker.",
        ),
    ] = False,
    by: Annotated[
        EpisodesBy | None,
        typer.Option("--by", help="Counts by subscription, topic, namespace, broker or limiter."),
    ] = None,
    store: Annotated[
        bool,
        typer.Option(
            "--store",
            help="First compute the episodes of the lake, or of one --cluster, and store them.",
        ),
    ] = False,
    master: Master = None,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Follow each backlog from its start to its drain: start, height, causes over time, and what happened meanwhile.

    For a lake without stored episodes they are computed here, from its signals and verdicts, and not stored. Backlogs are ready
    entries (batches), times are UTC.
    """
    from throttlescope.app.cli.tables.episodes import write_episodes
    from throttlescope.app.queries.episodes import EpisodeFilter, check_listing, list_episodes, store_episodes

    options = CommandOptions(context)
    check_listing(incidents=incidents, by=by)
    wanted, stored = EpisodeFilter(**options.selection(), open=open), options.lake()
    if store:
        store_episodes(stored, wanted, options.settings(), progress=options.progress(), debug=debug)
    write_episodes(list_episodes(stored, wanted, incidents=incidents, by=by), options)
