"""What channels got, in every format. In: an outcome per channel. Out: text or JSON on stdout; an error where a channel accepted nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from throttlescope.app.incident.notifications.notifier import outcome_text, too_old_text
from throttlescope.app.presentation.output import write_result
from throttlescope.ingest.core.errors import SourceError
from throttlescope.models.messages.units import visible

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.incident.notifications.notifier import ChannelOutcome


def write_outcomes(found: Sequence[ChannelOutcome], options: CommandOptions) -> None:
    """Write an outcome per channel in the requested format.

    Raises
    ------
    SourceError
        A channel did not accept its messages.
    """
    write_result(
        options.format, table=lambda: _print(found), document=lambda: [one.as_dict() for one in found]
    )
    failed = [one.failed for one in found if one.failed is not None]
    if failed:
        raise SourceError(failed[0].rstrip("."))


def _print(found: Sequence[ChannelOutcome]) -> None:
    for one in found:
        print(visible(outcome_text(one)))
        if one.dry_run:
            for message in one.messages:
                print()
                print("\n".join(visible(line) for line in message.plain_text.splitlines()))
        if one.too_old:
            print(visible(too_old_text(one)))
