"""Worlds for tests. In: what is special about one; out: a laid out world, its run, and what each second of it added.

The base is that of the worked examples: everything is published at once, permits never end, a machine takes no time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from throttlescope.models.throttling.columns import COUNTS
from throttlescope.models.throttling.compile import compile_scenario
from throttlescope.models.throttling.machine import INSTANT, Machine
from throttlescope.models.throttling.scenario import Limit, Scenario
from throttlescope.models.throttling.simulate import run
from throttlescope.models.throttling.world import Step, World

#: Half of such a queue is never taken, so no request for more messages is ever sent.
NO_FLOW = 10**9
BACKLOG = 50_000


def limit(level: str, rates: int | Mapping[str, Any], set_at: str = "") -> dict[str, Any]:
    """A limit at its own level's policy, for the topic ``t0``; a number is messages per second."""
    place = set_at or level
    named = {"msg": rates} if isinstance(rates, int) else dict(rates)
    names = {"broker": {}, "namespace": {}, "topic": {"topic": "t0"}}.get(
        place, {"topic": "t0", "subscription": "s0"}
    )
    return {"level": level, "set_at": place, **names, **named}


def example_world(
    *,
    seconds: int,
    broker: int | Mapping[str, Any] | None = None,
    topic: int | Mapping[str, Any] | None = None,
    sub: int | Mapping[str, Any] | None = None,
    limits: Sequence[Mapping[str, Any] | Limit] = (),
    version: str = "4.2.4",
    engine: str | None = None,
    settings: Mapping[str, Any] | None = None,
    kind: str = "Shared",
    topics: int = 1,
    partitions: int = 0,
    subscriptions: int = 1,
    consumers: int = 1,
    joins_s: Mapping[int, float] | None = None,
    queue: int | Sequence[int] = NO_FLOW,
    processing_ms: float = 0,
    subscription: Mapping[str, Any] | None = None,
    policies: Mapping[str, Any] | None = None,
    at_s: Mapping[float, Sequence[Mapping[str, Any]]] | None = None,
    published_us: Sequence[int] | np.ndarray | None = None,
    msgs: int = 1,
    entry_bytes: int = 1024,
    estimate_bytes: int | None = None,
    keys: int = 0,
    deliver_after_s: float = 0,
) -> World:
    """Lay out topics ``t0``.. (each at a broker of its own), read by subscriptions ``s0``.. that are all alike.

    Parameters
    ----------
    broker, topic, sub, limits
        Limits of the three levels, and others as they are written in a scenario.
    joins_s
        Consumers by number that join only at a time.
    queue
        Receiver queue of all consumers, or of each.
    policies
        Fields of every topic.
    at_s
        Interventions by time.
    published_us, msgs, entry_bytes, estimate_bytes, keys, deliver_after_s
        Entries of every partition; without times a backlog that does not end.
    """
    given = [
        limit(level, rates)
        for level, rates in (("broker", broker), ("topic", topic), ("subscription", sub))
        if rates is not None
    ]
    checked = [item if isinstance(item, Limit) else Limit(**item) for item in (*given, *limits)]
    marks = sorted({0.0, *(at_s or {}), float(seconds)})
    scenario = Scenario(
        format=1,
        name="example",
        broker={"version": version, "engine": engine, "settings": settings or {}},
        topics=[
            {"name": f"t{number}", "partitions": partitions, "broker": number, **(policies or {})}
            for number in range(topics)
        ],
        subscriptions=[
            {
                "name": f"s{number}",
                "topics": [f"t{each}" for each in range(topics)],
                "type": kind,
                "consumers": consumers,
                "processing_ms": processing_ms,
                "receiver_queue": queue if isinstance(queue, int) and queue <= 1_000_000 else 1000,
                **(subscription or {}),
            }
            for number in range(subscriptions)
        ],
        timeline=[
            {
                "name": f"from-{number}",
                "duration_s": end - start,
                "interventions": list((at_s or {}).get(start, ())),
            }
            for number, (start, end) in enumerate(pairwise(marks))
        ],
    ).model_copy(update={"limits": tuple(checked)})
    world = compile_scenario(scenario, INSTANT)
    times = np.zeros(BACKLOG, np.int64) if published_us is None else np.asarray(published_us, np.int64)
    for log in world.logs:
        if log.is_retry:
            # Its entries come from the clients.
            continue
        log.listed_us, log.msgs, log.sizes = times, msgs, [(entry_bytes, 1 << 32)]
        log.estimate_bytes = entry_bytes if estimate_bytes is None else estimate_bytes
        log.keys, log.deliver_after_us = keys, round(deliver_after_s * 1_000_000)
    queues = [queue] * consumers if isinstance(queue, int) else queue
    for dispatcher in world.dispatchers:
        for number, port in zip(dispatcher.ports, queues, strict=True):
            world.ports[number].queue = port
    for number, joins_at_s in (joins_s or {}).items():
        join_later(world, number, joins_at_s)
    return world


def join_later(world: World, worker: int, joins_at_s: float) -> None:
    """Keep a worker out until a time."""
    world.workers[worker].joined = False
    world.steps.append(Step(round(joins_at_s * 1_000_000), "join", worker))
    world.steps.sort(key=lambda step: step.at_us)


def added(world: World, machine: Machine, engine: str) -> dict[str, np.ndarray]:
    """Run a world; counts become what each second added, gauges stay as they stand at its end."""
    totals = run(world, machine, 1, engine)
    return {
        name: np.diff(values, axis=0, prepend=0) if name in COUNTS else values
        for name, values in totals.items()
    }
