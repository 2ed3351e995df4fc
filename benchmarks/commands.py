"""How long a person waits for a command that reads a small lake, compared with another checkout.

In: a number of runs, and another checkout (``--against DIR``) with its own environment. Out: JSON on standard output: for each command the median
elapsed and processor seconds of each checkout. The lake has a few rows, so this is the time of starting, importing and printing. Each run is a process of its own;
checkouts alternate, and a run of each before the first one fills the caches.

Target: half a second elapsed on an otherwise idle machine. On a busy one the processor seconds can be compared.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from tests.app.command_lake import write_lake
from tests.distribution import ROOT

TARGET_S = 0.5
COMMANDS = {
    "--help": ("--help",),
    "verdicts": ("verdicts", "--lake"),
    "episodes": ("episodes", "--lake"),
    "promql": ("promql", "rate(m[5m])", "--lake"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--against", type=Path, metavar="DIR", help="another checkout, after make setup")
    given = parser.parse_args()
    checkouts = {"ours": ROOT} | ({"other": given.against} if given.against else {})
    found: dict = {
        "machine": {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "load_1min": os.getloadavg()[0],
        },
        "target_s": TARGET_S,
    }
    with tempfile.TemporaryDirectory(prefix="throttlescope-commands-") as folder:
        lake = write_lake(Path(folder) / "lake")
        for name, arguments in COMMANDS.items():
            arguments = (*arguments, lake) if arguments[-1] == "--lake" else arguments
            for checkout in checkouts.values():
                seconds_of(checkout, arguments)
            seconds: dict[str, list[tuple[float, float]]] = {which: [] for which in checkouts}
            for _ in range(given.runs):
                for which, checkout in checkouts.items():
                    seconds[which].append(seconds_of(checkout, arguments))
            found[name] = {
                which: {
                    "elapsed_s": round(statistics.median(elapsed for elapsed, _ in measured), 2),
                    "processor_s": round(statistics.median(cpu for _, cpu in measured), 2),
                }
                for which, measured in seconds.items()
            }
    print(json.dumps(found, indent=1))


def seconds_of(checkout: Path, arguments: tuple[str, ...]) -> tuple[float, float]:
    """Elapsed and processor seconds of one run."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [checkout / ".venv" / "bin" / "throttlescope", *arguments],
        cwd=checkout,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    elapsed_s = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed with exit code {process.returncode} in {checkout}")
    return elapsed_s, usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
