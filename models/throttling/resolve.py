"""Effective limits of a scenario. In: the places where a scenario sets limits; out: the rates of every limiter object.

The chain of policies is not repeated here: the scenario is written down as the answers that a broker's admin API would give,
and ``transforms/limits.py``, the only resolver, reads them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from throttlescope.models.throttling.scenario import LiftLimit, Limit, LimitPlace, Scenario, SetLimit, Topic
from throttlescope.models.throttling.world import Rates
from throttlescope.transforms.limits import effective_limits

_CLUSTER = "simulated"

Place = tuple[str, str, str | None, str | None]
Key = tuple[str, int, str]


def place_of(limit: LimitPlace) -> Place:
    """Where a limit is set, as a key."""
    return limit.level, limit.set_at, limit.topic, limit.subscription


def change_limits(limits: dict[Place, Limit], step: SetLimit | LiftLimit) -> None:
    """Set or lift a limit among those that are set."""
    if isinstance(step, SetLimit):
        limits[place_of(step)] = step
    else:
        limits.pop(place_of(step), None)


def rates_in_force(scenario: Scenario, limits: Mapping[Place, Limit]) -> dict[tuple[str, Key], Rates]:
    """Resolve a scenario's limits as a broker does.

    Parameters
    ----------
    scenario
        Topics, subscriptions and broker settings.
    limits
        What is set now, by place.

    Returns
    -------
    dict
        Rates by level and (topic, partition, subscription); a level without a limit has rates of 0.
    """
    rows = effective_limits(_answers(scenario, limits))
    prefix = f"persistent://{scenario.namespace}/"
    found = {}
    for row in rows:
        key = (row["topic"].removeprefix(prefix), row["partition"], row["subscription"])
        found[row["level"], key] = Rates(
            row["rate_msg"] or 0,
            row["rate_bytes"] or 0,
            row["period_s"] * 1_000_000,
            row["relative_to_publish"],
        )
    return found


def _answers(scenario: Scenario, limits: Mapping[Place, Limit]) -> list[dict[str, Any]]:
    settings = {
        **scenario.broker.settings.model_dump(by_alias=True),
        "dispatcherMaxReadBatchSize": scenario.broker.read_batch,
    }
    numbers = {topic.broker for topic in scenario.topics}
    rows: list[dict[str, Any]] = []

    def say(scope: str, key: str, body: Any) -> None:
        rows.append(
            {
                "cluster": _CLUSTER,
                "scope": scope,
                "key": key,
                "body": json.dumps(body),
                "broker": "",
                "observed_ms": 0,
            }
        )

    broker = _record(limits.get(("broker", "broker", None, None)))
    runtime = {
        **{name: str(value) for name, value in settings.items()},
        "dispatchThrottlingRateInMsg": broker["dispatchThrottlingRateInMsg"],
        "dispatchThrottlingRateInByte": broker["dispatchThrottlingRateInByte"],
        "clusterName": _CLUSTER,
        "topicLevelPoliciesEnabled": "true",
    }
    for number in sorted(numbers):
        say("broker_configuration_runtime", f"broker-{number}", runtime)
    namespace = {
        name: {_CLUSTER: _record(limits[level, "namespace", None, None])}
        for level, name in (("topic", "topicDispatchRate"), ("subscription", "subscriptionDispatchRate"))
        if (level, "namespace", None, None) in limits
    }
    say("namespace", scenario.namespace, {"replication_clusters": [_CLUSTER], **namespace})
    for topic, partitions, readers in _topics(scenario):
        name = f"persistent://{scenario.namespace}/{topic.name}"
        say("topic_dispatch_rate", name, _record(limits.get(("topic", "topic", topic.name, None))))
        say("global_topic_dispatch_rate", name, None)
        own = limits.get(("subscription", "topic", topic.name, None))
        say("topic_subscription_dispatch_rate", name, _record(own))
        say("global_topic_subscription_dispatch_rate", name, None)
        say("partition_count", name, {"partitions": topic.partitions or topic.segments})
        say("topic_subscriptions", name, readers)
        for partition in partitions:
            physical = name if partition < 0 else f"{name}-partition-{partition}"
            say("topic_owner", physical, f"http://broker-{topic.broker}")
        for reader in readers:
            place = ("subscription", "subscription", topic.name, reader)
            say("subscription_dispatch_rate", f"{name}#{reader}", _record(limits.get(place)))
    return rows


def _topics(scenario: Scenario) -> Iterator[tuple[Topic, list[int], list[str]]]:
    """Topics with the numbers of their partitions and their readers; the retry-letter topics too."""
    for topic in scenario.topics:
        readers = [item.name for item in scenario.subscriptions if topic.name in item.reads]
        yield topic, scenario.partitions_of(topic.name), readers
    for item in scenario.subscriptions:
        if item.retry_letter is not None:
            topic = scenario.topic(item.reads[0])
            yield (
                topic.model_copy(update={"name": item.retry_topic, "partitions": 0, "segments": 0}),
                [-1],
                [item.name],
            )


def _record(limit: Limit | None) -> dict[str, Any]:
    if limit is None:
        return {"dispatchThrottlingRateInMsg": -1, "dispatchThrottlingRateInByte": -1}
    return {
        "dispatchThrottlingRateInMsg": limit.msg or -1,
        "dispatchThrottlingRateInByte": limit.bytes or -1,
        "ratePeriodInSecond": limit.period_s,
        "relativeToPublishRate": limit.relative_to_publish,
    }
