"""Names of users in every format. In: names. Out: lines or JSON on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from throttlescope.app.presentation.output import write_result
from throttlescope.models.messages.units import visible

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions


def write_users(names: Sequence[str], options: CommandOptions) -> None:
    """Write one name per line, or one document."""
    write_result(
        options.format,
        table=lambda: print("".join(f"{visible(name)}\n" for name in names), end=""),
        document=lambda: {"users": list(names)},
    )
