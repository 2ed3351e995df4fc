"""Single consumers in a topic's stats: in, the JSON text that Pulsar's admin API answered; out, one row per consumer.

``topic_stats`` keeps a subscription's figures only; who connects from where is told from the answer itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ConsumerStats:
    """One consumer at one moment; what the broker did not tell is None.

    Attributes
    ----------
    ack_msg_rate, out_msg_rate : float or None
        Messages/s of the broker's last whole minute.
    unacked_msg : int or None
        Only Shared and Key_Shared subscriptions count them.
    permits : int or None
        Messages that it still has room for; may be negative.
    address : str or None
        host:port that it connects from.
    """

    partition: int
    subscription: str
    name: str
    ack_msg_rate: float | None
    out_msg_rate: float | None
    unacked_msg: int | None
    permits: int | None
    blocked_on_unacked: bool | None
    address: str | None
    connected_since: str | None
    client_version: str | None


def consumer_stats(partition: int, body: str) -> list[ConsumerStats]:
    """All consumers of a topic partition; none where the answer is not such an answer.

    Parameters
    ----------
    partition : int
        -1 where the topic is not partitioned.
    body : str
        Answer of ``/admin/v2/persistent/.../stats`` of this one partition: merged answers mix consumers up.
    """
    try:
        stats = json.loads(body) if body else None
    except ValueError:
        return []
    subscriptions = stats.get("subscriptions") if isinstance(stats, Mapping) else None
    if not isinstance(subscriptions, Mapping):
        return []
    return [
        _row(partition, name, subscription, consumer)
        for name, subscription in subscriptions.items()
        if isinstance(subscription, Mapping)
        for consumer in subscription.get("consumers") or ()
        if isinstance(consumer, Mapping)
    ]


def _row(
    partition: int, name: str, subscription: Mapping[str, Any], consumer: Mapping[str, Any]
) -> ConsumerStats:
    counts_unacked = subscription.get("type") in ("Shared", "Key_Shared")
    address = str(consumer.get("address") or "").lstrip("/") or None
    return ConsumerStats(
        partition=partition,
        subscription=name,
        name=str(consumer.get("consumerName") or ""),
        ack_msg_rate=_number(consumer.get("messageAckRate")),
        out_msg_rate=_number(consumer.get("msgRateOut")),
        unacked_msg=_whole(consumer.get("unackedMessages")) if counts_unacked else None,
        permits=_whole(consumer.get("availablePermits")),
        blocked_on_unacked=consumer.get("blockedConsumerOnUnackedMsgs") if counts_unacked else None,
        address=address,
        connected_since=consumer.get("connectedSince"),
        client_version=consumer.get("clientVersion"),
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
