"""Series brought to the scrapes of one of them. In: series of any instances and times; out: one value per scrape."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from throttlescope.transforms.promql.source import Series


def merged_times(series: Iterable[Series]) -> np.ndarray:
    """Scrapes of one partition, the one with the most: brokers are scraped at different moments."""
    by_partition: dict[str, list[np.ndarray]] = {}
    for item in series:
        by_partition.setdefault(item.labels["partition"], []).append(item.timestamps_ms)
    return max((np.unique(np.concatenate(times)) for times in by_partition.values()), key=len)


def stood(series: list[Series], times_ms: np.ndarray) -> np.ndarray:
    """A gauge at the scrapes: the newest sample of any instance; 0 before the first."""
    if not series:
        return np.zeros(len(times_ms))
    times = np.concatenate([item.timestamps_ms for item in series])
    values = np.concatenate([item.values for item in series])
    order = np.argsort(times, kind="stable")
    at = np.searchsorted(times[order], times_ms, side="right") - 1
    return np.where(at >= 0, values[order][np.maximum(at, 0)], 0.0)


def added(series: list[Series], times_ms: np.ndarray, restarts: set[int]) -> np.ndarray:
    """What counters added since the scrape before.

    A counter that fell restarted, and counts from 0. One that begins after another of the same thing ended was moved to
    another broker: what it counted before its first scrape there is not known to be new, and is left out. Both
    are put into ``restarts``.
    """
    total = np.zeros(len(times_ms))
    last_ms = None
    for item in sorted(series, key=lambda one: one.timestamps_ms[0]):
        if last_ms is not None and item.timestamps_ms[0] > last_ms:
            restarts.add(int(item.timestamps_ms[0]))
        last_ms = max(last_ms or 0, int(item.timestamps_ms[-1]))
        if len(item.values) < 2:
            continue
        steps = np.diff(item.values)
        again = steps < 0
        restarts.update(item.timestamps_ms[1:][again].tolist())
        grown = np.r_[0.0, np.cumsum(np.where(again, item.values[1:], steps))]
        total += np.interp(times_ms, item.timestamps_ms, grown)
    return np.diff(total, prepend=total[:1])
