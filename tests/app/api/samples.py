"""Series that a lake and a real Prometheus both get: a broker's metrics, odd labels, odd numbers, gaps and markers."""

from __future__ import annotations

import math

import numpy as np

from tests.lab.prometheus import STALE, write_series
from tests.promql.generate import BASE_MS
from throttlescope.transforms.promql.source import Series

INTERVAL_MS = 15_000
SAMPLES = 121
START_MS = BASE_MS
END_MS = BASE_MS + (SAMPLES - 1) * INTERVAL_MS
TOPIC = {
    "cluster": "prod",
    "namespace": "acme/shop",
    "topic": "persistent://acme/shop/orders",
    "partition": "-1",
}
ODD = {
    "cluster": "odd",
    "html": "<a>&'\"\\\n\t\b\u2028é",
    "Upper": "U",
    "utf8.label": "u/ü",
    "with space": "x",
}


def series() -> list[Series]:
    """What both hold, the same to the bit."""
    times_ms = START_MS + INTERVAL_MS * np.arange(SAMPLES)
    jitter_ms = np.random.default_rng(4).integers(-3, 4, SAMPLES)
    found = [
        Series(
            {"__name__": "up", "cluster": "prod", "instance": f"broker-{n}:8080", "job": "pulsar"},
            times_ms,
            ones,
        )
        for n, ones in enumerate((np.ones(SAMPLES), np.arange(SAMPLES) % 2.0))
    ]
    for n in range(4):
        labels = {**TOPIC, "subscription": f"billing-{n}"}
        backlog = {"__name__": "pulsar_subscription_back_log", **labels}
        found.append(Series(backlog, times_ms + jitter_ms, 100.0 * n + np.arange(SAMPLES) % 17))
        for reason in ("topic", "subscription"):
            name = "pulsar_subscription_dispatch_throttled_msg_events"
            # Restarts once, as a broker does.
            events = np.concatenate([np.arange(70) * (n + 1), np.arange(SAMPLES - 70) * 2.0])
            found.append(Series({"__name__": name, **labels, "reason": reason}, times_ms, events))
    numbers = np.array(
        [0.1, -0.0, 1e-7, 1e21, 5e-324, math.nan, math.inf, -math.inf, 1 / 3, 123456789012345678.0]
    )
    found.append(Series({"__name__": "odd_numbers", **ODD}, times_ms[:10], numbers))
    # Ends with a marker, and begins again after a gap.
    kept = np.r_[0:20, 60:80]
    found.append(
        Series(
            {"__name__": "interrupted", "cluster": "prod"},
            times_ms[kept],
            np.arange(40.0),
            times_ms[[20, 80]],
        )
    )
    return found


def write_all(url: str) -> None:
    """Put them into a Prometheus."""
    for one in series():
        samples = list(zip(one.timestamps_ms.tolist(), one.values.tolist(), strict=True))
        samples += [(time_ms, STALE) for time_ms in one.stale_ms.tolist()]
        write_series(url, [(one.labels, sorted(samples, key=lambda sample: sample[0]))])
