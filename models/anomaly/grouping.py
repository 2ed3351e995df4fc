"""Many at once that share something. In: rows of ``anomalies``. Out: the same rows with the group that each belongs to.

Rows of one subscription that overlap are one incident. Incidents that begin within 15 minutes of each other are one when
they share a topic, or the limiter that their verdicts name; or a broker or the cluster, when they are three topics or more and
at least half of those of that broker or cluster that have subscriptions in what was judged.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import Any

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import MINUTE_MS

#: Anomalies that begin further apart do not have one beginning in common.
TOGETHER_MS = 15 * MINUTE_MS
LEAST_TOPICS = 3
LEAST_SHARE = 0.5


def grouped(
    rows: Iterable[dict[str, Any]], topics_of: Mapping[tuple[str, str | None], int] | None = None
) -> list[dict[str, Any]]:
    """Set ``group_id``, ``group_rows``, ``shared_kind`` and ``shared_with``.

    Parameters
    ----------
    rows : iterable of dict
        Rows of ``anomalies``; those in state learning are groups of their own.
    topics_of : mapping, optional
        How many topics were judged, by (cluster, broker) and by (cluster, None). Without it brokers and clusters
        are not considered: the number of their topics is not known.

    Returns
    -------
    list of dict
        New rows in the order of the key.
    """
    found = sorted((dict(row) for row in rows), key=_place)
    live = [row for row in found if row["state"] != "learning"]
    groups = _Groups(len(live))
    by_subscription: dict[tuple, list[int]] = {}
    for at, row in enumerate(live):
        by_subscription.setdefault(_key(row), []).append(at)
    for members in by_subscription.values():
        _join_overlapping(live, members, groups)
    kinds: dict[int, tuple[str, str]] = {}
    for kind in ("cluster", "broker", "limiter", "topic"):
        for name, members in _sharing(live, kind).items():
            for near in _together(live, members):
                if _is_many(live, near, kind, name, topics_of):
                    for at in near[1:]:
                        groups.join(near[0], at)
                    for at in near:
                        kinds.setdefault(at, (kind, name[-1] or name[0]))
    members_of: dict[int, list[int]] = {}
    for at in range(len(live)):
        members_of.setdefault(groups.root(at), []).append(at)
    for members in members_of.values():
        _write([live[at] for at in members], [kinds[at] for at in members if at in kinds])
    for row in found:
        if row["state"] == "learning":
            _write([row], [])
    return found


def _write(members: list[dict[str, Any]], kinds: list[tuple[str, str]]) -> None:
    first = min(members, key=lambda row: (row["start_ms"], _place(row)))
    text = "\x1f".join(map(str, (*_key(first), first["signal"], first["start_ms"])))
    group_id = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    # The widest thing that is shared names the group: cluster, then broker, limiter, topic.
    many = len({_key(row) for row in members}) > 1
    order = ("cluster", "broker", "limiter", "topic")
    shared = min(kinds, key=lambda one: (order.index(one[0]), one[1]), default=None) if many else None
    for row in members:
        row["group_id"], row["group_rows"] = group_id, len(members)
        row["shared_kind"], row["shared_with"] = shared or (None, None)


def _sharing(live: list[dict[str, Any]], kind: str) -> dict[tuple, list[int]]:
    found: dict[tuple, list[int]] = {}
    for at, row in enumerate(live):
        name = _shared_name(row, kind)
        if name is not None:
            found.setdefault(name, []).append(at)
    return found


def _shared_name(row: dict[str, Any], kind: str) -> tuple | None:
    cluster = row["cluster"]
    if kind == "cluster":
        return (cluster, None)
    if kind == "topic":
        return (cluster, row["topic"])
    if kind == "broker":
        return (cluster, row["broker"]) if row["broker"] is not None else None
    # A broker's limiter is shared by all that the broker serves. The other levels are not shared between topics.
    limiter = row["verdict_limiter"]
    if limiter is None or not limiter.startswith("broker.") or row["broker"] is None:
        return None
    return (cluster, f"{limiter} of {row['broker']}")


def _together(live: list[dict[str, Any]], members: list[int]) -> Iterable[list[int]]:
    """Members whose beginnings follow each other within :data:`TOGETHER_MS`."""
    run: list[int] = []
    for at in sorted(members, key=lambda at: live[at]["start_ms"]):
        if run and live[at]["start_ms"] - live[run[-1]]["start_ms"] > TOGETHER_MS:
            yield run
            run = []
        run.append(at)
    if run:
        yield run


def _is_many(live, near: list[int], kind: str, name: tuple, topics_of) -> bool:
    if kind in ("topic", "limiter"):
        return len({_key(live[at]) for at in near}) > 1
    topics = {live[at]["topic"] for at in near}
    known = (topics_of or {}).get((name[0], name[1]))
    return known is not None and len(topics) >= LEAST_TOPICS and len(topics) >= LEAST_SHARE * known


def _join_overlapping(live: list[dict[str, Any]], members: list[int], groups: _Groups) -> None:
    last, until_ms = None, 0
    for at in sorted(members, key=lambda at: live[at]["start_ms"]):
        if last is not None and live[at]["start_ms"] <= until_ms:
            groups.join(last, at)
        last, until_ms = at, max(until_ms, live[at]["end_ms"])


class _Groups:
    """Disjoint sets of row numbers."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def root(self, at: int) -> int:
        while self._above[at] != at:
            at = self._above[at]
        return at

    def join(self, one: int, other: int) -> None:
        one, other = self.root(one), self.root(other)
        self._above[max(one, other)] = min(one, other)


def topics_judged(topics: Set[tuple[str, str, str | None]]) -> Counter[tuple[str, str | None]]:
    """How many topics each broker and each cluster has, from (cluster, topic, broker)."""
    found: Counter[tuple[str, str | None]] = Counter()
    seen: set[tuple[str, str]] = set()
    for cluster, topic, broker in topics:
        if broker is not None:
            found[cluster, broker] += 1
        if (cluster, topic) not in seen:
            seen.add((cluster, topic))
            found[cluster, None] += 1
    return found


def _key(row: dict[str, Any]) -> tuple:
    return tuple(row[name] for name in SUBSCRIPTION_KEY_NAMES)


def _place(row: dict[str, Any]) -> tuple:
    return (*_key(row), row["start_ms"], row["signal"])
