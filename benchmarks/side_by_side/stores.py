"""The two stores of a workload, made once and kept: a Prometheus data folder and a lake with the same samples.

In: a workload. Out: the folders, below ``.bench/promql``. Prometheus gets the series by remote write, in the order of time,
and cuts and merges its blocks as it does in service; the lake is pulled from that Prometheus, as everybody's lake is.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import requests

from benchmarks.side_by_side import workload as data
from benchmarks.side_by_side.workload import Workload
from tests.lab.prometheus import Prometheus, running_prometheus, write_arrays

FOLDER = Path(__file__).parent.parent.parent / ".bench" / "promql"
#: Prometheus merges blocks in the background, once a minute at most: when nothing has changed for longer, it is done.
_QUIET_S = 75
_LIFETIME_S = 6 * 3600


@dataclass(frozen=True)
class Stores:
    """Where a workload is kept.

    Attributes
    ----------
    samples, markers : int
        What both hold.
    """

    prometheus_dir: Path
    lake_dir: Path
    samples: int
    markers: int


def stores_of(workload: Workload, *, priority: int = 0) -> Stores:
    """The stores of a workload; what is missing is made first, which takes minutes."""
    folder = FOLDER / f"{workload.name}-v{data.VERSION}"
    written = folder / "written.json"
    if not written.exists():
        shutil.rmtree(folder, ignore_errors=True)
        written.write_text(json.dumps(_fill(workload, folder, priority)))
    counts = json.loads(written.read_text())
    stores = Stores(folder / "prometheus", folder / "lake", counts["samples"], counts["markers"])
    if not (folder / "pulled").exists():
        shutil.rmtree(stores.lake_dir, ignore_errors=True)
        _pull(stores, priority)
        (folder / "pulled").touch()
    return stores


@contextlib.contextmanager
def serving(stores: Stores, *, priority: int = 0) -> Iterator[Prometheus]:
    """Prometheus 3.5 on the kept blocks, without the caps that large queries meet."""
    with running_prometheus(
        scratch_dir=stores.prometheus_dir,
        out_of_order_window=None,
        remote_write=False,
        extra_flags=["--query.timeout=1h"],
        max_lifetime_s=_LIFETIME_S,
        startup_timeout_s=300,
        priority=priority,
    ) as server:
        yield server


def blocks_of(stores: Stores) -> list[str]:
    """Names of the blocks: the same before and after a measurement, or Prometheus was merging meanwhile."""
    return sorted(meta.parent.name for meta in (stores.prometheus_dir / "data").glob("*/meta.json"))


def _fill(workload: Workload, folder: Path, priority: int) -> dict[str, int]:
    making = folder / "making"
    began_s = time.monotonic()
    counts = {"samples": 0, "markers": 0}

    def counted(several: Iterator[data.SeriesBits]) -> Iterator[data.SeriesBits]:
        for one in several:
            markers = int((one[2] == data.STALE_BITS).sum())
            counts["markers"] += markers
            counts["samples"] += len(one[2]) - markers
            yield one

    with running_prometheus(
        scratch_dir=making,
        out_of_order_window=None,
        extra_flags=["--web.enable-admin-api"],
        max_lifetime_s=_LIFETIME_S,
        priority=priority,
    ) as server:
        write_arrays(server.url, data.in_time_order(counted(data.series(workload))), timeout_s=600)
        # A snapshot is blocks alone: nothing to replay at a start.
        answer = requests.post(f"{server.url}/api/v1/admin/tsdb/snapshot", timeout=600)
        answer.raise_for_status()
        snapshot = making / "data" / "snapshots" / answer.json()["data"]["name"]
        (folder / "prometheus").mkdir()
        snapshot.rename(folder / "prometheus" / "data")
    shutil.rmtree(making)
    _tell(f"{workload.name}: {counts['samples']:,} samples in Prometheus, {time.monotonic() - began_s:.0f} s")
    return counts


def _pull(stores: Stores, priority: int) -> None:
    from throttlescope.ingest.core.selector import metric_selector
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.pull.pull import pull
    from throttlescope.ingest.sources.prometheus import open_prometheus
    from throttlescope.ingest.spark.session import spark_session
    from throttlescope.ingest.spark.task_executor import SparkPoolExecutor

    with serving(stores, priority=priority) as server:
        _wait_until_quiet(stores)
        began_s = time.monotonic()
        session = spark_session(cores=2)
        try:
            source = open_prometheus(server.url)
            selectors = [metric_selector(metric) for metric in data.METRICS]
            lake = Lake(str(stores.lake_dir))
            end_ms = data.START_MS + data.DAY_MS
            result = pull(
                SparkPoolExecutor(session), lake, source, selectors, data.START_MS, end_ms, "benchmark"
            )
        finally:
            session.stop()
    if result.samples != stores.samples:
        raise RuntimeError(
            f"Prometheus was given {stores.samples} samples, the pull brought {result.samples}"
        )
    _tell(f"{result.samples:,} samples in the lake, {time.monotonic() - began_s:.0f} s")


def _wait_until_quiet(stores: Stores) -> None:
    before, since_s = blocks_of(stores), time.monotonic()
    while time.monotonic() - since_s < _QUIET_S:
        time.sleep(1)
        now = blocks_of(stores)
        if now != before:
            before, since_s = now, time.monotonic()


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    os.nice(10)
    for name in sys.argv[1:]:
        print(stores_of(data.WORKLOADS[name], priority=10))
