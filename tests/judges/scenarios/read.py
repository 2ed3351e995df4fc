"""Pulsar's scenario files. In: a file of ``tests/performance/scenarios`` of a checkout. Out: the load that it describes.

Three forms are read: the workload ``iotTelemetry`` with its fields side by side (``topicCount``), the later one with nested fields
(``topics.count``), and ``load``, which the older runner gives to ``pulsar-perf``. What is about profiles, memory or storage is not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from throttlescope.models.throttling.scenario.yaml_text import read_yaml

#: Fields of the workload's first form, by their place in the nested one.
_FLAT = {
    "payloadBytes": "payload.size",
    "deviceCount": "devices.count",
    "topicCount": "topics.count",
    "maxOutstanding": "gateways.producer.maxOutstanding",
    "applicationCount": "applications.count",
    "clientsPerApplication": "applications.podsPerApplication",
    "clientRestartIntervalSeconds": "behaviors.podRestarts.intervalSeconds",
    "clientRestartFraction": "behaviors.podRestarts.fraction",
}
#: What ``pulsar-perf`` gets where nothing bounds its rate.
_NO_RATE = 2**31 - 1
#: Of a consumer whose scenario names none: the default of Pulsar's clients.
_RECEIVER_QUEUE = 1000


@dataclass(frozen=True)
class PulsarLoad:
    """A scenario as its file has it.

    Attributes
    ----------
    rate_msg : float, optional
        Messages per second over all topics; None: as fast as they go.
    applications, pods : int
        Subscriptions on every topic, and the consumers of each.
    keys : int
        Different keys; 0 where messages have none.
    join_s : tuple of float
        When the consumers of each application connect, in seconds of the measurement; without it all are there at its start.
    restart_every_s, restart_fraction : float
        So often this share of each application's consumers is replaced; 0 never.
    """

    name: str
    rate_msg: float | None
    topics: int
    applications: int
    pods: int
    size_bytes: int
    subscription_type: str
    receiver_queue: int
    keys: int
    max_outstanding: int
    join_s: tuple[float, ...] = ()
    restart_every_s: float = 0
    restart_fraction: float = 0


def read_load(file: Path) -> PulsarLoad | None:
    """The load of a scenario file; None where it has none, as files that only add profiles or a cluster's memory."""
    tree = resolved(file)
    workload = tree.get("workloads", {}).get("iotTelemetry")
    if workload is not None and "topics" in workload:
        return _iot(file.stem, workload)
    return _perf(file.stem, tree["load"]) if "load" in tree else None


def resolved(file: Path, above: tuple[Path, ...] = ()) -> dict[str, Any]:
    """A file with those that it extends: mappings merge, everything else replaces, a null removes.

    Raises
    ------
    ValueError
        A file extends itself, or is no mapping.
    """
    file = file.resolve()
    if file in above:
        raise ValueError(f"{file.name} extends itself")
    own = read_yaml(file.read_text())
    if not isinstance(own, dict):
        raise ValueError(f"{file.name} is no mapping")
    parents = own.pop("extends", [])
    tree: dict[str, Any] = {}
    for parent in [parents] if isinstance(parents, str) else parents:
        tree = _merged(tree, resolved(file.parent / parent, (*above, file)))
    return _merged(tree, _nested(own))


def _nested(tree: dict[str, Any]) -> dict[str, Any]:
    """The workload's first form in the place of the second, so that files of both can extend each other."""
    workload = tree.get("workloads", {}).get("iotTelemetry")
    for name, place in _FLAT.items():
        if workload and name in workload:
            *folders, last = place.split(".")
            inner = workload
            for folder in folders:
                inner = inner.setdefault(folder, {})
            inner[last] = workload.pop(name)
    return tree


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(below)
    for name, value in above.items():
        if value is None:
            found.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(found.get(name), Mapping):
            found[name] = _merged(found[name], value)
        else:
            found[name] = value
    return found


def _iot(name: str, workload: dict[str, Any]) -> PulsarLoad:
    applications = workload["applications"]
    restarts = workload.get("behaviors", {}).get("podRestarts", {})
    return PulsarLoad(
        name,
        workload["rate"] or None,
        workload["topics"]["count"],
        applications["count"],
        applications["podsPerApplication"],
        workload["payload"]["size"],
        "Key_Shared",
        _RECEIVER_QUEUE,
        workload["devices"]["count"],
        workload["gateways"]["producer"]["maxOutstanding"],
        tuple(applications.get("joinSeconds", ())),
        restarts.get("intervalSeconds", 0),
        restarts.get("fraction", 0),
    )


def _perf(name: str, load: dict[str, Any]) -> PulsarLoad:
    rate = load["produceRate"]
    return PulsarLoad(
        name,
        None if rate == _NO_RATE else rate,
        1,
        1,
        load["consumerCount"],
        load["messageSize"],
        load["subscriptionType"],
        load["receiverQueueSize"],
        # pulsar-perf draws a key from the positive integers; the lab's producers have a million at most.
        1_000_000 if load.get("messageKeyGenerationMode") == "random" else 0,
        load["maxOutstanding"] * load["producerCount"],
    )
