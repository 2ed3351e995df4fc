"""A month at once: does a backfill stay as small and as fast as it begins, and is the time left what it says? From a real Prometheus.

In: subscriptions, days, hours of a chunk. Out: JSON on standard output. The samples are written by a process of its own; then this one is
the driver of ``throttlescope backfill``, on Spark ``local[2]``.

``chunks``
    of each its seconds; how long the others were said to take, and how long they took; what is resident behind it in the driver, in the
    JVM and in all Python workers together
``last_step_s``
    episodes and anomalies of the whole range, which the time left does not count
``memory``
    megabytes that each of the three gained per chunk over the second half, by least squares, and the growth from the middle to the end

Target: flat. Over the second half no process grows by more than a tenth.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ingest import HOUR_MS, START_MS, in_time_order, series
from benchmarks.side_by_side.usage import memory_mb

STEP_MS = 60_000
#: Growth over the second half that is still none.
FLAT = 0.1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subscriptions", type=int, default=20)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--chunk-hours", type=int, default=24)
    arguments = parser.parse_args()
    print(json.dumps(measure(arguments.subscriptions, arguments.days * 24, arguments.chunk_hours), indent=1))


def measure(subscriptions: int, hours: int, chunk_hours: int) -> dict[str, Any]:
    """Fill a Prometheus and bring all of it to verdicts."""
    from tests.lab.prometheus import running_prometheus
    from throttlescope.app.cli.settings import SourceFlags, settings_with
    from throttlescope.app.pipeline.backfill.chunks import chunks_of
    from throttlescope.app.pipeline.backfill.run_chunks import run_chunks
    from throttlescope.app.pipeline.request import RunRequest

    end_ms = START_MS + hours * HOUR_MS
    with (
        tempfile.TemporaryDirectory(prefix="backfill-") as folder,
        running_prometheus(out_of_order_window=None, max_lifetime_s=6 * 3600) as server,
    ):
        filling = multiprocessing.get_context("spawn").Process(
            target=fill, args=(server.url, subscriptions, hours)
        )
        filling.start()
        filling.join()
        if filling.exitcode:
            raise RuntimeError(f"the source was not filled: exit code {filling.exitcode}")
        settings = settings_with(
            None, {"lake": Path(folder, "lake"), "spark": {"master": "local[2]"}}, SourceFlags(prometheus=server.url)
        )  # fmt: skip
        request = RunRequest("backfill", settings, START_MS, end_ms)
        chunks = chunks_of(START_MS, end_ms, chunk_hours * HOUR_MS)
        began_s, at_s, resident = time.monotonic(), [], []

        def after() -> None:
            at_s.append(time.monotonic() - began_s)
            resident.append(memory_mb(os.getpid(), peak=False))
            # What a run that is stopped leaves.
            print(
                json.dumps({"left": len(chunks) - len(at_s), "resident_mb": resident[-1]}),
                file=sys.stderr,
                flush=True,
            )

        found = run_chunks(request, chunks, after=after)
    said_s = [
        statistics.median_low(found.chunk_s[: done + 1]) * (len(chunks) - done - 1)
        for done in range(len(chunks))
    ]
    growth = {
        name: _growth([one.get(name, 0.0) for one in resident]) for name in ("process", "jvm", "workers")
    }
    return {
        "machine": {"cores": os.cpu_count(), "load_1min": round(os.getloadavg()[0], 1)},
        "data": {"subscriptions": subscriptions, "hours": hours, "samples": found.samples, "verdicts": sum(found.verdicts.values())},
        "chunks": [
            {
                "s": took_s, "said_left_s": round(said), "left_s": round(at_s[-1] - at), "resident_mb": memory,
            }
            for took_s, said, at, memory in zip(found.chunk_s, said_s, at_s, resident, strict=True)
        ],
        "chunk_s": {"first": found.chunk_s[0], "median": statistics.median(found.chunk_s), "most": max(found.chunk_s)},
        "last_step_s": round(found.took_s - at_s[-1], 1),
        "took_s": found.took_s,
        "memory": growth,
        "targets": {"flat": all(one["share"] <= FLAT for one in growth.values())},
    }  # fmt: skip


def fill(url: str, subscriptions: int, hours: int) -> None:
    """Write the fleet's samples, oldest first."""
    from tests.lab.prometheus import write_arrays

    made = series(max(1, subscriptions // 2), hours * HOUR_MS // STEP_MS, STEP_MS)
    write_arrays(url, in_time_order(made, HOUR_MS // STEP_MS // 2), timeout_s=600)


def _growth(megabytes: list[float]) -> dict[str, float]:
    """Of the second half: the slope, and how much the last quarter's median is above the third's."""
    half = megabytes[len(megabytes) // 2 :]
    early, late = half[: len(half) // 2] or half, half[len(half) // 2 :]
    slope = np.polyfit(range(len(half)), half, 1)[0] if len(half) > 1 else 0.0
    share = statistics.median(late) / (statistics.median(early) or 1.0) - 1
    return {"mb_per_chunk": round(float(slope), 2), "share": round(share, 3), "most_mb": max(megabytes)}


if __name__ == "__main__":
    main()
