"""The lab's command line: in, scenario files; out, recordings and a table of what became of every scenario.

``python -m tests.lab record`` resumes: a scenario whose recording exists is skipped. ``--set engine`` plays the scenarios that
judge the simulator.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from tests.lab.capable import load_recordable
from tests.lab.fleet.excerpt import write_excerpt
from tests.lab.fleet.record import record_fleet
from tests.lab.fleet.sets import FLEET_SETS, FleetSet
from tests.lab.group import Group, run_group
from tests.lab.judge import Outcome
from tests.lab.parts import PartMissing, broker_jars, java_binary, prometheus_binary
from tests.lab.processes import go_first
from tests.lab.sets import REPOSITORY, SETS, ScenarioSet, picked
from tests.lab.soundness import RecordingVoid
from throttlescope.models.throttling.scenario import Scenario, ScenarioError

SMOKE_SCENARIOS = Path(__file__).with_name("smoke")

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Records scenarios on a real broker.")
SetName = Annotated[str, typer.Option("--set", help=f"Which scenarios: {' or '.join((*SETS, *FLEET_SETS))}.")]
console = Console(width=None if os.isatty(1) else 140)


@app.command()
def record(
    only: Annotated[list[str] | None, typer.Option(help="Scenario names; all by default.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the recordings; nothing is committed then.")
    ] = None,
    scratch: Annotated[Path | None, typer.Option(help="Folder for servers' files and logs.")] = None,
    batch: Annotated[int | None, typer.Option(help="Run only this batch, counted from 1.")] = None,
    hold: Annotated[
        float, typer.Option(help="Keep the servers of the last batch alive this many seconds.")
    ] = 0,
    commit: Annotated[bool, typer.Option(help="Commit each finished recording.")] = True,
    chosen: SetName = "default",
    count_cpu: Annotated[
        bool, typer.Option(help="Void a recording whose processes waited long for a CPU.")
    ] = True,
) -> None:
    """Record every scenario that has no recording yet; of a set of fleets, every fleet (``--only`` takes its seed)."""
    if chosen in FLEET_SETS:
        _record_fleets(FLEET_SETS[chosen], only, out, scratch, commit=commit and out is None)
        return
    which = _set(chosen)
    scenarios = picked(load_recordable(which.scenarios), only)
    target = out or which.recordings
    # A recording that does not ship with the package counts as recorded too.
    places = [out] if out else list(which.places)
    batches = plan([s for s in scenarios if _recorded(places, s.name) is None], which)
    if batch is not None:
        batches = batches[batch - 1 : batch]
    go_first()
    outcomes = _run(
        batches,
        which.scenarios,
        target,
        scratch,
        hold,
        commit=commit and out is None,
        warm_up_s=which.warm_up_s,
        count_cpu=count_cpu,
        with_ages=which.with_ages,
    )
    if out is None:
        _note_dropped(outcomes, which.dropped_file, commit)
    _print_table(scenarios, outcomes, places)
    if any(outcome.status != "kept" for outcome in outcomes):
        raise typer.Exit(1)


@app.command()
def smoke(
    out: Annotated[Path, typer.Option(help="Folder of the recordings.")],
    scratch: Annotated[Path | None, typer.Option(help="Folder for servers' files and logs.")] = None,
    hold: Annotated[float, typer.Option(help="Keep the servers alive this many seconds.")] = 0,
) -> None:
    """Record two short scenarios: the quick proof that broker, Prometheus and recorder work."""
    scenarios = load_recordable(SMOKE_SCENARIOS)
    outcomes = _run([[Group("smoke", tuple(scenarios))]], SMOKE_SCENARIOS, out, scratch, hold, commit=False)
    _print_table(scenarios, outcomes, [out])
    if any(outcome.status != "kept" for outcome in outcomes):
        raise typer.Exit(1)


@app.command("plan")
def show_plan(
    only: Annotated[list[str] | None, typer.Option(help="Scenario names; all by default.")] = None,
    chosen: SetName = "default",
) -> None:
    """Print which scenarios would run side by side."""
    which = _set(chosen)
    for number, groups in enumerate(plan(picked(load_recordable(which.scenarios), only), which), 1):
        for group in groups:
            names = " ".join(scenario.name for scenario in group.scenarios)
            console.print(
                f"batch {number} {group.name}: {group.duration_s / 60:.1f} min, {group.rate_msg:.0f} msg/s: {names}"
            )


@app.command()
def excerpt(
    folder: Annotated[Path, typer.Argument(help="A fleet's recording.")],
    name: Annotated[str, typer.Option(help="Name of the new recording and of its cluster.")],
    until_s: Annotated[float, typer.Option(help="Where it ends, in seconds from the fleet's start.")],
    out: Annotated[Path, typer.Option(help="Folder of the new one.")] = REPOSITORY / "ingest" / "recordings",
) -> None:
    """Write the beginning of a fleet's recording under another name: what the demo shows ends while faults are on."""
    console.print(str(write_excerpt(folder, out, name, until_s)))


def _record_fleets(
    which: FleetSet, only: list[str] | None, out: Path | None, scratch: Path | None, *, commit: bool
) -> None:
    wanted = {int(seed) for seed in only or which.seeds}
    if unknown := wanted - set(which.seeds):
        raise typer.BadParameter(f"no seed {min(unknown)}; there are {', '.join(map(str, which.seeds))}")
    target = out or which.recordings
    scratch_root = scratch or Path(tempfile.mkdtemp(prefix="throttlescope-lab-"))
    voided = False
    go_first()
    for fleet in which.fleets:
        if fleet.seed not in wanted or (target / fleet.name / "recording.json").exists():
            continue
        java_binary(), prometheus_binary(), broker_jars(fleet.version)
        try:
            folder = record_fleet(fleet, target, scratch_root / fleet.name, say=console.log)
        except (RecordingVoid, RuntimeError, OSError) as error:
            voided = True
            console.log(f"{fleet.name}: voided: {error}")
            row = {
                "scenario": fleet.name,
                "family": "fleet",
                "status": "voided",
                "reasons": [str(error).splitlines()[0]],
            }
            note_rows([row], target / "dropped.json", commit)
        else:
            console.log(f"{fleet.name}: kept")
            if commit:
                commit_paths([folder], f"Record {fleet.name} on a real cluster")
    if voided:
        raise typer.Exit(1)


def plan(scenarios: list[Scenario], which: ScenarioSet = SETS["default"]) -> list[list[Group]]:
    """Put scenarios into groups that share a broker, and groups into batches that run side by side."""
    shared: dict[tuple[str, int, str], list[Scenario]] = {}
    groups = []
    for scenario in scenarios:
        if scenario.disturbs_others or (which.single_active_alone and _single_active(scenario)):
            groups.append(Group(scenario.name, (scenario,)))
        else:
            key = (scenario.profile, scenario.scrape_interval_s, scenario.broker.model_dump_json())
            shared.setdefault(key, []).append(scenario)
    for (profile, interval, _), part in shared.items():
        parts = _even(part, which.most_on_broker)
        for few in parts:
            # Two brokers of one profile differ in their settings or share the load: named by what runs first.
            several = len(parts) > 1 or sum(key[:2] == (profile, interval) for key in shared) > 1
            name = f"{profile}-{interval}s" + (f"-{few[0].name}" if several else "")
            groups.append(Group(name, tuple(few)))
    batches: list[list[Group]] = []
    for group in sorted(groups, key=lambda item: -item.rate_msg):
        for candidate in batches:
            fits = sum(item.rate_msg for item in candidate) + group.rate_msg <= which.batch_rate_msg
            # A group of many scenarios has the machine for itself.
            alone = any(len(item.scenarios) > which.alone_above for item in (*candidate, group))
            if fits and not alone and len(candidate) < which.batch_groups:
                candidate.append(group)
                break
        else:
            batches.append([group])
    return batches


def _single_active(scenario: Scenario) -> bool:
    return any(item.type in ("Exclusive", "Failover") for item in scenario.subscriptions)


def _even(scenarios: list[Scenario], most: int) -> list[list[Scenario]]:
    """Deal scenarios onto as few brokers as may be, each with about the same load."""
    parts: list[list[Scenario]] = [[] for _ in range(math.ceil(len(scenarios) / most))]
    if len(parts) == 1:
        return [scenarios]
    for scenario in sorted(scenarios, key=lambda item: -item.rate_msg):
        open_parts = [part for part in parts if len(part) < most]
        min(open_parts, key=lambda part: sum(item.rate_msg for item in part)).append(scenario)
    return parts


def _set(name: str) -> ScenarioSet:
    if name not in SETS:
        raise typer.BadParameter(f"no set {name!r}; there are {', '.join(SETS)}")
    return SETS[name]


def _recorded(places: list[Path], name: str) -> Path | None:
    files = [place / name / "recording.json" for place in places]
    return next((file for file in files if file.exists()), None)


def _run(
    batches: list[list[Group]],
    folder: Path,
    out_dir: Path,
    scratch: Path | None,
    hold_s: float,
    *,
    commit: bool,
    warm_up_s: float = 0,
    count_cpu: bool = True,
    with_ages: bool = False,
) -> list[Outcome]:
    files = {path.stem: path for path in folder.glob("*.yaml")}
    outcomes: list[Outcome] = []
    lock = threading.Lock()
    scratch_root = scratch or Path(tempfile.mkdtemp(prefix="throttlescope-lab-"))

    def done(outcome: Outcome) -> None:
        with lock:
            outcomes.append(outcome)
            console.log(f"{outcome.scenario.name}: {outcome.status} {'; '.join(outcome.reasons)}")
            if commit and outcome.folder is not None:
                commit_paths([outcome.folder], f"Record {outcome.scenario.name} on a real broker")

    if batches:
        # Fetched before anything is timed.
        java_binary(), prometheus_binary()
        for version in {s.broker.version for groups in batches for group in groups for s in group.scenarios}:
            broker_jars(version)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        for number, groups in enumerate(batches, 1):
            last = number == len(batches)
            with ThreadPoolExecutor(len(groups)) as pool:
                futures = []
                for group in groups:
                    bar = progress.add_task(group.name, total=group.duration_s)
                    tick = lambda at_s, bar=bar: progress.update(bar, completed=max(0, at_s))  # noqa: E731
                    futures.append(
                        pool.submit(
                            run_group, group, files, out_dir, scratch_root / group.name,
                            say=console.log, tick=tick, done=done, hold_s=hold_s if last else 0,
                            warm_up_s=warm_up_s, count_cpu=count_cpu, with_ages=with_ages,
                        )
                    )  # fmt: skip
                for future, group in zip(futures, groups, strict=True):
                    error = future.exception()
                    if error is not None:
                        console.log(f"{group.name}: {type(error).__name__}: {error}")
                        seen = {outcome.scenario.name for outcome in outcomes}
                        for scenario in group.scenarios:
                            if scenario.name not in seen:
                                done(Outcome(scenario, "voided", [str(error).splitlines()[0]]))
    return outcomes


def commit_paths(paths: list[Path], message: str) -> None:
    names = [str(path.relative_to(REPOSITORY)) for path in paths]
    for _ in range(20):
        added = subprocess.run(
            ["git", "add", "--", *names], cwd=REPOSITORY, capture_output=True, text=True, check=False
        )
        if not added.returncode:
            made = subprocess.run(
                ["git", "commit", "-q", "-m", message, "--", *names],
                cwd=REPOSITORY, capture_output=True, text=True, check=False,
            )  # fmt: skip
            if not made.returncode:
                return
        # Another git command may hold the index.
        time.sleep(0.5)
    console.log(f"not committed: {' '.join(names)}")


def _note_dropped(outcomes: list[Outcome], file: Path, commit: bool) -> None:
    fresh = [
        {
            "scenario": outcome.scenario.name,
            "family": outcome.scenario.family,
            "status": outcome.status,
            "reasons": outcome.reasons,
            "checks": outcome.checks,
        }
        for outcome in outcomes
        if outcome.status != "kept"
    ]
    note_rows(fresh, file, commit)


def note_rows(fresh: list[dict[str, Any]], file: Path, commit: bool) -> None:
    rows: list[dict[str, Any]] = []
    if file.exists():
        rows = json.loads(file.read_text())["rows"]
    fresh = [row | {"at_ms": round(time.time() * 1000)} for row in fresh]
    if fresh or not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"format": 1, "rows": rows + fresh}, indent=1) + "\n")
        if commit:
            commit_paths([file], "Note the scenarios that do not count, and why")


def _print_table(scenarios: list[Scenario], outcomes: list[Outcome], places: list[Path]) -> None:
    """Print every scenario: those of this run, and those whose recording was there before."""
    table = Table("scenario", "family", "size", "outcome", "effect seen", "drained after", "why")
    by_name = {outcome.scenario.name: outcome for outcome in outcomes}
    for scenario in scenarios:
        outcome = by_name.get(scenario.name)
        if outcome is not None:
            status, checks, why = outcome.status, outcome.checks, "; ".join(outcome.reasons)
        elif (file := _recorded(places, scenario.name)) is not None:
            checks = json.loads(file.read_text())["confirmed"]
            status, why = "recorded before", ""
        else:
            status, checks, why = "not run", [], ""
        effects = [
            f"{c['state']}/{c['subscription']} {c['check']} {_short(c)}"
            for c in checks
            if c["check"] != "drains"
        ]
        drains = [f"{c['seen'].get('drained_s')} s" for c in checks if c["check"] == "drains"]
        table.add_row(
            scenario.name, scenario.family, scenario.size, status, "\n".join(effects), "\n".join(drains), why
        )
    console.print(table)


def _short(check: dict[str, Any]) -> str:
    key, value = next(iter(check["seen"].items()), ("", ""))
    return f"{value} {key.removesuffix('_entries')}"


def _interrupted(_signal: int, _frame: object) -> None:
    # The groups' threads would run on for minutes; the servers and load processes end with this process.
    console.print("lab: interrupted; finished recordings are kept, the others start again next time")
    os._exit(130)


def main() -> None:
    """Run the command line; what can go wrong outside is one line."""
    signal.signal(signal.SIGINT, _interrupted)
    try:
        app()
    except (PartMissing, ScenarioError) as error:
        console.print(f"lab: {error}", style="red", soft_wrap=True)
        raise SystemExit(1) from error


if __name__ == "__main__":
    main()
