"""A partitioned topic as one. In: verdicts of subscription partitions. Out: per subscription the worst partition, and who shares its cause.

Limits and consumers work partition by partition, so verdicts do; one hot partition of 64 is not 64 slow ones, and an average
over them would hide it. The worst partition is the one with the largest ready backlog among those that are not healthy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from throttlescope.ingest.core.topic_name import is_scalable
from throttlescope.models.messages.catalogue import Message, message

#: What is read of a verdict.
COLUMNS = (
    "cluster", "namespace", "topic", "partition", "subscription", "window_start_ms", "window_end_ms", "side", "cause",
    "limiter", "confidence", "naive_side", "backlog_entries", "backlog_growth_entries", "rules_version",
)  # fmt: skip

_OF = ("cluster", "namespace", "topic", "subscription")
#: Keys of :meth:`SubscriptionPartitions.to_row`, in their order.
ROW_COLUMNS = (
    *_OF, "worst_partition", *COLUMNS[5:], "sharing", "partitions", "causes", "total_backlog_entries", "text",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SubscriptionPartitions:
    """One subscription over the partitions of its topic.

    Attributes
    ----------
    worst : mapping
        The verdict of the worst partition; its own columns.
    partitions : int
        How many have a verdict.
    sharing : tuple of int
        Partitions whose cause and limiter are the worst one's, itself included.
    causes : dict of str to int
        Partitions by cause, the most frequent first.
    backlog_entries : float or None
        Ready backlog of all partitions together; None where none is known.
    """

    cluster: str
    namespace: str
    topic: str
    subscription: str
    worst: Mapping[str, Any]
    partitions: int
    sharing: tuple[int, ...]
    causes: dict[str, int]
    backlog_entries: float | None

    @property
    def finding(self) -> Message:
        """How many partitions share the worst one's cause."""
        worst, limiter = self.worst, self.worst["limiter"]
        cause = worst["cause"] + (f" ({limiter})" if limiter else "")
        if worst["partition"] < 0:
            return message("partitions.not_partitioned", cause=cause)
        if is_scalable(self.topic):
            return self._of_segments(cause)
        if worst["cause"] == "healthy":
            return message("partitions.all_healthy", partitions=self.partitions)
        backlog = worst["backlog_entries"]
        if backlog is None:
            return message(
                "partitions.worst", partition=worst["partition"], cause=cause, sharing=len(self.sharing),
                partitions=self.partitions,
            )  # fmt: skip
        return message(
            "partitions.worst_of_backlog", partition=worst["partition"], cause=cause, backlog=backlog,
            total=self.backlog_entries, sharing=len(self.sharing), partitions=self.partitions,
        )  # fmt: skip

    def _of_segments(self, cause: str) -> Message:
        worst, backlog = self.worst, self.worst["backlog_entries"]
        if worst["cause"] == "healthy":
            return message("partitions.segments_healthy", partitions=self.partitions)
        if backlog is None:
            return message(
                "partitions.worst_segment", partition=worst["partition"], cause=cause, sharing=len(self.sharing),
                partitions=self.partitions,
            )  # fmt: skip
        return message(
            "partitions.worst_segment_of_backlog", partition=worst["partition"], cause=cause, backlog=backlog,
            total=self.backlog_entries, sharing=len(self.sharing), partitions=self.partitions,
        )  # fmt: skip

    @property
    def text(self) -> str:
        """The finding in one sentence."""
        return self.finding.text

    def to_row(self) -> dict[str, Any]:
        """Plain values, as they are printed in JSON."""
        worst = self.worst
        return {
            **{name: getattr(self, name) for name in _OF},
            "worst_partition": worst["partition"],
            **{name: worst[name] for name in COLUMNS[5:]},
            "sharing": list(self.sharing),
            "partitions": self.partitions,
            "causes": self.causes,
            "total_backlog_entries": self.backlog_entries,
            "text": self.text,
        }


def over_partitions(verdicts: Iterable[Mapping[str, Any]]) -> list[SubscriptionPartitions]:
    """Roll verdicts up, one subscription of one topic at a time.

    Parameters
    ----------
    verdicts : iterable of mappings
        Rows with :data:`COLUMNS`: one per subscription partition, such as the newest of each. Of several of one partition the
        newest window counts.

    Returns
    -------
    list of SubscriptionPartitions
        The largest backlog that something holds first, healthy ones last.
    """
    newest: dict[tuple, dict[int, Mapping[str, Any]]] = {}
    for row in verdicts:
        of = newest.setdefault(tuple(row[name] for name in _OF), {})
        before = of.get(row["partition"])
        if before is None or _window(before) < _window(row):
            of[row["partition"]] = row
    found = [_rolled(key, list(of.values())) for key, of in newest.items()]
    return sorted(
        found,
        key=lambda one: (
            one.worst["cause"] == "healthy",
            -(one.worst["backlog_entries"] or 0.0),
            tuple(getattr(one, name) for name in _OF),
        ),
    )


def _rolled(key: tuple, rows: Sequence[Mapping[str, Any]]) -> SubscriptionPartitions:
    worst = min(rows, key=_badness)
    same = [row for row in rows if (row["cause"], row["limiter"]) == (worst["cause"], worst["limiter"])]
    backlogs = [row["backlog_entries"] for row in rows if row["backlog_entries"] is not None]
    counts = Counter(row["cause"] for row in rows)
    return SubscriptionPartitions(
        *key,
        worst=worst,
        partitions=len(rows),
        sharing=tuple(sorted(row["partition"] for row in same)),
        causes=dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
        backlog_entries=sum(backlogs) if backlogs else None,
    )


def _badness(row: Mapping[str, Any]) -> tuple:
    """Smaller is worse: a cause before unknown before healthy, then the larger backlog, then the partition's number."""
    rank = {"healthy": 2, "unknown": 1}.get(row["cause"], 0)
    return rank, -(row["backlog_entries"] or 0.0), row["partition"]


def _window(row: Mapping[str, Any]) -> tuple[int, int]:
    return row["window_start_ms"], row["window_end_ms"]
