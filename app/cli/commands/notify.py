"""``throttlescope notify``: messages about backlogs, without a run, and a test of a channel."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    ClusterFilter,
    Config,
    Debug,
    Format,
    FormatOption,
    LakeFolder,
    NotifyMaxAge,
)
from throttlescope.app.cli.settings import CommandOptions, notifier_of

To = Annotated[
    list[str],
    typer.Option(
        "--to",
        metavar="NAME|URL",
        help="Channel of the configuration, all of them (all), or the address of a webhook. Repeatable.",
        show_default=False,
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be sent; send and store nothing.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(
        help="Send messages about backlogs to chat rooms and webhooks.", no_args_is_help=True
    )
    family.command("send", short_help="Send what changed since the last message to a channel.")(send)
    family.command("test", short_help="Send a test message.")(send_test)
    family.command("schema", short_help="Print the JSON Schema of what a webhook gets.")(schema)
    app.add_typer(family, name="notify")


def send(
    context: typer.Context,
    to: To,
    lake: LakeFolder = None,
    cluster: ClusterFilter = None,
    notify_max_age: NotifyMaxAge = None,
    dry_run: DryRun = False,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Send what changed since the last message to each channel: backlogs that began, changed their cause or are gone.

    As run --notify does after a run; for schedules in which runs are made of several commands. Each change is sent once, also
    when the command is repeated. Exit code 4: a channel did not accept its messages, and the next call tries again.
    """
    from throttlescope.app.cli.tables.notify import write_outcomes
    from throttlescope.app.queries.verdicts import require_verdicts

    options = CommandOptions(context)
    notifier = notifier_of(options, options.settings(), to)
    require_verdicts(notifier.lake)
    write_outcomes(notifier.notify(None if cluster is None else [cluster], dry_run=dry_run), options)


def send_test(
    context: typer.Context,
    to: To,
    dry_run: DryRun = False,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Send a test message to a channel, once and signed as every other, and print whether it was accepted.

    Exit code 4: it was not, and a line says why.
    """
    from throttlescope.app.cli.tables.notify import write_outcomes

    options = CommandOptions(context)
    write_outcomes(notifier_of(options, options.settings(), to).send_test(dry_run=dry_run), options)


def schema() -> None:
    """Print the JSON Schema of the body that a channel of type webhook gets."""
    from throttlescope.app.incident.notifications.channels.webhook import NotificationBody
    from throttlescope.app.presentation.output import write_json

    write_json(NotificationBody.model_json_schema())
