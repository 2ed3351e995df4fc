"""Traces out of samples, at the distance of scrapes. In: a source of series and limits. Out: a trace of every subscription partition.

Minutes hide a drain that lasts two of them; evaluations and questions about one subscription are answered from samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from throttlescope.ingest.core.metrics import REPLICATION_BACKLOG
from throttlescope.ingest.core.selector import metric_selector
from throttlescope.ingest.core.system_names import is_system
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.forecast.subscription_history import SubscriptionHistory
from throttlescope.models.forecast.trace import Trace
from throttlescope.models.throttling.replay.align import added, merged_times, stood
from throttlescope.transforms.promql.source import SampleSource, Series
from throttlescope.transforms.read_once import ReadOnce, read_twice

BACKLOG, DELAYED = "pulsar_subscription_back_log", "pulsar_subscription_delayed"
IN_MSG, WRITTEN = "pulsar_in_messages_total", "pulsar_storage_write_rate"
#: Replicators say which targets are one broker.
METRICS = (BACKLOG, DELAYED, IN_MSG, WRITTEN, REPLICATION_BACKLOG)
STORAGE_BYTES, TOPIC_AGE_S = "pulsar_storage_backlog_size", "pulsar_storage_backlog_age_seconds"
CONSUMERS = "pulsar_subscription_consumers_count"
#: What deadlines need as well.
VIEW_METRICS = (*METRICS, STORAGE_BYTES, TOPIC_AGE_S, CONSUMERS)


def traces_of(
    source: SampleSource, limits: Iterable[Mapping[str, Any]], start_ms: int, end_ms: int
) -> dict[SubscriptionKey, Trace]:
    """Traces of all subscription partitions that a source has, but for Pulsar's own.

    Parameters
    ----------
    source : SampleSource
        Holds :data:`METRICS`.
    limits : iterable of mappings
        Rows of ``limits``: the longest period of a limit decides what counts as drained.
    start_ms, end_ms : int
        [start, end).
    """
    twice = read_twice(source, source.select(metric_selector(BACKLOG), start_ms, end_ms), start_ms, end_ms)
    if twice is not None:
        source = ReadOnce(source, twice)
    found = {metric: source.select(metric_selector(metric), start_ms, end_ms) for metric in METRICS}
    of: dict[SubscriptionKey, list[Series]] = {}
    for item in found[BACKLOG]:
        if len(item.timestamps_ms) and not is_system(item.labels["topic"], item.labels["subscription"]):
            of.setdefault(_key(item), []).append(item)
    periods = _periods(limits)
    return {key: _trace(found, series, key, periods.get(key, 1.0)) for key, series in sorted(of.items())}


def views_of_samples(
    source: SampleSource, limits: Iterable[Mapping[str, Any]], start_ms: int, end_ms: int
) -> list[SubscriptionHistory]:
    """Views of all subscription partitions that a source has, for forecasts of deadlines too.

    Parameters
    ----------
    source : SampleSource
        Holds :data:`VIEW_METRICS`.
    """
    found = {
        metric: [
            item
            for item in source.select(metric_selector(metric), start_ms, end_ms)
            if len(item.timestamps_ms)
        ]
        for metric in (STORAGE_BYTES, TOPIC_AGE_S, CONSUMERS)
    }

    def stood_at(
        metric: str, key: SubscriptionKey, names: tuple[str, ...], times_ms: np.ndarray
    ) -> np.ndarray:
        wanted = {name: str(getattr(key, name)) for name in names}
        mine = [
            item
            for item in found[metric]
            if all(item.labels.get(name) == value for name, value in wanted.items())
        ]
        first_ms = min((int(item.timestamps_ms[0]) for item in mine), default=None)
        values = stood(mine, times_ms)
        return np.where(times_ms >= first_ms, values, np.nan) if mine else np.full(len(times_ms), np.nan)

    place = ("cluster", "namespace", "topic", "partition")
    views = []
    for key, trace in traces_of(source, limits, start_ms, end_ms).items():
        ages = stood_at(TOPIC_AGE_S, key, place, trace.times_ms)
        views.append(
            SubscriptionHistory(
                key,
                trace,
                stood_at(STORAGE_BYTES, key, place, trace.times_ms),
                np.where(ages < 0, np.nan, ages),
                stood_at(CONSUMERS, key, (*place, "subscription"), trace.times_ms),
            )
        )
    return views


def _trace(
    found: Mapping[str, Sequence[Series]], backlogs: list[Series], key: SubscriptionKey, period_s: float
) -> Trace:
    def mine(metric: str, *names: str) -> list[Series]:
        wanted = backlogs[0].labels
        return [
            item
            for item in found[metric]
            if len(item.timestamps_ms) and all(item.labels.get(name) == wanted.get(name) for name in names)
        ]

    place = ("cluster", "namespace", "topic", "partition")
    times_ms = merged_times(backlogs)
    backlog = stood(backlogs, times_ms)
    ready = backlog - stood(mine(DELAYED, *place, "subscription"), times_ms)
    published = mine(IN_MSG, *place)
    messages = added(published, times_ms, set()) if published else np.full(len(times_ms), np.nan)
    return Trace(
        times_ms, ready, backlog, messages / _per_entry(messages, mine(WRITTEN, *place), times_ms), period_s
    )


def _per_entry(messages: np.ndarray, written: list[Series], times_ms: np.ndarray) -> float:
    """Messages per entry: published over written, of the whole range; 1 where that is not known."""
    if not written or np.isnan(messages).all():
        return 1.0
    entries = float((stood(written, times_ms)[1:] * np.diff(times_ms)).sum()) / SECOND_MS
    return max(1.0, float(messages[1:].sum()) / entries) if entries > 0 else 1.0


def _periods(limits: Iterable[Mapping[str, Any]]) -> dict[SubscriptionKey, float]:
    longest: dict[SubscriptionKey, float] = {}
    for row in limits:
        if row["rate_msg"] is not None or row["rate_bytes"] is not None:
            key = SubscriptionKey(*(row[name] for name in SubscriptionKey._fields))
            longest[key] = max(longest.get(key, 1.0), float(row["period_s"]))
    return longest


def _key(item: Series) -> SubscriptionKey:
    labels = item.labels
    return SubscriptionKey(
        labels.get("cluster", ""),
        labels["namespace"],
        labels["topic"],
        int(labels.get("partition", -1)),
        labels["subscription"],
    )
