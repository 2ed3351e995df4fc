"""Which consumers are slow, by name. In: series of single consumers, or one answer of the admin API. Out: :class:`SlowConsumers`.

It is shown next to a verdict and changes none. A consumer is slow when the broker waits for it and it acknowledges less than
:data:`~thresholds.UNEVEN_SHARE` of what the fastest does: one slow of N is not N slow. Where all are alike and the broker waits
for all of them, none is the slow one and all are at their capacity. One with spare capacity is not slow, however little it gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from throttlescope.ingest.core.subscription_name import subscription_text
from throttlescope.ingest.sources.consumer_stats import ConsumerStats
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.consumer_queues import ONE_ACTIVE
from throttlescope.models.diagnosis.single_consumers import METRICS, Consumer, measured, of_stats, with_stats
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.messages.catalogue import Message, message
from throttlescope.models.messages.units import number
from throttlescope.transforms.promql.source import Series

#: So many slow consumers are named.
_NAMED = 3

__all__ = ["METRICS", "Consumer", "SlowConsumers", "slowest_consumers"]


@dataclass(frozen=True, slots=True)
class SlowConsumers:
    """The consumers of one subscription partition in one window.

    Attributes
    ----------
    consumers : tuple of Consumer
        Those connected at the end, slow ones first, the slowest of them first.
    slow : int or None
        How many of them are slow; None: not known.
    waited_for : int or None
        For how many the broker waits.
    of : int
        How many there are; the standby consumers of a Failover or Exclusive subscription are not counted.
    measured_by : str or None
        ``metrics`` (many samples), ``admin`` (one moment); None: nothing.
    finding : Message
        Which of them are slow.
    """

    key: SubscriptionKey
    start_ms: int
    end_ms: int
    consumers: tuple[Consumer, ...]
    slow: int | None
    waited_for: int | None
    of: int
    measured_by: Literal["metrics", "admin"] | None
    finding: Message

    @property
    def text(self) -> str:
        """The finding in one sentence."""
        return self.finding.text

    def to_row(self) -> dict[str, Any]:
        """Plain values, as they are printed in JSON."""
        return {
            **self.key._asdict(),
            "start_ms": self.start_ms,
            "end_ms": self.end_ms,
            "slow": self.slow,
            "waited_for": self.waited_for,
            "of": self.of,
            "told_by": self.measured_by,
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
    found, measured_by = [with_stats(one, mine) for one in measured(key, series, start_ms, end_ms)], "metrics"
    if not found:
        found, measured_by = [of_stats(one) for one in mine], "admin"
    if not found:
        return SlowConsumers(
            key,
            start_ms,
            end_ms,
            (),
            None,
            None,
            0,
            None,
            message("slowest.not_measured", subscription=_named(key)),
        )
    if subscription_type in ONE_ACTIVE:
        # Only Shared and Key_Shared subscriptions count unacked messages: zero is no measurement here.
        found = [replace(one, unacked_msg=None, blocked=None) for one in found]
        active = [one for one in found if not _is_standby(one)]
        found = active or found
    judged = _judged(found)
    slow = None if any(one.slow is None for one in judged) else sum(bool(one.slow) for one in judged)
    waits = [one.waited_for for one in judged]
    waited_for = None if None in waits else sum(bool(one) for one in waits)
    ordered = tuple(sorted(judged, key=_order))
    finding = _finding(ordered, slow, waited_for)
    return SlowConsumers(key, start_ms, end_ms, ordered, slow, waited_for, len(ordered), measured_by, finding)


# -- who is slow --------------------------------------------------------------------------------


def _is_standby(consumer: Consumer) -> bool:
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
    # Where no consumer gets anything done, each that holds messages is as slow as can be.
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


def _finding(consumers: Sequence[Consumer], slow: int | None, waited_for: int | None) -> Message:
    count = len(consumers)
    if count == 1:
        return _of_one(consumers[0], slow, waited_for)
    if waited_for == 0:
        unacked = sum(one.unacked_msg or 0 for one in consumers)
        if unacked and all(one.ack_msg_rate == 0 for one in consumers):
            return message("slowest.none_waited_for_nothing_acked", count=count, unacked=unacked)
        return message("slowest.none_waited_for", count=count)
    if slow is None:
        return message("slowest.not_known", count=count)
    if slow == count:
        return message("slowest.all_slow", count=count)
    if slow:
        return _some_slow(consumers, slow)
    if waited_for == count:
        return message("slowest.all_alike", count=count, pace=_pace(consumers))
    if waited_for == 1:
        return message("slowest.none_slow_one_waited_for", count=count, pace=_pace(consumers))
    return message("slowest.none_slow", count=count, waited_for=waited_for, pace=_pace(consumers))


def _of_one(consumer: Consumer, slow: int | None, waited_for: int | None) -> Message:
    if waited_for == 0:
        return message("slowest.only.not_waited_for")
    if slow is None:
        return message("slowest.only.not_known")
    if slow:
        return message("slowest.only.slow")
    return message("slowest.only.at_capacity", pace=_pace([consumer]))


def _some_slow(consumers: Sequence[Consumer], slow: int) -> Message:
    count, named = len(consumers), ", ".join(_named_slow(one).text for one in consumers[: min(slow, _NAMED)])
    fastest = max(one.pace_msg_per_s for one in consumers if one.pace_msg_per_s is not None)
    if slow == 1:
        return message("slowest.one_slow", count=count, named=named, fastest=fastest)
    if slow <= _NAMED:
        return message("slowest.some_slow", slow=slow, count=count, named=named, fastest=fastest)
    return message(
        "slowest.many_slow", slow=slow, count=count, named=named, more=slow - _NAMED, fastest=fastest
    )


def _named_slow(consumer: Consumer) -> Message:
    """One slow consumer: where it connects from, its pace, what it holds, and whether it is blocked."""
    name, pace, unacked = consumer.called, consumer.pace_msg_per_s, consumer.unacked_msg
    if consumer.address:
        name = message("slowest.consumer.at_address", name=name, address=consumer.address)
    if unacked is None:
        form = "blocked" if consumer.blocked else "slow"
        return message(f"slowest.consumer.pace.{form}", name=name, pace=pace)
    form = "blocked" if consumer.blocked else "slow"
    return message(f"slowest.consumer.unacked.{form}", name=name, pace=pace, unacked=unacked)


def _pace(consumers: Sequence[Consumer]) -> Message:
    """The pace of consumers, from the slowest to the fastest."""
    paces = [one.pace_msg_per_s for one in consumers if one.pace_msg_per_s is not None]
    if not paces:
        return message("slowest.pace.not_measured")
    low, high = min(paces), max(paces)
    if number(low) == number(high):
        return message("slowest.pace.one", pace=low)
    return message("slowest.pace.range", low=low, high=high)


def _named(key: SubscriptionKey) -> str:
    return subscription_text(key.topic, key.partition, key.subscription)
