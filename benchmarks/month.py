"""A month of history on a Spark cluster of two workers and on ``local[2]``: the same bytes, and how long each takes.

In: the lake of W1 (``benchmarks/promql.py``), a day of 500 subscriptions. Out: a table. The month is that day 30 times over,
each copy moved by a day, so that every counter restarts at midnight; it is made once and kept in ``.bench/promql``. Both
masters run in a process of their own, one after the other, the cluster real and on loopback.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.side_by_side import workload as data
from benchmarks.side_by_side.stores import FOLDER, stores_of
from tests.lab.spark_cluster import running_spark_cluster
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, date_of
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.lake.rows import read_files

DAYS = 30
STEP_MS = 60_000
_KEY = "cluster,namespace,topic,subscription"
_RATE = f"rate({data.THROTTLED_MSG}[5m])"
QUERIES = {
    "Q1 count": f"count(sum by ({_KEY},reason) ({_RATE}))",
    "Q2 count": f"count(({data.BACKLOG} > 1000) unless on ({_KEY}) (sum by ({_KEY}) ({_RATE}) > 0.01))",
    "topk": f"topk(5, sum by (namespace) ({_RATE}))",
    "quantile": f"quantile(0.99, {data.BACKLOG})",
    "subquery": f"max_over_time(sum by (namespace) ({_RATE})[1h:5m])",
}


def month_lake(days: int) -> Path:
    """The lake of some days; made when it is not there."""
    folder = FOLDER / f"W1-{days}-days-v{data.VERSION}"
    done = folder / "made"
    if done.exists():
        return folder / "lake"
    shutil.rmtree(folder, ignore_errors=True)
    day, month = Lake(stores_of(data.W1).lake_dir), Lake(folder / "lake")
    rows = day.read("series")
    last_ms = pc.add(rows["last_ms"], (days - 1) * DAY_MS)
    month.upsert(
        "series", rows.set_column(rows.schema.get_field_index("last_ms"), "last_ms", last_ms), run_id="month"
    )
    files = day.files("samples", between={"block_start_ms": (data.START_MS, data.START_MS + DAY_MS - 1)})
    for number in range(days):
        moved = [
            write_data_file(month.root, "samples", _moved(read_files("samples", [file]), number * DAY_MS))
            for file in files
        ]
        month.commit("samples", moved, run_id="month")
        print(f"day {number + 1} of {days}", file=sys.stderr, flush=True)
    done.touch()
    return folder / "lake"


def _moved(rows: pa.Table, by_ms: int) -> pa.Table:
    """Rows of one block, later by whole days."""
    for name in ("timestamps_ms", "stale_ms"):
        column = rows[name].combine_chunks()
        column = column if isinstance(column, pa.ListArray) else column.chunk(0)
        later = pa.ListArray.from_arrays(column.offsets, pc.add(column.values, by_ms))
        rows = rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), later)
    starts = pc.add(rows["block_start_ms"], by_ms)
    rows = rows.set_column(
        rows.schema.get_field_index("block_start_ms"), rows.schema.field("block_start_ms"), starts
    )
    dates = pa.array([date_of(start_ms) for start_ms in starts.to_pylist()])
    return rows.set_column(rows.schema.get_field_index("date"), rows.schema.field("date"), dates)


def asked(lake: Path, master: str, days: int) -> list[dict]:
    """Every query on one master, in a process of its own."""
    start_ms = data.START_MS - data.START_MS % BLOCK_MS + BLOCK_MS
    command = [sys.executable, "-m", "tests.promql.on_master", str(lake), master]
    command += [str(start_ms), str(data.START_MS + days * DAY_MS), str(STEP_MS), *QUERIES.values()]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=3600, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--days", type=int, default=DAYS)
    arguments = parser.parse_args()
    lake = month_lake(arguments.days)
    here = asked(lake, "local[2]", arguments.days)
    with running_spark_cluster(workers=2) as cluster:
        there = asked(lake, cluster.url, arguments.days)
    print(f"{arguments.days} days of {data.W1.series:,} series, steps of {STEP_MS // 1000} s")
    print(f"{'query':10} {'samples read':>14} {'points':>10} {'local[2]':>9} {'cluster':>9}  bytes")
    for name, one, other in zip(QUERIES, here, there, strict=True):
        same = "the same" if one["sha256"] == other["sha256"] else "DIFFERENT"
        print(
            f"{name:10} {one['samples']:>14,} {one['points']:>10,} {one['seconds']:>7.1f} s {other['seconds']:>7.1f} s  {same}"
        )
    if any(one["sha256"] != other["sha256"] for one, other in zip(here, there, strict=True)):
        sys.exit(1)


if __name__ == "__main__":
    main()
