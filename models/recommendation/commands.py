"""Commands that set a limit, and roll it back. In: a row of ``limits`` and new rates. Out: ``pulsar-admin`` commands as text.

A policy is replaced as a whole: a flag that is left out becomes "no limit" or one second, so every flag is restated. The change is
made at the narrowest level that covers only this subscription or topic; where the limit comes from a namespace or a broker,
other topics keep theirs. Of a scalable topic the narrowest level is the namespace.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from throttlescope.ingest.core.subscription_name import remote_cluster
from throttlescope.ingest.core.topic_name import is_scalable, namespace_of
from throttlescope.models.messages.catalogue import Message, message

_UNLIMITED = -1
_BROKER_SETTINGS = {
    ("broker", "msg"): "dispatchThrottlingRateInMsg",
    ("broker", "bytes"): "dispatchThrottlingRateInByte",
}


@dataclass(frozen=True)
class Command:
    """A change and its rollback.

    Attributes
    ----------
    do, undo : str
        Lines for a shell with ``pulsar-admin`` on its path. Nothing here runs them.
    place : Message
        What is changed.
    notes : tuple of Message
        Side effects.
    """

    do: str
    undo: str
    place: Message
    notes: tuple[Message, ...] = ()


def set_limit(
    row: Mapping[str, Any], topic: str, subscription: str, *, msg: int | None, size: int | None, period_s: int
) -> Command:
    """Set the limit of one level.

    Parameters
    ----------
    row : mapping
        The level's row of ``limits`` as it is: where it was set, its rates and its period.
    topic : str
        Without a partition: policies hold for all partitions, each with the whole limit.
    msg, size : int or None
        Messages and bytes per period; None: no limit of that kind.
    """
    level, set_by = row["level"], row["set_by"]
    if level == "broker":
        return _broker(row, msg, size)
    flags = _flags(msg, size, period_s, row["relative_to_publish"])
    old = _flags(row["rate_msg"], row["rate_bytes"], row["period_s"], row["relative_to_publish"])
    if is_scalable(topic):
        return _namespace(row, topic, flags, old)
    where, verb = shlex.quote(topic), "dispatch-rate"
    local = "" if set_by != "global_topic_policy" else " -g"
    notes: tuple[Message, ...] = ()
    if remote_cluster(subscription) is not None:
        # A replicator's limit is a policy of the topic, the same for every remote cluster.
        verb, place = "replicator-dispatch-rate", message("advice.place.replicators", topic=topic)
    elif level == "subscription":
        verb = "subscription-dispatch-rate"
        if set_by in ("topic_policy", "global_topic_policy"):
            place = message("advice.place.all_subscriptions", topic=topic)
        else:
            place = message("advice.place.subscription", subscription=subscription, topic=topic)
            where = f"{where} -s {shlex.quote(subscription)}"
    else:
        place = message("advice.place.topic", topic=topic)
    do = f"pulsar-admin topicPolicies set-{verb} {where}{local} {flags}"
    narrower = set_by in ("namespace_policy", "broker_dynamic", "broker_file", "none")
    if narrower:
        undo = f"pulsar-admin topicPolicies remove-{verb} {where}{local}"
        if set_by != "none":
            notes = (_OVERRIDES[set_by],)
    else:
        undo = f"pulsar-admin topicPolicies set-{verb} {where}{local} {old}"
    return Command(
        do,
        undo,
        place,
        (*notes, message("advice.note.buckets_refill")),
    )


def _namespace(row: Mapping[str, Any], topic: str, flags: str, old: str) -> Command:
    """A scalable topic has no policies of its own: its namespace is the lowest place where a limit can be set."""
    verb = "subscription-dispatch-rate" if row["level"] == "subscription" else "dispatch-rate"
    namespace = namespace_of(topic)
    where = shlex.quote(namespace)
    if row["set_by"] == "namespace_policy":
        undo = f"pulsar-admin namespaces set-{verb} {where} {old}"
    else:
        undo = f"pulsar-admin namespaces remove-{verb} {where}"
    return Command(
        f"pulsar-admin namespaces set-{verb} {where} {flags}",
        undo,
        message("advice.place.namespace", namespace=namespace),
        (message("advice.note.per_segment"), message("advice.note.buckets_refill")),
    )


_OVERRIDES = {
    "namespace_policy": message("advice.note.overrides_namespace"),
    "broker_dynamic": message("advice.note.overrides_broker_dynamic"),
    "broker_file": message("advice.note.overrides_broker_file"),
}


def more_partitions(topic: str, count: int) -> str:
    """Give a partitioned topic more partitions; no command takes them back."""
    return f"pulsar-admin topics update-partitioned-topic {topic} -p {count}"


def _broker(row: Mapping[str, Any], msg: int | None, size: int | None) -> Command:
    """A broker limit is a setting of all brokers of the cluster; each has the whole limit."""
    do, undo = [], []
    for unit, new in (("msg", msg), ("bytes", size)):
        name, old = _BROKER_SETTINGS["broker", unit], row[f"rate_{unit}"]
        if new != old:
            do.append(_dynamic(name, new))
            undo.append(_dynamic(name, old) if row["set_by"] == "broker_dynamic" else _forget(name))
    notes = (message("advice.note.every_broker"),)
    if row["set_by"] != "broker_dynamic":
        notes += (message("advice.note.override_until_restart"),)
    return Command(" && ".join(do), " && ".join(undo), message("advice.place.brokers"), notes)


def _dynamic(name: str, value: int | None) -> str:
    return (
        f"pulsar-admin brokers update-dynamic-config --config {name} --value {0 if value is None else value}"
    )


def _forget(name: str) -> str:
    return f"pulsar-admin brokers delete-dynamic-config --config {name}"


def _flags(msg: int | None, size: int | None, period_s: int, relative: bool) -> str:
    rates = (
        f"-md {_UNLIMITED if msg is None else msg} -bd {_UNLIMITED if size is None else size} -dt {period_s}"
    )
    return f"{rates} -rp" if relative else rates
