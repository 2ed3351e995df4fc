"""``throttlescope freshness``: whether data is late, for schedules and for people."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from throttlescope.app.cli.options import (
    ClusterName,
    Config,
    Debug,
    Format,
    FormatOption,
    LakeFolder,
    Prometheus,
    Recording,
    TokenFile,
)
from throttlescope.app.cli.settings import CommandOptions

if TYPE_CHECKING:
    from throttlescope.app.services.freshness import Freshness


class Of(StrEnum):
    samples = "samples"
    signals = "signals"
    verdicts = "verdicts"


def register(app: typer.Typer) -> None:
    app.command(short_help="Fail when the data of the lake or of the source is late.")(freshness)


def freshness(
    context: typer.Context,
    lake: LakeFolder = None,
    table: Annotated[Of, typer.Option("--table", help="Which table of the lake.")] = Of.verdicts,
    source: Annotated[
        bool, typer.Option("--source", help="Check the configured Prometheus instead of the lake.")
    ] = False,
    prometheus: Prometheus = None,
    recording: Recording = None,
    cluster: ClusterName = None,
    max_age: Annotated[
        str, typer.Option("--max-age", metavar="DURATION", help="How old the newest data may be.")
    ] = "2h",
    at: Annotated[
        str, typer.Option("--at", metavar="T", help="The moment that its age counts from (UTC).")
    ] = "now",
    token_file: TokenFile = None,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Print how new the data of each cluster is, and fail when it is late.

    Exit code 0: none is late; 3: one is, and a line says which; 4: the source cannot be reached. Clusters are those of the
    configuration, else all that the lake knows. Idle is not late: a cluster
    without subscriptions has no samples, and is fresh as long as its brokers are scraped or the lake was brought up to date.
    """
    from throttlescope.app.cli.tables.freshness import write_freshness
    from throttlescope.app.services.freshness import refuse_late

    options = CommandOptions(context)
    found = _found(options)
    write_freshness(found, options)
    refuse_late(found, options.duration_ms("max_age"))


def _found(options: CommandOptions) -> list[Freshness]:
    """Up to when data goes: of recordings, of the source, or of the lake."""
    from throttlescope.app.services.freshness import lake_freshness, recordings_freshness, source_freshness
    from throttlescope.ingest.core.errors import InputError

    given, table = options.given, str(options.given["table"])
    limits = {
        "at_ms": options.time_ms("at"),
        "max_age_ms": options.duration_ms("max_age", "--max-age must be more than 0", expected="such as 2h"),
    }
    if given["recording"]:
        if given["prometheus"] or given["cluster"]:
            raise InputError("A recording is a source of its own", fix="leave --prometheus and --cluster out")
        return recordings_freshness(given["recording"], **limits)
    if given["source"] or given["prometheus"]:
        return source_freshness(options.settings(sources=options.sources), **limits)
    clusters = [given["cluster"]] if given["cluster"] else list(options.settings().clusters)
    return lake_freshness(options.lake(absolute=False), table, clusters, **limits)
