"""Which topics and subscriptions are Pulsar's own. In: names as the lake has them. Out: yes or no, and regular expressions that say the same.

Pulsar keeps topics of its own (policies, transactions, health checks, its functions worker) and cursors of its own on the
topics of its users (compaction). What waits there is read when Pulsar needs it, so it is no incident. This is the only place that
knows their names: the diagnosis, the exported alerts, the resolver of limits and every list take them from here.

A function's or a connector's subscription of a user's topic is a user's subscription like any other.
"""

from __future__ import annotations

import re

#: A whole topic name; without look-arounds and backslashes, so that Prometheus (RE2), DuckDB and Spark read it as Python does.
SYSTEM_TOPIC = "|".join(
    (
        # __change_events, __transaction_buffer_snapshot, __transaction_log_3, __consumer_offsets
        ".*/__[^/]*",
        # The pending acknowledgements of a subscription's transactions: <topic>-<subscription>__transaction_pending_ack
        ".*__transaction_pending_ack",
        # transaction_coordinator_assign, loadbalancer-service-unit-state
        "[a-z-]+://pulsar/system/.*",
        # pulsar/<cluster>/<broker>/healthcheck, pulsar/<broker>/healthcheck
        "[a-z-]+://pulsar/.*/healthcheck",
        # The functions worker's own, in the namespace that it uses by default.
        "[a-z-]+://public/functions/(assignments|coordinate|metadata)",
    )
)
#: A whole subscription name: __compaction, and whatever else a broker puts on a topic.
SYSTEM_SUBSCRIPTION = "__.*"

#: Names that clients draw for their readers: reader-4f1c9a0b2d, role-reader-4f1c9a0b2d, multiTopicsReader-4f1c9a0b2d.
READER = "(.*-)?(reader|multiTopicsReader)-[0-9A-Za-z]{5,10}"

_TOPIC, _SUBSCRIPTION, _READER = (
    re.compile(pattern) for pattern in (SYSTEM_TOPIC, SYSTEM_SUBSCRIPTION, READER)
)


def is_system_topic(topic: str) -> bool:
    """Whether a topic is Pulsar's own.

    Parameters
    ----------
    topic : str
        ``persistent://tenant/namespace/name``, without the partition.

    >>> is_system_topic("persistent://acme/shop/__change_events")
    True
    >>> is_system_topic("persistent://acme/shop/healthcheck")
    False
    """
    return _TOPIC.fullmatch(topic) is not None


def is_system_subscription(subscription: str) -> bool:
    """Whether a subscription is Pulsar's own, on whatever topic."""
    return _SUBSCRIPTION.fullmatch(subscription) is not None


def is_reader(subscription: str) -> bool:
    """Whether a subscription's name is one that a client drew for a reader: not durable, and read when the application wants it.

    >>> is_reader("reader-4f1c9a0b2d"), is_reader("page-reader")
    (True, False)
    """
    return _READER.fullmatch(subscription) is not None


def is_system(topic: str, subscription: str) -> bool:
    """Whether a subscription of a topic is Pulsar's own: by its own name, or by the topic's."""
    return is_system_subscription(subscription) or is_system_topic(topic)
