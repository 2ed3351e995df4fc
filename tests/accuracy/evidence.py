"""Recordings with less evidence. In: a recording. Out: the same recording as other settings of broker, Prometheus or ingest would have shown it.

``no limits``
    No admin API: neither its answers about policies nor its stats, which contain a subscription's type.
``no consumer metrics``
    ``exposeConsumerLevelMetricsInPrometheus=false``: no ``pulsar_consumer_*`` and no series with a consumer's name or id.
``imprecise backlog``
    ``exposePreciseBacklogInPrometheus=false``: the broker subtracts two counters in memory (``ManagedCursorImpl``). They are exact when a
    topic is loaded and can go wrong by an amount that then stays; where the difference is negative the broker falls back
    to the precise count. Every subscription partition gets one such amount for the whole recording, drawn from a seed:
    log-uniform from 1 to 44,708 entries (the largest that a user reported, apache/pulsar#5202), half of them negative.
``60 s scrapes``
    Only some scrapes of each broker are kept, one every 60 s; counters stay as they are.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tests.accuracy.recorded import Recorded
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.metrics import BACKLOG
from throttlescope.transforms.promql.source import Series

#: Causes for which no switch shows more: the backlog says healthy, the count of consumers that there is none, expiry that messages were lost.
NEEDS_NO_SWITCH = ("healthy", "no_consumers", "healed_by_loss")
SEED = 20_261_122
WORST_OFF_ENTRIES = 44_708
LONG_SCRAPE_S = 60
READY = "pulsar_subscription_back_log_no_delayed"


@dataclass(frozen=True)
class Evidence:
    """One way to see less.

    Attributes
    ----------
    switches : tuple of str
        What a verdict that misses the evidence has to name, all of them; empty where there is no switch.
    """

    alter: Callable[[Recorded], Recorded]
    switches: tuple[str, ...]


def without_limits(recorded: Recorded) -> Recorded:
    return replace(recorded, limits=recorded.limits.slice(0, 0), topic_stats=recorded.topic_stats.slice(0, 0))


def without_consumer_metrics(recorded: Recorded) -> Recorded:
    return replace(recorded, series=tuple(one for one in recorded.series if not is_of_consumer(one)))


def without_either(recorded: Recorded) -> Recorded:
    return without_limits(without_consumer_metrics(recorded))


def with_imprecise_backlog(recorded: Recorded) -> Recorded:
    return with_other_backlog(recorded, _off_by)


def with_long_scrapes(recorded: Recorded) -> Recorded:
    every = round(LONG_SCRAPE_S / recorded.scrape_interval_s)
    scrapes: dict[str, set[int]] = defaultdict(set)
    for one in recorded.series:
        scrapes[_instance(one)].update(one.timestamps_ms.tolist())
    kept = {instance: np.array(sorted(times)[::every]) for instance, times in scrapes.items()}
    return replace(recorded, series=tuple(_kept(one, kept[_instance(one)]) for one in recorded.series))


#: As on the page, in its order. Full evidence comes first.
EVIDENCE: dict[str, Evidence] = {
    "full": Evidence(lambda recorded: recorded, ()),
    "no limits": Evidence(without_limits, ("--pulsar-admin",)),
    "no consumer metrics": Evidence(without_consumer_metrics, ("exposeConsumerLevelMetricsInPrometheus",)),
    "neither": Evidence(without_either, ("--pulsar-admin", "exposeConsumerLevelMetricsInPrometheus")),
    "imprecise backlog": Evidence(with_imprecise_backlog, ("exposePreciseBacklogInPrometheus",)),
    "60 s scrapes": Evidence(with_long_scrapes, ()),
}


def is_of_consumer(series: Series) -> bool:
    labels = series.labels
    return (
        labels["__name__"].startswith("pulsar_consumer_")
        or "consumer_name" in labels
        or "consumer_id" in labels
    )


def with_other_backlog(recorded: Recorded, shown: Callable[[tuple, np.ndarray], np.ndarray]) -> Recorded:
    """A recording whose brokers show another backlog; what is ready of it changes by the same entries.

    Parameters
    ----------
    shown : callable
        From the key of a subscription partition and its precise backlog to what is shown, value by value.
    """
    more: dict[tuple, dict[int, float]] = {}
    altered = []
    for one in recorded.series:
        if one.labels["__name__"] == BACKLOG:
            values = shown(key_of(one), one.values)
            more[_rest(one)] = dict(zip(one.timestamps_ms.tolist(), values - one.values, strict=True))
            altered.append(replace(one, values=values))
    for one in recorded.series:
        if one.labels["__name__"] == READY:
            # One scrape brings both; a ready part without its backlog stays as it is.
            by_time = more.get(_rest(one), {})
            added = np.array([by_time.get(at, 0.0) for at in one.timestamps_ms.tolist()])
            altered.append(replace(one, values=one.values + added))
        elif one.labels["__name__"] != BACKLOG:
            altered.append(one)
    return replace(recorded, series=tuple(altered))


def key_of(series: Series) -> tuple:
    """Key of a subscription partition, as texts."""
    return tuple(series.labels[name] for name in SUBSCRIPTION_KEY_NAMES)


def _rest(series: Series) -> tuple:
    return tuple(sorted(pair for pair in series.labels.items() if pair[0] != "__name__"))


def _off_by(key: tuple, precise: np.ndarray) -> np.ndarray:
    rng = random.Random(f"{SEED} {key}")  # noqa: S311 - repeatable, not secret
    off = round(WORST_OFF_ENTRIES ** rng.random()) * rng.choice((-1, 1))
    return np.where(precise + off < 0, precise, precise + off)


def _instance(series: Series) -> str:
    return series.labels.get("instance", "")


def _kept(series: Series, times_ms: np.ndarray) -> Series:
    keep = np.isin(series.timestamps_ms, times_ms)
    return replace(series, timestamps_ms=series.timestamps_ms[keep], values=series.values[keep])
