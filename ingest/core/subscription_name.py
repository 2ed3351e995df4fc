"""The name of a subscription, or of a replicator, as a user writes it.

In: ``persistent://tenant/ns/topic[-partition-N]#sub`` or ``persistent://tenant/ns/topic[-partition-N]@cluster``. Out: its parts, and
back.

A replicator reads a topic for another cluster. The broker keeps its position as a cursor named ``pulsar.repl.<cluster>`` and
refuses subscriptions of such a name, so every table has a replicator as the subscription of that name: no column is its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from throttlescope.ingest.core.errors import InputError

#: What the name of a replicator's cursor begins with (the broker's ``replicatorPrefix``); the remote cluster follows.
REPLICATOR_PREFIX = "pulsar.repl."
#: A whole name of a replicator's cursor, as a regular expression that Prometheus (RE2) reads too.
RE2_REPLICATOR = REPLICATOR_PREFIX.replace(".", "[.]") + ".+"

_TOPIC = r"(?P<topic>[a-z-]+://[^/]+/[^/]+/.+?)(?:-partition-(?P<partition>[0-9]{1,10}))?"
_NAME = re.compile(_TOPIC + "#(?P<subscription>.+)", re.DOTALL)
# A topic's own name may have an @, the name of a cluster may not.
_REPLICATOR = re.compile(_TOPIC + "@(?P<cluster>[^@/#]+)", re.DOTALL)


def remote_cluster(subscription: str) -> str | None:
    """The cluster that a replicator sends to; None for a subscription.

    >>> remote_cluster("pulsar.repl.west"), remote_cluster("billing")
    ('west', None)
    """
    found = subscription.removeprefix(REPLICATOR_PREFIX)
    return found if found != subscription and found else None


def short_text(subscription: str) -> str:
    """The name without its topic: a replicator's is its remote cluster, with the @ that stands before it.

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
    suffix = "" if partition is None or partition < 0 else f"-partition-{partition}"
    remote = remote_cluster(subscription)
    return f"{topic}{suffix}#{subscription}" if remote is None else f"{topic}{suffix}@{remote}"


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
        """
        found = _NAME.fullmatch(text)
        if found is not None:
            subscription = found["subscription"]
        elif (found := _REPLICATOR.fullmatch(text)) is not None:
            subscription = REPLICATOR_PREFIX + found["cluster"]
        else:
            raise InputError(
                "A subscription cannot be read",
                got=text or "nothing",
                expected="persistent://tenant/ns/topic[-partition-N]#sub, or ...topic[-partition-N]@cluster for a replicator",
            )
        partition = None if found["partition"] is None else int(found["partition"])
        return cls(found["topic"], partition, subscription)

    def __str__(self) -> str:
        return subscription_text(self.topic, self.partition, self.subscription)
