"""How fast samples come in, and with how much memory: ours compared with ``prometheus-api-client``, from one real Prometheus.

In: a number of samples and of runs. Out: JSON on standard output. Three ways, run in turn, each in a process of its own:

``client``
    ``prometheus-api-client``'s ``get_metric_range_data``, metric by metric, with its defaults
``decode``
    our source and decoder alone, one process: remote read into arrays
``pull``
    all of it: first request to committed ``samples``, on two Spark tasks, in a session that was started with its Python
    workers; ``pull_cold`` has its workers still to start and is shown separately

Targets: ``decode`` at least 8 times the client's samples per second, ``pull`` at least 4 times; every Python process below
600 MB, and flat when the range doubles. Each number is the median of the runs; the ratio is of medians.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.side_by_side.usage import descendants

STEP_MS = 15_000
HOUR_MS = 3_600_000
START_MS = 1_760_054_400_000  # a UTC midnight: the range is whole hours

SUBSCRIPTION_METRICS = (
    "pulsar_subscription_back_log", "pulsar_subscription_back_log_no_delayed", "pulsar_subscription_msg_rate_out",
    "pulsar_subscription_msg_throughput_out", "pulsar_subscription_msg_ack_rate", "pulsar_subscription_unacked_messages",
    "pulsar_subscription_consumers_count", "pulsar_out_messages_total", "pulsar_out_bytes_total",
)  # fmt: skip
THROTTLE_METRICS = (
    "pulsar_subscription_dispatch_throttled_msg_events",
    "pulsar_subscription_dispatch_throttled_bytes_events",
)
TOPIC_METRICS = (
    "pulsar_rate_in", "pulsar_throughput_in", "pulsar_in_messages_total", "pulsar_storage_write_rate",
    "pulsar_storage_backlog_size",
)  # fmt: skip
METRICS = (*SUBSCRIPTION_METRICS, *THROTTLE_METRICS, *TOPIC_METRICS)
#: Per topic partition with two subscriptions.
SERIES_PER_PARTITION = 2 * (len(SUBSCRIPTION_METRICS) + 3 * len(THROTTLE_METRICS)) + len(TOPIC_METRICS)
DEFAULT_HOURS = 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--samples", type=int, default=10_000_000, help="samples in the range; twice as many are stored"
    )
    parser.add_argument(
        "--hours", type=int, default=DEFAULT_HOURS, help="length of the range; the rest is series"
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--child", nargs=4, metavar=("WAY", "URL", "START", "END"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        way, url, start_ms, end_ms = arguments.child
        WAYS[way](url, int(start_ms), int(end_ms), arguments.runs)
    else:
        print(json.dumps(measure(arguments.samples, arguments.hours, arguments.runs), indent=1))


def measure(samples: int, hours: int, runs: int) -> dict:
    """Fill a Prometheus and measure all ways on the range, then ours on the doubled one."""
    from tests.lab.prometheus import running_prometheus, write_arrays

    partitions = math.ceil(samples / (SERIES_PER_PARTITION * hours * HOUR_MS / STEP_MS))
    end_ms, far_ms = START_MS + hours * HOUR_MS, START_MS + 2 * hours * HOUR_MS
    with running_prometheus(out_of_order_window=None) as server:
        began_s = time.monotonic()
        written = in_time_order(series(partitions, (far_ms - START_MS) // STEP_MS))
        stored = write_arrays(server.url, written, timeout_s=300)
        filled_s = time.monotonic() - began_s
        rounds: dict[str, list[dict]] = {way: [] for way in WAYS}
        for _ in range(runs):
            for way, found in rounds.items():
                found.append(child(way, server.url, START_MS, end_ms, runs=1))
        doubled = {way: child(way, server.url, START_MS, far_ms, runs=1) for way in ("decode", "pull")}
    found = {way: _summary([one["runs"][0] for one in several]) for way, several in rounds.items()}
    different = {
        way: one["samples"] for way, one in found.items() if one["samples"] != found["client"]["samples"]
    }
    if different:
        raise RuntimeError(f"the client got {found['client']['samples']} samples, others {different}")
    rate = found["client"]["samples_per_s"]
    ratios = {way: round(found[way]["samples_per_s"] / rate, 1) for way in WAYS if way != "client"}
    return {
        "machine": {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "load_1min": os.getloadavg()[0],
        },
        "data": {
            "series": partitions * SERIES_PER_PARTITION,
            "samples_stored": stored,
            "filled_s": round(filled_s, 1),
            "range_hours": hours,
        },
        "runs": runs,
        **found,
        "times_the_client": ratios,
        "memory_mb": {
            "range": {way: _memory(several) for way, several in rounds.items()},
            "doubled_range": {way: _memory([one]) for way, one in doubled.items()},
        },
        "doubled_range": {way: _summary(one["runs"]) for way, one in doubled.items()},
        "targets": {
            "decode_8_times": ratios["decode"] >= 8,
            "pull_4_times": ratios["pull"] >= 4,
            "python_below_600_mb": all(
                mb < 600
                for one in (*rounds["decode"], *rounds["pull"], *doubled.values())
                for process, mb in one["memory_mb"].items()
                if process != "jvm"
            ),
        },
    }


def series(
    partitions: int, scrapes: int, step_ms: int = STEP_MS
) -> Iterator[tuple[dict[str, str], np.ndarray, np.ndarray]]:
    """What a broker with four-partition topics exposes: rising counters, gauges that wander, rates that stand for a minute."""
    generator = np.random.default_rng(2026)
    target = {"job": "broker", "instance": "10.0.0.7:8080", "cluster": "bench"}
    # A target's scrapes share their times, which jitter by a few milliseconds; none is at the very start of the range, where
    # the client leaves a sample out (its windows are open on the left).
    times = START_MS + np.arange(scrapes) * step_ms + generator.integers(1, 5, scrapes)

    def values(metric: str) -> np.ndarray:
        if metric.endswith(("_total", "_events")):
            return np.cumsum(generator.poisson(900 if "_total" in metric else 1.2, scrapes)).astype(float)
        if "rate" in metric or "throughput" in metric:
            # The broker truncates to three decimals and recomputes it every 60 s.
            stands = max(1, 60_000 // step_ms)
            steps = np.floor(generator.normal(900, 30, scrapes // stands + 1) * 1000) / 1000
            return np.repeat(steps, stands)[:scrapes]
        if metric.endswith("consumers_count"):
            return np.full(scrapes, 2.0)
        return np.maximum(0, np.cumsum(generator.integers(-400, 410, scrapes))).astype(float)

    for number in range(partitions):
        topic = f"persistent://acme/shop-{number % 3}/orders-{number // 4}"
        place = {
            **target,
            "namespace": f"acme/shop-{number % 3}",
            "topic": topic,
            "partition": str(number % 4),
        }
        for metric in TOPIC_METRICS:
            yield {"__name__": metric, **place}, times, values(metric)
        for subscription in ("billing", "audit"):
            labels = {**place, "subscription": subscription}
            for metric in SUBSCRIPTION_METRICS:
                yield {"__name__": metric, **labels}, times, values(metric)
            for metric in THROTTLE_METRICS:
                for reason in ("subscription", "topic", "broker"):
                    yield {"__name__": metric, **labels, "reason": reason}, times, values(metric)


def in_time_order(
    several: Iterator[tuple[dict[str, str], np.ndarray, np.ndarray]], scrapes_at_once: int = 120
) -> Iterator[tuple[dict[str, str], np.ndarray, np.ndarray]]:
    """The same series in slices of half an hour, as scrapes bring them: a server that gets series one after the other
    puts most of them aside as out of order, and may lose some while it compacts."""
    held = list(several)
    for low in range(0, len(held[0][1]), scrapes_at_once):
        for labels, times, values in held:
            yield labels, times[low : low + scrapes_at_once], values[low : low + scrapes_at_once]


def child(way: str, url: str, start_ms: int, end_ms: int, runs: int) -> dict:
    """Run one way in a process of its own and return what it printed."""
    command = [sys.executable, "-m", "benchmarks.ingest", "--runs", str(runs)]
    command += ["--child", way, url, str(start_ms), str(end_ms)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent.parent
    )
    if done.returncode:
        raise RuntimeError(f"{way} failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


# -- the ways, each inside its own process -------------------------------------------------


def client(url: str, start_ms: int, end_ms: int, runs: int) -> None:
    from prometheus_api_client import PrometheusConnect

    connection = PrometheusConnect(url)
    start, end = (datetime.fromtimestamp(ms / 1000, UTC) for ms in (start_ms, end_ms))
    found = []
    for _ in range(runs):
        began_s, samples = time.monotonic(), 0
        for metric in METRICS:
            answer = connection.get_metric_range_data(metric, start_time=start, end_time=end)
            samples += sum(len(one["values"]) for one in answer)
            del answer
        found.append({"samples": samples, "seconds": time.monotonic() - began_s})
    _print(found, {"process": _peak_mb("self")})


def decode(url: str, start_ms: int, end_ms: int, runs: int) -> None:
    from throttlescope.ingest.core.selector import metric_selector
    from throttlescope.ingest.core.series import Meter
    from throttlescope.ingest.sources.remote_read import RemoteRead

    source = RemoteRead(url)
    # Compiled code is loaded from its cache, or made once per installation: not part of reading.
    for _ in source.read(metric_selector(METRICS[0]), start_ms, start_ms + HOUR_MS, Meter()):
        pass
    found = []
    for _ in range(runs):
        began_s, samples, meter = time.monotonic(), 0, Meter()
        for metric in METRICS:
            for batch in source.read(metric_selector(metric), start_ms, end_ms, meter):
                samples += batch.samples
        found.append({"samples": samples, "seconds": time.monotonic() - began_s, "bytes": meter.bytes})
    _print(found, {"process": _peak_mb("self")})


def pull(url: str, start_ms: int, end_ms: int, runs: int, *, cold: bool = False) -> None:
    from throttlescope.ingest.core.selector import parse_selector
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.pull.pull import pull as pull_samples
    from throttlescope.ingest.pull.pull import start_workers
    from throttlescope.ingest.sources.prometheus import open_prometheus
    from throttlescope.ingest.spark.session import spark_session
    from throttlescope.ingest.spark.task_executor import SparkPoolExecutor

    executor = SparkPoolExecutor(spark_session(cores=2))
    if not cold:
        start_workers(executor)
    names = "|".join(METRICS)
    selectors = [parse_selector(f'{{__name__=~"{names}"}}')]
    found = []
    with _Memory() as memory:
        for number in range(runs):
            folder = tempfile.mkdtemp(prefix="throttlescope-bench-")
            began_s = time.monotonic()
            source = open_prometheus(url)
            result = pull_samples(
                executor, Lake(folder), source, selectors, start_ms, end_ms, f"run-{number}"
            )
            seconds = time.monotonic() - began_s
            found.append(
                {
                    "samples": result.samples_written,
                    "seconds": seconds,
                    "bytes": result.bytes,
                    "requests": result.requests,
                    "files": len(Lake(folder).files("samples")),
                    "lake_bytes": sum(file.size_bytes for file in Lake(folder).files("samples")),
                }
            )
            shutil.rmtree(folder)
    _print(found, {"driver": _peak_mb("self"), **memory.peaks_mb})


WAYS = {"client": client, "decode": decode, "pull": pull, "pull_cold": functools.partial(pull, cold=True)}


class _Memory:
    """Peaks of the processes below this one: Spark's JVM, and the Python workers, of which the largest counts."""

    def __init__(self) -> None:
        self.peaks_mb: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> _Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            for pid in descendants(os.getpid()):
                try:
                    name = Path(f"/proc/{pid}/comm").read_text().strip()
                    peak = _peak_mb(str(pid))
                except (OSError, ValueError):
                    continue
                kind = "jvm" if name == "java" else "worker" if name.startswith("python") else None
                if kind:
                    self.peaks_mb[kind] = max(peak, self.peaks_mb.get(kind, 0.0))


def _peak_mb(pid: str) -> float:
    if pid == "self":
        return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return round(int(line.split()[1]) / 1024, 1)
    raise ValueError(f"process {pid} has no memory")


def _print(runs: list[dict], memory_mb: dict[str, float]) -> None:
    print(json.dumps({"runs": runs, "memory_mb": memory_mb}))


def _summary(runs: list[dict]) -> dict:
    seconds = [run["seconds"] for run in runs]
    samples = {run["samples"] for run in runs}
    if len(samples) != 1:
        raise RuntimeError(f"the runs saw different numbers of samples: {sorted(samples)}")
    count = samples.pop()
    rest = {key: value for key, value in runs[0].items() if key not in ("samples", "seconds")}
    return {
        "samples": count,
        "seconds": round(statistics.median(seconds), 3),
        "all_seconds": [round(one, 3) for one in seconds],
        "samples_per_s": round(count / statistics.median(seconds)),
        **rest,
    }


def _memory(runs: list[dict]) -> dict[str, float]:
    return {process: max(run["memory_mb"][process] for run in runs) for process in runs[0]["memory_mb"]}


if __name__ == "__main__":
    main()
