"""What going on costs: a day of downtime caught up, and an hour whose samples came late. From a real Prometheus, on local Spark.

In: subscriptions, hours of downtime. Out: JSON on standard output. In one session, which is started before anything is timed:

``hour``
    one hour, ``run``, when everything is warm: the median of three hours that follow each other
``catch_up``
    the hours of downtime by ``run --since-watermark``: chunks, oldest first. The same rows as in the lake of one run over the whole
    range are counted: what is missing and what is surplus
``late``
    samples of one subscription that come late for one hour, six hours before the end: ``run`` on the newest hour after an ingest of that
    one, compared with ``run --recompute`` of everything
``memory``
    peak of this process and of the JVM after each chunk

Target: catching up 24 hours takes at most 24 times one hour.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ingest import HOUR_MS, START_MS, in_time_order, series
from benchmarks.side_by_side.usage import memory_mb

STEP_MS = 15_000
#: Hours that are timed one by one before the downtime begins; the first one warms everything up.
BEFORE = 4
#: Rows that are compared.
TABLES = ("samples", "signals", "verdicts", "forecasts", "episodes", "anomalies")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subscriptions", type=int, default=200)
    parser.add_argument("--hours", type=int, default=24, help="hours of downtime")
    arguments = parser.parse_args()
    print(json.dumps(measure(arguments.subscriptions, arguments.hours), indent=1))


def measure(subscriptions: int, hours: int) -> dict[str, Any]:
    """Fill a Prometheus and measure all of it."""
    from tests.lab.prometheus import running_prometheus, write_arrays
    from throttlescope.app.cli.settings import SourceFlags, settings_with
    from throttlescope.app.pipeline.backfill.catch_up import chunks_since_watermark
    from throttlescope.app.pipeline.backfill.run_chunks import run_chunks
    from throttlescope.app.pipeline.request import RunRequest
    from throttlescope.app.pipeline.run import run_pipeline
    from throttlescope.ingest.spark.session import spark_session

    end_ms = START_MS + (BEFORE + hours) * HOUR_MS
    late_ms = end_ms - 6 * HOUR_MS
    session = spark_session(cores=2)
    with tempfile.TemporaryDirectory(prefix="catch-up-") as folder, running_prometheus() as server:
        everything = list(in_time_order(series(max(1, subscriptions // 2), (end_ms - START_MS) // STEP_MS)))
        kept = [_without(one, late_ms) for one in everything]
        written = write_arrays(server.url, kept, timeout_s=300)

        def asked(lake: str, low_ms: int | None, high_ms: int, **options: Any) -> RunRequest:
            settings = settings_with(None, {"lake": Path(folder, lake)}, SourceFlags(prometheus=server.url))
            return RunRequest("run", settings, low_ms, high_ms, **options)

        def run(lake: str, low_ms: int, high_ms: int, **options: Any) -> tuple[float, Any]:
            began_s = time.monotonic()
            result = run_pipeline(asked(lake, low_ms, high_ms, **options), session=session)
            return round(time.monotonic() - began_s, 2), result

        one_by_one = [
            run("lake", START_MS + n * HOUR_MS, START_MS + (n + 1) * HOUR_MS)[0] for n in range(BEFORE)
        ]
        hour_s = statistics.median(one_by_one[1:])
        request, chunks = chunks_since_watermark(asked("lake", None, end_ms, since_watermark=True))
        peaks: list[dict[str, float]] = []
        began_s = time.monotonic()
        found = run_chunks(
            request, chunks, session=session, after=lambda: peaks.append(memory_mb(os.getpid()))
        )
        catch_up_s = round(time.monotonic() - began_s, 2)
        whole_s, _ = run("whole", START_MS, end_ms)
        differs = _differences(folder)
        write_arrays(
            server.url, [_only(one, late_ms) for one in everything if _is_late(one[0])], timeout_s=300
        )
        ingest_s, _ = _ingested(asked, run_pipeline, session, late_ms)
        late_s, late = run("lake", end_ms - HOUR_MS, end_ms)
        again_s, again = run("lake", START_MS, end_ms, again=True)
        run("recomputed", START_MS, end_ms)
        late_differs = _differences(folder, other="recomputed")
    session.stop()
    return {
        "machine": {"cores": os.cpu_count(), "load_1min": round(os.getloadavg()[0], 1)},
        "data": {"subscriptions": subscriptions, "samples_stored": written, "hours": BEFORE + hours},
        "hour_s": {"median": hour_s, "all": one_by_one},
        "catch_up": {
            "hours": (end_ms - request.start_ms) / HOUR_MS,
            "s": catch_up_s,
            "chunk_s": found.chunk_s,
            "times_one_hour": round(catch_up_s / hour_s, 1),
            "one_run_over_all_s": whole_s,
            "rows_that_differ_from_one_run": differs,
        },
        "late": {
            "ingest_of_that_hour_s": ingest_s,
            "run_of_the_newest_hour_s": late_s,
            "hours_computed": late.hours_computed,
            "recompute_everything_s": again_s,
            "hours_recomputed": again.hours_computed,
            "rows_that_differ_from_a_lake_made_anew": late_differs,
        },
        "memory_mb": peaks,
        "targets": {
            "catch_up_at_most_hours_times_one_hour": catch_up_s <= hours * hour_s,
            "no_duplicate_no_gap": not differs,
            "late_as_anew": not late_differs,
        },
    }


def _ingested(asked: Any, run_pipeline: Any, session: Any, late_ms: int) -> tuple[float, Any]:
    from dataclasses import replace

    began_s = time.monotonic()
    request = replace(asked("lake", late_ms, late_ms + HOUR_MS), command="ingest")
    result = run_pipeline(request, session=session)
    return round(time.monotonic() - began_s, 2), result


def _is_late(labels: dict[str, str]) -> bool:
    """The first topic partition's first subscription."""
    return (labels.get("subscription"), labels.get("topic", "")[-8:], labels.get("partition")) == (
        "billing", "orders-0", "0",
    )  # fmt: skip


def _without(one: tuple, late_ms: int) -> tuple:
    labels, times, values = one
    if not _is_late(labels):
        return one
    keep = (times < late_ms + 10 * 60_000) | (times >= late_ms + 40 * 60_000)
    return labels, times[keep], values[keep]


def _only(one: tuple, late_ms: int) -> tuple:
    labels, times, values = one
    keep = (times >= late_ms + 10 * 60_000) & (times < late_ms + 40 * 60_000)
    return labels, times[keep], np.asarray(values)[keep]


def _differences(folder: str, other: str = "whole") -> dict[str, list[int]]:
    """Rows by table that only one of two lakes has."""
    from throttlescope.ingest.lake import Lake

    found = {}
    for table in TABLES:
        left, right = (_rows(Lake(Path(folder, name)), table) for name in ("lake", other))
        if left != right:
            found[table] = [len(left - right), len(right - left)]
    return found


def _rows(lake: Any, table: str) -> set[str]:
    """Rows as text, without the run that wrote them."""
    rows = lake.read(table).to_pylist()
    found = {repr(sorted((name, value) for name, value in row.items() if name != "run_id")) for row in rows}
    if len(found) != len(rows):
        raise RuntimeError(f"{table} has {len(rows) - len(found)} rows twice")
    return found


if __name__ == "__main__":
    main()
