"""The data of the PromQL benchmark. In: a number of subscriptions. Out: 24 h of their series, the same every time.

Each subscription has one gauge of its backlog and six counters of throttled reads, scraped every 30 s with a few
milliseconds of jitter. Gauges wander around 1,000 entries; seven in ten subscriptions are throttled for some stretches of
the day, by one limit mostly, and their counters stand still otherwise. Now and then a target cannot be scraped: its series
end with a staleness marker, and after a long gap the broker may have restarted, with its counters at zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

START_MS = 1_760_054_400_000  # a UTC midnight
DAY_MS = 24 * 3_600_000
INTERVAL_MS = 30_000
SCRAPES = DAY_MS // INTERVAL_MS

BACKLOG = "pulsar_subscription_back_log_no_delayed"
THROTTLED_MSG = "pulsar_subscription_dispatch_throttled_msg_events"
THROTTLED_BYTES = "pulsar_subscription_dispatch_throttled_bytes_events"
METRICS = (BACKLOG, THROTTLED_MSG, THROTTLED_BYTES)
REASONS = ("broker", "topic", "subscription")

#: Goes into the name of what is kept: another number recreates everything.
VERSION = 1
STALE_BITS = 0x7FF0000000000002

_SUBSCRIPTIONS_PER_TARGET = 50
_SUBSCRIPTIONS_PER_TOPIC = 2
_TOPICS_PER_NAMESPACE = 25

SeriesBits = tuple[dict[str, str], np.ndarray, np.ndarray]
"""labels, times in milliseconds, values as uint64 bit patterns (a marker is one of them)"""


@dataclass(frozen=True)
class Workload:
    """How much of it there is."""

    name: str
    subscriptions: int

    @property
    def series(self) -> int:
        return self.subscriptions * (1 + 2 * len(REASONS))


W1 = Workload("W1", 500)
W2 = Workload("W2", 5_000)
WORKLOADS = {workload.name: workload for workload in (W1, W2)}


@dataclass(frozen=True)
class Target:
    """A broker as Prometheus sees it over the day.

    Attributes
    ----------
    times_ms : ndarray of int64
        Times of all scrapes, also of those that failed.
    here : ndarray of bool
        Whether the scrape succeeded.
    marked : ndarray of bool
        First failed scrape of each gap.
    restarts : ndarray of int64
        Scrapes at which counters restart at 0.
    """

    instance: str
    times_ms: np.ndarray
    here: np.ndarray
    marked: np.ndarray
    restarts: np.ndarray


def series(workload: Workload) -> Iterator[SeriesBits]:
    """All series, subscription by subscription."""
    target = None
    for number in range(workload.subscriptions):
        if number % _SUBSCRIPTIONS_PER_TARGET == 0:
            target = _target(number // _SUBSCRIPTIONS_PER_TARGET)
        yield from _subscription(number, target)


def in_time_order(several: Iterator[SeriesBits], scrapes_at_once: int = 60) -> Iterator[SeriesBits]:
    """The same in slices of half an hour, as scrapes bring them: a server refuses what lies too far behind the newest."""
    held = list(several)
    for low in range(0, max(len(times) for _, times, _ in held), scrapes_at_once):
        for labels, times, bits in held:
            part = slice(low, low + scrapes_at_once)
            if len(times[part]):
                yield labels, times[part], bits[part]


def _target(number: int) -> Target:
    generator = np.random.default_rng((2026, 1, number))
    # Prometheus spreads its targets over the interval; all series of a target share the time of a scrape.
    offset_ms = int(generator.integers(100, INTERVAL_MS - 100))
    jitter_ms = generator.integers(-8, 25, SCRAPES)
    times_ms = START_MS + offset_ms + np.arange(SCRAPES, dtype=np.int64) * INTERVAL_MS + jitter_ms
    here = np.ones(SCRAPES, bool)
    marked = np.zeros(SCRAPES, bool)
    restarts = []
    for first in generator.integers(10, SCRAPES - 30, generator.integers(1, 5)).tolist():
        length = int(generator.choice((1, 2, 12, 20)))
        here[first : first + length] = False
        if length >= 12 and generator.random() < 0.5:
            restarts.append(first + length)
    marked[1:] = here[:-1] & ~here[1:]
    return Target(
        f"10.0.{number // 250}.{number % 250 + 1}:8080",
        times_ms,
        here,
        marked,
        np.array(sorted(restarts), int),
    )


def _subscription(number: int, target: Target) -> Iterator[SeriesBits]:
    generator = np.random.default_rng((2026, 2, number))
    topic = number // _SUBSCRIPTIONS_PER_TOPIC
    namespace = f"acme/shop-{topic // _TOPICS_PER_NAMESPACE}"
    labels = {
        "job": "broker",
        "instance": target.instance,
        "cluster": "bench",
        "namespace": namespace,
        "topic": f"persistent://{namespace}/orders-{topic}",
        "partition": "-1",
        "subscription": ("billing", "audit")[number % _SUBSCRIPTIONS_PER_TOPIC],
    }
    yield _scraped({"__name__": BACKLOG, **labels}, target, _backlog(generator))
    throttled = _throttled_stretches(generator)
    usual = generator.integers(len(REASONS))
    for metric, share in ((THROTTLED_MSG, 1.0), (THROTTLED_BYTES, 0.4)):
        here = generator.random() < share
        for i, reason in enumerate(REASONS):
            events = np.zeros(SCRAPES)
            if here and (i == usual or generator.random() < 0.4):
                per_scrape = generator.uniform(2, 60) * (1 if i == usual else 0.1)
                events[throttled] = generator.poisson(per_scrape, int(throttled.sum()))
            yield _scraped(
                {"__name__": metric, "reason": reason, **labels}, target, _counter(events, target.restarts)
            )


def _backlog(generator: np.random.Generator) -> np.ndarray:
    if generator.random() < 0.2:
        return generator.poisson(3, SCRAPES).astype(float)
    period = generator.uniform(60, SCRAPES)
    wave = generator.uniform(50, 3_000) * np.sin(
        2 * np.pi * (np.arange(SCRAPES) / period + generator.random())
    )
    return np.maximum(0, np.rint(1_000 + wave + generator.normal(0, 150, SCRAPES)))


def _throttled_stretches(generator: np.random.Generator) -> np.ndarray:
    throttled = np.zeros(SCRAPES, bool)
    if generator.random() < 0.7:
        for first in generator.integers(0, SCRAPES, generator.integers(1, 5)).tolist():
            throttled[first : first + int(generator.integers(20, 720))] = True
    return throttled


def _counter(events: np.ndarray, restarts: np.ndarray) -> np.ndarray:
    total = np.cumsum(events)
    for restart in restarts.tolist():
        total[restart:] -= total[restart - 1]
    return total


def _scraped(labels: dict[str, str], target: Target, values: np.ndarray) -> SeriesBits:
    bits = values.view(np.uint64).copy()
    bits[target.marked] = STALE_BITS
    kept = target.here | target.marked
    return labels, target.times_ms[kept], bits[kept]
