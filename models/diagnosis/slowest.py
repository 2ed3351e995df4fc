"""Which consumers are slow, by name. In: series of single consumers, or one answer of the admin API. Out: :class:`SlowConsumers`.

It is told beside a verdict and changes none. A consumer is slow when the broker waits for it and it acknowledges less than
:data:`~thresholds.UNEVEN_SHARE` of what the fastest does: one slow of N is not N slow. Where all are alike and the broker waits
for all of them, none stands out and all are at their capacity. One that has room is not slow, whatever little it gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from throttlescope.ingest.sources.consumer_stats import ConsumerStats
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.consumers import ONE_ACTIVE
from throttlescope.models.diagnosis.single_consumers import METRICS, Consumer, measured, of_stats, with_stats
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.messages.rounded import number
from throttlescope.transforms.promql.source import Series

NOT_MEASURED = (
    "single consumers are not measured: set exposeConsumerLevelMetricsInPrometheus=true on the brokers, or ask with "
    "throttlescope now --pulsar-admin URL"
)
_NAMED = 3

__all__ = ["METRICS", "NOT_MEASURED", "Consumer", "SlowConsumers", "slowest_consumers"]


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
    found, told_by = [with_stats(one, mine) for one in measured(key, series, start_ms, end_ms)], "metrics"
    if not found:
        found, told_by = [of_stats(one) for one in mine], "admin"
    if not found:
        return SlowConsumers(
            key, start_ms, end_ms, (), None, None, 0, None, f"Of {_named(key)} {NOT_MEASURED}."
        )
    if subscription_type in ONE_ACTIVE:
        # Only Shared and Key_Shared subscriptions count unacked messages: zero is no measurement here.
        found = [replace(one, unacked_msg=None, blocked=None) for one in found]
        active = [one for one in found if not _stands_by(one)]
        found = active or found
    judged = _judged(found)
    slow = None if any(one.slow is None for one in judged) else sum(bool(one.slow) for one in judged)
    waits = [one.waited_for for one in judged]
    waited_for = None if None in waits else sum(bool(one) for one in waits)
    ordered = tuple(sorted(judged, key=_order))
    text = _text(ordered, slow, waited_for)
    return SlowConsumers(key, start_ms, end_ms, ordered, slow, waited_for, len(ordered), told_by, text)


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
