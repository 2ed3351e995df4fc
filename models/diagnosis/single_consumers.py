"""Single consumers of a subscription. In: their series, or one answer of the admin API. Out: one :class:`Consumer` each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from throttlescope.ingest.core.selector import NAME_LABEL
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.ingest.sources.consumer_stats import ConsumerStats
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.transforms.promql.source import Series

PERMITS = "pulsar_consumer_available_permits"
UNACKED = "pulsar_consumer_unacked_messages"
BLOCKED = "pulsar_consumer_blocked_on_unacked_messages"
ACKED_PER_S = "pulsar_consumer_msg_ack_rate"
OUT = "pulsar_out_messages_total"
#: Metrics of single consumers. The last one is the subscription's own as well: its consumers' series have a consumer_id.
METRICS = (PERMITS, UNACKED, BLOCKED, ACKED_PER_S, OUT)


@dataclass(frozen=True, slots=True)
class Consumer:
    """One consumer in a window; what was not measured is None.

    Attributes
    ----------
    name, consumer_id : str
        As the client and the broker call it; the name may be empty, the id is unique only within one connection.
    instance : str or None
        The broker that it was scraped at.
    ack_msg_rate : float or None
        Messages/s acknowledged: mean of the broker's 60 s gauge.
    out_msg_rate : float or None
        Messages/s dispatched to it, from its counter.
    unacked_msg : float or None
        At the end; only Shared and Key_Shared subscriptions count them.
    permits : float or None
        At the end: messages that it has room for.
    permits_exhausted_share : float or None
        Share of samples with permits <= 0: how much of the time the broker waits for it.
    blocked : bool or None
        It reached its own limit of unacked messages in most samples.
    address : str or None
        host:port that it connects from; only the admin API knows.
    pace_msg_per_s : float or None
        What it gets done: acknowledged; dispatched where no consumer of the subscription is seen to acknowledge, because acks
        are not counted everywhere.
    slow : bool or None
        None: not known.
    """

    name: str
    consumer_id: str
    instance: str | None
    ack_msg_rate: float | None
    out_msg_rate: float | None
    unacked_msg: float | None
    permits: float | None
    permits_exhausted_share: float | None
    blocked: bool | None
    address: str | None = None
    connected_since: str | None = None
    client_version: str | None = None
    pace_msg_per_s: float | None = None
    slow: bool | None = None

    @property
    def waited_for(self) -> bool | None:
        """The broker has messages for it and no room to put them."""
        if self.permits_exhausted_share is None and self.blocked is None:
            return None
        return bool(self.blocked) or (self.permits_exhausted_share or 0.0) >= t.STARVED_FULL_SHARE

    @property
    def called(self) -> str:
        """Its name, or its id where it has none."""
        return self.name or f"consumer {self.consumer_id or 'without a name'}"


# -- what is measured ---------------------------------------------------------------------------


def measured(key: SubscriptionKey, series: Iterable[Series], start_ms: int, end_ms: int) -> list[Consumer]:
    """The consumers whose series had not ended by the window's end, without saying yet who is slow.

    Parameters
    ----------
    series : iterable of Series
        Of :data:`METRICS`; those of other subscriptions are left out here.
    """
    wanted = {name: str(value) for name, value in key._asdict().items()}
    of: dict[tuple[str, str, str], dict[str, Series]] = {}
    for one in series:
        labels = one.labels
        if labels[NAME_LABEL] not in METRICS or (
            "consumer_id" not in labels and "consumer_name" not in labels
        ):
            continue
        if any(labels.get(name) != value for name, value in wanted.items()):
            continue
        who = labels.get("consumer_name", ""), labels.get("consumer_id", ""), labels.get("instance", "")
        of.setdefault(who, {})[labels[NAME_LABEL]] = one
    found = []
    for (name, consumer_id, instance), own in sorted(of.items()):
        values = {metric: _inside(one, start_ms, end_ms) for metric, one in own.items()}
        if not any(len(inside) for inside in values.values()) or all(
            _ended(one, start_ms, end_ms) for one in own.values()
        ):
            continue
        permits, blocked = values.get(PERMITS), values.get(BLOCKED)
        found.append(
            Consumer(
                name=name,
                consumer_id=consumer_id,
                instance=instance or None,
                ack_msg_rate=_mean(values.get(ACKED_PER_S)),
                out_msg_rate=_rate(own.get(OUT), start_ms, end_ms),
                unacked_msg=_last(values.get(UNACKED)),
                permits=_last(permits),
                permits_exhausted_share=_share(permits, lambda value: value <= 0),
                blocked=None if (share := _share(blocked, bool)) is None else share >= t.MAJORITY_SHARE,
            )
        )
    return found


def _inside(series: Series, start_ms: int, end_ms: int) -> np.ndarray:
    first, after = np.searchsorted(series.timestamps_ms, (start_ms, end_ms))
    values = series.values[first:after]
    return values[np.isfinite(values)]


def _ended(series: Series, start_ms: int, end_ms: int) -> bool:
    """Whether a staleness marker is the last that is known of a series in the window."""
    samples = series.timestamps_ms[: np.searchsorted(series.timestamps_ms, end_ms)]
    markers = series.stale_ms[: np.searchsorted(series.stale_ms, end_ms)]
    return bool(len(markers)) and (not len(samples) or markers[-1] > samples[-1])


def _mean(values: np.ndarray | None) -> float | None:
    return None if values is None or not len(values) else float(values.mean())


def _last(values: np.ndarray | None) -> float | None:
    return None if values is None or not len(values) else float(values[-1])


def _share(values: np.ndarray | None, holds) -> float | None:
    return None if values is None or not len(values) else sum(bool(holds(v)) for v in values) / len(values)


def _rate(series: Series | None, start_ms: int, end_ms: int) -> float | None:
    """What a counter added per second between its first and last sample of the window; a drop is a restart from zero."""
    if series is None:
        return None
    first, after = np.searchsorted(series.timestamps_ms, (start_ms, end_ms))
    if after - first < 2:
        return None
    values, times_ms = series.values[first:after], series.timestamps_ms[first:after]
    steps = np.diff(values)
    added = float(np.where(steps < 0, values[1:], steps).sum())
    return added / (int(times_ms[-1] - times_ms[0]) / SECOND_MS)


# -- what the admin API adds --------------------------------------------------------------------


def with_stats(consumer: Consumer, stats: Sequence[ConsumerStats]) -> Consumer:
    """With the address of the only one of that name; an empty name belongs to none."""
    same = [one for one in stats if one.name and one.name == consumer.name]
    if len(same) != 1:
        return consumer
    return replace(
        consumer,
        address=same[0].address,
        connected_since=same[0].connected_since,
        client_version=same[0].client_version,
    )


def of_stats(one: ConsumerStats) -> Consumer:
    """A consumer as the admin API saw it at one moment."""
    return Consumer(
        name=one.name,
        consumer_id="",
        instance=None,
        ack_msg_rate=one.ack_msg_rate,
        out_msg_rate=one.out_msg_rate,
        unacked_msg=one.unacked_msg,
        permits=one.permits,
        # One moment: all of the samples, or none of them.
        permits_exhausted_share=None if one.permits is None else float(one.permits <= 0),
        blocked=one.blocked_on_unacked,
        address=one.address,
        connected_since=one.connected_since,
        client_version=one.client_version,
    )
