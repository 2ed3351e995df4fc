"""Episodes counted by what they belong to. In: rows of ``episodes``. Out: one row per subscription, topic, namespace, broker or limiter.

A mean over partitions would hide a single throttled one, so a roll-up counts and names the worst.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import subscription_text

#: What episodes can be counted by.
BY = ("subscription", "topic", "namespace", "broker", "limiter")


def rollups(
    episodes: Iterable[Mapping[str, Any]],
    by: str,
    partitions: Mapping[tuple[str, str], int] | None = None,
) -> list[dict[str, Any]]:
    """Count episodes.

    Parameters
    ----------
    episodes : iterable of mappings
        Rows of ``episodes``.
    by : str
        One of :data:`BY`. By limiter, an episode counts for every limiter that limited it, with its time.
    partitions : mapping, optional
        How many partitions a topic has, by (cluster, topic).

    Returns
    -------
    list of dict
        ``cluster`` and ``name`` (of a limiter: its level and unit, and what has it); ``episodes``, ``open`` (silent ones
        included); ``subscription_partitions``, ``topics``; ``partitions`` of the worst one's topic that are affected and
        ``partitions_of`` it (NULL: unknown); ``causes`` {cause: episodes}; ``held_ms`` {cause: time}, most first;
        ``total_ms`` from start to end of all; ``since_ms`` of the oldest that is open (NULL: none); ``worst``, the key
        columns, ``episode_id`` and ``peak_entries`` of the episode with the largest backlog. Those with the longest
        time come first.

    Raises
    ------
    InputError
        There is no such roll-up.
    """
    if by not in BY:
        raise InputError("Episodes are not counted by that", got=by, expected=", ".join(BY))
    groups: dict[tuple[str, str], list[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]] = {}
    for episode in episodes:
        for name, stretches in _names(episode, by):
            groups.setdefault((episode["cluster"], name), []).append((episode, stretches))
    rows = [_row(cluster, name, by, members, partitions or {}) for (cluster, name), members in groups.items()]
    return sorted(rows, key=lambda row: (-row["total_ms"], row["cluster"], row["name"]))


def _names(episode: Mapping[str, Any], by: str) -> Iterable[tuple[str, list[Mapping[str, Any]]]]:
    """What an episode belongs to, with the stretches of its causes that do."""
    if by == "limiter":
        for one in episode["limiters"]:
            level = one["limiter"].split(".")[0]
            # Partitions of a topic have limiters of their own by one policy; that is what is changed.
            has = {
                "broker": episode["broker"] or "unknown broker",
                "topic": episode["topic"],
                "subscription": subscription_text(episode["topic"], None, episode["subscription"]),
            }[level]
            yield (
                f"{one['limiter']} of {has}",
                [stretch for stretch in episode["causes"] if stretch["limiter"] == one["limiter"]],
            )
    elif by == "subscription":
        yield subscription_text(episode["topic"], None, episode["subscription"]), episode["causes"]
    elif by == "broker":
        yield episode["broker"] or "unknown broker", episode["causes"]
    else:
        yield episode[by], episode["causes"]


def _row(cluster: str, name: str, by: str, members: list, partitions: Mapping[tuple[str, str], int]) -> dict:
    episodes = [episode for episode, _ in members]
    worst = max(episodes, key=lambda episode: (episode["peak_entries"], episode["episode_id"]))
    is_open = [episode for episode in episodes if episode["end_ms"] is None]
    counts: dict[str, int] = {}
    lasted_ms: dict[str, int] = {}
    for episode, stretches in members:
        for cause in {row["cause"] for row in stretches} if by == "limiter" else {episode["cause"]}:
            counts[cause] = counts.get(cause, 0) + 1
        for row in stretches:
            lasted_ms[row["cause"]] = lasted_ms.get(row["cause"], 0) + row["end_ms"] - row["start_ms"]
    total_ms = sum(episode["known_until_ms"] - episode["start_ms"] for episode in episodes)
    if by == "limiter":
        total_ms = sum(lasted_ms.values())
    of_topic = [episode for episode in episodes if episode["topic"] == worst["topic"]]
    return {
        "cluster": cluster,
        "name": name,
        "episodes": len(episodes),
        "open": len(is_open),
        "subscription_partitions": len(
            {tuple(episode[n] for n in SUBSCRIPTION_KEY_NAMES) for episode in episodes}
        ),
        "topics": len({episode["topic"] for episode in episodes}),
        "partitions": len({episode["partition"] for episode in of_topic}),
        "partitions_of": partitions.get((cluster, worst["topic"])),
        "causes": dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
        "held_ms": dict(sorted(lasted_ms.items(), key=lambda item: (-item[1], item[0]))),
        "total_ms": total_ms,
        "since_ms": min((episode["since_ms"] for episode in is_open), default=None),
        "worst": {
            name: worst[name]
            for name in (*SUBSCRIPTION_KEY_NAMES, "episode_id", "peak_entries", "cause", "limiter")
        },
    }
