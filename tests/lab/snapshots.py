"""Raw admin answers for a recording: in, a scenario on a running broker; out, rows of policies and topic stats.

A row of policies is ``{"scope", "key", "body", "broker", "observed_ms"}``, one of topic stats ``{"topic", "partition",
"observed_ms", "body"}``; ``body`` is the answer's JSON text as received (the version, which comes as bare text, as a JSON string),
null where nothing is set.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from typing import Any

from tests.lab.admin import Admin
from throttlescope.models.throttling.scenario import Scenario

#: Topic policies that decide limits, and what takes messages away.
_TOPIC_POLICIES = {
    "topic_dispatch_rate": "dispatchRate",
    "topic_subscription_dispatch_rate": "subscriptionDispatchRate",
    "topic_message_ttl": "messageTTL",
    "topic_backlog_quotas": "backlogQuotaMap",
    "topic_retention": "retention",
}


def policy_rows(admin: Admin, scenario: Scenario, web_address: str) -> list[dict[str, Any]]:
    """Ask everything that decides the limits and deadlines of a scenario's subscriptions."""
    return broker_rows(admin, web_address) + namespace_rows(admin, scenario, web_address)


def broker_rows(admin: Admin, web_address: str) -> list[dict[str, Any]]:
    """Ask what a broker itself decides."""
    asked = _Asked(admin, web_address)
    asked.ask("broker_configuration_runtime", web_address, "/admin/v2/brokers/configuration/runtime")
    asked.ask("broker_dynamic_configuration", web_address, "/admin/v2/brokers/configuration/values")
    asked.ask("broker_version", web_address, "/admin/v2/brokers/version")
    return asked.rows


def namespace_rows(
    admin: Admin, scenario: Scenario, web_address: str, topics: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """Ask what a namespace, its topics (all, or those that are named) and their subscriptions decide."""
    asked = _Asked(admin, web_address)
    ask = asked.ask
    wanted = [topic for topic in scenario.topics if topics is None or topic.name in topics]
    names = {topic.name for topic in wanted}
    ask("namespace", scenario.namespace, f"/admin/v2/namespaces/{scenario.namespace}")
    for topic in wanted:
        key = f"persistent://{scenario.namespace}/{topic.name}"
        path = f"/admin/v2/persistent/{scenario.namespace}/{topic.name}"
        for scope, name in _TOPIC_POLICIES.items():
            ask(scope, key, f"{path}/{name}")
            ask(f"global_{scope}", key, f"{path}/{name}", isGlobal="true")
        ask("partition_count", key, f"{path}/partitions")
        ask("topic_subscriptions", key, f"{path}/subscriptions")
        for name, _ in physical_topics(scenario, topic.name):
            owner_path = f"/lookup/v2/topic/persistent/{scenario.namespace}/{name}"
            ask("topic_owner", f"persistent://{scenario.namespace}/{name}", owner_path)
    for item in scenario.subscriptions:
        for topic in names.intersection(item.reads):
            key = f"persistent://{scenario.namespace}/{topic}#{item.name}"
            path = f"/admin/v2/persistent/{scenario.namespace}/{topic}/{item.name}/dispatchRate"
            ask("subscription_dispatch_rate", key, path)
    return asked.rows


class _Asked:
    """Answers of one broker, as rows."""

    def __init__(self, admin: Admin, web_address: str) -> None:
        self._admin, self._web_address = admin, web_address
        self.rows: list[dict[str, Any]] = []

    def ask(self, scope: str, key: str, path: str, **params: str) -> None:
        body = _as_json(self._admin.get_text(path, **params))
        self.rows.append(
            {
                "scope": scope,
                "key": key,
                "body": body,
                "broker": self._web_address,
                "observed_ms": round(time.time() * 1000),
            }
        )


def stats_rows(
    admin: Admin,
    scenario: Scenario,
    physical: Collection[str] | None = None,
    *,
    with_ages: bool = False,
) -> list[dict[str, Any]]:
    """Ask the stats of every topic partition, or of those whose names (with ``-partition-N``) are given."""
    earliest = {"getEarliestTimeInBacklog": "true"} if with_ages else {}
    rows = []
    for topic in scenario.topics:
        for name, partition in physical_topics(scenario, topic.name):
            if physical is not None and name not in physical:
                continue
            observed_ms = round(time.time() * 1000)
            path = f"/admin/v2/persistent/{scenario.namespace}/{name}/stats"
            body = admin.get_text(path, getPreciseBacklog="true", **earliest)
            full_name = f"persistent://{scenario.namespace}/{topic.name}"
            rows.append(
                {"topic": full_name, "partition": partition, "observed_ms": observed_ms, "body": body}
            )
    return rows


def _as_json(body: str | None) -> str | None:
    if body is None:
        return None
    try:
        json.loads(body)
    except ValueError:
        return json.dumps(body)
    return body


def physical_topics(scenario: Scenario, topic: str) -> list[tuple[str, int]]:
    """Names and numbers of a topic's partitions; the topic itself with -1 where it has none."""
    return [
        (topic if partition < 0 else f"{topic}-partition-{partition}", partition)
        for partition in scenario.partitions_of(topic)
    ]
