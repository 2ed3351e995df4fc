"""A replicator's window, as that of a subscription. In: series of a topic with those of replication; out: the series that a window is made of.

A replicator is replayed as an Exclusive subscription with one consumer, the remote cluster. It shares no limiter with the topic's
subscriptions: its own limit counts entries. What it sent is known as a mean of the last minute only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from throttlescope.ingest.core.metrics import REPLICATION_BACKLOG
from throttlescope.ingest.core.selector import NAME_LABEL
from throttlescope.ingest.core.subscription_name import with_cursor
from throttlescope.models.throttling.replay.series import (
    BACKLOG,
    CONSUMERS,
    ENTRIES_PER_S,
    IN,
    OUT,
    PUBLISH_LIMITED,
    REPLICATED_IN,
    REPLICATED_OUT,
    REPLICATOR_CONNECTED,
)
from throttlescope.transforms.promql.source import Series

#: Sends that may wait for the remote cluster's answer (``replicationProducerQueueSize``), in entries.
WINDOW_ENTRIES = 1_000
_GAUGES = {REPLICATION_BACKLOG: BACKLOG, REPLICATOR_CONNECTED: CONSUMERS}
_SENT = {rate: OUT[unit] for unit, rate in REPLICATED_OUT.items()}
_RECEIVED = {rate: IN[unit] for unit, rate in REPLICATED_IN.items()}
_OF_TOPIC = (*IN.values(), ENTRIES_PER_S, PUBLISH_LIMITED)


def as_subscription(series: Iterable[Series], subscription: str) -> list[Series]:
    """Series of a replicator under the names of a subscription's; rates become what was counted since the first sample.

    What other clusters published is taken from what was published: replicators skip it.
    """
    found, received = [], []
    for item in series:
        metric, labels = item.labels[NAME_LABEL], with_cursor(item.labels)
        if metric in _OF_TOPIC:
            found.append(item)
        elif metric in _RECEIVED:
            received.append(_counted(item, labels, _RECEIVED[metric]))
        elif labels.get("subscription") == subscription and metric in _SENT:
            found.append(_counted(item, labels, _SENT[metric]))
        elif labels.get("subscription") == subscription and metric in _GAUGES:
            found.append(Series({**labels, NAME_LABEL: _GAUGES[metric]}, item.timestamps_ms, item.values))
    return [_less(item, received) if item.labels[NAME_LABEL] in IN.values() else item for item in found]


def _counted(item: Series, labels: Mapping[str, str], counter: str) -> Series:
    seconds = np.diff(item.timestamps_ms, prepend=item.timestamps_ms[:1]) / 1000
    return Series({**labels, NAME_LABEL: counter}, item.timestamps_ms, np.cumsum(item.values * seconds))


def _less(item: Series, received: Iterable[Series]) -> Series:
    """Published messages or bytes without those that came from other clusters; a counter never falls by that."""
    added = np.diff(item.values, prepend=item.values[:1])
    restarted, less = added < 0, np.zeros(len(added))
    for other in received:
        same = all(
            other.labels.get(name) == item.labels.get(name) for name in (NAME_LABEL, "partition", "instance")
        )
        if same:
            come = np.interp(item.timestamps_ms, other.timestamps_ms, other.values)
            less += np.diff(come, prepend=come[:1])
    if not less.any():
        return item
    own = np.where(restarted, item.values, np.maximum(added - less, 0.0))
    runs = np.cumsum(restarted)
    total = np.cumsum(own)
    starts = np.r_[0.0, total[np.flatnonzero(restarted) - 1]] if restarted.any() else np.zeros(1)
    return Series(item.labels, item.timestamps_ms, total - starts[runs])
