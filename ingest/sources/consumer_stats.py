"""Single consumers in a topic's stats. In: the JSON text that Pulsar's admin API answered. Out: one row per consumer.

``topic_stats`` keeps a subscription's figures only; the addresses of consumers are read from the answer itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_BEYOND = 2**63


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
    except (ValueError, RecursionError):
        return []
    subscriptions = stats.get("subscriptions") if isinstance(stats, Mapping) else None
    if not isinstance(subscriptions, Mapping):
        return []
    return [
        _row(partition, name, subscription, consumer)
        for name, subscription in subscriptions.items()
        if isinstance(subscription, Mapping)
        for consumer in _list(subscription.get("consumers"))
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
        blocked_on_unacked=_truth(consumer.get("blockedConsumerOnUnackedMsgs")) if counts_unacked else None,
        address=address,
        connected_since=_text(consumer.get("connectedSince")),
        client_version=_text(consumer.get("clientVersion")),
    )


def _list(value: Any) -> list:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # Not a number is not below it either.
    return float(value) if abs(value) < _BEYOND else None


def _whole(value: Any) -> int | None:
    return None if _number(value) is None else int(value)
