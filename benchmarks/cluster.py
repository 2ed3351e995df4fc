"""Two workers against one: a made fleet's samples to verdicts and what follows, on a real Spark standalone cluster.

In: the size of the fleet and the number of runs. Out: a table on standard output, and JSON where it is wanted. Master, driver and
workers share the machine. Each worker is confined to one core of it, as if it were a machine of that size (``--free``: only Spark
counts its cores; a task is a thread of a JVM and a Python process beside it, so a worker of one core takes more than one). One worker
and two take turns, each in a cluster of its own, so that the machine's other work meets both. Target: the same work, of at least
60 s with one worker, at least 1.4 times as fast with two.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.fleet.diagnosed import Diagnosed, diagnosed, made_lake
from tests.cluster.fleet import Fleet
from tests.cluster.same_bytes import files_of
from tests.lab.spark_cluster import running_spark_cluster

FOLDER = Path(".bench/cluster")
TARGET = 1.4
LEAST_S = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subscriptions", type=int, default=4_000, metavar="N")
    parser.add_argument(
        "--ill",
        type=int,
        default=100,
        metavar="N",
        help="subscriptions that are limited by a limit, in addition",
    )
    parser.add_argument("--hours", type=int, default=6)
    parser.add_argument("--runs", type=int, default=3, help="runs of each")
    parser.add_argument("--free", action="store_true", help="do not confine workers to a core")
    parser.add_argument("--json", type=Path, metavar="OUT", help="file for everything that was measured")
    arguments = parser.parse_args()
    fleet = Fleet(arguments.subscriptions, arguments.ill, hours=arguments.hours)
    lake = made_lake(FOLDER, fleet)
    found: dict[int, list[Diagnosed]] = {1: [], 2: []}
    left: list[dict[str, set[str]]] = []
    for run in range(arguments.runs):
        for workers in (1, 2) if run % 2 == 0 else (2, 1):
            with running_spark_cluster(workers, max_lifetime_s=3600, confined=not arguments.free) as cluster:
                one = diagnosed(lake, fleet, cluster.url)
            found[workers].append(one)
            left.append(files_of(lake))
            print(
                f"{workers} workers: {one.work_s} s, load {os.getloadavg()[0]:.1f}",
                file=sys.stderr,
                flush=True,
            )
    medians = {workers: statistics.median(one.work_s for one in runs) for workers, runs in found.items()}
    faster = medians[1] / medians[2]
    print(
        f"{arguments.subscriptions + arguments.ill:,} subscriptions, {arguments.hours} h, medians of {arguments.runs}"
    )
    print(f"{'step':32} {'1 worker':>9} {'2 workers':>9}")
    for step in found[1][0].steps_s:
        cells = [
            statistics.median(one.steps_s.get(step, 0.0) for one in found[workers]) for workers in (1, 2)
        ]
        print(f"{step:32} {cells[0]:>7.1f} s {cells[1]:>7.1f} s")
    print(
        f"{'all but the start':32} {medians[1]:>7.1f} s {medians[2]:>7.1f} s  {faster:.2f} times as fast (target {TARGET})"
    )
    same = all(files == left[0] for files in left)
    print("every run left the same bytes" if same else "RUNS LEFT DIFFERENT BYTES")
    if arguments.json:
        arguments.json.write_text(
            json.dumps({str(k): [asdict(one) for one in runs] for k, runs in found.items()}, indent=1)
        )
    if medians[1] < LEAST_S:
        sys.exit(f"too little work: {medians[1]} s with one worker, {LEAST_S} are required")
    if not same or faster < TARGET:
        sys.exit(1)


if __name__ == "__main__":
    main()
