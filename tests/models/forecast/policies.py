"""Answers of the admin API for tests of deadlines. In: what is set where. Out: rows of ``policies``."""

from __future__ import annotations

import json
from typing import Any

from tests.models.forecast.minutes import HOUR_MS, NAMESPACE, TOPIC

RUNTIME = {
    "topicLevelPoliciesEnabled": "true", "ttlDurationDefaultInSeconds": "0", "messageExpiryCheckIntervalInMinutes": "5",
    "backlogQuotaCheckEnabled": "true", "backlogQuotaCheckIntervalInSeconds": "60", "preciseTimeBasedBacklogQuotaCheck": "false",
    "backlogQuotaDefaultLimitGB": "-1.0", "backlogQuotaDefaultLimitBytes": "-1", "backlogQuotaDefaultLimitSecond": "-1",
    "backlogQuotaDefaultRetentionPolicy": "producer_request_hold", "defaultRetentionTimeInMinutes": "0",
    "defaultRetentionSizeInMB": "0", "managedLedgerMaxLedgerRolloverTimeMinutes": "240", "clusterName": "pulsar",
}  # fmt: skip
TOPIC_SCOPES = tuple(
    f"{prefix}topic_{what}"
    for prefix in ("", "global_")
    for what in ("message_ttl", "backlog_quotas", "retention")
)
NOT_ASKED = object()


def policies(
    *, observed_ms: int = HOUR_MS, namespace: Any = None, runtime: dict | None = None, **topic: Any
) -> list[dict[str, Any]]:
    """Rows of one snapshot; ``NOT_ASKED`` leaves a question out."""
    answers = [
        ("broker_configuration_runtime", "broker-0:8080", RUNTIME | (runtime or {})),
        (
            "namespace",
            NAMESPACE,
            namespace if namespace is NOT_ASKED else {"deleted": False, **(namespace or {})},
        ),
        *((scope, TOPIC, topic.get(scope)) for scope in TOPIC_SCOPES),
    ]
    return [
        {
            "cluster": "prod",
            "scope": scope,
            "key": key,
            "body": json.dumps(body),
            "broker": None,
            "observed_ms": observed_ms,
        }
        for scope, key, body in answers
        if body is not NOT_ASKED
    ]


def quota(*, size: int = -1, time: int = -1, policy: str = "consumer_backlog_eviction") -> dict[str, Any]:
    return {"limit": size, "limitSize": size, "limitTime": time, "policy": policy}
