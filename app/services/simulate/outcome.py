"""A scenario file simulated as a command requests it. In: a file and choices. Out: a `PulsarOutcome` or a `TdmqOutcome`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from throttlescope.app.pipeline.events import Progress
from throttlescope.app.services.simulate.scenario import (
    MAX_JSON_ROWS,
    MAX_ROWS,
    TdmqScenario,
    check_size,
    note_compilation,
    read_scenario,
    run_scenario,
    with_broker,
)
from throttlescope.app.services.simulate.summary import PartitionSummary, summarise
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.throttling import Scenario, Simulation

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class SimulationChoices:
    """What is simulated, and how.

    Attributes
    ----------
    every_s : int, optional
        Span of a row; 1 by default.
    with_rows : bool
        JSON has the rows too, not only their summary.
    """

    file: Path
    seed: int = 0
    engine: str | None = None
    broker_version: str | None = None
    every_s: int | None = None
    with_rows: bool = False
    plot: Path | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The choices that options make.

        Raises
        ------
        InputError
            ``--seconds`` without JSON.
        """
        if given["seconds"] and given["format"] != "json":
            raise InputError(
                "--seconds goes with --format json",
                got=f"--format {given['format']}",
                fix="--format csv has the rows",
            )
        engine = None if given["engine"] is None else str(given["engine"])
        return cls(
            given["file"], given["seed"], engine, given["broker_version"], given["every"], given["seconds"], given["plot"]
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class PulsarOutcome:
    """A simulated broker, the summary of each subscription partition, and the progress for what comes next."""

    choices: SimulationChoices
    simulation: Simulation
    found: list[PartitionSummary]
    progress: Progress


@dataclass(frozen=True, eq=False)
class TdmqOutcome:
    """Simulated throttles of TDMQ: a table of windows."""

    choices: SimulationChoices
    scenario: TdmqScenario
    windows: pa.Table


def run_file(choices: SimulationChoices, progress: Callable[[], Progress]) -> PulsarOutcome | TdmqOutcome:
    """Simulate the scenario of a file.

    Parameters
    ----------
    progress : callable
        Makes the observer, once the file is known to be good.

    Raises
    ------
    InputError
        The file or a choice is not right.
    """
    scenario = read_scenario(choices.file)
    if not isinstance(scenario, Scenario):
        return _run_tdmq(scenario, choices, progress)
    scenario, every_s = with_broker(scenario, choices.engine, choices.broker_version), choices.every_s or 1
    check_size(choices.file, scenario, every_s, most_rows=MAX_JSON_ROWS if choices.with_rows else MAX_ROWS)
    steps = progress()
    with steps.step("Simulating"):
        note_compilation(steps, "Simulating")
        simulation = run_scenario(choices.file, scenario, choices.seed, every_s)
        steps.note(f"{scenario.duration_s:g} s of {scenario.name}")
    return PulsarOutcome(choices, simulation, summarise(simulation, every_s), steps)


def _run_tdmq(
    scenario: TdmqScenario, choices: SimulationChoices, progress: Callable[[], Progress]
) -> TdmqOutcome:
    from throttlescope.models.throttling.tdmq import simulate

    options = {
        "--engine": choices.engine,
        "--broker-version": choices.broker_version,
        "--every": choices.every_s,
        "--seconds": choices.with_rows or None,
        "--plot": choices.plot,
    }
    unfit = [name for name, value in options.items() if value is not None]
    if unfit:
        raise InputError(
            f"{choices.file}: a scenario of TDMQ's throttles knows no such option",
            got=", ".join(unfit),
            fix="leave it out",
        )
    steps = progress()
    with steps.step("Simulating"):
        windows = simulate(scenario, choices.seed).windows
        steps.note(f"{scenario.duration_s} s of {scenario.name}")
    return TdmqOutcome(choices, scenario, windows)
