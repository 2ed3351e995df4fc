"""Verdicts in every format. In: a `VerdictListing`, or a demo. Out: tables, JSON or CSV on stdout."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from throttlescope.app.cli.tables.consumers import print_consumers, print_partitions
from throttlescope.app.presentation.output import write_rows
from throttlescope.app.presentation.verdicts import exported, exported_columns, print_summary, print_windows
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.demo import DemoLake
    from throttlescope.app.services.verdict_listing import VerdictListing


def shape_of(options: CommandOptions) -> str:
    """The shape of the listing that the options request: for people, a summary unless windows are requested."""
    if options.given["by"] is not None:
        return "partitions"
    return "summary" if options.format == "table" and options.given["latest"] is None else "windows"


def write_verdicts(found: VerdictListing, options: CommandOptions) -> None:
    """Write the listing in the requested format."""
    if found.shape == "partitions":
        from throttlescope.models.diagnosis.partitions import ROW_COLUMNS

        return write_rows(
            options.format,
            found.rows,
            table=lambda: print_partitions(found.rows, now_ms=options.now_ms),
            export=lambda one: one.to_row(),
            columns=lambda: ROW_COLUMNS,
        )
    write_rows(
        options.format,
        found.rows,
        table=lambda: _print(found, options),
        export=exported,
        columns=exported_columns,
    )


def write_demo(made: DemoLake, *, now_ms: int) -> None:
    """Print the summary of a demo, and what of it was recorded."""
    print_summary(made.summary, made.settings.objectives, now_ms=now_ms)
    print(sentence("tables.verdicts.demo", recorded=", ".join(made.recorded), synthetic=made.synthetic))


def write_next(made: DemoLake) -> None:
    """Print the command that serves the demo's lake."""
    # In a checkout the program is not in PATH.
    program = "throttlescope" if shutil.which("throttlescope") else sys.argv[0]
    print(sentence("tables.verdicts.demo_next", program=program, lake=made.settings.lake))


def _print(found: VerdictListing, options: CommandOptions) -> None:
    show = print_summary if found.shape == "summary" else print_windows
    show(found.rows, options.settings().objectives, now_ms=options.now_ms)
    print_consumers(found.slowest())
