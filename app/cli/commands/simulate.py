"""``throttlescope simulate``: what a broker would do with a scenario."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from throttlescope.app.cli.options import Debug, Quiet, RowFormat, RowFormatOption

if TYPE_CHECKING:
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.app.services.simulate.scenario import TdmqScenario
    from throttlescope.models.throttling import Scenario


class LimiterEngine(StrEnum):
    A0 = "A0"
    A = "A"
    B = "B"
    C = "C"


def register(app: typer.Typer) -> None:
    app.command(short_help="Compute what a broker would do with a scenario.")(simulate)


def simulate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Scenario file (YAML).", show_default=False)],
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="Seed of what is drawn at random.")
    ] = 0,
    engine: Annotated[
        LimiterEngine | None,
        typer.Option(
            "--engine",
            help="Limiter to simulate: A0 forgets its debt (to 2.7.3), A keeps it (to 3.1), B is the 16 ms token "
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
    Files of TDMQ's throttles are computed too. No broker is asked. The first run on a machine compiles
    the simulator, which takes about a minute.
    """
    from throttlescope.app.services.simulate.scenario import read_scenario
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.models.throttling import Scenario

    if seconds and format is not RowFormat.json:
        raise InputError(
            "--seconds goes with --format json",
            got=f"--format {format.value}",
            fix="--format csv has the rows",
        )
    scenario = read_scenario(file)
    if isinstance(scenario, Scenario):
        version = engine.value if engine else None, broker_version
        _pulsar(file, scenario, version, seed, every or 1, format, seconds, plot, quiet)
        return
    given = {
        "--engine": engine,
        "--broker-version": broker_version,
        "--every": every,
        "--seconds": seconds or None,
        "--plot": plot,
    }
    unfit = [name for name, value in given.items() if value is not None]
    if unfit:
        raise InputError(
            f"{file}: a scenario of TDMQ's throttles knows no such option",
            got=", ".join(unfit),
            fix="leave it out",
        )
    _tdmq(scenario, seed, format, quiet)


def _pulsar(
    file: Path,
    scenario: Scenario,
    engine_and_version: tuple[str | None, str | None],
    seed: int,
    every_s: int,
    format: RowFormat,
    with_rows: bool,
    plot: Path | None,
    quiet: bool,
) -> None:
    from throttlescope.app.cli.tables import simulate as render
    from throttlescope.app.presentation.figures.image import check_plot, write_plot
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.app.services.simulate.scenario import (
        MAX_JSON_ROWS,
        MAX_ROWS,
        check_size,
        run_scenario,
        with_broker,
    )
    from throttlescope.app.services.simulate.summary import summarise

    scenario = with_broker(scenario, *engine_and_version)
    check_size(file, scenario, every_s, most_rows=MAX_JSON_ROWS if with_rows else MAX_ROWS)
    if plot is not None:
        check_plot(plot)
    progress = TerminalProgress(1 if plot is None else 2, quiet=quiet)
    with progress.step("Simulating"):
        say_if_it_compiles(progress, "Simulating")
        simulation = run_scenario(file, scenario, seed, every_s)
        progress.note(f"{scenario.duration_s:g} s of {scenario.name}")
    found = summarise(simulation, every_s)
    if plot is not None:
        with progress.step("Drawing"):
            write_plot(plot, simulation, found, seed=seed)
            progress.note(str(plot))
    if format is RowFormat.json:
        render.write_simulation_json(simulation, found, seed=seed, every_s=every_s, with_rows=with_rows)
    elif format is RowFormat.csv:
        render.write_rows_csv(simulation.seconds)
    else:
        render.print_simulation(simulation, found, seed=seed, every_s=every_s)


def say_if_it_compiles(progress: TerminalProgress, what: str) -> None:
    """Say in a step's line that it takes long the first time."""
    from throttlescope.app.log import tell
    from throttlescope.app.services.simulate.scenario import is_compiled

    if is_compiled():
        return
    text = "the first run on this machine compiles the simulator, about a minute"
    progress.note(text)
    if not progress.quiet and not sys.stderr.isatty():
        # Without a live line nothing would be seen for that minute.
        tell(f"{what}: {text}", event="note")


def _tdmq(scenario: TdmqScenario, seed: int, format: RowFormat, quiet: bool) -> None:
    from throttlescope.app.cli.tables.simulate import write_rows_csv
    from throttlescope.app.cli.tables.simulate_tdmq import print_tdmq, write_tdmq_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.models.throttling.tdmq import simulate as simulate_tdmq

    progress = TerminalProgress(1, quiet=quiet)
    with progress.step("Simulating"):
        windows = simulate_tdmq(scenario, seed).windows
        progress.note(f"{scenario.duration_s} s of {scenario.name}")
    if format is RowFormat.json:
        write_tdmq_json(scenario, windows, seed=seed)
    elif format is RowFormat.csv:
        write_rows_csv(windows)
    else:
        print_tdmq(scenario, windows, seed=seed)
