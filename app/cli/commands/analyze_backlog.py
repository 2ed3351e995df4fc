"""``throttlescope analyze-backlog``: what is in the backlog of one subscription, read by its brokers."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    AdminTokenFile,
    ClusterName,
    Config,
    Debug,
    Format,
    FormatOption,
    PulsarAdmin,
    Quiet,
)
from throttlescope.app.cli.settings import CommandOptions
from throttlescope.ingest.core.times import SECOND_MS


def register(app: typer.Typer) -> None:
    app.command("analyze-backlog", short_help="Have the brokers count what is in a backlog.")(analyze_backlog)


def analyze_backlog(
    context: typer.Context,
    subscription: Annotated[
        str,
        typer.Argument(
            metavar="SUBSCRIPTION",
            help="persistent://tenant/ns/topic[-partition-N]#sub; without -partition-N, all partitions one by one.",
        ),
    ],
    pulsar_admin: PulsarAdmin = None,
    cluster: ClusterName = None,
    deadline: Annotated[
        str, typer.Option("--deadline", metavar="DURATION", help="How long it may take in all: 1s to 1h.")
    ] = "2m",
    admin_token_file: AdminTokenFile = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Have the brokers read a backlog and count its entries, messages, markers, and what entry filters would do.

    This reads from storage: of each partition up to 10,000 entries, or as many as in two minutes, unless the brokers are configured
    otherwise. A broker that stops there has counted a lower bound. Nothing is changed or acknowledged. Ctrl-C stops it: no further
    partition is read, and the broker finishes the one that it reads.
    """
    from throttlescope.app.cli.tables.analyze_backlog import write_analyzed
    from throttlescope.app.log import tell
    from throttlescope.app.services.analyze_backlog import analyze
    from throttlescope.app.services.diagnose_now import Deadline
    from throttlescope.ingest.core.subscription_name import SubscriptionName
    from throttlescope.models.messages.catalogue import sentence

    options = CommandOptions(context)
    name, limit = SubscriptionName.of(subscription), Deadline(options.duration_ms("deadline") / SECOND_MS)
    settings = options.settings(sources=options.sources)
    progress = options.progress(1)
    if not quiet:
        tell(sentence("analyze_backlog.reads_storage"), event="note")
    with progress.step("Analyzing"):
        found = analyze(settings, None, name, limit, progress.note)
    write_analyzed(found, options)
