"""Connections that a broker pauses, and the consumers on them. In: stats of topic partitions. Out: what ``topic_stats`` says of each subscription.

A broker stops reading a whole connection while a producer on it exceeds a publish limit, and counts each pause on every topic that has
a producer on that connection (``publishRateLimitedTimes``, set to 0 once a minute). Producers and consumers of one connection have the
same address, which is a client's host and port. So a connection was paused where every topic that is published through it was counted,
and no other connection explains the count.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from throttlescope.ingest.core.times import MINUTE_MS

#: Stats of two topics that are further apart are of different snapshots; the broker's count covers one minute.
APART_MS = MINUTE_MS

Place = tuple[str, int]


@dataclass(frozen=True)
class TopicConnections:
    """Who is connected to a topic partition at one moment.

    Attributes
    ----------
    pauses : int or None
        Pauses of its producers' connections since the broker's last stats update; None: the broker does not tell.
    publishers : mapping of str to float
        Address to messages/s that its producers publish through it.
    consumers : mapping of str to tuple
        Subscription to the addresses of its consumers; None where the broker does not tell one.
    """

    cluster: str
    topic: str
    partition: int
    observed_ms: int
    pauses: int | None
    publishers: Mapping[str, float] = field(default_factory=dict)
    consumers: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)

    @property
    def place(self) -> Place:
        return self.topic, self.partition


def connections_of(
    cluster: str, topic: str, partition: int, observed_ms: int, body: str
) -> TopicConnections | None:
    """Read addresses and pauses from a topic partition's stats; None where they are no stats.

    Parameters
    ----------
    body : str
        Answer of ``/admin/v2/persistent/.../stats`` of this one partition.
    """
    try:
        stats = json.loads(body) if body else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(stats, dict) or not isinstance(stats.get("subscriptions"), dict):
        return None
    publishers: dict[str, float] = {}
    # An answer that was shortened says nothing of connections.
    pauses = stats.get("publishRateLimitedTimes") if "publishers" in stats else None
    for one in _objects(stats.get("publishers")):
        if (address := _address(one)) is not None:
            rate = one.get("msgRateIn")
            publishers[address] = publishers.get(address, 0.0) + (rate if _is_number(rate) else 0.0)
    return TopicConnections(
        cluster,
        topic,
        partition,
        observed_ms,
        int(pauses) if _is_number(pauses) else None,
        publishers,
        {
            name: tuple(_address(one) for one in _objects(subscription.get("consumers")))
            for name, subscription in stats["subscriptions"].items()
            if isinstance(subscription, dict)
        },
    )


def add_pauses(
    rows: Sequence[dict[str, Any]], seen: Iterable[TopicConnections], *, all_paused_seen: bool
) -> None:
    """Fill the columns of ``topic_stats`` about paused connections.

    Parameters
    ----------
    rows : sequence of dict
        Rows of ``topic_stats``; ``consumers_paused``, ``connection_pauses`` and ``pausing_topic`` are set in place.
    seen : iterable of TopicConnections
        The same answers and those of topics with producers.
    all_paused_seen : bool
        Every topic whose producers are paused is among them. Otherwise what is not found is not known.
    """
    found = list(seen)
    counted = {one.cluster for one in found if one.pauses}
    of = {(one.cluster, one.topic, one.partition, one.observed_ms): one for one in found}
    for row in rows:
        row |= {"consumers_paused": None, "connection_pauses": None, "pausing_topic": None}
        mine = of.get((row["cluster"], row["topic"], row["partition"], row["observed_ms"]))
        addresses = mine.consumers.get(row["subscription"], ()) if mine is not None else ()
        if not addresses or None in addresses:
            continue
        # Most brokers pause no producer.
        near = _snapshot(found, mine) if mine.cluster in counted else {}
        # Nothing is paused, or what is was read with it.
        is_told = all_paused_seen and (
            mine.cluster not in counted or any(one.pauses for one in near.values())
        )
        paused = _paused(near)
        hit = [address for address in addresses if address in paused]
        sure = [paused[address] for address in hit if paused[address] is not None]
        if sure:
            pausing = max(sure, key=lambda one: (one.publishers_rate, one.place))
            row |= {
                "consumers_paused": len(sure),
                "connection_pauses": pausing.pauses,
                "pausing_topic": pausing.place[0],
            }
        elif not hit and is_told and mine.pauses is not None:
            row |= {"consumers_paused": 0, "connection_pauses": 0}


@dataclass(frozen=True)
class _Pausing:
    place: Place
    pauses: int
    publishers_rate: float


def _snapshot(found: Sequence[TopicConnections], mine: TopicConnections) -> dict[Place, TopicConnections]:
    """The answer of every topic partition that is nearest to one of them, within a minute."""
    nearest: dict[Place, TopicConnections] = {}
    for one in found:
        apart_ms = abs(one.observed_ms - mine.observed_ms)
        if one.cluster != mine.cluster or apart_ms > APART_MS:
            continue
        before = nearest.get(one.place)
        if before is None or apart_ms < abs(before.observed_ms - mine.observed_ms):
            nearest[one.place] = one
    return nearest


def _paused(topics: Mapping[Place, TopicConnections]) -> dict[str, _Pausing | None]:
    """Connections that may have been paused; what pauses each, or None where another connection may explain the count."""
    published: dict[str, set[Place]] = {}
    for place, one in topics.items():
        for address in one.publishers:
            published.setdefault(address, set()).add(place)
    possible = {
        address: places
        for address, places in published.items()
        if all(topics[place].pauses for place in places)
    }
    holders: dict[Place, list[str]] = {}
    for address, places in possible.items():
        for place in places:
            holders.setdefault(place, []).append(address)
    found: dict[str, _Pausing | None] = {}
    for address, places in possible.items():
        alone = [place for place in places if holders[place] == [address]]
        others = {other for place in places for other in holders[place]}
        alike = all(possible[other] == places for other in others)
        # Counted on no other connection; or all connections carry the same topics, and each of them publishes.
        explaining = alone or (sorted(places) if alike and _publishes(topics, places, address) else [])
        found[address] = max(
            (
                _Pausing(place, int(topics[place].pauses or 0), topics[place].publishers[address])
                for place in explaining
            ),
            key=lambda one: (one.publishers_rate, one.place),
            default=None,
        )
    return found


def _publishes(topics: Mapping[Place, TopicConnections], places: Iterable[Place], address: str) -> bool:
    return any(topics[place].publishers[address] > 0 for place in places)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _address(one: Mapping[str, Any]) -> str | None:
    value = one.get("address")
    return (value.lstrip("/") or None) if isinstance(value, str) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 2**62
