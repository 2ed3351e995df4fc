"""The geo lab's command line: in, a set; out, recordings of two clusters.

``python -m tests.lab.geo record --set development`` resumes: a scenario whose recording exists is skipped. ``show`` prints scenarios.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tests.lab.__main__ import commit_paths, note_rows
from tests.lab.geo.model import GeoScenario
from tests.lab.geo.record import GeoVoid, record_geo
from tests.lab.geo.sets import GEO_SETS, GeoSet
from tests.lab.parts import broker_jars, java_binary, prometheus_binary
from tests.lab.processes import go_first
from tests.lab.sets import picked

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Records geo-replication on real clusters."
)
SetName = Annotated[str, typer.Option("--set", help=f"Which scenarios: {' or '.join(GEO_SETS)}.")]
console = Console(width=140)


@app.command()
def record(
    chosen: SetName = "development",
    only: Annotated[list[str] | None, typer.Option(help="Scenario names; all by default.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the recordings; nothing is committed then.")
    ] = None,
    scratch: Annotated[Path | None, typer.Option(help="Folder for servers' files and logs.")] = None,
    at_once: Annotated[int, typer.Option(min=1, help="Pairs of clusters that run at the same time.")] = 2,
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
    java_binary(), prometheus_binary(), broker_jars()
    go_first()
    scratch_root = scratch or Path(tempfile.mkdtemp(prefix="throttlescope-geo-"))
    commit = commit and out is None

    def one(scenario: GeoScenario) -> bool:
        try:
            folder = record_geo(
                scenario, target, scratch_root / scenario.name, say=console.log, count_cpu=count_cpu
            )
        except (GeoVoid, RuntimeError, OSError) as error:
            console.log(f"{scenario.name}: voided: {error}")
            reason = str(error).splitlines()[0]
            row = {"scenario": scenario.name, "family": "geo", "status": "voided", "reasons": [reason]}
            note_rows([row], target / "dropped.json", commit)
            return False
        console.log(f"{scenario.name}: kept")
        if commit:
            commit_paths([folder], f"Record {scenario.name} on two real clusters")
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
            limiter = f" {topic.truth.limiter}" if topic.truth.limiter else ""
            typer.echo(f"  {topic.name}: {topic.truth.cause}{limiter}: {topic.about}")


def _set(name: str) -> GeoSet:
    if name not in GEO_SETS:
        raise typer.BadParameter(f"no set {name!r}; there are {', '.join(GEO_SETS)}")
    return GEO_SETS[name]


if __name__ == "__main__":
    app()
