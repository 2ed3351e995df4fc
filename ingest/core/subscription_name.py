"""The name of a subscription, or of a replicator, as a user writes it.

In: ``persistent://tenant/ns/topic[-partition-N]#sub`` or ``persistent://tenant/ns/topic[-partition-N]@cluster``. Out: its parts, and
back. Tables print a subscription without ``persistent://``, and it is read so too. Of a scalable topic ``topic://tenant/ns/topic[-segment-N]#sub``, or the name that the broker has for a segment.

A replicator reads a topic for another cluster. The broker keeps its position as a cursor named ``pulsar.repl.<cluster>`` and
refuses subscriptions of such a name, so every table has a replicator as the subscription of that name: no column is its own.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.labels import topic_and_partition
from throttlescope.ingest.core.topic_name import (
    SEGMENT,
    SegmentName,
    SegmentNameError,
    is_scalable,
    part_text,
)

#: What the name of a replicator's cursor begins with (the broker's ``replicatorPrefix``); the remote cluster follows.
REPLICATOR_PREFIX = "pulsar.repl."
#: The label that tells the replicators of a topic apart.
REMOTE_CLUSTER = "remote_cluster"
#: A whole name of a replicator's cursor, as a regular expression that Prometheus (RE2) reads too.
RE2_REPLICATOR = REPLICATOR_PREFIX.replace(".", "[.]") + ".+"

_TOPIC = r"(?P<topic>[a-z-]+://[^/]+/[^/]+/.+?)(?:-(?P<part>partition|segment)-(?P<partition>[0-9]{1,10}))?"
_NAME = re.compile(_TOPIC + "#(?P<subscription>.+)", re.DOTALL)
# A scheme with a slash missing is a mistake, not a tenant.
_WITHOUT_SCHEME = re.compile("(?![a-z-]+:/)[^/#]+/[^/#]+/[^/#]+#.+", re.DOTALL)
# A topic's own name may have an @, the name of a cluster may not.
_WHOLE_TOPIC = re.compile(_TOPIC, re.DOTALL)
_REPLICATOR = re.compile(_TOPIC + "@(?P<cluster>[^@/#]+)", re.DOTALL)

#: Names that a misspelt one is compared with: each takes tens of microseconds.
_MOST_COMPARED = 5_000


def remote_cluster(subscription: str) -> str | None:
    """The cluster that a replicator sends to; None for a subscription.

    >>> remote_cluster("pulsar.repl.west"), remote_cluster("billing")
    ('west', None)
    """
    found = subscription.removeprefix(REPLICATOR_PREFIX)
    return found if found != subscription and found else None


def with_cursor(labels: Mapping[str, str]) -> Mapping[str, str]:
    """Labels of a series; those of a replicator have its cursor as ``subscription`` in the place of its remote cluster.

    >>> with_cursor({"topic": "t", "remote_cluster": "west"})
    {'topic': 't', 'subscription': 'pulsar.repl.west'}
    """
    if REMOTE_CLUSTER not in labels:
        return labels
    others = {name: value for name, value in labels.items() if name != REMOTE_CLUSTER}
    return others | {"subscription": REPLICATOR_PREFIX + labels[REMOTE_CLUSTER]}


def short_text(subscription: str) -> str:
    """The name without its topic: a replicator's is its remote cluster, with the @ before it.

    >>> short_text("billing"), short_text("pulsar.repl.west")
    ('billing', '@west')
    """
    remote = remote_cluster(subscription)
    return subscription if remote is None else f"@{remote}"


def subscription_text(topic: str, partition: int | None, subscription: str) -> str:
    """The whole name as a user writes it; ``partition`` -1 or None: none.

    >>> subscription_text("persistent://acme/shop/orders", 2, "billing")
    'persistent://acme/shop/orders-partition-2#billing'
    >>> subscription_text("persistent://acme/shop/orders", -1, "pulsar.repl.west")
    'persistent://acme/shop/orders@west'
    """
    remote, named = remote_cluster(subscription), part_text(topic, partition)
    return f"{named}#{subscription}" if remote is None else f"{named}@{remote}"


@dataclass(frozen=True)
class SubscriptionName:
    """A subscription or a replicator as it is written; the replicator's ``subscription`` is its cursor."""

    topic: str
    partition: int | None
    subscription: str

    @classmethod
    def of(cls, text: str) -> SubscriptionName:
        """Read it.

        Raises
        ------
        InputError
            It is not written so.

        >>> str(SubscriptionName.of("acme/shop/orders-partition-2#billing"))
        'persistent://acme/shop/orders-partition-2#billing'
        """
        found = _NAME.fullmatch(f"persistent://{text}" if _WITHOUT_SCHEME.fullmatch(text) else text)
        if found is not None:
            subscription = found["subscription"]
        elif (found := _REPLICATOR.fullmatch(text)) is not None:
            subscription = REPLICATOR_PREFIX + found["cluster"]
        else:
            raise InputError(
                "A subscription cannot be read",
                got=text or "nothing",
                expected="[persistent://]tenant/ns/topic[-partition-N]#sub, topic://tenant/ns/topic[-segment-N]#sub for a scalable topic, "
                "or ...topic[-partition-N]@cluster for a replicator",
            )
        topic, partition = _parts(found)
        return cls(topic, partition, subscription)

    def __str__(self) -> str:
        return subscription_text(self.topic, self.partition, self.subscription)

    def includes(self, other: SubscriptionName) -> bool:
        """Whether the other is the same, or a partition of it."""
        return (self.topic, self.subscription) == (other.topic, other.subscription) and (
            self.partition in (None, other.partition)
        )


def unknown_subscription(name: SubscriptionName, known: Iterable[SubscriptionName]) -> InputError:
    """The error for a name that a lake does not have; it suggests the nearest of the names that the lake has.

    >>> billing = SubscriptionName.of("persistent://acme/shop/orders-partition-2#billing")
    >>> unknown_subscription(SubscriptionName.of("persistent://acme/shop/orders#biling"), [billing]).fix
    'did you mean persistent://acme/shop/orders#billing?'
    """
    names = {str(one if name.partition is not None else replace(one, partition=None)) for one in known}
    if len(names) > _MOST_COMPARED:
        names = {other for other in names if name.topic in other or other.endswith(f"#{name.subscription}")}
    near = difflib.get_close_matches(str(name), sorted(names)[:_MOST_COMPARED], 1, cutoff=0.7)
    return InputError(
        "No backlog of this subscription is in the lake",
        got=str(name),
        fix=f"did you mean {near[0]}?" if near else "see throttlescope verdicts for what there is",
    )


def topic_parts(text: str) -> tuple[str, int | None]:
    """The topic of a name and the number of its part, None where the name is of all parts.

    Raises
    ------
    InputError
        It is not written so, or names a segment that cannot be.

    >>> topic_parts("topic://acme/shop/orders-segment-3"), topic_parts("segment://acme/shop/orders/0000-7fff-3")
    (('topic://acme/shop/orders', 3), ('topic://acme/shop/orders', 3))
    """
    found = _WHOLE_TOPIC.fullmatch(text)
    if found is None or "#" in text:
        raise InputError(
            "A topic cannot be read",
            got=text or "nothing",
            expected="persistent://tenant/ns/topic[-partition-N], or topic://tenant/ns/topic[-segment-N] for a scalable topic",
        )
    if is_scalable(text) or text.startswith(SEGMENT):
        return _parts(found)
    topic, number = topic_and_partition(text, None)
    return topic, None if number == "-1" else int(number)


def _parts(found: re.Match[str]) -> tuple[str, int | None]:
    topic, part, number = found["topic"], found["part"], found["partition"]
    whole = topic if number is None else f"{topic}-{part}-{number}"
    if whole.startswith(SEGMENT):
        try:
            segment = SegmentName.of(whole)
        except SegmentNameError as error:
            raise InputError(
                "A segment cannot be read",
                got=str(error),
                expected="segment://tenant/ns/topic/0000-7fff-3, or topic://tenant/ns/topic-segment-3",
            ) from None
        return segment.topic, segment.number
    # A topic that is not scalable may be called orders-segment-3, and a scalable one orders-partition-3.
    if number is None or (part == "segment") != is_scalable(topic):
        return whole, None
    return topic, int(number)
