"""What was seen of a topic and its subscriptions in a window. In: nothing; out: the records that ``read`` fills.

Everything is aligned with the scrapes of the selected subscription: counters as what each scrape added, gauges as they
stood. Nothing is smoothed or filled: where a scrape is missing for long, or a counter restarted, the window says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from throttlescope.ingest.core.subscription_name import remote_cluster

Reader = tuple[str, int]
"""A subscription and a partition; -1 where the topic is not partitioned."""
LimitKey = tuple[str, int, str]
"""Level, partition and subscription."""


@dataclass(frozen=True, eq=False)
class ReaderSamples:
    """One subscription of one partition at every scrape; counters as what came since the scrape before (0 at the first)."""

    backlog_entries: np.ndarray
    #: Part of the backlog that waits for its delivery time.
    delayed_entries: np.ndarray
    unacked_msg: np.ndarray
    consumers: np.ndarray
    blocked: np.ndarray
    out_msg: np.ndarray
    out_bytes: np.ndarray
    expired_entries: np.ndarray
    #: Events of the six throttle counters as "level.unit"; None where the broker has none (before 4.0.4).
    events_of: Mapping[str, np.ndarray] | None
    #: When the broker last dispatched, and when an acknowledgement last came, as epoch ms; 0: never, None: not recorded.
    dispatched_ms: np.ndarray | None = None
    acked_ms: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class PartitionSamples:
    """What was published to one partition since the scrape before."""

    in_msg: np.ndarray
    in_bytes: np.ndarray


@dataclass(frozen=True, eq=False)
class Observed:
    """A window of one topic.

    Attributes
    ----------
    partition : int or None
        The selected partition; None: all of them.
    times_ms : ndarray of int64
        Scrapes of the selected subscription.
    limit_rows : mapping
        Rows of ``limits`` by (level, partition, subscription), oldest first, the last one being what holds at the end.
    messages_per_entry : float
        1 where nothing is batched; the producers' mean otherwise.
    receiver_queue : int or None
        The most permits that a consumer was ever seen with.
    gaps : list of (int, int)
        Ranges without a scrape.
    restarts_ms : list of int
        When counters restarted, or went on at another broker.
    publish_limited : bool or None
        Whether the broker paused producers in the window or in the minute before; None where it was not recorded.
    others_per_s : mapping
        What the broker dispatched of other topics, by unit per second: they share a broker limit.
    redelivered_msg_per_s : float
        Mean of the subscription's redeliveries.
    """

    cluster: str
    namespace: str
    topic: str
    subscription: str
    partition: int | None
    times_ms: np.ndarray
    partitions: Mapping[int, PartitionSamples]
    readers: Mapping[Reader, ReaderSamples]
    types: Mapping[str, str]
    limit_rows: Mapping[LimitKey, Sequence[Mapping]]
    messages_per_entry: float
    receiver_queue: int | None
    broker_version: str | None
    gaps: list[tuple[int, int]] = field(default_factory=list)
    restarts_ms: list[int] = field(default_factory=list)
    publish_limited: bool | None = None
    others_per_s: Mapping[str, float] = field(default_factory=dict)
    redelivered_msg_per_s: float = 0.0

    @cached_property
    def limits(self) -> dict[LimitKey, Mapping]:
        """What holds at the end."""
        return {key: rows[-1] for key, rows in self.limit_rows.items() if rows}

    @property
    def is_blocked(self) -> bool:
        """Whether the window ends with any selected partition blocked on unacknowledged messages."""
        return any(bool(item.blocked[-1]) for item in self.selected.values())

    @property
    def is_replicator(self) -> bool:
        """Whether the selected subscription is a replicator's cursor."""
        return remote_cluster(self.subscription) is not None

    @property
    def seconds(self) -> np.ndarray:
        """Length of every scrape's span; 0 for the first."""
        return np.diff(self.times_ms, prepend=self.times_ms[:1]) / 1000

    @property
    def elapsed_s(self) -> float:
        """From the first scrape to the last."""
        return float(self.times_ms[-1] - self.times_ms[0]) / 1000

    def of(self, subscription: str) -> dict[int, ReaderSamples]:
        """Samples of a subscription by partition, of all partitions: its consumers read all of them."""
        return {partition: item for (name, partition), item in self.readers.items() if name == subscription}

    @property
    def selected(self) -> dict[int, ReaderSamples]:
        """Samples of the selected partitions."""
        mine = self.of(self.subscription)
        return mine if self.partition is None else {self.partition: mine[self.partition]}

    @property
    def backlog_entries(self) -> np.ndarray:
        """Backlog of the selected partitions at every scrape."""
        return np.sum([item.backlog_entries for item in self.selected.values()], axis=0)

    def consumers(self, subscription: str) -> int:
        """Consumers that were connected at the last scrape."""
        return int(max((item.consumers[-1] for item in self.of(subscription).values()), default=0))

    def type_of(self, subscription: str) -> str:
        """Type of a subscription; Shared where it was not observed."""
        return self.types.get(subscription, "Shared")

    def active(self, subscription: str, consumers: int) -> int:
        """How many of so many consumers get messages: one of a partition where the type allows one."""
        if self.type_of(subscription) in ("Shared", "Key_Shared"):
            return consumers
        return min(consumers, len(self.partitions))

    @property
    def batch_msg(self) -> int:
        """Messages of an entry, as a whole number."""
        return max(1, math.floor(self.messages_per_entry + 0.5))
