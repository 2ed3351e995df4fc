"""What to type, and how to take it back. In: a row of ``limits`` and new rates. Out: ``pulsar-admin`` commands as text.

A policy is replaced whole: every flag that is left out becomes "no limit" or one second, so every flag is restated. The
change is made at the narrowest place that holds this subscription or topic alone; where the limit comes from a namespace
or a broker, others keep theirs.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_UNLIMITED = -1
_BROKER_SETTINGS = {
    ("broker", "msg"): "dispatchThrottlingRateInMsg",
    ("broker", "bytes"): "dispatchThrottlingRateInByte",
}


@dataclass(frozen=True)
class Command:
    """A change and its way back.

    Attributes
    ----------
    do, undo : str
        Lines for a shell with ``pulsar-admin`` on its path. Nothing here runs them.
    place : str
        What is changed, in words.
    notes : tuple of str
        What else it does.
    """

    do: str
    undo: str
    place: str
    notes: tuple[str, ...] = ()


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
    where, verb = shlex.quote(topic), "dispatch-rate"
    local = "" if set_by != "global_topic_policy" else " -g"
    notes: tuple[str, ...] = ()
    if level == "subscription":
        verb = "subscription-dispatch-rate"
        if set_by in ("topic_policy", "global_topic_policy"):
            place = f"all subscriptions of {topic}"
        else:
            place, where = (
                f"subscription {subscription} of {topic}",
                f"{where} -s {shlex.quote(subscription)}",
            )
    else:
        place = f"topic {topic}, shared by all its subscriptions"
    do = f"pulsar-admin topicPolicies set-{verb} {where}{local} {flags}"
    narrower = set_by in ("namespace_policy", "broker_dynamic", "broker_file", "none")
    if narrower:
        undo = f"pulsar-admin topicPolicies remove-{verb} {where}{local}"
        if set_by != "none":
            notes = (
                f"the limit that binds comes from the {_SOURCES[set_by]}; this one goes before it, for this place alone",
            )
    else:
        undo = f"pulsar-admin topicPolicies set-{verb} {where}{local} {old}"
    return Command(
        do,
        undo,
        place,
        (*notes, "any change of a policy fills the topic's buckets anew: one period's burst follows"),
    )


_SOURCES = {
    "namespace_policy": "namespace",
    "broker_dynamic": "broker's dynamic configuration",
    "broker_file": "broker's configuration file",
}


def _broker(row: Mapping[str, Any], msg: int | None, size: int | None) -> Command:
    """A broker's limit is a setting of the cluster's brokers, each with the whole limit."""
    do, undo = [], []
    for unit, new in (("msg", msg), ("bytes", size)):
        name, old = _BROKER_SETTINGS["broker", unit], row[f"rate_{unit}"]
        if new != old:
            do.append(_dynamic(name, new))
            undo.append(_dynamic(name, old) if row["set_by"] == "broker_dynamic" else _forget(name))
    notes = ("holds for every broker of the cluster, each with the whole limit",)
    if row["set_by"] != "broker_dynamic":
        notes += (
            "an override that is deleted stays in force until the broker restarts: set the old value to undo it at once",
        )
    return Command(" && ".join(do), " && ".join(undo), "every broker of the cluster", notes)


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
