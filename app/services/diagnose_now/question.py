"""What is diagnosed. In: a subscription or a topic as a user writes it, and a range. Out: an :class:`NowQuestion`."""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName, topic_parts
from throttlescope.ingest.core.times import MINUTE_MS, check_range
from throttlescope.ingest.pull.plan import widened

#: The longest range: beyond it a run into a lake is the better tool.
LONGEST_MS = 6 * 60 * MINUTE_MS


@dataclass(frozen=True)
class NowQuestion:
    """One topic, maybe one partition or subscription of it, and a range.

    Attributes
    ----------
    topic : str
        Without the partition suffix. All of it is read: its subscriptions share limits.
    partition, subscription : optional
        Only these are answered for.
    start_ms, end_ms : int
        Windows inside [start, end) are judged.
    history_ms : int
        How far before the start samples are read as well, for what the consumers can do and what is usual.
    """

    topic: str
    partition: int | None
    subscription: str | None
    start_ms: int
    end_ms: int
    history_ms: int = 0

    @classmethod
    def of(
        cls,
        *,
        subscription: str | None = None,
        topic: str | None = None,
        end_ms: int,
        for_ms: int = 30 * MINUTE_MS,
        history_ms: int = 0,
    ) -> NowQuestion:
        """Read names and lengths.

        Raises
        ------
        InputError
            Neither or both are named, a name cannot be read, or the range is too short or too long.
        """
        if (subscription is None) == (topic is None):
            raise InputError(
                "One topic is diagnosed at a time",
                got="both --subscription and --topic" if topic else "neither --subscription nor --topic",
                expected="one of them",
            )
        if not 5 * MINUTE_MS <= for_ms <= LONGEST_MS or history_ms < 0 or history_ms > 4 * LONGEST_MS:
            raise InputError(
                "The range is too short or too long to be diagnosed at once",
                got=f"{for_ms // MINUTE_MS} minutes, {history_ms // MINUTE_MS} minutes of history",
                expected="5 minutes to 6 hours, with at most 24 hours of history",
                fix="throttlescope run reads any range into a lake",
            )
        check_range(end_ms - for_ms, end_ms)
        if subscription is not None:
            name = SubscriptionName.of(subscription)
            return cls(name.topic, name.partition, name.subscription, end_ms - for_ms, end_ms, history_ms)
        base, partition = topic_parts(topic)
        return cls(base, partition, None, end_ms - for_ms, end_ms, history_ms)

    @property
    def namespace(self) -> str:
        """``tenant/namespace``."""
        return "/".join(self.topic.split("://", 1)[-1].split("/")[:2])

    def read_range(self, now_ms: int) -> tuple[int, int]:
        """What is read: whole UTC hours, clipped at now, as a run's are; so both see the same samples."""
        return widened(self.start_ms - self.history_ms, self.end_ms, now_ms)

    def means(self, partition: int, subscription: str) -> bool:
        """Whether a subscription partition of the topic is answered for."""
        return self.partition in (None, partition) and self.subscription in (None, subscription)
