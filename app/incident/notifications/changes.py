"""Changes of backlogs since the last message to a channel. In: episodes, rows of ``notifications``, a channel's filters. Out: `EpisodeChange` records.

An episode has three changes: it opened, its cause changed, it closed. What a channel knows of an episode is the newest row that was
written for it, so a run that is repeated finds nothing new.
"""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.models.diagnosis.causes import CAUSE_OF
from throttlescope.models.episodes.steady import joined

if TYPE_CHECKING:
    from throttlescope.app.config import NotificationChannel
    from throttlescope.ingest.lake import Lake

Row = Mapping[str, Any]

#: Causes that say nothing of a present fault: while a backlog drains, its windows are healthy.
_SILENT_CAUSES = ("healthy", "unknown")


@dataclass(frozen=True)
class EpisodeChange:
    """One change of one episode.

    Attributes
    ----------
    change : str
        ``opened``, ``cause_changed`` or ``closed``.
    episode : mapping
        The row of ``episodes``; of a withdrawn one the row of ``notifications``.
    cause, limiter, confidence
        Present cause; of a closed episode its main cause.
    before : (str, str or None), optional
        Cause and limiter that the channel knows, where they changed.
    changed_ms : int
        When it changed.
    is_first : bool
        The channel had no message about this episode before.
    is_withdrawn : bool
        Hours were recomputed, and the episode is no longer in the lake.
    """

    change: str
    episode: Row
    cause: str
    limiter: str | None
    confidence: float | None
    changed_ms: int
    before: tuple[str, str | None] | None = None
    is_first: bool = False
    is_withdrawn: bool = False

    @property
    def side(self) -> str:
        """Side of the cause."""
        return CAUSE_OF[self.cause].side

    def message_id(self, channel: str) -> str:
        """16 hex digits: the same for the same change in every run, so that a receiver can drop what comes twice."""
        parts = (channel, self.episode["episode_id"], self.change, self.cause, self.limiter, self.changed_ms)
        return hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).hexdigest()

    def sent_row(self, channel: str, sent_ms: int, date: str) -> dict[str, Any]:
        """The row of ``notifications`` once it was accepted."""
        return {
            **{name: self.episode[name] for name in (*SUBSCRIPTION_KEY_NAMES, "episode_id", "start_ms")},
            "message_id": self.message_id(channel),
            "channel": channel,
            "change": self.change,
            "cause": self.cause,
            "limiter": self.limiter,
            "changed_ms": self.changed_ms,
            "sent_ms": sent_ms,
            "date": date,
        }


@dataclass(frozen=True)
class FoundChanges:
    """The changes that a channel gets a message about, the largest backlog first, and how many changes are too old for that."""

    changes: tuple[EpisodeChange, ...] = ()
    too_old: int = 0


def read_sent(lake: Lake, channel: str, clusters: Sequence[str]) -> dict[str, Row]:
    """The newest row that was written for each episode of some clusters, by the episode's id."""
    if lake.version("notifications") is None:
        return {}
    rows = lake.read(
        "notifications",
        where=(pc.field("channel") == channel) & pc.field("cluster").isin(list(clusters)),
    ).to_pylist()
    return {row["episode_id"]: row for row in sorted(rows, key=lambda row: row["sent_ms"])}


def read_recent_episodes(
    lake: Lake, clusters: Sequence[str], since_ms: int, known_ids: Collection[str]
) -> list[dict[str, Any]]:
    """Episodes that are open, that ended at ``since_ms`` or later, or whose ids are given."""
    end_ms = pc.field("end_ms")
    where = (
        end_ms.is_null()
        | (end_ms >= since_ms)
        | pc.field("episode_id").isin(pa.array(list(known_ids), pa.string()))
    )
    return lake.read("episodes", where=where, partition={"cluster": list(clusters)}).to_pylist()


def find_changes(
    episodes: Sequence[Row], sent: Mapping[str, Row], wanted: NotificationChannel, *, oldest_ms: int
) -> FoundChanges:
    """What is new to a channel.

    Parameters
    ----------
    episodes : sequence of mappings
        From :func:`read_recent_episodes`.
    sent : mapping
        From :func:`read_sent`.
    oldest_ms : int
        An episode that the channel had no message about, and that was not seen since then, is too old.
    """
    sent = _followed(episodes, sent)
    found: list[EpisodeChange] = []
    too_old = 0
    for row in episodes:
        change = _change_of(row, sent.get(row["episode_id"]))
        if change is None or (change.is_first and not _is_wanted(change, wanted)):
            continue
        if change.is_first and _seen_ms(row) < oldest_ms:
            too_old += 1
        else:
            found.append(change)
    present = {row["episode_id"] for row in episodes}
    found += [
        _withdrawn(row) for name, row in sent.items() if row["change"] != "closed" and name not in present
    ]
    found.sort(key=lambda one: (-one.episode.get("peak_entries", 0.0), one.episode["episode_id"]))
    return FoundChanges(tuple(found), too_old)


def _change_of(row: Row, known: Row | None) -> EpisodeChange | None:
    if row["end_ms"] is not None:
        if known is not None and known["change"] == "closed":
            return None
        return EpisodeChange(
            "closed", row, row["cause"], row["limiter"], row["confidence"] or None, row["end_ms"],
            is_first=known is None,
        )  # fmt: skip
    cause, limiter, confidence, from_ms = _present_cause(row)
    if known is None:
        return EpisodeChange("opened", row, cause, limiter, confidence, row["start_ms"], is_first=True)
    if known["change"] == "closed":
        # It came back before its drain was certain: the same episode, and news for those who read that it is gone.
        return EpisodeChange("opened", row, cause, limiter, confidence, known["changed_ms"])
    before = (known["cause"], known["limiter"])
    if before == (cause, limiter):
        return None
    return EpisodeChange("cause_changed", row, cause, limiter, confidence, from_ms, before)


def _present_cause(row: Row) -> tuple[str, str | None, float | None, int]:
    """Cause, limiter, confidence and start of the newest stretch that names a fault; else the main cause."""
    for stretch in reversed(joined(row["causes"])):
        if stretch["cause"] not in _SILENT_CAUSES:
            confidence = stretch["confidence"] or None
            return stretch["cause"], stretch["limiter"], confidence, stretch["start_ms"]
    return row["cause"], row["limiter"], row["confidence"] or None, row["start_ms"]


def _followed(episodes: Sequence[Row], sent: Mapping[str, Row]) -> dict[str, Row]:
    """What was sent, by the present ids: an episode whose start was moved by late samples has another id."""
    present = {row["episode_id"] for row in episodes}
    followed = {name: row for name, row in sent.items() if name in present or row["change"] == "closed"}
    for name, row in sent.items():
        if name in followed:
            continue
        follower = next(
            (one for one in episodes if one["episode_id"] not in sent and _overlap(one, row)), None
        )
        followed[name if follower is None else follower["episode_id"]] = row
    return followed


def _overlap(episode: Row, known: Row) -> bool:
    end_ms = episode["known_until_ms"] if episode["end_ms"] is None else episode["end_ms"]
    return (
        all(episode[name] == known[name] for name in SUBSCRIPTION_KEY_NAMES)
        and episode["start_ms"] <= known["sent_ms"]
        and end_ms >= known["start_ms"]
    )


def _withdrawn(known: Row) -> EpisodeChange:
    return EpisodeChange(
        "closed", known, known["cause"], known["limiter"], None, known["changed_ms"], is_withdrawn=True
    )


def _seen_ms(row: Row) -> int:
    return row["known_until_ms"] if row["end_ms"] is None else row["end_ms"]


def _is_wanted(change: EpisodeChange, wanted: NotificationChannel) -> bool:
    row = change.episode
    if wanted.causes and change.cause not in wanted.causes:
        return False
    if not wanted.causes and change.cause == "healthy":
        return False
    return (
        (not wanted.clusters or row["cluster"] in wanted.clusters)
        and (
            not wanted.namespaces
            or any(fnmatch.fnmatchcase(row["namespace"], one) for one in wanted.namespaces)
        )
        and (not wanted.sides or change.side in wanted.sides)
        and (not wanted.limiters or change.limiter in wanted.limiters)
        and row["peak_entries"] >= wanted.min_backlog_entries
        and _seen_ms(row) - row["since_ms"] >= wanted.min_duration
    )
