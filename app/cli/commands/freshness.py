"""``throttlescope freshness``: whether data is late, for schedules and for people."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

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


class Of(StrEnum):
    samples = "samples"
    signals = "signals"
    verdicts = "verdicts"


def register(app: typer.Typer) -> None:
    app.command(short_help="Fail when the data of the lake or of the source is late.")(freshness)


def freshness(
    lake: LakeFolder = None,
    table: Annotated[Of, typer.Option("--table", help="Which table of the lake.")] = Of.verdicts,
    source: Annotated[
        bool, typer.Option("--source", help="Ask the configured Prometheus instead of the lake.")
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
    """Print up to when the data of each cluster goes, and fail when it is late.

    Exit code 0: none is late; 3: one is, and a line says which; 4: the source cannot be reached. Clusters are those of the
    configuration, else all that the lake knows. Idle is not late: without subscriptions there is nothing to know, as long as brokers
    are scraped, or the lake was brought up to date.
    """
    import time

    from throttlescope.app.cli.settings import SourceFlags, settings_with
    from throttlescope.app.presentation.output import print_table, write_json
    from throttlescope.app.services.freshness import (
        lake_freshness,
        recordings_freshness,
        refuse_late,
        source_freshness,
    )
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import parse_duration, parse_time
    from throttlescope.ingest.lake import Lake
    from throttlescope.models.messages.units import duration_text, minute_text

    at_ms = parse_time(at, now_ms=int(time.time() * 1000))
    max_age_ms = parse_duration(max_age)
    if max_age_ms <= 0:
        raise InputError("--max-age is no age", got=max_age, expected="such as 2h")
    asked = {"at_ms": at_ms, "max_age_ms": max_age_ms}
    if recording and (prometheus or cluster):
        raise InputError("A recording is a source of its own", fix="leave --prometheus and --cluster out")
    if recording:
        found = recordings_freshness(recording, **asked)
    elif source or prometheus:
        flags = SourceFlags(prometheus=prometheus, cluster=cluster, token_file=token_file)
        found = source_freshness(settings_with(config, {}, flags), **asked)
    else:
        settings = settings_with(config, {"lake": lake})
        clusters = [cluster] if cluster else list(settings.clusters)
        found = lake_freshness(Lake(settings.lake), table.value, clusters, **asked)
    if format is Format.json:
        write_json([one.to_json() for one in found])
    else:
        print_table(
            [
                ("cluster", "left"), ("of", "left"), ("up to (UTC)", "left"), ("age", "right"), ("late", "left"),
                ("note", "left"),
            ],
            [
                [
                    one.cluster or "-", one.of, minute_text(one.newest_ms),
                    "-" if one.age_ms is None else duration_text(one.age_ms), "yes" if one.late else "no",
                    one.note or "-",
                ]
                for one in found
            ],
            title=f"Freshness at {minute_text(at_ms)} UTC, at most {duration_text(max_age_ms)} old",
        )  # fmt: skip
    refuse_late(found, max_age_ms)
