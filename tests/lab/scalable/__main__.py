"""The scalable lab's command line: in, a set; out, recordings of scalable topics.

``python -m tests.lab.scalable record --set development`` resumes: a scenario whose recording exists is skipped. ``show`` prints scenarios.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tests.lab.__main__ import commit_paths, note_rows
from tests.lab.parts import SCALABLE_VERSION, broker_jars, java_binary, prometheus_binary
from tests.lab.processes import go_first
from tests.lab.scalable.client import compiled_load
from tests.lab.scalable.model import ScalableScenario
from tests.lab.scalable.record import ScalableVoid, record_scalable
from tests.lab.scalable.sets import SCALABLE_SETS, ScalableSet
from tests.lab.sets import picked

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Records scalable topics on real brokers.")
SetName = Annotated[str, typer.Option("--set", help=f"Which scenarios: {' or '.join(SCALABLE_SETS)}.")]
console = Console(width=140)


@app.command()
def record(
    chosen: SetName = "development",
    only: Annotated[list[str] | None, typer.Option(help="Scenario names; all by default.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the recordings; nothing is committed then.")
    ] = None,
    scratch: Annotated[Path | None, typer.Option(help="Folder for servers' files and logs.")] = None,
    at_once: Annotated[int, typer.Option(min=1, help="Brokers that run at the same time.")] = 2,
    count_cpu: Annotated[
        bool, typer.Option(help="Void a recording whose processes waited long for a CPU.")
    ] = True,
    commit: Annotated[bool, typer.Option(help="Commit each finished recording.")] = True,
) -> None:
    """Record every scenario of a set that has no recording yet."""
    which = _set(chosen)
    target = out or which.recordings
    scenarios = [
        one for one in picked(which.scenarios, only) if not (target / one.name / "recording.json").exists()
    ]
    if not scenarios:
        console.print("every scenario has a recording")
        return
    java_binary(), prometheus_binary(), broker_jars(SCALABLE_VERSION), compiled_load()
    go_first()
    scratch_root = scratch or Path(tempfile.mkdtemp(prefix="throttlescope-scalable-"))
    commit = commit and out is None

    def one(scenario: ScalableScenario) -> bool:
        try:
            folder = record_scalable(
                scenario, target, scratch_root / scenario.name, say=console.log, count_cpu=count_cpu
            )
        except (ScalableVoid, RuntimeError, OSError) as error:
            console.log(f"{scenario.name}: voided: {error}")
            reason = str(error).splitlines()[0]
            row = {"scenario": scenario.name, "family": "scalable", "status": "voided", "reasons": [reason]}
            note_rows([row], target / "dropped.json", commit)
            return False
        console.log(f"{scenario.name}: kept")
        if commit:
            commit_paths([folder], f"Record {scenario.name} on a real broker")
        return True

    with ThreadPoolExecutor(at_once) as pool:
        if not all(list(pool.map(one, scenarios))):
            raise typer.Exit(1)


@app.command()
def show(
    chosen: SetName = "development",
    only: Annotated[list[str] | None, typer.Option(help="Print the whole files of these.")] = None,
) -> None:
    """Print the scenarios of a set, one line per topic, or whole files."""
    which = _set(chosen)
    for scenario in picked(which.scenarios, only):
        if only:
            typer.echo(scenario.to_yaml())
            continue
        typer.echo(
            f"{scenario.name}: {scenario.duration_s / 60:.1f} min, {scenario.rate_msg:.0f} msg/s: {scenario.about}"
        )
        for topic in scenario.topics:
            causes = ", ".join(f"{role} {truth.cause}" for role, truth in topic.truth.items())
            typer.echo(f"  {topic.name}: {causes}: {topic.about}")


def _set(name: str) -> ScalableSet:
    if name not in SCALABLE_SETS:
        raise typer.BadParameter(f"no set {name!r}; there are {', '.join(SCALABLE_SETS)}")
    return SCALABLE_SETS[name]


if __name__ == "__main__":
    app()
