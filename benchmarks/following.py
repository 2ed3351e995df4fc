"""How long a cycle of ``throttlescope run --follow`` takes, and whether its memory stays flat.

In: numbers of subscriptions and of cycles. Out: a table on standard output, one line per fleet. A fleet is followed in a process of its
own, minute by minute of a clock that is set, with all metrics of the default set scraped every 15 s; one subscription in fifty has a
backlog that grows. Its samples are made in memory, so what is measured is everything but the network and the Prometheus. The first
cycle, which reads hours, is told apart. Beside the time that passed stands the processor time: the machine's other work moves the
first, not the second. A cycle that takes longer than a minute would fall behind.

Target: 50 MB more at most from the tenth cycle of an hour to the same one of the next.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace

import numpy as np

from benchmarks.fleet.live import START_MS, LiveFleet
from throttlescope.app.pipeline.follow.cycle_log import rss_bytes
from throttlescope.app.pipeline.follow.follower import Follower
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.metrics import METRICS
from throttlescope.ingest.core.selector import metric_selector
from throttlescope.ingest.core.series import DecodedSeries, batch_of
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.ingest.lake import Lake

SCRAPE_MS = 15_000


class Made:
    """A fleet's series, as a Prometheus gives them."""

    name, address, stale_is_inferred = "prometheus_remote_read", "http://made", False

    def __init__(self, subscriptions: int) -> None:
        self.fleet = LiveFleet(subscriptions)
        self.labels = {
            name: [tuple(sorted((labels | {"__name__": name}).items())) for labels in found]
            for name, found in self.fleet.labels.items()
        }

    def read(self, selector, start_ms, end_ms, meter):
        meter.requests += 1
        metric = METRICS[selector.metric_name]
        times = np.arange(start_ms + -start_ms % SCRAPE_MS, end_ms, SCRAPE_MS, dtype=np.int64)
        none = np.empty(0, np.int64)
        yield batch_of(
            [
                DecodedSeries(labels, times, self.fleet.values(metric, number, times), none)
                for number, labels in enumerate(self.labels[metric.name])
            ]
        )


def followed(subscriptions: int, cycles: int) -> dict:
    """Follow a fleet for some minutes."""
    made = Made(subscriptions)
    now_ms = [START_MS + BLOCK_MS + 6_000]
    source = SimpleNamespace(
        name="made", admin=None, selectors=[], prometheus=SimpleNamespace(samples=made, api=None, mapping=LabelMapping())
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="throttlescope-following-") as folder:
        follower = Follower(
            Lake(folder), source, START_MS, "bench", window_ms=5 * MINUTE_MS, every_ms=MINUTE_MS,
            now_ms=lambda: now_ms[0],
        )  # fmt: skip
        names = {name: (metric_selector(name),) for name, labels in made.labels.items() if labels}
        follower.tail._ask_names = lambda until_ms: follower.tail.selectors_of.update(names)
        follower.tail._mapping = LabelMapping()
        found = []
        for _ in range(cycles + 1):
            begun_s, cpu_s = time.monotonic(), time.process_time()
            done = follower.cycle()
            found.append(
                {
                    "wall_s": time.monotonic() - begun_s,
                    "cpu_s": time.process_time() - cpu_s,
                    "rss_mb": rss_bytes() / 1e6,
                    "verdicts": done.verdicts,
                    "stored": done.samples_written is not None,
                    "parts_s": done.parts_s,
                }
            )
            now_ms[0] += MINUTE_MS
    return {"subscriptions": subscriptions, "first": found[0], "cycles": found[1:]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subscriptions", type=int, nargs="+", default=[100, 1_000], metavar="N")
    parser.add_argument("--cycles", type=int, default=75)
    parser.add_argument("--alone", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone is not None:
        print(json.dumps(followed(given.alone, given.cycles)))
        return
    print(
        "| subscriptions | first cycle, CPU s | a cycle, CPU s: median | 90th | longest | wall s: median | RSS MB: 10th cycle | last |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for subscriptions in given.subscriptions:
        command = [
            sys.executable,
            "-m",
            "benchmarks.following",
            "--alone",
            str(subscriptions),
            "--cycles",
            str(given.cycles),
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        cpu_s = sorted(cycle["cpu_s"] for cycle in found["cycles"])
        wall_s = [cycle["wall_s"] for cycle in found["cycles"]]
        resident = [cycle["rss_mb"] for cycle in found["cycles"]]
        print(
            f"| {subscriptions:,} | {found['first']['cpu_s']:.1f} | {statistics.median(cpu_s):.2f} "
            f"| {cpu_s[int(0.9 * len(cpu_s))]:.2f} | {cpu_s[-1]:.2f} | {statistics.median(wall_s):.2f} "
            f"| {resident[min(9, len(resident) - 1)]:.0f} | {resident[-1]:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
