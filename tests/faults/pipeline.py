"""Study: the whole pipeline is killed, and run again. In: a seed. Out: whether every table is what an undisturbed run makes of it.

The command itself runs, with Spark, as a process of its own; it and everything that it started gets SIGKILL: when a step is announced,
right before or after a commit, or after a drawn time. Up to three of its runs are killed on the same lake, then it ends by itself.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.app.incremental import DATA, hour, put, rows_of
from tests.faults.killed_command import kill_session
from tests.faults.study import Found, Study
from tests.lab.processes import end_with_parent
from tests.lab.prometheus import running_prometheus
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.upkeep.check import check

RECORDING = "healthy-msg-50"
HOURS = 2
#: A slow machine with other work.
_AT_MOST_S = 900
#: What is compared in addition to results of samples; recordings bring these.
_TABLES = (*DATA, "policies", "topic_stats", "truth")


@dataclass(frozen=True)
class Scene:
    """A command, and what it makes undisturbed."""

    name: str
    arguments: tuple[str, ...]
    whole: Path
    steps: int
    commits: int
    seconds: float


def run(
    arguments: tuple[str, ...], lake: Path, at: str, killed_after_s: float | None = None
) -> tuple[int, str]:
    """Exit code and the end of stderr; -9 where it was killed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.killed_command", *arguments, "--lake", str(lake)],
        env={**os.environ, "FAULT_AT": at}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=end_with_parent,
    )  # fmt: skip
    try:
        _, said = process.communicate(timeout=killed_after_s or _AT_MOST_S)
    except subprocess.TimeoutExpired:
        kill_session(process.pid)
        _, said = process.communicate()
    finally:
        kill_session(process.pid)
    return process.returncode, said[-2000:]


@contextlib.contextmanager
def opened(seed: int, instants: int, scratch: Path) -> Iterator[Iterator[tuple[str, Callable[[], Found]]]]:
    with contextlib.ExitStack() as stack:
        yield _instants(stack, seed, scratch)


def _instants(
    stack: contextlib.ExitStack, seed: int, scratch: Path
) -> Iterator[tuple[str, Callable[[], Found]]]:
    recording = undisturbed("run of a recording", ("run", "--recording", RECORDING), scratch)
    # Every boundary of the first command comes before anything is drawn.
    boundaries = iter([f"step {i}" for i in range(1, recording.steps + 1)])
    scenes, waiting = [recording], _of_prometheus(stack, scratch)
    for number in itertools.count():
        draw = random.Random(f"{seed} {number}")  # noqa: S311
        if number == len(scenes):
            # Made when it is their turn: each takes a whole run.
            scenes += itertools.islice(waiting, 1)
        scene = scenes[number % len(scenes)]
        kills = []
        for _ in range(3):
            boundary = next(boundaries, None) if scene is recording else None
            kills.append(boundary or _drawn(scene, draw))
        name = f"lake {number}, {scene.name}: {', then '.join(kills)}"
        yield name, lambda name=name, scene=scene, kills=kills: killed(name, scene, kills, scratch / "killed")


def _of_prometheus(stack: contextlib.ExitStack, scratch: Path) -> Iterator[Scene]:
    server = stack.enter_context(running_prometheus())
    put(server.url, 0, HOURS)
    over = ("--prometheus", server.url, "--start", str(hour(0) // 1000), "--end", str(hour(HOURS) // 1000))
    yield undisturbed("run of a Prometheus", ("run", *over), scratch)
    yield undisturbed("backfill", ("backfill", *over, "--chunk", "1h"), scratch)


def _drawn(scene: Scene, draw: random.Random) -> str:
    kind = draw.choice(("step", "commit", "time"))
    if kind == "step":
        return f"step {draw.randint(1, scene.steps)}"
    if kind == "commit":
        return f"commit {draw.randint(1, scene.commits)} {draw.choice(('before', 'after'))}"
    # A share and not seconds: how long it takes is measured, and the same seed has to give the same instants.
    return f"after {draw.random():.3f} of its time"


def undisturbed(name: str, arguments: tuple[str, ...], scratch: Path) -> Scene:
    """Run a command to its end, and count its steps and commits."""
    whole, counts = scratch / f"whole-{name.replace(' ', '-')}", scratch / "counts.json"
    started_s = time.monotonic()
    code, said = run(arguments, whole, f"count {counts}")
    if code:
        raise RuntimeError(said)
    counted = json.loads(counts.read_text())
    return Scene(name, arguments, whole, counted["steps"], counted["commits"], time.monotonic() - started_s)


def killed(name: str, scene: Scene, kills: list[str], lake: Path) -> Found:
    """Kill a command at one instant after the other, then let it end, and hold the lake against the undisturbed one."""
    shutil.rmtree(lake, ignore_errors=True)
    found, ended = Found(name), 0
    for at in kills:
        after_s = float(at.split()[1]) * scene.seconds if at.startswith("after ") else None
        code, said = run(scene.arguments, lake, at, after_s)
        kind = (
            "after a drawn time"
            if after_s is not None
            else "at a step"
            if at.startswith("step")
            else "around a commit"
        )
        if code == -9:
            ended += 1
            found.tally[f"{scene.name}, {kind}"] = found.tally.get(f"{scene.name}, {kind}", 0) + 1
        elif code:
            found.wrong.append(f"{at}: it failed by itself: {said.strip().splitlines()[-1]}")
        found.wrong += [f"{at}: {fault}" for fault in _faults(lake)]
    code, said = run(scene.arguments, lake, "")
    if code:
        found.wrong.append("repeated, it failed: " + (said.strip().splitlines() or [""])[-1])
    for table in _TABLES:
        one, other = rows_of(lake, table), rows_of(scene.whole, table)
        found.lost += len(set(other) - set(one))
        found.doubled += len(set(one) - set(other)) + len(one) - len(set(one))
        if one != other:
            found.wrong.append(f"{table}: {len(one)} rows, and {len(other)} undisturbed")
    found.wrong += [f"repeated: {fault}" for fault in _faults(lake)]
    # A run that was ready before its instant came is no kill.
    found.counts = ended
    return found


def _faults(lake: Path) -> list[str]:
    try:
        return [
            f"lake check: {fault.path or fault.table}: {fault.what}"
            for fault in check(Lake(lake))
            if fault.path
        ]
    except (ThrottlescopeError, OSError) as error:
        return [f"not readable: {error}"]


STUDY = Study(
    "whole pipeline",
    "after each kill every table is whole; run to its end, every table has the rows of an undisturbed run",
    60,
    opened,
)
