"""Many at once with one thing in common. In: rows of ``episodes``. Out: rows of ``incidents``.

What may be shared: a limiter of a topic; a limiter of a broker; a limit that a namespace's policy set; a broker, where its storage or
its restart limits backlogs and no limiter does. An incident lasts while it limits enough of them at once; its members are those that it
limited for at least a window's length. One whose members are all in a wider incident of that time is not reported again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import MINUTE_MS, date_of
from throttlescope.models.diagnosis.causes import CAUSE_OF, CAUSES, TOPIC_MOVED
from throttlescope.models.episodes import thresholds as t
from throttlescope.models.episodes.steady import joined

#: Causes that a broker has, whatever the topic.
BROKER_CAUSES = {cause.name for cause in CAUSES if cause.is_of_broker}
#: How many make an incident, and of what; widest first.
LEAST = {
    "broker": (t.LEAST_ON_BROKER, "topic"),
    "broker_limiter": (t.LEAST_ON_LIMITER, "subscription"),
    "namespace_policy": (t.LEAST_ON_POLICY, "topic"),
    "topic_limiter": (t.LEAST_ON_LIMITER, "subscription"),
}
_OVERLAP_MS = int(t.SHARED_OVERLAP_MINUTES * MINUTE_MS)
_JOIN_MS = int(t.SHARED_JOIN_MINUTES * MINUTE_MS)


class Shared(NamedTuple):
    """What some have in common."""

    cluster: str
    kind: str
    shared_with: str
    limiter: str | None
    cause: str | None


class IncidentStretch(NamedTuple):
    """Time [start_ms, end_ms) in which something shared limited an episode; open: it still does."""

    start_ms: int
    end_ms: int
    cause: str
    open: bool
    episode: Mapping[str, Any]


def incidents_of(episodes: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Shared incidents of some episodes, oldest first.

    Parameters
    ----------
    episodes : iterable of mappings
        Rows of ``episodes``; all of a cluster, or some members are not seen.

    Returns
    -------
    list of dict
        Rows of ``incidents``.
    """
    by_shared: dict[Shared, list[IncidentStretch]] = {}
    for episode in episodes:
        for shared, stretch in shared_stretches(episode):
            by_shared.setdefault(shared, []).append(stretch)
    found: list[dict[str, Any]] = []
    for kind in LEAST:
        wider = list(found)
        for shared, stretches in by_shared.items():
            if shared.kind == kind:
                found += [row for row in _incidents(shared, stretches) if not _is_in_wider(row, wider)]
    return sorted(found, key=lambda row: (row["start_ms"], row["cluster"], row["kind"], row["incident_id"]))


def shared_stretches(episode: Mapping[str, Any]) -> Iterable[tuple[Shared, IncidentStretch]]:
    """When a shared factor limited an episode."""
    cluster, broker = episode["cluster"], episode["broker"]
    set_by = {one["limiter"]: one["set_by"] for one in episode["limiters"]}
    rows = joined(episode["causes"])
    for row in rows:
        still = row is rows[-1] and episode["state"] == "open"
        stretch = IncidentStretch(row["start_ms"], row["end_ms"], row["cause"], still, episode)
        limiter = row["limiter"]
        if limiter is None:
            if row["cause"] in BROKER_CAUSES and broker is not None:
                yield Shared(cluster, "broker", broker, None, row["cause"]), stretch
            continue
        if limiter.startswith("broker."):
            if broker is not None:
                yield Shared(cluster, "broker_limiter", broker, limiter, None), stretch
            continue
        if limiter.startswith("topic."):
            yield Shared(cluster, "topic_limiter", episode["topic"], limiter, None), stretch
        if set_by.get(limiter) == "namespace_policy":
            yield Shared(cluster, "namespace_policy", episode["namespace"], limiter, None), stretch
    # A restart is over in a minute; the verdict of its window may rightly name something else.
    for mark in episode["marks"]:
        if mark["kind"] in ("counter_reset", "moved") and broker is not None:
            stretch = IncidentStretch(
                mark["start_ms"], mark["start_ms"] + _OVERLAP_MS, TOPIC_MOVED.name, False, episode
            )
            yield Shared(cluster, "broker", broker, None, TOPIC_MOVED.name), stretch


def hot_times(stretches: Sequence[IncidentStretch], least: float, unit: str) -> list[tuple[int, int]]:
    """Times in which at least so many different subscription partitions, or topics, are limited at once."""
    steps: dict[int, list[tuple[int, tuple]]] = {}
    for stretch in stretches:
        who = unit_of(stretch.episode, unit)
        steps.setdefault(stretch.start_ms, []).append((1, who))
        steps.setdefault(stretch.end_ms, []).append((-1, who))
    count: dict[tuple, int] = {}
    found: list[tuple[int, int]] = []
    since_ms = None
    for at_ms in sorted(steps):
        for change, who in steps[at_ms]:
            count[who] = count.get(who, 0) + change
            if not count[who]:
                del count[who]
        if len(count) >= least and since_ms is None:
            since_ms = at_ms
        elif len(count) < least and since_ms is not None:
            found.append((since_ms, at_ms))
            since_ms = None
    return found


def unit_of(episode: Mapping[str, Any], unit: str) -> tuple:
    """What is counted: a topic, or a subscription partition."""
    names = ("cluster", "topic") if unit == "topic" else SUBSCRIPTION_KEY_NAMES
    return tuple(episode[name] for name in names)


def _incidents(shared: Shared, stretches: Sequence[IncidentStretch]) -> Iterable[dict[str, Any]]:
    least, unit = LEAST[shared.kind]
    runs: list[list[tuple[int, int]]] = []
    for hot in hot_times(stretches, least, unit):
        if runs and hot[0] - runs[-1][-1][1] < _JOIN_MS:
            runs[-1].append(hot)
        else:
            runs.append([hot])
    for run in runs:
        members = _members(stretches, run)
        if len({unit_of(one[0].episode, unit) for one in members}) >= least:
            yield _row(shared, run[0][0], run[-1][1], members, least, unit)


def _members(
    of_all: Sequence[IncidentStretch], run: Sequence[tuple[int, int]]
) -> list[list[IncidentStretch]]:
    """Stretches by episode, of those that were limited long enough while enough others were."""
    by_episode: dict[str, list[IncidentStretch]] = {}
    for stretch in of_all:
        by_episode.setdefault(stretch.episode["episode_id"], []).append(stretch)
    found = []
    for stretches in by_episode.values():
        within = [
            (max(one.start_ms, start_ms), min(one.end_ms, end_ms))
            for one in stretches
            for start_ms, end_ms in run
            if one.start_ms < end_ms and one.end_ms > start_ms
        ]
        if _length(within) >= _OVERLAP_MS:
            start_ms, end_ms = run[0][0], run[-1][1]
            found.append([one for one in stretches if one.start_ms < end_ms and one.end_ms > start_ms])
    return sorted(
        found, key=lambda one: (min(s.start_ms for s in one), unit_of(one[0].episode, "subscription"))
    )


def _length(spans: Iterable[tuple[int, int]]) -> int:
    """Time that some spans cover together."""
    total, until_ms = 0, 0
    for start_ms, end_ms in sorted(spans):
        total += max(0, end_ms - max(start_ms, until_ms))
        until_ms = max(until_ms, end_ms)
    return total


def _row(
    shared: Shared, start_ms: int, end_ms: int, members: list[list[IncidentStretch]], least: float, unit: str
) -> dict[str, Any]:
    episodes = [one[0].episode for one in members]
    cause_ms: dict[str, int] = {}
    for stretch in (stretch for one in members for stretch in one):
        cause_ms[stretch.cause] = cause_ms.get(stretch.cause, 0) + stretch.end_ms - stretch.start_ms
    cause = min(cause_ms, key=lambda name: (-cause_ms[name], name))
    still = {
        unit_of(s.episode, unit) for one in members for s in one if s.open and s.end_ms > end_ms - _JOIN_MS
    }
    worst = max(episodes, key=lambda episode: (episode["peak_entries"], episode["episode_id"]))
    text = "\x1f".join(map(str, (*shared, start_ms)))
    moments = [s.start_ms for one in members for s in one if start_ms <= s.start_ms < end_ms] + [start_ms]
    return {
        "cluster": shared.cluster,
        "incident_id": hashlib.blake2b(text.encode(), digest_size=8).hexdigest(),
        "kind": shared.kind,
        "shared_with": shared.shared_with,
        "limiter": shared.limiter,
        "cause": cause,
        "side": CAUSE_OF[cause].side,
        "start_ms": start_ms,
        "end_ms": None if len(still) >= least else end_ms,
        "since_ms": min(episode["since_ms"] for episode in episodes),
        "members": [
            {
                "episode_id": one[0].episode["episode_id"],
                **{name: one[0].episode[name] for name in SUBSCRIPTION_KEY_NAMES[1:]},
                "start_ms": min(s.start_ms for s in one),
                "end_ms": max(s.end_ms for s in one),
                "peak_entries": one[0].episode["peak_entries"],
            }
            for one in members
        ],
        "subscriptions": len({unit_of(episode, "subscription") for episode in episodes}),
        "topics": len({unit_of(episode, "topic") for episode in episodes}),
        "most_at_once": max(
            sum(any(s.start_ms <= at_ms < s.end_ms for s in one) for one in members) for at_ms in moments
        ),
        "worst_episode_id": worst["episode_id"],
        "peak_entries": worst["peak_entries"],
        "date": date_of(start_ms),
    }


def _is_in_wider(row: Mapping[str, Any], wider: Iterable[Mapping[str, Any]]) -> bool:
    """Whether all members are in a wider incident that overlaps."""
    mine = {member["episode_id"] for member in row["members"]}
    return any(
        mine <= {member["episode_id"] for member in other["members"]}
        and row["limiter"] == other["limiter"]
        and row["start_ms"] < (other["end_ms"] or row["start_ms"] + 1)
        and other["start_ms"] < (row["end_ms"] or other["start_ms"] + 1)
        for other in wider
        if other["cluster"] == row["cluster"]
    )
