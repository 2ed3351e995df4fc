"""The lab's hands on Pulsar's admin API: in, limits and topics of a scenario; out, HTTP calls that must succeed."""

from __future__ import annotations

import json
import time
from typing import Any

import requests

from throttlescope.models.throttling.scenario import BacklogQuota, Limit, LimitPlace, Scenario, Seek, Topic

_NOT_SET = (204, 404)
_EARLIEST = {"ledgerId": -1, "entryId": -1}


class Admin:
    """A small admin client; every refused call raises with the broker's own words."""

    def __init__(self, admin_url: str, cluster: str) -> None:
        self.admin_url, self.cluster = admin_url, cluster
        self._session = requests.Session()

    def get_text(self, path: str, **params: str) -> str | None:
        """Return the raw answer, None where nothing is set."""
        answer = self._session.get(f"{self.admin_url}{path}", params=params, timeout=30)
        if answer.status_code in _NOT_SET:
            return None
        answer.raise_for_status()
        return answer.text or None

    def call(self, method: str, path: str, body: Any = None) -> None:
        """Send a changing call."""
        answer = self._session.request(method, f"{self.admin_url}/admin/v2{path}", json=body, timeout=30)
        if answer.status_code >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text.strip()[:300]}")

    def create_tenant(self, name: str = "lab") -> None:
        """Create a tenant."""
        self.call("PUT", f"/tenants/{name}", {"allowedClusters": [self.cluster], "adminRoles": []})

    def create_topics(self, scenario: Scenario, *, bundles: int = 1) -> None:
        """Create namespace, topics and subscriptions of a scenario."""
        self.call("PUT", f"/namespaces/{scenario.namespace}", {"bundles": {"numBundles": bundles}})
        for topic in scenario.topics:
            path = f"/persistent/{scenario.namespace}/{topic.name}"
            if topic.partitions:
                self.call("PUT", f"{path}/partitions", topic.partitions)
            else:
                self.call("PUT", path)
            self._set_policies(path, f"/namespaces/{scenario.namespace}", topic)
        for item in scenario.subscriptions:
            for topic in item.reads:
                path = f"/persistent/{scenario.namespace}/{topic}"
                self.call("PUT", f"{path}/subscription/{item.name}", _EARLIEST)
                if item.redelivery is not None and item.redelivery.max_redeliver is not None:
                    # Topics are not made on their own here, and the client asks for this one.
                    self.call("PUT", f"{path}-{item.name}-DLQ")

    def _set_policies(self, path: str, namespace_path: str, topic: Topic) -> None:
        """Write the policies that a scenario gives to a topic."""
        for name, value in (
            ("maxUnackedMessagesOnConsumer", topic.max_unacked_per_consumer),
            ("maxUnackedMessagesOnSubscription", topic.max_unacked_per_subscription),
        ):
            if value is not None:
                self.call("POST", f"{path}/{name}", value)
        if topic.publish_rate is not None:
            rate = topic.publish_rate
            place = path if rate.set_at == "topic" else namespace_path
            self.call(
                "POST",
                f"{place}/publishRate",
                {
                    "publishThrottlingRateInMsg": rate.msg or -1,
                    "publishThrottlingRateInByte": rate.bytes or -1,
                },
            )
        if topic.ttl_s is not None:
            self._set_ttl(path, topic.ttl_s)
        if topic.backlog_quota is not None:
            self._set_backlog_quota(path, topic.backlog_quota)

    def set_ttl(self, scenario: Scenario, topic: str, ttl_s: int | None) -> None:
        """Write a topic's message TTL, or remove it."""
        self._set_ttl(f"/persistent/{scenario.namespace}/{topic}", ttl_s)

    def set_backlog_quota(self, scenario: Scenario, topic: str, quota: BacklogQuota | None) -> None:
        """Write a topic's backlog quota by size, or remove it."""
        self._set_backlog_quota(f"/persistent/{scenario.namespace}/{topic}", quota)

    def _set_ttl(self, path: str, ttl_s: int | None) -> None:
        if ttl_s is None:
            self.call("DELETE", f"{path}/messageTTL")
        else:
            self.call("POST", f"{path}/messageTTL?messageTTL={ttl_s}")

    def _set_backlog_quota(self, path: str, quota: BacklogQuota | None) -> None:
        kind = "backlogQuotaType=destination_storage"
        if quota is None:
            self.call("DELETE", f"{path}/backlogQuota?{kind}")
        else:
            body = {"limitSize": quota.limit_bytes, "limitTime": -1, "policy": quota.policy}
            self.call("POST", f"{path}/backlogQuota?{kind}", body)

    def set_limit(self, scenario: Scenario, limit: Limit) -> None:
        """Write a limit into the policy that it names."""
        if limit.level == "broker":
            for name, value in (("Msg", limit.msg), ("Byte", limit.bytes)):
                if value is not None:
                    self.call("POST", f"/brokers/configuration/dispatchThrottlingRateIn{name}/{value}")
            return
        self.call(
            "POST",
            _policy_path(scenario, limit),
            {
                "dispatchThrottlingRateInMsg": limit.msg or -1,
                "dispatchThrottlingRateInByte": limit.bytes or -1,
                "ratePeriodInSecond": limit.period_s,
                "relativeToPublishRate": limit.relative_to_publish,
            },
        )

    def lift_limit(self, scenario: Scenario, place: LimitPlace) -> None:
        """Remove a limit from the policy that it names."""
        if place.level == "broker":
            values = json.loads(self.get_text("/admin/v2/brokers/configuration/values") or "{}")
            for name in ("dispatchThrottlingRateInMsg", "dispatchThrottlingRateInByte"):
                if name in values:
                    # 0 is the broker's own default and means no limit; the override stays visible in the snapshot.
                    self.call("POST", f"/brokers/configuration/{name}/0")
            return
        self.call("DELETE", _policy_path(scenario, place))

    def touch_policy(self, scenario: Scenario, topic: str) -> None:
        """Save a topic policy that binds nothing; the broker applies all policies of the topic anew."""
        self.call("POST", f"/persistent/{scenario.namespace}/{topic}/maxProducers", 1000)

    def seek(self, scenario: Scenario, step: Seek) -> None:
        """Reset a subscription on every topic that it reads."""
        for topic in scenario.subscription(step.subscription).reads:
            path = f"/persistent/{scenario.namespace}/{topic}/subscription/{step.subscription}"
            if step.seconds_back is not None:
                self.call("POST", f"{path}/resetcursor/{round(1000 * (time.time() - step.seconds_back))}")
            elif step.to == "earliest":
                self.call("POST", f"{path}/resetcursor", _EARLIEST)
            else:
                self.call("POST", f"{path}/skip_all")

    def unload(self, scenario: Scenario, topic: str) -> None:
        """Unload a topic with all its partitions; clients bring it back."""
        self.call("PUT", f"/persistent/{scenario.namespace}/{topic}/unload")


def _policy_path(scenario: Scenario, place: LimitPlace) -> str:
    name = "dispatchRate" if place.level == "topic" else "subscriptionDispatchRate"
    if place.set_at == "namespace":
        return f"/namespaces/{scenario.namespace}/{name}"
    topic = f"/persistent/{scenario.namespace}/{place.topic}"
    if place.set_at == "subscription":
        return f"{topic}/{place.subscription}/dispatchRate"
    return f"{topic}/{name}"
