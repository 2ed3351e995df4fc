"""``throttlescope incident``: all about one backlog in one zip, to be read without this tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    ClusterFilter,
    Config,
    Debug,
    Force,
    Format,
    FormatOption,
    LakeFolder,
    Quiet,
)
from throttlescope.app.cli.settings import CommandOptions

Subscription = Annotated[
    str,
    typer.Option(
        "--subscription",
        metavar="TOPIC#SUB",
        help="The subscription, as persistent://tenant/ns/topic[-partition-N]#sub; without -partition-N, its partition with "
        "the worst backlog.",
        show_default=False,
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="T",
        help="The moment of the report (UTC). Default: the newest; if the backlog is over, the worst moment of its last "
        "episode.",
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        "--start",
        metavar="T",
        help="Start of the files' range (UTC). Default: 2 hours before the episode.",
    ),
]
End = Annotated[
    str | None,
    typer.Option(
        "--end", metavar="T", help="Its end, excluded (UTC). Default: 10 minutes after the episode."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="The zip. Default: incident-CLUSTER-SUB-TIME.zip here."),
]
ExternalUrl = Annotated[
    str | None,
    typer.Option(
        "--external-url",
        metavar="URL",
        help="Where people reach throttlescope serve; the page links to it.",
    ),
]
AdviceWithin = Annotated[
    str,
    typer.Option(
        "--advice-within",
        metavar="DURATION",
        help="How long counterfactuals and recommendations may take; 0s leaves them out.",
    ),
]
Picture = Annotated[
    bool, typer.Option("--picture/--no-picture", help="Draw plots.png, where there is a Chromium.")
]


def register(app: typer.Typer) -> None:
    app.command(short_help="Write everything about one backlog into one zip.")(incident)


def incident(
    context: typer.Context,
    subscription: Subscription,
    lake: LakeFolder = None,
    cluster: ClusterFilter = None,
    at: At = None,
    start: Start = None,
    end: End = None,
    out: Out = None,
    force: Force = False,
    external_url: ExternalUrl = None,
    advice_within: AdviceWithin = "2m",
    picture: Picture = True,
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
    from throttlescope.app.cli.tables.incident import write_incident
    from throttlescope.app.incident.incident_request import IncidentRequest, make_incident

    options = CommandOptions(context)
    request = IncidentRequest(
        subscription, cluster, options.time_ms("at"), **options.times_ms(), out=out, force=force, external_url=_checked_url(external_url),
        advice_ms=options.duration_ms("advice_within"), picture=picture,
    )  # fmt: skip
    write_incident(make_incident(options.lake(), request, options.progress(3)), options)


def _checked_url(external_url: str | None) -> str | None:
    """Refuse what exported alerts could not link to either."""
    from throttlescope.app.rules_export.options import ExportOptions

    if external_url is not None:
        ExportOptions(external_url=external_url)
    return external_url
