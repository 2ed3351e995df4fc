"""Which simulated subscription stands for which recorded one. In: a recording and a model's tracks; out: the tracks, exchanged.

Two subscriptions that are equal in everything but their names share a limit unevenly on a real broker, and chance decides which of
them is served first. They are compared by their place: the one with the larger backlog with the one with the larger backlog.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tests.lab.simulated.recorded import Key, Recorded, Track
from throttlescope.models.throttling.scenario import Scenario


def paired(recorded: Recorded, model: dict[Key, Track]) -> dict[Key, Track]:
    """Give every recorded subscription partition the model's track that has its place among its equals."""
    groups: dict[Any, list[Key]] = defaultdict(list)
    for key in recorded.tracks:
        groups[_kind(recorded.scenario, key)].append(key)
    found = {}
    for keys in groups.values():
        ours = sorted(keys, key=lambda key: model[key].backlog_entries.sum())
        theirs = sorted(keys, key=lambda key: recorded.tracks[key].backlog_entries.sum())
        found |= {there: model[here] for there, here in zip(theirs, ours, strict=True)}
    return found


def _kind(scenario: Scenario, key: Key) -> str:
    """Everything that a subscription is beside its name and its topic's: equal for those that may be exchanged."""
    subscription = scenario.subscription(key[2])
    touched = [
        step.model_dump(exclude={"subscription"})
        for state in scenario.timeline
        for step in state.interventions
        if getattr(step, "subscription", None) == key[2]
    ]
    own_limits = [
        limit.model_dump(exclude={"subscription", "topic"})
        for limit in scenario.limits
        if limit.subscription == key[2] or (limit.topic == key[0] and limit.subscription is None)
    ]
    producers = [
        item.model_dump(exclude={"topic"}) for item in scenario.producers if item.topic in subscription.reads
    ]
    return repr(
        (
            subscription.model_dump(exclude={"name", "topic", "topics"}),
            len(subscription.reads),
            [scenario.topic(name).model_dump(exclude={"name"}) for name in subscription.reads],
            producers,
            own_limits,
            touched,
        )
    )
