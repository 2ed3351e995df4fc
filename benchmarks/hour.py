"""How long an hour of a fleet takes: from a real Prometheus to verdicts, and from samples to verdicts.

In: numbers of subscriptions and of runs. Out: a table on standard output, and JSON where it is wanted. Every subscription has about 14
series at 60 s (``benchmarks/fleet/scrapes.py``).

``cold``
    the command ``throttlescope run`` for the hour, from its start to its end, the gates and, from 2,000 subscriptions on, Spark's start included,
    each time into a new lake
``warm``
    from ``samples`` in a lake to ``signals`` and ``verdicts``, on Spark ``local[2]`` that is running; gates and what follows verdicts excluded

Targets: 10,000 subscriptions cold in less than 3 minutes; warm at least 0.5 million samples per second; ten times the fleet in at most 11
times the time, and the memory of the driver flat.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.fleet.scrapes import END_MS, START_MS, hour_of_scrapes
from benchmarks.side_by_side.usage import memory_mb, peak_mb
from throttlescope.ingest.core.times import format_time

SUBSCRIPTIONS = 10_000
COLD_S, WARM_SAMPLES_PER_S, GROWTH = 180, 0.5e6, 11
#: Series that are written at once: a server takes an hour of all of them in one go, but not in one request.
_SERIES_AT_ONCE = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subscriptions", type=int, nargs="+", default=[SUBSCRIPTIONS // 10, SUBSCRIPTIONS])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="OUT", help="file for everything that was measured")
    parser.add_argument("--warm", metavar="LAKE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.warm:
        print(json.dumps(warm(given.warm, given.runs)))
        return
    found: dict[str, Any] = {
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "fleets": {},
    }
    for subscriptions in given.subscriptions:
        one = found["fleets"][subscriptions] = measure(subscriptions, given.runs)
        print(_words(subscriptions, one), flush=True)
    if len(found["fleets"]) > 1:
        few, many = min(found["fleets"]), max(found["fleets"])
        growth = found["fleets"][many]["cold_median_s"] / found["fleets"][few]["cold_median_s"]
        print(f"{many / few:g} times the fleet: {growth:.1f} times the time, cold (target: at most {GROWTH})")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


def measure(subscriptions: int, runs: int) -> dict[str, Any]:
    """One fleet: a Prometheus of its own, then both ways."""
    from tests.lab.prometheus import running_prometheus, write_arrays

    with running_prometheus() as server, tempfile.TemporaryDirectory(prefix="hour-") as folder:
        written, several = 0, hour_of_scrapes(subscriptions)
        while part := list(islice(several, _SERIES_AT_ONCE)):
            written += write_arrays(server.url, part, timeout_s=300)
        found: dict[str, Any] = {"samples": written, "load_1min": os.getloadavg()[0], "cold": []}
        for run in range(runs):
            found["cold"].append(cold(server.url, Path(folder, f"lake-{run}")))
        found["cold_median_s"] = statistics.median(one["seconds"] for one in found["cold"])
        # The first session of a process is still warming up; only the later ones count.
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.hour", "--warm", str(Path(folder, "lake-0")), "--runs", str(runs)],
            stdout=subprocess.PIPE, check=True, text=True,
        )  # fmt: skip
    found["warm"] = json.loads(done.stdout.splitlines()[-1])
    found["warm_samples_per_s"] = round(written / found["warm"]["median_s"])
    return found


def cold(url: str, lake: Path) -> dict[str, Any]:
    """The command, as a person would give it."""
    command = [
        sys.executable, "-m", "throttlescope.app.cli", "run", "--prometheus", url, "--lake", str(lake), "--format", "json",
        "--start", format_time(START_MS), "--end", format_time(END_MS), "--quiet",
    ]  # fmt: skip
    began_s = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peaks: dict[str, float] = {}
    while process.poll() is None:
        try:
            seen = memory_mb(process.pid)
        except OSError:
            break
        # Spark's Python workers take their peak along when they end.
        peaks = {kind: max(peaks.get(kind, 0.0), seen.get(kind, 0.0)) for kind in peaks | seen}
        time.sleep(0.5)
    said = process.stdout.read() if process.stdout else ""
    seconds = round(time.monotonic() - began_s, 1)
    if process.wait():
        raise RuntimeError(f"the run ended with {process.returncode}")
    told = json.loads(said)
    return {
        "seconds": seconds, "memory_mb": peaks, "signals": told["signals"], "verdicts": told["verdicts"],
        "samples": sum(source["samples"] for source in told["sources"]),
    }  # fmt: skip


def warm(lake_path: str, runs: int) -> dict[str, Any]:
    """Recompute signals and verdicts several times; the first time is shown separately."""
    from benchmarks.fleet.signals import CLUSTER
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.spark.session import spark_session
    from throttlescope.ingest.spark.task_executor import SparkPoolExecutor
    from throttlescope.models.diagnosis.apply import build_verdicts
    from throttlescope.models.diagnosis.latest import build_latest
    from throttlescope.transforms.signals import build_signals

    executor, lake, taken = SparkPoolExecutor(spark_session(cores=2)), Lake(lake_path), []
    for run in range(runs + 1):
        began_s = time.monotonic()
        rows = build_signals(executor, lake, [CLUSTER], START_MS, END_MS, f"warm-{run}")
        signals_s = time.monotonic() - began_s
        build_verdicts(executor, lake, [CLUSTER], START_MS, END_MS, f"warm-{run}")
        build_latest(lake, (CLUSTER,), f"warm-{run}")
        taken.append((round(signals_s, 2), round(time.monotonic() - began_s - signals_s, 2)))
    return {
        "signals": rows,
        "first_s": taken[0],
        "signals_and_verdicts_s": taken[1:],
        "median_s": statistics.median(sum(one) for one in taken[1:]),
        "driver_mb": peak_mb(os.getpid()),
    }


def _words(subscriptions: int, one: dict[str, Any]) -> str:
    seconds = ", ".join(f"{run['seconds']:.0f}" for run in one["cold"])
    driver = max(run["memory_mb"].get("process", 0.0) for run in one["cold"])
    rate = one["warm_samples_per_s"]
    verdicts = sum(one["cold"][0]["verdicts"].values())
    parts = [
        f"{subscriptions:,} subscriptions, {one['samples'] / 1e6:.1f} M samples, load {one['load_1min']:.1f}:",
        f"cold {one['cold_median_s']:.0f} s ({seconds}), driver {driver:.0f} MB, {verdicts:,} verdicts;",
        f"warm {one['warm']['median_s']:.1f} s {one['warm']['signals_and_verdicts_s']}, {rate / 1e6:.2f} M samples/s",
    ]
    if subscriptions >= SUBSCRIPTIONS:
        missed = [
            name
            for name, met in (
                (f"cold below {COLD_S} s", one["cold_median_s"] < COLD_S),
                (f"warm {WARM_SAMPLES_PER_S / 1e6} M samples/s", rate >= WARM_SAMPLES_PER_S),
            )
            if not met
        ]
        parts.append(f"; missed: {', '.join(missed)}" if missed else "; targets met")
    return " ".join(parts)


if __name__ == "__main__":
    main()
