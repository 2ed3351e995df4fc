"""Ten times the fleet: from samples to verdicts and what follows, on ``local[2]``. Time, and the driver's memory.

In: fleets (numbers of subscriptions; some percent are limited by a limiter) and a number of runs. Out: a table on standard output, and
JSON where it is wanted. Targets: ten times the fleet takes at most eleven times as long, the start of Spark left out, and the
driver's memory is flat.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.fleet.diagnosed import diagnosed, made_lake
from tests.cluster.fleet import Fleet

FOLDER = Path(".bench/cluster")
FLEETS = (1_000, 10_000)
MOST = 1.1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subscriptions", type=int, nargs="+", default=list(FLEETS), metavar="N")
    parser.add_argument("--ill-in-100", type=int, default=2, metavar="N")
    parser.add_argument("--hours", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--json", type=Path, metavar="OUT", help="file for everything that was measured")
    arguments = parser.parse_args()
    found = {}
    print(
        f"{arguments.hours} h on {arguments.master}, medians of {arguments.runs}; MB are the peaks of all runs"
    )
    print(f"{'subscriptions':>13} {'work':>9} {'driver':>9} {'JVM':>9} {'workers':>9}")
    for count in arguments.subscriptions:
        ill = count * arguments.ill_in_100 // 100
        fleet = Fleet(count - ill, ill, hours=arguments.hours)
        lake = made_lake(FOLDER, fleet)
        runs = [diagnosed(lake, fleet, arguments.master) for _ in range(arguments.runs)]
        found[count] = runs
        work_s = statistics.median(one.work_s for one in runs)
        peaks = [max(one.peak_mb.get(kind, 0.0) for one in runs) for kind in ("process", "jvm", "workers")]
        print(f"{count:>13,} {work_s:>7.1f} s " + " ".join(f"{peak:>6.0f} MB" for peak in peaks), flush=True)
        print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    if arguments.json:
        arguments.json.write_text(
            json.dumps({str(k): [asdict(one) for one in runs] for k, runs in found.items()}, indent=1)
        )
    low, high = min(found), max(found)
    slow = statistics.median(one.work_s for one in found[high]) / statistics.median(
        one.work_s for one in found[low]
    )
    print(
        f"{high / low:.0f} times the fleet: {slow:.1f} times as long (target at most {MOST * high / low:.0f})"
    )
    if slow > MOST * high / low:
        sys.exit(1)


if __name__ == "__main__":
    main()
