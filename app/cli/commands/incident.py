"""``throttlescope incident``: all about one backlog in one zip, to be read without this tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    ClusterFilter,
    Config,
    Debug,
    Format,
    FormatOption,
    LakeFolder,
    Quiet,
)


def register(app: typer.Typer) -> None:
    app.command(short_help="Put all about one backlog into one zip, to read offline.")(incident)


def incident(
    subscription: Annotated[
        str,
        typer.Option(
            "--subscription",
            metavar="TOPIC#SUB",
            help="The subscription, as persistent://tenant/ns/topic[-partition-N]#sub; without -partition-N, its partition with "
            "the worst backlog.",
            show_default=False,
        ),
    ],
    lake: LakeFolder = None,
    cluster: ClusterFilter = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="T",
            help="The moment that is told (UTC). Default: the newest; where nothing holds it any more, the worst of its last "
            "episode.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            metavar="T",
            help="Start of the files' range (UTC). Default: 2 hours before the episode.",
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--end", metavar="T", help="Its end, excluded (UTC). Default: 10 minutes after the episode."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The zip. Default: incident-CLUSTER-SUB-TIME.zip here."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the zip if it is there.")] = False,
    external_url: Annotated[
        str | None,
        typer.Option(
            "--external-url",
            metavar="URL",
            help="Where people reach throttlescope serve; the page links to it.",
        ),
    ] = None,
    advice_within: Annotated[
        str,
        typer.Option(
            "--advice-within",
            metavar="DURATION",
            help="How long counterfactuals and recommendations may take; 0s leaves them out.",
        ),
    ] = "2m",
    picture: Annotated[
        bool, typer.Option("--picture/--no-picture", help="Draw plots.png, where there is a Chromium.")
    ] = True,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Write one zip about one backlog: a page in plain words, plots, the data, the queries and the commands.

    The page says what, since when, why and how sure, which limiter, what happens by when, what to do first and what will not
    help, and what is missing. It opens without this tool and without a network. Commands are shown, never executed. The same
    lake gives the same bytes. Backlogs are entries (batches), times UTC.
    """
    import hashlib
    import time

    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.incident.bundle import check_out, default_name, make_bundle, write_out
    from throttlescope.app.incident.computed import work_out
    from throttlescope.app.incident.load import read_incident
    from throttlescope.app.incident.plots import photograph
    from throttlescope.app.incident.selection import IncidentSelection
    from throttlescope.app.presentation.output import write_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.app.rules_export.options import ExportOptions
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import (
        SECOND_MS,
        check_range,
        format_time,
        parse_duration,
        parse_time,
    )
    from throttlescope.ingest.lake import Lake
    from throttlescope.models.messages.units import visible

    settings = settings_with(config, {"lake": lake})
    now_ms = int(time.time() * 1000)
    at_ms, start_ms, end_ms = (
        None if given is None else parse_time(given, now_ms=now_ms) for given in (at, start, end)
    )
    if start_ms is not None and end_ms is not None:
        check_range(start_ms, end_ms)
    if at_ms is not None and ((start_ms or at_ms) > at_ms or (end_ms or at_ms) < at_ms):
        raise InputError("--at lies outside --start and --end", got=format_time(at_ms))
    if external_url is not None:
        # The alerts that are exported link there under the same conditions.
        ExportOptions(external_url=external_url)
    most_s = parse_duration(advice_within) / SECOND_MS
    if out is not None:
        check_out(out, force=force)
    in_lake = Lake(settings.lake.absolute())
    progress = TerminalProgress(3, quiet=quiet)
    with progress.step("Reading"):
        found = read_incident(in_lake, IncidentSelection(subscription, cluster, at_ms, start_ms, end_ms))
        progress.note(f"{len(found.minutes)} minutes, {len(found.verdicts)} verdicts")
    path = Path(default_name(found)) if out is None else out
    check_out(path, force=force)
    with progress.step("Working out"):
        worked = work_out(in_lake, found, most_s=most_s)
        progress.note("; ".join(f"{what}: {why}" for what, why in worked.why_not.items()) or "all of it")
    with progress.step("Writing"):
        bundle = make_bundle(
            found, worked, external_url=external_url, picture=photograph if picture else None
        )
        content = bundle.zipped()
        write_out(path, content)
        progress.note(str(path))
    if format is Format.json:
        write_json(
            {
                "out": str(path),
                "sha256": hashlib.sha256(content).hexdigest(),
                "bytes": len(content),
                "cluster": found.key.cluster,
                "subscription": str(found.name),
                "told_at": format_time(found.at_ms),
                "cause": None if found.told is None else found.told["cause"],
                "limiter": None if found.told is None else found.told["limiter"],
                "files": sorted(bundle.files),
                "not_made": list(bundle.not_made),
            }
        )
        return
    cause = (
        "no verdict" if found.told is None else f"{found.told['cause']} {found.told['limiter'] or ''}".strip()
    )
    print(visible(f"{path}: {found.name}, {cause}, told as of {format_time(found.at_ms)}."))
    print(
        f"{len(bundle.files)} files, {len(content):,} bytes. Read README.md or incident.html first. Times are UTC."
    )
    for reason in bundle.not_made:
        print(visible(f"Not in it: {reason}"))
