"""Options that several commands share: one name, one meaning, one help text each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


@dataclass
class SessionOptions:
    """What the outermost error handler and the progress lines need to know."""

    debug: bool = False
    quiet: bool = False

    def reset(self) -> None:
        self.debug = self.quiet = False


session_options = SessionOptions()


def _set_debug(value: bool) -> bool:
    session_options.debug = value
    return value


def _set_quiet(value: bool) -> bool:
    session_options.quiet = value
    return value


class Format(StrEnum):
    table = "table"
    json = "json"


class RowFormat(StrEnum):
    table = "table"
    json = "json"
    csv = "csv"


class ReaderOption(StrEnum):
    auto = "auto"
    remote_read = "remote_read"
    api = "api"


Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="Where Spark runs: local[N], spark://HOST:PORT, yarn, k8s://URL, or sc://HOST:PORT for Spark Connect. "
        "Default: master in [spark] of the configuration, else this machine, and no Spark for what one process can do.",
    ),
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug", callback=_set_debug, is_eager=True, help="Show a traceback when something fails."
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", callback=_set_quiet, is_eager=True, help="No progress lines on stderr."),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Configuration file. Default: $THROTTLESCOPE_CONFIG, then ./throttlescope.toml if it is there.",
    ),
]
LakeFolder = Annotated[
    str | None,
    typer.Option(
        "--lake",
        metavar="DIR|URI",
        help="Folder of the lake, or s3://bucket/prefix. Default: lake of the configuration, else ./lake.",
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How the result is printed on stdout.")]
RowFormatOption = Annotated[RowFormat, typer.Option("--format", help="How the result is printed on stdout.")]
ReplayWindow = Annotated[
    str, typer.Option("--window", metavar="DURATION", help="Length of the window before it that is replayed.")
]
ReplayHistory = Annotated[
    str,
    typer.Option(
        "--history", metavar="DURATION", help="How far back to look for the capacity of the consumers."
    ),
]
ClusterFilter = Annotated[str | None, typer.Option("--cluster", metavar="NAME", help="Only this cluster.")]
SubscriptionFilter = Annotated[
    str | None,
    typer.Option(
        "--subscription",
        metavar="TOPIC#SUB",
        help="Only this subscription, as persistent://tenant/ns/topic[-partition-N]#sub; persistent:// may be left out.",
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="TIME|VERSION",
        help="Read the lake as it was then (UTC), or in a version of the table; see throttlescope lake history.",
    ),
]

Prometheus = Annotated[
    str | None, typer.Option("--prometheus", metavar="URL", help="Prometheus to read, without /api/v1.")
]
PulsarAdmin = Annotated[
    list[str] | None,
    typer.Option(
        "--pulsar-admin",
        metavar="URL",
        help="Admin API to read limits from, without /admin/v2. Repeat it for several brokers.",
    ),
]
Recording = Annotated[
    list[str] | None,
    typer.Option(
        "--recording", metavar="DIR|NAME", help="Recording to read instead of a Prometheus. Repeatable."
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        "--start", metavar="T", help="Start of the range, included (UTC). RFC 3339, epoch seconds or -6h."
    ),
]
End = Annotated[
    str | None, typer.Option("--end", metavar="T", help="End of the range, excluded (UTC). Default: now.")
]
Match = Annotated[
    list[str] | None,
    typer.Option(
        "--match",
        metavar="SELECTOR",
        help='Read only series that match, such as {namespace="a/b"}. Repeatable.',
    ),
]
ClusterName = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="NAME",
        help="Cluster of the configuration file to read; with --prometheus, the name given to its series.",
    ),
]
ReaderOption = Annotated[
    ReaderOption | None,
    typer.Option(
        "--reader", help="How samples are read; auto takes remote read where it is offered. Default: auto."
    ),
]
Window = Annotated[
    str | None,
    typer.Option("--window", metavar="DURATION", help="Length of a verdict's window. Default: 5m."),
]
Every = Annotated[
    str | None,
    typer.Option("--every", metavar="DURATION", help="Distance of two windows' starts. Default: 5m."),
]
TokenFile = Annotated[
    Path | None,
    typer.Option("--token-file", metavar="FILE", help="File with the bearer token for Prometheus."),
]
AdminTokenFile = Annotated[
    Path | None,
    typer.Option("--admin-token-file", metavar="FILE", help="File with the token for the admin API."),
]
Recompute = Annotated[
    bool,
    typer.Option(
        "--recompute",
        help="Recompute every hour of the range, also those in which nothing has changed.",
    ),
]


Notify = Annotated[
    list[str] | None,
    typer.Option(
        "--notify",
        metavar="NAME|URL",
        help="When it is done, send what changed to a channel of the configuration, to all of them (all), or to the webhook at "
        "this address. Repeatable.",
    ),
]
NotifyMaxAge = Annotated[
    str | None,
    typer.Option(
        "--notify-max-age",
        metavar="DURATION",
        help="Send backlogs seen this long ago or later. Default: max_age in [notifications] of the configuration, else 6h.",
    ),
]
Tables = Annotated[
    list[str] | None,
    typer.Option("--table", metavar="NAME", help="Only this table. Repeatable. Default: every table."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do it. Without it, only print what would be done.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")]
Lookback = Annotated[
    str,
    typer.Option("--lookback", metavar="DURATION", help="How long a sample is its series' current value."),
]


def known_tables(tables: list[str] | None) -> list[str] | None:
    import difflib

    from throttlescope.ingest.contracts import TABLES
    from throttlescope.ingest.core.errors import InputError

    for name in tables or ():
        if name not in TABLES:
            near = difflib.get_close_matches(name, TABLES, n=1)
            raise InputError(
                "No such table",
                got=name,
                expected=", ".join(TABLES),
                fix=f"did you mean {near[0]}?" if near else None,
            )
    return tables or None
