"""``throttlescope simulate``: what a broker would do with a scenario."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import Debug, Quiet, RowFormat, RowFormatOption
from throttlescope.app.cli.settings import CommandOptions


class LimiterEngine(StrEnum):
    A0 = "A0"
    A = "A"
    B = "B"
    C = "C"


def register(app: typer.Typer) -> None:
    app.command(short_help="Compute what a broker would do with a scenario.")(simulate)


def simulate(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Scenario file (YAML).", show_default=False)],
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the random numbers.")] = 0,
    engine: Annotated[
        LimiterEngine | None,
        typer.Option(
            "--engine",
            help="Limiter to simulate: A0 forgets its debt (up to 2.7.3), A keeps it (up to 3.1), B is the 16 ms token "
            "bucket (3.2 to 3.3.4, 4.0.0 to 4.0.2), C refills once a period. Default: by the version.",
        ),
    ] = None,
    broker_version: Annotated[
        str | None,
        typer.Option(
            "--broker-version",
            metavar="X.Y.Z",
            help="Pulsar version, which chooses the engine. Default: the file's broker.",
        ),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option("--every", metavar="SECONDS", min=1, help="Span of a row in seconds. Default: 1."),
    ] = None,
    format: RowFormatOption = RowFormat.table,
    seconds: Annotated[
        bool, typer.Option("--seconds", help="With --format json: the rows too, not only their summary.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw backlog, rates, limits and events into FILE.html, or FILE.png where there is a Chromium.",
        ),
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compute what a broker would do with a scenario: dispatched messages, throttle events, backlog.

    A table is a summary for each subscription partition and state of the timeline; CSV is a row per
    second and subscription partition. Backlogs are entries (batches), times are seconds from the start.
    Files of TDMQ's throttles are computed too. No broker is contacted. The first run on a machine compiles
    the simulator, which takes about a minute.
    """
    from throttlescope.app.cli.tables.simulate import write_outcome
    from throttlescope.app.services.simulate.outcome import SimulationChoices, run_file

    options = CommandOptions(context)
    choices = SimulationChoices.of(options.given)
    write_outcome(run_file(choices, lambda: options.plot_progress(1)), options)
