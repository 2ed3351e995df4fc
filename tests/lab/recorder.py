"""The command line that records scenarios of a cause for each topic. In: a :class:`Recorder`. Out: the commands ``record`` and ``show``."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console

from tests.lab.__main__ import commit_paths, note_rows
from tests.lab.processes import go_first
from tests.lab.sets import SeededSet, picked
from tests.lab.soundness import RecordingVoid

console = Console(width=140)
SetName = Annotated[str, typer.Option("--set", help="Which scenarios.")]


class SeededScenario(Protocol):
    """What the commands read of a scenario."""

    name: str
    about: str
    topics: Sequence[Any]
    duration_s: float
    rate_msg: float

    def to_yaml(self) -> str:
        """The text of its file."""


@dataclass(frozen=True)
class Recorder:
    """How scenarios of a family are recorded.

    Attributes
    ----------
    record : callable
        ``record(scenario, out_dir, scratch_dir, say=..., count_cpu=...)`` writes one recording and returns its folder.
    bring_parts : callable
        Brings the real parts that it starts.
    made_on : str
        On what, for the message of a commit.
    truth_of : callable
        What the truth of a topic is, in words.
    """

    family: str
    sets: Mapping[str, SeededSet]
    record: Callable[..., Path]
    bring_parts: Callable[[], object]
    made_on: str
    truth_of: Callable[[Any], str]


def application(recorder: Recorder, about: str) -> typer.Typer:
    """The commands ``record``, which resumes and commits, and ``show``."""
    app = typer.Typer(
        add_completion=False, no_args_is_help=True, help=f"{about} Sets: {', '.join(recorder.sets)}."
    )

    @app.command()
    def record(
        chosen: SetName = "development",
        only: Annotated[list[str] | None, typer.Option(help="Scenario names; all by default.")] = None,
        out: Annotated[
            Path | None, typer.Option(help="Folder of the recordings; nothing is committed then.")
        ] = None,
        scratch: Annotated[Path | None, typer.Option(help="Folder for servers' files and logs.")] = None,
        at_once: Annotated[int, typer.Option(min=1, help="Scenarios that run at the same time.")] = 2,
        count_cpu: Annotated[
            bool, typer.Option(help="Void a recording whose processes waited long for a CPU.")
        ] = True,
        commit: Annotated[bool, typer.Option(help="Commit each finished recording.")] = True,
    ) -> None:
        """Record every scenario of a set that has no recording yet."""
        which = _set(recorder, chosen)
        target = out or which.recordings
        scenarios = [
            one
            for one in picked(which.scenarios, only)
            if not (target / one.name / "recording.json").exists()
        ]
        if not scenarios:
            console.print("every scenario has a recording")
            return
        recorder.bring_parts()
        go_first()
        root = scratch or Path(tempfile.mkdtemp(prefix=f"throttlescope-{recorder.family}-"))
        one = lambda scenario: _recorded(recorder, scenario, target, root, count_cpu, commit and out is None)  # noqa: E731
        with ThreadPoolExecutor(at_once) as pool:
            if not all(list(pool.map(one, scenarios))):
                raise typer.Exit(1)

    @app.command()
    def show(
        chosen: SetName = "development",
        only: Annotated[list[str] | None, typer.Option(help="Print the whole files of these.")] = None,
    ) -> None:
        """Print the scenarios of a set, one line per topic, or whole files."""
        for scenario in picked(_set(recorder, chosen).scenarios, only):
            if only:
                typer.echo(scenario.to_yaml())
                continue
            minutes, rate = scenario.duration_s / 60, scenario.rate_msg
            typer.echo(f"{scenario.name}: {minutes:.1f} min, {rate:.0f} msg/s: {scenario.about}")
            for topic in scenario.topics:
                typer.echo(f"  {topic.name}: {recorder.truth_of(topic)}: {topic.about}")

    return app


def _recorded(
    recorder: Recorder, scenario: SeededScenario, target: Path, root: Path, count_cpu: bool, commit: bool
) -> bool:
    """Record one scenario; what does not count is noted with its reason."""
    try:
        folder = recorder.record(scenario, target, root / scenario.name, say=console.log, count_cpu=count_cpu)
    except (RecordingVoid, RuntimeError, OSError) as error:
        console.log(f"{scenario.name}: voided: {error}")
        reasons = [str(error).splitlines()[0]]
        row = {"scenario": scenario.name, "family": recorder.family, "status": "voided", "reasons": reasons}
        note_rows([row], target / "dropped.json", commit)
        return False
    console.log(f"{scenario.name}: kept")
    if commit:
        commit_paths([folder], f"Record {scenario.name} on {recorder.made_on}")
    return True


def _set(recorder: Recorder, name: str) -> SeededSet:
    if name not in recorder.sets:
        raise typer.BadParameter(f"no set {name!r}; there are {', '.join(recorder.sets)}")
    return recorder.sets[name]
