"""``throttlescope diagnose``: from the samples of a lake to verdicts, without a source."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    Config,
    Debug,
    End,
    Every,
    Format,
    FormatOption,
    LakeFolder,
    Master,
    Quiet,
    Recompute,
    Start,
    Window,
)
from throttlescope.app.cli.settings import CommandOptions, diagnosis_request

Only = Annotated[
    str | None,
    typer.Option("--cluster", metavar="NAME", help="Only this cluster. Default: every cluster of the lake."),
]
MissedToo = Annotated[
    bool,
    typer.Option(
        "--missed",
        help="Then also other hours, from 31 days before --start to now, that were read and that no run has diagnosed: a day of them at "
        "most, oldest first. Hours that a gate has stopped are left out.",
    ),
]


def register(app: typer.Typer) -> None:
    app.command(short_help="Compute verdicts from the samples of the lake.")(diagnose)


def diagnose(
    context: typer.Context,
    start: Start = None,
    end: End = None,
    lake: LakeFolder = None,
    cluster: Only = None,
    window: Window = None,
    every: Every = None,
    missed: MissedToo = False,
    recompute: Recompute = False,
    master: Master = None,
    format: FormatOption = Format.table,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compute limits, signals, verdicts and what follows from them for a range of which the lake holds the samples.

    This is what run does after it has read a source: ingest and then diagnose is the same as run, in two steps that may be retried
    separately. No Prometheus and no admin API is read. The range is widened to whole UTC hours.

    Only hours are computed whose samples, limits or settings are not those that they were computed from: hours of the range, hours
    of the last month of which samples came late, and what looks back to them. The same range twice changes nothing. With --missed,
    also hours that a failed ingest has read, or whose diagnosis failed: a schedule catches up by itself.

    A range without samples is idle: the command says so, computes nothing, and the exit code is 0.
    """
    from throttlescope.app.cli.tables.run import write_run
    from throttlescope.app.services.source_run import run_diagnosis

    options = CommandOptions(context)
    request = diagnosis_request(options)
    write_run(run_diagnosis(request, missed=missed, progress=options.progress()), options)
