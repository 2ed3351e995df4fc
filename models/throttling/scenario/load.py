"""Topics, producers and subscriptions of a scenario: in, the user's words; out, checked parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr, model_validator

from throttlescope.models.throttling.scenario.limits import MAX_RATE
from throttlescope.models.throttling.scenario.model import Model

NAME = r"^[a-z0-9-]+$"
#: No client publishes more through one producer; a larger number is a typing error.
MAX_RATE_MSG = 10_000_000
MAX_MESSAGE_BYTES = 5_242_880


class PublishRate(Model):
    """A publish limit: messages and bytes per second, of a topic per partition, of a resource group for all of its topics.

    One that is ``set_at`` the namespace holds for each of its topics alike.
    """

    msg: int | None = Field(None, gt=0, le=MAX_RATE)
    bytes: int | None = Field(None, gt=0, le=MAX_RATE)
    set_at: Literal["topic", "namespace"] = "topic"

    @model_validator(mode="after")
    def _limits_something(self) -> PublishRate:
        if self.msg is None and self.bytes is None:
            raise ValueError("msg, bytes: a publish rate needs at least one of them")
        return self


class BacklogQuota(Model):
    """A topic's backlog quota by size; what is above it is taken from the slowest subscription's oldest entries."""

    limit_bytes: int = Field(gt=0)
    policy: Literal["consumer_backlog_eviction"] = "consumer_backlog_eviction"


class Topic(Model):
    """A topic; ``partitions`` 0 means not partitioned.

    ``segments`` makes it a scalable topic (Pulsar 5.0): each segment has limiters and a backlog of its own, as partitions have,
    but it takes no topic policies.
    ``broker`` is the number of the broker process that serves it (a broker limit is one per process).
    ``max_unacked_per_*`` are topic policies and win over the broker's settings; 0 means no limit.
    ``ttl_s`` and ``backlog_quota`` are topic policies too, looked at every ``messageExpiryCheckIntervalInMinutes`` and
    ``backlogQuotaCheckIntervalInSeconds``.
    """

    name: str = Field(pattern=NAME)
    partitions: int = Field(0, ge=0, le=1024)
    segments: int = Field(0, ge=0, le=64)
    persistent: bool = True
    broker: int = Field(0, ge=0, le=999)
    publish_rate: PublishRate | None = None
    ttl_s: int | None = Field(None, ge=1)
    backlog_quota: BacklogQuota | None = None
    max_unacked_per_consumer: int | None = Field(None, ge=0)
    max_unacked_per_subscription: int | None = Field(None, ge=0)
    deduplication: bool = False

    @model_validator(mode="after")
    def _segments_fit(self) -> Topic:
        if not self.segments:
            return self
        if self.partitions:
            raise ValueError(
                f"segments: a scalable topic has segments, not partitions; got both ({self.segments} and {self.partitions})"
            )
        if not self.persistent:
            raise ValueError("segments: a scalable topic is persistent")
        for name in _TOPIC_POLICIES:
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name}: a scalable topic takes no topic policies (the admin API answers 404); leave it out"
                )
        return self


_TOPIC_POLICIES = (
    "publish_rate", "ttl_s", "backlog_quota", "max_unacked_per_consumer", "max_unacked_per_subscription",
)  # fmt: skip


class RetryLetter(Model):
    """What the client reconsumes later: ``share`` of the messages, at each of their first ``times`` deliveries.

    Such a message is published to the subscription's retry-letter topic, acknowledged on its own topic, and delivered again from
    there ``delay_ms`` later. With ``max_reconsume`` it goes to the dead-letter topic after that many times.
    """

    share: float = Field(gt=0, le=1)
    times: int = Field(1, ge=1, le=1000)
    delay_ms: int = Field(ge=0, le=86_400_000)
    max_reconsume: int | None = Field(None, ge=1, le=1000)


class Redelivery(Model):
    """What the client gives back: ``nack_share`` of the messages at their first deliveries, after ``nack_delay_ms``.

    A message is negatively acknowledged on each of its first ``nack_times`` deliveries. An entry that is not acknowledged
    ``ack_timeout_ms`` after the client took its first message is given back too. With ``max_redeliver`` an entry that would be
    given back after that many redeliveries goes to the dead-letter topic instead and is acknowledged here.
    """

    nack_share: float = Field(0, ge=0, le=1)
    nack_times: int = Field(1, ge=1, le=1000)
    nack_delay_ms: int = Field(60_000, ge=0)
    ack_timeout_ms: int | None = Field(None, ge=1_000)
    max_redeliver: int | None = Field(None, ge=1, le=1000)

    @model_validator(mode="after")
    def _does_something(self) -> Redelivery:
        if not self.nack_share and self.ack_timeout_ms is None:
            raise ValueError("nack_share, ack_timeout_ms: without either nothing is redelivered")
        return self


class Subscription(Model):
    """A subscription and its consumers; it is created before the load starts even without consumers.

    ``topic`` names one topic, ``topics`` several that the same consumers read with one capacity, ``topics_pattern`` all persistent
    topics of the scenario whose whole name the regular expression matches. ``ack: none`` is a consumer that
    processes and never acknowledges. ``processing_ms`` is the mean where ``processing`` is exponential.
    ``each_processing_ms`` are the times of the first consumers one by one; the others take ``processing_ms``. Producers and
    consumers that name the same ``client`` share its one connection.
    """

    name: str = Field(pattern=NAME)
    topic: str | None = None
    topics: tuple[str, ...] = ()
    topics_pattern: str | None = Field(None, min_length=1, max_length=200)
    type: Literal["Exclusive", "Failover", "Shared", "Key_Shared"]
    consumers: int = Field(ge=0, le=10_000)
    processing_ms: float = Field(ge=0, le=86_400_000)
    each_processing_ms: tuple[Annotated[float, Field(ge=0, le=86_400_000)], ...] = ()
    processing: Literal["constant", "exponential"] = "constant"
    receiver_queue: int = Field(1000, ge=0, le=1_000_000)
    ack: Literal["individual", "cumulative", "none"] = "individual"
    batch_index_ack: bool = False
    redelivery: Redelivery | None = None
    retry_letter: RetryLetter | None = None
    client: str | None = Field(None, pattern=NAME)
    #: What ``topics_pattern`` matches; the scenario fills it.
    _matched: tuple[str, ...] = PrivateAttr(())

    @model_validator(mode="after")
    def _fits(self) -> Subscription:
        if sum((self.topic is not None, bool(self.topics), self.topics_pattern is not None)) != 1:
            raise ValueError("topic, topics, topics_pattern: give exactly one of them")
        if self.type == "Exclusive" and self.consumers > 1:
            raise ValueError("consumers: an Exclusive subscription has at most one")
        if self.ack == "cumulative" and self.type in ("Shared", "Key_Shared"):
            raise ValueError(f"ack: cumulative is not allowed on {self.type}")
        if len(self.each_processing_ms) > self.consumers:
            raise ValueError(
                f"each_processing_ms: {len(self.each_processing_ms)} times for {self.consumers} consumers"
            )
        if self.retry_letter is not None:
            self._may_reconsume()
        return self

    def _may_reconsume(self) -> None:
        if self.type != "Shared":
            raise ValueError(
                f"retry_letter: Pulsar's clients have it on Shared subscriptions, got {self.type}"
            )
        if self.ack == "none":
            raise ValueError("retry_letter: what is reconsumed later is acknowledged, got ack: none")
        if self.redelivery is not None and self.redelivery.nack_share:
            raise ValueError(
                "retry_letter, redelivery.nack_share: a message is given back or reconsumed later; give one of them"
            )

    def match(self, topics: Sequence[Topic]) -> None:
        """Look up what ``topics_pattern`` matches.

        Parameters
        ----------
        topics
            The scenario's topics; those that are not persistent are never matched, as with Pulsar's default.

        Raises
        ------
        ValueError
            The pattern is no regular expression, or it matches no topic.
        """
        if self.topics_pattern is None:
            return
        try:
            pattern = re.compile(self.topics_pattern)
        except re.error as error:
            raise ValueError(
                f"topics_pattern: {self.topics_pattern!r} is no regular expression: {error}"
            ) from error
        self._matched = tuple(
            topic.name for topic in topics if topic.persistent and pattern.fullmatch(topic.name)
        )
        if not self._matched:
            raise ValueError(
                f"topics_pattern: {self.topics_pattern!r} matches none of the persistent topics"
                f" {[topic.name for topic in topics if topic.persistent]}"
            )

    @property
    def reads(self) -> tuple[str, ...]:
        """The topics that its consumers read."""
        return self.topics or self._matched or ((self.topic,) if self.topic is not None else ())

    @property
    def retry_topic(self) -> str:
        """The retry-letter topic: named after the first topic and the subscription, as Pulsar's clients name it."""
        return f"{self.reads[0]}-{self.name}-RETRY"

    def takes_ms(self, number: int) -> float:
        """Processing time of the consumer with that number, counted from 0."""
        return (
            self.each_processing_ms[number] if number < len(self.each_processing_ms) else self.processing_ms
        )


class Batching(Model):
    """The producer's batching: an entry closes at ``max_messages`` or after ``max_delay_ms``."""

    max_messages: int = Field(ge=2, le=100_000)
    max_delay_ms: int = Field(ge=1)


class SizeShare(Model):
    """Messages of one size and their share among all."""

    size_bytes: int = Field(ge=0, le=MAX_MESSAGE_BYTES)
    share: float = Field(gt=0)


class Bursts(Model):
    """Times of more: at ``every_s`` seconds from the start and every multiple of it, ``length_s`` seconds of ``factor`` times the rate."""

    every_s: float = Field(gt=0)
    length_s: float = Field(gt=0)
    factor: float = Field(gt=0, le=10_000)

    @model_validator(mode="after")
    def _ends_before_the_next(self) -> Bursts:
        if self.length_s >= self.every_s:
            raise ValueError(f"length_s: a burst ends before the next begins after {self.every_s} s")
        return self


class Hot(Model):
    """One partition gets ``share`` of the messages, the others take turns with the rest."""

    partition: int = Field(ge=0)
    share: float = Field(gt=0, lt=1)


class Producer(Model):
    """A producer; ``steps`` multiplies the rate by the factor from the given second of the scenario on.

    ``bursts`` multiplies it for a while again and again, ``hot`` prefers a partition. ``sizes`` mixes payload sizes in the given shares. ``stored_share`` is what compression leaves of a payload (limits are
    charged what is stored). ``send: sync`` waits for every receipt; ``async`` holds at most ``max_pending`` messages. Producers and
    consumers that name the same ``client`` share its one connection.
    """

    topic: str
    rate_msg: float = Field(ge=0, le=MAX_RATE_MSG)
    size_bytes: int | None = Field(None, ge=0, le=MAX_MESSAGE_BYTES)
    sizes: tuple[SizeShare, ...] = ()
    batching: Batching | None = None
    shape: Literal["constant", "steps", "bursts", "poisson"] = "constant"
    steps: list[tuple[float, float]] | None = None
    bursts: Bursts | None = None
    routing: Literal["round_robin", "single", "key", "hot"] = "round_robin"
    hot: Hot | None = None
    keys: int | None = Field(None, ge=1, le=1_000_000)
    deliver_after_ms: int | None = Field(None, ge=0)
    stored_share: float = Field(1, gt=0, le=1)
    send: Literal["async", "sync"] = "async"
    max_pending: int = Field(20_000, ge=1)
    duplicate_share: float = Field(0, ge=0, lt=1)
    client: str | None = Field(None, pattern=NAME)

    @model_validator(mode="after")
    def _fits(self) -> Producer:
        if (self.steps is not None) != (self.shape == "steps"):
            raise ValueError("steps: given exactly when shape is steps")
        if (self.bursts is not None) != (self.shape == "bursts"):
            raise ValueError("bursts: given exactly when shape is bursts")
        if (self.hot is not None) != (self.routing == "hot"):
            raise ValueError("hot: given exactly when routing is hot")
        if (self.size_bytes is None) == (not self.sizes):
            raise ValueError("size_bytes, sizes: give exactly one of them")
        if self.routing == "key" and self.keys is None:
            raise ValueError("keys: routing by key needs their number")
        if self.deliver_after_ms is not None and self.batching is not None:
            raise ValueError("deliver_after_ms: messages with a delivery time are never batched")
        return self

    def factors(self, until_s: float) -> list[tuple[float, float]]:
        """What multiplies the rate from each second on, in order, before ``until_s``; the first is at 0."""
        if self.bursts is None:
            steps = sorted(self.steps or ())
            return [(0.0, 1.0), *(step for step in steps if step[0] < until_s)]
        found, number = [(0.0, 1.0)], 1
        while (at_s := number * self.bursts.every_s) < until_s:
            found += [(at_s, self.bursts.factor), (at_s + self.bursts.length_s, 1.0)]
            number += 1
        return found

    def share_of(self, number: int, partitions: int) -> float:
        """Share of the messages that goes to a partition, where it is laid down."""
        if self.routing == "single":
            return float(number == 0)
        if self.hot is None:
            return 1 / partitions
        return self.hot.share if number == self.hot.partition else (1 - self.hot.share) / (partitions - 1)

    @property
    def mean_bytes(self) -> float:
        """Mean payload of a message as stored."""
        if not self.sizes:
            return (self.size_bytes or 0) * self.stored_share
        total = sum(item.share for item in self.sizes)
        return sum(item.size_bytes * item.share for item in self.sizes) / total * self.stored_share
