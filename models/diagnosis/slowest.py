"""Which consumers are slow, by name. In: series of single consumers, or one answer of the admin API. Out: :class:`SlowConsumers`.

It is told beside a verdict and changes none. A consumer is slow when the broker waits for it and it acknowledges less than
:data:`~thresholds.UNEVEN_SHARE` of what the fastest does: one slow of N is not N slow. Where all are alike and the broker waits
for all of them, none stands out and all are at their capacity. One that has room is not slow, whatever little it gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from throttlescope.ingest.consumer_stats import ConsumerStats
from throttlescope.ingest.selector import NAME_LABEL
from throttlescope.ingest.times import SECOND_MS
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.consumers import ONE_ACTIVE
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.diagnosis.wording import number
from throttlescope.transforms.promql.source import Series

PERMITS = "pulsar_consumer_available_permits"
UNACKED = "pulsar_consumer_unacked_messages"
BLOCKED = "pulsar_consumer_blocked_on_unacked_messages"
ACKED_PER_S = "pulsar_consumer_msg_ack_rate"
OUT = "pulsar_out_messages_total"
#: What single consumers are told from. The last one is the subscription's own as well: its consumers' series have a consumer_id.
METRICS = (PERMITS, UNACKED, BLOCKED, ACKED_PER_S, OUT)

NOT_MEASURED = (
    "single consumers are not measured: set exposeConsumerLevelMetricsInPrometheus=true on the brokers, or ask with "
    "throttlescope now --pulsar-admin URL"
)
_NAMED = 3


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
        None: cannot be told.
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


@dataclass(frozen=True, slots=True)
class SlowConsumers:
    """The consumers of one subscription partition in one window.

    Attributes
    ----------
    consumers : tuple of Consumer
        Those connected at the end, slow ones first, the slowest of them first.
    slow : int or None
        How many of them are slow; None: cannot be told.
    waited_for : int or None
        For how many the broker waits.
    of : int
        How many there are; a Failover or Exclusive subscription's that stand by are not counted.
    told_by : str or None
        ``metrics`` (many samples), ``admin`` (one moment); None: nothing.
    text : str
        One sentence.
    """

    key: SubscriptionKey
    start_ms: int
    end_ms: int
    consumers: tuple[Consumer, ...]
    slow: int | None
    waited_for: int | None
    of: int
    told_by: Literal["metrics", "admin"] | None
    text: str

    def to_row(self) -> dict[str, Any]:
        """Plain values, as they are printed in JSON."""
        return {
            **self.key._asdict(),
            "start_ms": self.start_ms,
            "end_ms": self.end_ms,
            "slow": self.slow,
            "waited_for": self.waited_for,
            "of": self.of,
            "told_by": self.told_by,
            "text": self.text,
            "consumers": [asdict(one) for one in self.consumers],
        }


def slowest_consumers(
    key: SubscriptionKey,
    series: Iterable[Series],
    start_ms: int,
    end_ms: int,
    *,
    stats: Iterable[ConsumerStats] = (),
    subscription_type: str | None = None,
) -> SlowConsumers:
    """Say which consumers of a subscription partition are slow in [start_ms, end_ms).

    Parameters
    ----------
    series : iterable of Series
        Of :data:`METRICS`, with normalised labels; those of other subscriptions are left out here.
    stats : iterable of ConsumerStats
        What the admin API said last: addresses, and the figures of one moment where nothing was scraped.
    subscription_type : str, optional
        Of Exclusive and Failover subscriptions only the active consumer counts.
    """
    mine = [one for one in stats if (one.partition, one.subscription) == (key.partition, key.subscription)]
    found, told_by = [_with_stats(one, mine) for one in _measured(key, series, start_ms, end_ms)], "metrics"
    if not found:
        found, told_by = [_of_stats(one) for one in mine], "admin"
    if not found:
        return SlowConsumers(
            key, start_ms, end_ms, (), None, None, 0, None, f"Of {_named(key)} {NOT_MEASURED}."
        )
    if subscription_type in ONE_ACTIVE and len(found) > 1:
        active = [one for one in found if not _stands_by(one)]
        found = active or found
    judged = _judged(found)
    slow = None if any(one.slow is None for one in judged) else sum(bool(one.slow) for one in judged)
    waits = [one.waited_for for one in judged]
    waited_for = None if None in waits else sum(bool(one) for one in waits)
    ordered = tuple(sorted(judged, key=_order))
    text = _text(ordered, slow, waited_for)
    return SlowConsumers(key, start_ms, end_ms, ordered, slow, waited_for, len(ordered), told_by, text)


# -- what is measured ---------------------------------------------------------------------------


def _measured(key: SubscriptionKey, series: Iterable[Series], start_ms: int, end_ms: int) -> list[Consumer]:
    """The consumers whose series had not ended by the window's end."""
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


def _with_stats(consumer: Consumer, stats: Sequence[ConsumerStats]) -> Consumer:
    """With the address of the only one of that name; an empty name is nobody's."""
    same = [one for one in stats if one.name and one.name == consumer.name]
    if len(same) != 1:
        return consumer
    return replace(
        consumer,
        address=same[0].address,
        connected_since=same[0].connected_since,
        client_version=same[0].client_version,
    )


def _of_stats(one: ConsumerStats) -> Consumer:
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


# -- who is slow --------------------------------------------------------------------------------


def _stands_by(consumer: Consumer) -> bool:
    return not consumer.waited_for and not consumer.out_msg_rate and not consumer.ack_msg_rate


def _judged(consumers: Sequence[Consumer]) -> list[Consumer]:
    acks = any(one.ack_msg_rate for one in consumers)
    paced = [replace(one, pace_msg_per_s=one.ack_msg_rate if acks else one.out_msg_rate) for one in consumers]
    fastest = max((one.pace_msg_per_s for one in paced if one.pace_msg_per_s is not None), default=None)
    return [replace(one, slow=_is_slow(one, fastest)) for one in paced]


def _is_slow(consumer: Consumer, fastest: float | None) -> bool | None:
    waited_for, pace = consumer.waited_for, consumer.pace_msg_per_s
    if waited_for is None:
        return None
    if not waited_for:
        return False
    if pace is None or fastest is None:
        return None
    # Where nobody gets anything done, each that holds messages is as slow as can be.
    return pace < t.UNEVEN_SHARE * fastest or fastest == 0


def _order(consumer: Consumer) -> tuple:
    pace = consumer.pace_msg_per_s
    return (
        not consumer.slow,
        not consumer.waited_for,
        float("inf") if pace is None else pace,
        consumer.name,
        consumer.consumer_id,
    )


def _text(consumers: Sequence[Consumer], slow: int | None, waited_for: int | None) -> str:
    count = len(consumers)
    all_of = "the only consumer" if count == 1 else f"each of {count} consumers"
    if waited_for == 0:
        return f"The broker waits for none of {count} consumer{'' if count == 1 else 's'}: they have room."
    if slow is None:
        return f"Which of {count} consumers is slow cannot be told: not all of them were measured."
    paces = [one.pace_msg_per_s for one in consumers if one.pace_msg_per_s is not None]
    if slow == count:
        return f"The broker waits for {all_of}, and nothing gets done."
    if slow:
        named = [_paced(one) for one in consumers[: min(slow, _NAMED)]]
        more = f" and {slow - _NAMED} more" if slow > _NAMED else ""
        verb = "is" if slow == 1 else "are"
        return f"{slow} of {count} consumers {verb} slow: {', '.join(named)}{more}; the fastest does {number(max(paces))} msg/s."
    if waited_for == count:
        between = _between(paces)
        return (
            f"The only consumer is at its capacity ({between})."
            if count == 1
            else f"None of {count} consumers stands out: the broker waits for all of them ({between} each)."
        )
    return (
        f"None of {count} consumers is slow; the broker waits for {waited_for} of them, "
        f"which work{'s' if waited_for == 1 else ''} as fast as the others ({_between(paces)})."
    )


def _paced(consumer: Consumer) -> str:
    held = "" if consumer.unacked_msg is None else f", holds {number(consumer.unacked_msg)} unacked"
    place = f" at {consumer.address}" if consumer.address else ""
    blocked = ", blocked on its unacked limit" if consumer.blocked else ""
    return f"{consumer.called}{place} does {number(consumer.pace_msg_per_s)} msg/s{held}{blocked}"


def _between(paces: Sequence[float]) -> str:
    if not paces:
        return "pace not measured"
    low, high = number(min(paces)), number(max(paces))
    return f"{low} msg/s" if low == high else f"{low} to {high} msg/s"


def _named(key: SubscriptionKey) -> str:
    partition = "" if key.partition < 0 else f"-partition-{key.partition}"
    return f"{key.topic}{partition}#{key.subscription}"
