"""One diagnosis of a made fleet, as a user would run it. In: a lake with samples, and a Spark master. Out: seconds by step, and peak memory.

The command ``throttlescope diagnose`` runs in a process of its own; what it computes is removed before, so every time is the time
of the whole work. What it says on standard error is what is measured: a line per step with its seconds.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.side_by_side.usage import cpu_s, memory_mb
from tests.cluster.fleet import START_MS, Fleet, make_lake
from throttlescope.ingest.core.times import format_time

_STEP = re.compile(r"^\[(\d+)/\d+\] (.*?)(?:: .*)? \((\d+\.\d) s\)$")
_GIVEN = ("series", "samples", "limits")
_POLL_S = 0.5
VERSION = 1


@dataclass
class Diagnosed:
    """What one run took.

    Attributes
    ----------
    cpu_s : float
        Processor seconds of the driver and of all else that runs below this process: of a cluster that it started, too.
    steps_s : dict
        Step to its seconds, the start of Spark among them.
    peak_mb : dict
        Of the ``process`` (the driver's Python), of the driver's ``jvm``, and of all Python ``workers`` of a local master.
    """

    whole_s: float
    cpu_s: float = 0.0
    steps_s: dict[str, float] = field(default_factory=dict)
    peak_mb: dict[str, float] = field(default_factory=dict)

    @property
    def work_s(self) -> float:
        """Everything but the start of Spark."""
        return round(sum(took_s for step, took_s in self.steps_s.items() if step != "Starting Spark"), 1)


def made_lake(folder: Path, fleet: Fleet) -> Path:
    """The fleet's lake; made when it is not there."""
    name = f"{fleet.healthy}-{fleet.ill}-{fleet.on_one_topic}-{fleet.hours}h-v{VERSION}"
    root = folder / name
    if not (root / "made").exists():
        shutil.rmtree(root, ignore_errors=True)
        print(f"making {name}", file=sys.stderr, flush=True)
        make_lake(root / "lake", fleet)
        (root / "made").touch()
    return root / "lake"


def diagnosed(lake: Path, fleet: Fleet, master: str, timeout_s: float = 3600) -> Diagnosed:
    """Diagnose the whole fleet once, in a lake that holds nothing but its samples.

    Raises
    ------
    RuntimeError
        The command failed, or said nothing that can be measured.
    """
    for table in lake.iterdir():
        if table.name not in _GIVEN:
            shutil.rmtree(table)
    return diagnosed_range(lake, START_MS, fleet.end_ms, master, timeout_s)


def diagnosed_range(
    lake: Path, start_ms: int, end_ms: int, master: str | None, timeout_s: float = 3600
) -> Diagnosed:
    """Diagnose [start_ms, end_ms) once, next to what the lake holds already; without a master as a run of its size does. Errors as of
    :func:`diagnosed`."""
    command = [
        sys.executable,
        "-m",
        "throttlescope.app.cli",
        "diagnose",
        "--lake",
        str(lake),
    ]
    command += [] if master is None else ["--master", master]
    command += ["--start", format_time(start_ms), "--end", format_time(end_ms)]
    began_s, log = time.perf_counter(), lake.parent / "diagnose.log"
    used_before_s = used_s = cpu_s(os.getpid(), ended=True)
    with log.open("w") as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        peaks: dict[str, float] = {}
        try:
            while process.poll() is None:
                if time.perf_counter() - began_s > timeout_s:
                    raise RuntimeError(f"not done after {timeout_s:.0f} s: {log.read_text()[-1000:]}")
                # Spark's Python workers take their time along when they end, and their peak; so the largest sums that were seen are kept.
                used_s = max(used_s, cpu_s(os.getpid(), ended=True))
                for kind, peak in _memory(process.pid).items():
                    peaks[kind] = max(peaks.get(kind, 0.0), peak)
                time.sleep(_POLL_S)
        finally:
            process.kill()
            process.wait()
    found = Diagnosed(
        round(time.perf_counter() - began_s, 1), round(used_s - used_before_s, 1), peak_mb=peaks
    )
    for line in log.read_text().splitlines():
        if match := _STEP.match(line):
            found.steps_s[match[2]] = found.steps_s.get(match[2], 0.0) + float(match[3])
    if process.returncode or not found.work_s:
        raise RuntimeError(f"diagnose ended with {process.returncode}: {log.read_text()[-1000:]}")
    return found


def _memory(pid: int) -> dict[str, float]:
    try:
        return memory_mb(pid)
    except OSError:
        return {}
