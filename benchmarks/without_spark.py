"""What a run of a small fleet takes in one process and on Spark. In: numbers of subscriptions and of runs. Out: a table, and JSON where it is wanted.

Both ways read the same hour of a real Prometheus into a new lake, by turns: ``throttlescope run`` as it is, and with
``--master local[*]``. Every subscription has about 14 series at 60 s (``benchmarks/fleet/scrapes.py``). Processor seconds count all processes of a
run, the JVM and its Python workers included. That both lakes have the same files is checked. A run before them, which is not counted, fills
the caches of compiled code.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.fleet.scrapes import END_MS, START_MS, hour_of_scrapes
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import format_time
from throttlescope.ingest.lake import Lake

SUBSCRIPTIONS = (50, 300, 1_000)
WAYS = {"in process": (), "Spark": ("--master", "local[*]")}
COMPARED = (
    "series",
    "samples",
    "limits",
    "signals",
    "verdicts",
    "episodes",
    "incidents",
    "forecasts",
    "anomalies",
)
_SERIES_AT_ONCE = 20_000
_PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subscriptions", type=int, nargs="+", default=SUBSCRIPTIONS)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--look-back",
        type=int,
        metavar="N",
        help="only anomalies of N times three subscriptions with 16 days of history, here",
    )
    parser.add_argument("--json", type=Path, metavar="OUT", help="file for everything that was measured")
    given = parser.parse_args()
    if given.look_back:
        print(json.dumps(look_back(given.look_back)))
        return
    adopt_orphans()
    found: dict[str, Any] = {
        "machine": {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "load_1min": os.getloadavg()[0],
        },
        "fleets": {},
    }
    print(
        f"{'subscriptions':>13} {'way':>10} {'processor s':>12} {'elapsed s':>10} {'memory MB':>10}   each run"
    )
    for subscriptions in given.subscriptions:
        one = found["fleets"][subscriptions] = measure(subscriptions, given.runs)
        for way, runs in one.items():
            median = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
            each = ", ".join(f"{run['processor_s']:.1f} ({run['elapsed_s']:.1f})" for run in runs)
            print(
                f"{subscriptions:>13,} {way:>10} {median['processor_s']:>12.1f} {median['elapsed_s']:>10.1f} "
                f"{median['memory_mb']:>10,.0f}   {each}",
                flush=True,
            )
    if given.json:
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


def measure(subscriptions: int, runs: int) -> dict[str, list[dict[str, float]]]:
    """One fleet: a Prometheus of its own, then both ways by turns."""
    from tests.lab.prometheus import running_prometheus, write_arrays

    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    with running_prometheus() as server, tempfile.TemporaryDirectory(prefix="without-spark-") as folder:
        several = hour_of_scrapes(subscriptions)
        while part := list(islice(several, _SERIES_AT_ONCE)):
            write_arrays(server.url, part, timeout_s=300)
        for number in range(runs + 1):
            lakes = []
            for way, more in WAYS.items():
                lakes.append(Path(folder, f"{way}-{number}"))
                one = run(server.url, lakes[-1], more)
                if number:
                    found[way].append(one)
            check_same(*lakes)
    return found


def run(url: str, lake: Path, more: tuple[str, ...]) -> dict[str, float]:
    """One run of the command, in a process of its own."""
    command = [
        sys.executable, "-m", "throttlescope.app.cli", "run", "--prometheus", url, "--lake", str(lake), "--quiet",
        "--start", format_time(START_MS), "--end", format_time(END_MS), *more,
    ]  # fmt: skip
    # Not a child of this process yet when it began: the Prometheus, which is counted only when it ends.
    before, began_s = os.times(), time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    elapsed_s = time.monotonic() - began_s
    if process.returncode:
        raise RuntimeError(f"the run ended with {process.returncode}")
    wait_for_orphans()
    after = os.times()
    processor_s = after.children_user + after.children_system - before.children_user - before.children_system
    return {"processor_s": processor_s, "elapsed_s": elapsed_s, "memory_mb": usage.ru_maxrss / 1000}


def check_same(one: Path, other: Path) -> None:
    """Files are named by their bytes."""
    for table in COMPARED:
        names = [{file.relative_path for file in Lake(lake).files(table)} for lake in (one, other)]
        if names[0] != names[1]:
            raise RuntimeError(f"files of {table} differ: {one} and {other}")


def look_back(copies: int) -> dict[str, float]:
    """Anomalies of the demo's synthetic history, some copies of it, in this process: what a step costs that reads weeks."""
    from throttlescope.app.pipeline.sources.synthetic_history import CLUSTER, END_MS, read_history
    from throttlescope.ingest.core.times import BLOCK_MS
    from throttlescope.ingest.lake import write_data_file
    from throttlescope.ingest.spark.task_executor import InProcessExecutor
    from throttlescope.models.anomaly.apply import build_anomalies

    with tempfile.TemporaryDirectory(prefix="look-back-") as folder:
        lake, rows = Lake(Path(folder, "lake")), read_history()
        place, key = rows.column_names.index("topic"), [(name, "ascending") for name in TABLES["signals"].key]
        for date in sorted(set(rows.column("date").to_pylist())):
            day = rows.filter(pc.equal(rows.column("date"), date))
            copied = [
                day.set_column(
                    place,
                    day.schema.field(place),
                    pc.binary_join_element_wise(day.column("topic"), str(number), "-"),
                )
                for number in range(copies)
            ]
            file = write_data_file(lake.root, "signals", pa.concat_tables(copied).sort_by(key))
            lake.commit("signals", [file], run_id="benchmark")
        before_s, began_s = time.process_time(), time.monotonic()
        build_anomalies(InProcessExecutor(), lake, [CLUSTER], END_MS - BLOCK_MS, END_MS, "benchmark")
        return {
            "rows": sum(file.rows for file in lake.files("signals")),
            "processor_s": round(time.process_time() - before_s, 1),
            "elapsed_s": round(time.monotonic() - began_s, 1),
            "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
        }


def adopt_orphans() -> None:
    """Let the JVM, which outlives the process that started it, become a child of this one: only of children processor time is known."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_for_orphans() -> None:
    """Wait until what the run left behind has ended; the Prometheus goes on."""
    end_s = time.monotonic() + 30
    while time.monotonic() < end_s:
        left = [pid for pid in _children() if "java" in _name(pid) or "python" in _name(pid)]
        if not left:
            return
        for pid in left:
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                time.sleep(0.05)


def _children() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return ""


if __name__ == "__main__":
    main()
