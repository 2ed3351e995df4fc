"""The lab's hands on scalable topics: in, steps of a scenario; out, admin calls and what the broker answered.

A row of policies is as in :mod:`tests.lab.snapshots`. A scalable topic has no policies of its own; its layout (``scalable_layout``) and its stats
(``scalable_stats``) are rows as well.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from typing import Any

from tests.lab.admin import Admin
from tests.lab.scalable.model import (
    SUBSCRIPTION,
    TENANT,
    ScalableScenario,
    ScalableStep,
    ScalableTopic,
)
from tests.lab.snapshots import broker_rows
from tests.lab.staged.model import TOPIC
from tests.lab.thinning import thin_policy

_SCALABLE_SETTINGS = re.compile("^scalableTopic")
_RATES = {"subscription": "subscriptionDispatchRate", "topic": "dispatchRate"}
_DYNAMIC = {"msg": "dispatchThrottlingRateInMsg", "bytes": "dispatchThrottlingRateInByte"}


def create_topics(admin: Admin, topics: Iterable[ScalableTopic]) -> None:
    """Create namespaces, topics with their first segments, and subscriptions."""
    admin.create_tenant(TENANT)
    for topic in topics:
        admin.call("PUT", f"/namespaces/{topic.namespace}", {"bundles": {"numBundles": 1}})
        admin.call("PUT", f"{_path(topic)}?numInitialSegments={topic.segments}", {})
        admin.call("PUT", f"{_path(topic)}/subscriptions/{SUBSCRIPTION}?type={topic.kind.upper()}")


def apply(admin: Admin, topic: ScalableTopic | None, step: ScalableStep) -> None:
    """Make one change by the admin API; returns when it was accepted."""
    if step.level == "broker":
        for unit, name in _DYNAMIC.items():
            # 0 means no limit; the override stays visible in the snapshot.
            value = getattr(step, unit) if step.action == "set_limit" else 0
            if value is not None:
                admin.call("POST", f"/brokers/configuration/{name}/{value}")
        return
    assert topic is not None
    if step.action == "set_limit":
        body = {
            "dispatchThrottlingRateInMsg": step.msg or -1,
            "dispatchThrottlingRateInByte": step.bytes or -1,
            "ratePeriodInSecond": 1,
            "relativeToPublishRate": False,
        }
        admin.call("POST", f"/namespaces/{topic.namespace}/{_RATES[step.level or '']}", body)
    elif step.action == "lift_limit":
        admin.call("DELETE", f"/namespaces/{topic.namespace}/{_RATES[step.level or '']}")
    elif step.action in ("split", "merge"):
        numbers = "/".join(str(number) for number in step.segments or ())
        admin.call("POST", f"{_path(topic)}/{step.action}/{numbers}")
    else:
        raise TypeError(f"nothing plays {step.action}")


def layout(admin: Admin, topic: ScalableTopic) -> dict[int, str]:
    """The hash range of every segment of a topic by its id, such as ``0000-7fff``."""
    body = json.loads(admin.get_text(f"/admin/v2{_path(topic)}") or "{}")
    return {
        int(number): f"{one['hashRange']['start']:04x}-{one['hashRange']['end']:04x}"
        for number, one in body.get("segments", {}).items()
    }


def policy_rows(admin: Admin, scenario: ScalableScenario, web_address: str) -> list[dict[str, Any]]:
    """Ask what decides the limits of the scenario's segments, and how its topics are divided."""
    rows = [thin_policy(row, _SCALABLE_SETTINGS) for row in broker_rows(admin, web_address)]
    for topic in scenario.topics:
        path = f"/admin/v2/namespaces/{topic.namespace}"
        rows.append(_row(admin, web_address, "namespace", topic.namespace, path))
    return rows + layout_rows(admin, scenario, web_address)


def layout_rows(admin: Admin, scenario: ScalableScenario, web_address: str) -> list[dict[str, Any]]:
    """Ask the layout and the stats of every topic."""
    rows = []
    for topic in scenario.topics:
        path = f"/admin/v2{_path(topic)}"
        rows.append(_row(admin, web_address, "scalable_layout", topic.full_name, path))
        rows.append(_row(admin, web_address, "scalable_stats", topic.full_name, f"{path}/stats"))
    return rows


def _row(admin: Admin, web_address: str, scope: str, key: str, path: str) -> dict[str, Any]:
    body = admin.get_text(path)
    return {
        "scope": scope,
        "key": key,
        "body": body,
        "broker": web_address,
        "observed_ms": round(time.time() * 1000),
    }


def _path(topic: ScalableTopic) -> str:
    return f"/scalable/{topic.namespace}/{TOPIC}"
