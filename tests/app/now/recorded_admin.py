"""An admin API on loopback that gives a recording's answers. In: a recording and a moment. Out: what an HTTP server says to each path.

Its answers are all that the lab asked of the real broker, the topic's stats among them, as they were at that moment.
"""

from __future__ import annotations

import json
from urllib.parse import unquote

from tests.app.now.recorded import Recorded

_BROKER = {
    "broker_configuration_runtime": "/admin/v2/brokers/configuration/runtime",
    "broker_dynamic_configuration": "/admin/v2/brokers/configuration/values",
    "broker_version": "/admin/v2/brokers/version",
}
_TOPIC = {
    "topic_dispatch_rate": "/dispatchRate",
    "topic_subscription_dispatch_rate": "/subscriptionDispatchRate",
    "topic_message_ttl": "/messageTTL",
    "topic_backlog_quotas": "/backlogQuotaMap",
    "topic_retention": "/retention",
    "partition_count": "/partitions",
    "topic_subscriptions": "/subscriptions",
    "topic_publish_rate": "/publishRate",
}
#: What was not requested when the shipped recordings were made: their topics have no policy of publishing.
_SINCE = ("topic_publish_rate", "global_topic_publish_rate")


class RecordedAdmin:
    """Answers ``(method, path, headers)``; ``requested`` are the paths so far."""

    def __init__(self, recorded: Recorded, until_ms: int) -> None:
        self.requested: list[str] = []
        self.answers = {"/admin/v2/clusters": '["lab"]'}
        for scope in _SINCE:
            self._take({"scope": scope, "key": recorded.topic, "body": "null"})
        for row in sorted(recorded.policies(), key=lambda row: row["observed_ms"]):
            if row["observed_ms"] < until_ms:
                self._take(row)
        for partition, body in recorded.newest_stats(until_ms).items():
            suffix = "" if partition < 0 else f"-partition-{partition}"
            self.answers[f"/admin/v2/{_path(recorded.topic)}{suffix}/stats"] = body

    def _take(self, row: dict) -> None:
        scope, body = row["scope"], row["body"]
        topic, _, subscription = row["key"].partition("#")
        answers = self.answers
        if scope in _BROKER:
            answers[_BROKER[scope]] = body
            answers["/admin/v2/brokers"] = json.dumps([row["key"]])
        elif scope == "namespace":
            answers[f"/admin/v2/namespaces/{topic}"] = body
        elif scope == "topic_owner":
            answers[f"/lookup/v2/topic/{_path(topic)}"] = body
        elif scope == "subscription_dispatch_rate":
            answers[f"/admin/v2/{_path(topic)}/{subscription}/dispatchRate"] = body
        else:
            asked_globally = "?isGlobal=true" if scope.startswith("global_") else ""
            answers[f"/admin/v2/{_path(topic)}{_TOPIC[scope.removeprefix('global_')]}{asked_globally}"] = body

    def __call__(self, method: str, path: str, headers: dict) -> tuple[int, str, bytes]:
        self.requested.append(path)
        path = unquote(path)
        bare = path.split("?")[0]
        known = path if "isGlobal" in path else bare
        if known not in self.answers:
            return 404, "application/json", b'{"reason": "not recorded"}'
        body = self.answers[known]
        if body in (None, "null"):
            return 204, "text/plain", b""
        return 200, "application/json", body.encode()


def _path(topic: str) -> str:
    return topic.replace("://", "/", 1)
