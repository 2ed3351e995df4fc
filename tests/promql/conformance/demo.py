"""The metrics that the compliance list asks for. In: a seed and how scrapes lie. Out: arrays of samples.

Three instances of the demo service are scraped every 5 s. ``aligned`` puts every scrape on a whole second, so that
window edges hit samples; ``jittered`` gives each instance a phase of its own and each scrape a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from tests.lab.prometheus import STALE_BITS
from throttlescope.transforms.promql.source import Series

Scrapes = Literal["aligned", "jittered"]

#: A multiple of the query step.
END_MS = 1_700_000_400_000
INTERVAL_MS = 5_000
#: One hour is the longest window, ten minutes the longest offset and the query's length.
SPAN_MS = 100 * 60_000
INSTANCES = ("demo.promlabs.com:10000", "demo.promlabs.com:10001", "demo.promlabs.com:10002")
_MEMORY_BYTES = {"free": 2.1e9, "used": 4.3e9, "buffers": 0.6e9, "cached": 1.4e9}
_ROUTES = (
    ("GET", "/api/foo", "200"),
    ("GET", "/api/bar", "200"),
    ("POST", "/api/foo", "200"),
    ("POST", "/api/bar", "500"),
    ("GET", "/api/nonexistent", "404"),
)
_BOUNDS = [0.0001 * 1.5**index for index in range(25)]


def demo_series(seed: int, scrapes: Scrapes) -> list[Series]:
    """All series of the three instances.

    Returns
    -------
    list of Series
        Each over ``SPAN_MS`` up to ``END_MS``.
    """
    rng = np.random.default_rng(seed)
    series: list[Series] = []
    for number, instance in enumerate(INSTANCES):
        times = np.arange(END_MS - SPAN_MS, END_MS + 1, INTERVAL_MS, dtype=np.int64)
        if scrapes == "jittered":
            times = times + int(rng.integers(1, INTERVAL_MS)) + rng.integers(-3, 4, len(times))
        for labels, values, stale in _instance(rng, number, times):
            kept = ~np.isnan(values)
            identity = labels | {"instance": instance, "job": "demo"}
            series.append(Series(identity, times[kept], values[kept], times[stale]))
    return series


def _instance(
    rng: np.random.Generator, number: int, times: np.ndarray
) -> Iterator[tuple[dict[str, str], np.ndarray, np.ndarray]]:
    """Labels, one value per scrape (NaN where none was exposed), and where a staleness marker stands."""
    count, never = len(times), np.zeros(len(times), bool)
    for kind, level in _MEMORY_BYTES.items():
        yield (
            {"__name__": "demo_memory_usage_bytes", "type": kind},
            np.round(level * (1 + 0.05 * np.cumsum(rng.normal(0, 0.05, count)))),
            never,
        )
    for mode, share in (("user", 0.3), ("system", 0.1), ("idle", 1.6)):
        used = np.cumsum(rng.exponential(share * INTERVAL_MS / 1000, count)) + 1000 * number
        if number == 1:
            # This instance was restarted.
            restart = int(count * 0.85)
            used[restart:] -= used[restart - 1]
        yield {"__name__": "demo_cpu_usage_seconds_total", "mode": mode}, used, never
    yield {"__name__": "demo_num_cpus"}, np.full(count, 4.0), never
    grown = 1e9 + np.cumsum(rng.integers(0, 20_000, count)).astype(float)
    yield {"__name__": "demo_disk_usage_bytes"}, grown, never
    batch = np.floor(times / 60_000) * 60 + number * 0.25
    yield {"__name__": "demo_batch_last_success_timestamp_seconds"}, batch, never
    there = (np.arange(count) // 30 + number) % 3 != 0
    # A scrape that no longer finds a series marks it stale.
    gone = ~there & np.r_[False, there[:-1]]
    yield {"__name__": "demo_intermittent_metric"}, np.where(there, rng.integers(0, 9, count), np.nan), gone
    for method, path, status in _ROUTES:
        yield from _requests(rng, {"method": method, "path": path, "status": status}, count, never)


def _requests(rng: np.random.Generator, route: dict[str, str], count: int, never: np.ndarray):
    name = "demo_api_request_duration_seconds"
    slow = rng.uniform(0.002, 0.2)
    arrived = rng.poisson(6, count)
    seconds = [rng.exponential(slow, n) for n in arrived]
    total = np.cumsum(arrived).astype(float)
    for bound in _BOUNDS:
        below = np.cumsum([np.count_nonzero(each <= bound) for each in seconds]).astype(float)
        yield route | {"__name__": f"{name}_bucket", "le": f"{bound:.6g}"}, below, never
    yield route | {"__name__": f"{name}_bucket", "le": "+Inf"}, total, never
    yield route | {"__name__": f"{name}_count"}, total, never
    yield route | {"__name__": f"{name}_sum"}, np.cumsum([each.sum() for each in seconds]), never


def as_written(series: Series) -> tuple[dict[str, str], np.ndarray, np.ndarray]:
    """Labels, times and value bits, staleness markers among them, as remote write takes them."""
    times = np.r_[series.timestamps_ms, series.stale_ms]
    bits = np.r_[series.values.view(np.uint64), np.full(len(series.stale_ms), STALE_BITS, np.uint64)]
    order = np.argsort(times, kind="stable")
    return dict(series.labels), times[order], bits[order]
