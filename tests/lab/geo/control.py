"""The lab's hands on a pair of clusters: in, steps of a geo scenario; out, admin calls and what the clusters answered.

A row of policies is as in :mod:`tests.lab.snapshots`, with the field ``cluster``; so is one of topic stats. A row of internal stats holds the
replicators' cursors: ``{"cluster", "topic", "partition", "observed_ms", "body"}``.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from typing import Any

from tests.lab.admin import Admin
from tests.lab.geo.model import GeoScenario, GeoStep, ReplicatedTopic
from tests.lab.geo.pair import GeoCluster, Pair
from tests.lab.staged.model import TOPIC
from tests.lab.thinning import DROPPED_STATS, thin_policy, thin_stats

_EARLIEST = {"ledgerId": -1, "entryId": -1}
_APPEAR_S = 30
LOCAL_SUBSCRIPTION = "local"
_DYNAMIC = {
    "msg": "dispatchThrottlingRatePerReplicatorInMsg",
    "bytes": "dispatchThrottlingRatePerReplicatorInByte",
}
_REPLICATION_SETTINGS = re.compile(
    r"eplicat|ublishRate|ublisherThrottling|schemaCompat|AllowAutoUpdateSchema"
)
_TOPIC_POLICIES = {
    "topic_replicator_dispatch_rate": "replicatorDispatchRate",
    "topic_publish_rate": "publishRate",
    "topic_dispatch_rate": "dispatchRate",
    "topic_subscription_dispatch_rate": "subscriptionDispatchRate",
    "topic_message_ttl": "messageTTL",
    "topic_backlog_quotas": "backlogQuotaMap",
    "topic_retention": "retention",
}
#: Further fields of a topic's stats that no rule reads.
_DROPPED_GEO_STATS = re.compile(
    r"draining|filter[A-Z]|nonContiguous|[oO]ffload|.*TxnCount$|last(Acked|Consumed)Time$|clientVersion$|supportsPartial|chunked|"
    r"consumersAfterMark|systemTopic|delayedMessageIndex|firstMessagesSent|firstConsumedFlow|allowOutOfOrder"
)
#: A publish limit pauses a connection and a quota may close it, with all replicators that share it.
_NEEDS_OWN_CONNECTION = frozenset(["remote_publish_limit", "remote_quota"])
_SEPARATE_TRIES = 12
#: Of a replicator's cursor only what says whether it reads.
_CURSOR = (
    "markDeletePosition", "readPosition", "waitingReadOp", "pendingReadOps", "messagesConsumedCounter", "cursorLedger", "state",
    "numberOfEntriesSinceFirstNotAckedMessage",
)  # fmt: skip


def create_topics(pair: Pair, topics: Iterable[ReplicatedTopic]) -> None:
    """Create namespaces on both clusters, topics and subscriptions."""
    topics = list(topics)
    for topic in topics:
        for cluster in pair.clusters:
            body = {"bundles": {"numBundles": 1}, "replication_clusters": list(pair.names)}
            cluster.admin.call("PUT", f"/namespaces/{topic.namespace}", body)
    for topic in topics:
        source = pair.cluster(topic.source)
        source.admin.call("PUT", _path(topic))
        source.admin.call("PUT", f"{_path(topic)}/subscription/{LOCAL_SUBSCRIPTION}", _EARLIEST)
    for topic in topics:
        remote = pair.cluster(topic.remote)
        _wait_for_topic(remote, topic)
        if topic.unread_on_remote:
            remote.admin.call("PUT", f"{_path(topic)}/subscription/{topic.unread_on_remote}", _EARLIEST)


def _wait_for_topic(cluster: GeoCluster, topic: ReplicatedTopic) -> None:
    """Replication brings a topic to the other cluster within seconds."""
    deadline = time.monotonic() + _APPEAR_S
    while topic.full_name not in json.loads(
        cluster.admin.get_text(f"/admin/v2/persistent/{topic.namespace}") or "[]"
    ):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{topic.full_name} is not on {cluster.name} after {_APPEAR_S} s")
        time.sleep(0.5)


def separate_connections(pair: Pair, topics: Iterable[ReplicatedTopic]) -> None:
    """Give replicators whose connection will be paused or closed one of their own: unloaded, a topic draws another one."""
    topics = list(topics)
    for _ in range(_SEPARATE_TRIES):
        lines = {topic: _connection(pair, topic) for topic in topics}
        wanted = [topic for topic in topics if topic.truth.cause in _NEEDS_OWN_CONNECTION]
        shared = [topic for topic in wanted if sum(line == lines[topic] for line in lines.values()) > 1]
        if not shared and all(lines.values()):
            return
        for topic in shared:
            if lines[topic]:
                pair.cluster(topic.source).admin.call("PUT", f"{_path(topic)}/unload")
        time.sleep(2)
    raise RuntimeError("replicators share connections, or are not connected")


def _connection(pair: Pair, topic: ReplicatedTopic) -> str | None:
    """The connection of a topic's replicator to the remote cluster."""
    body = pair.cluster(topic.source).admin.get_text(f"/admin/v2{_path(topic)}/stats")
    return (
        json.loads(body or "{}")
        .get("replication", {})
        .get(pair.cluster(topic.remote).cluster, {})
        .get("outboundConnection")
    )


def apply(pair: Pair, topic: ReplicatedTopic | None, step: GeoStep) -> None:
    """Make one change by the admin API, the network, or a signal; returns when it was accepted."""
    cluster = pair.cluster(step.cluster)
    if step.action == "stop_cluster":
        cluster.stop()
    elif step.action == "start_cluster":
        cluster.spawn()
        cluster.wait()
    elif step.action == "shape_network":
        pair.network.shape(step.delay_ms or 0, step.bytes_per_s)
    elif step.level == "broker":
        _set_broker_limit(cluster.admin, step)
    else:
        assert topic is not None
        _apply_to_topic(cluster.admin, topic, step)


def _set_broker_limit(admin: Admin, step: GeoStep) -> None:
    lifting = step.action == "lift_replicator_limit"
    for unit, name in _DYNAMIC.items():
        value = 0 if lifting else getattr(step, unit)
        if value is not None:
            # 0 means no limit; the override stays visible in the snapshot.
            admin.call("POST", f"/brokers/configuration/{name}/{value}")


def _apply_to_topic(admin: Admin, topic: ReplicatedTopic, step: GeoStep) -> None:
    place = _path(topic) if step.level != "namespace" else f"/namespaces/{topic.namespace}"
    if step.action == "set_replicator_limit":
        body = {
            "dispatchThrottlingRateInMsg": step.msg or -1,
            "dispatchThrottlingRateInByte": step.bytes or -1,
            "ratePeriodInSecond": 1,
            "relativeToPublishRate": False,
        }
        admin.call("POST", f"{place}/replicatorDispatchRate", body)
    elif step.action == "lift_replicator_limit":
        admin.call("DELETE", f"{place}/replicatorDispatchRate")
    elif step.action == "set_publish_limit":
        body = {
            "publishThrottlingRateInMsg": step.msg or -1,
            "publishThrottlingRateInByte": step.bytes or -1,
        }
        admin.call("POST", f"{place}/publishRate", body)
    elif step.action == "lift_publish_limit":
        admin.call("DELETE", f"{place}/publishRate")
    elif step.action == "set_backlog_quota":
        body = {"limitSize": step.limit_bytes, "limitTime": -1, "policy": step.policy}
        admin.call("POST", f"{_path(topic)}/backlogQuota?backlogQuotaType=destination_storage", body)
    elif step.action == "lift_backlog_quota":
        admin.call("DELETE", f"{_path(topic)}/backlogQuota?backlogQuotaType=destination_storage")
    elif step.action == "clear_backlog":
        admin.call("POST", f"{_path(topic)}/subscription/{topic.unread_on_remote}/skip_all")
    elif step.action == "unload":
        admin.call("PUT", f"{_path(topic)}/unload")
    elif step.action in ("refuse_schemas", "accept_schemas"):
        body = step.action == "accept_schemas"
        admin.call("POST", f"/namespaces/{topic.namespace}/isAllowAutoUpdateSchema", body)
    else:
        raise TypeError(f"nothing plays {step.action}")


def _path(topic: ReplicatedTopic) -> str:
    return f"/persistent/{topic.namespace}/{TOPIC}"


def policy_rows(cluster: GeoCluster, scenario: GeoScenario) -> list[dict[str, Any]]:
    """Ask a cluster what decides the limits of replicators and of publishing."""
    ask, address = _Asking(cluster), cluster.web_address
    ask.policy("broker_configuration_runtime", address, "/admin/v2/brokers/configuration/runtime")
    ask.policy("broker_dynamic_configuration", address, "/admin/v2/brokers/configuration/values")
    ask.policy("broker_version", address, "/admin/v2/brokers/version")
    for topic in scenario.topics:
        ask.policy("namespace", topic.namespace, f"/admin/v2/namespaces/{topic.namespace}")
        for scope, name in _TOPIC_POLICIES.items():
            ask.policy(scope, topic.full_name, f"/admin/v2{_path(topic)}/{name}")
            path = f"/admin/v2{_path(topic)}/{name}?isGlobal=true"
            ask.policy(f"global_{scope}", topic.full_name, path)
        ask.policy("topic_owner", topic.full_name, f"/lookup/v2/topic{_path(topic)}")
        if cluster.name == topic.source:
            subscription = f"{topic.full_name}#{LOCAL_SUBSCRIPTION}"
            path = f"/admin/v2{_path(topic)}/{LOCAL_SUBSCRIPTION}/dispatchRate"
            ask.policy("subscription_dispatch_rate", subscription, path)
    return ask.rows


def stats_rows(
    cluster: GeoCluster, scenario: GeoScenario
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Ask a cluster the stats of every topic, and the internal stats of the replicators that send from it."""
    stats, internal = [], []
    for topic in scenario.topics:
        row = {
            "cluster": cluster.cluster,
            "topic": topic.full_name,
            "partition": -1,
            "observed_ms": round(time.time() * 1000),
        }
        body = cluster.admin.get_text(f"/admin/v2{_path(topic)}/stats", getPreciseBacklog="true")
        stats.append(thin_stats({**row, "body": body}, _is_dropped))
        if cluster.name == topic.source:
            body = cluster.admin.get_text(f"/admin/v2{_path(topic)}/internalStats")
            internal.append({**row, "body": _cursors(body)})
    return stats, internal


class _Asking:
    """Answers of one cluster, as rows."""

    def __init__(self, cluster: GeoCluster) -> None:
        self._admin, self._address = cluster.admin, cluster.web_address
        self._label = cluster.cluster
        self.rows: list[dict[str, Any]] = []

    def policy(self, scope: str, key: str, path: str) -> None:
        body = self._admin.get_text(path)
        if scope == "broker_version" and body is not None and not body.startswith('"'):
            body = json.dumps(body)
        row = {
            "cluster": self._label,
            "scope": scope,
            "key": key,
            "body": body,
            "broker": self._address,
            "observed_ms": round(time.time() * 1000),
        }
        self.rows.append(thin_policy(row, _REPLICATION_SETTINGS))


def _is_dropped(name: str) -> bool:
    """What no rule reads of a topic's stats; replication and publishers stay."""
    dropped = DROPPED_STATS - {"replication", "publishers"}
    return name in dropped or _DROPPED_GEO_STATS.match(name) is not None


def _cursors(body: str | None) -> str | None:
    if not body:
        return body
    cursors = {
        name: {field: cursor[field] for field in _CURSOR if field in cursor}
        for name, cursor in json.loads(body)["cursors"].items()
        if name.startswith("pulsar.repl.")
    }
    return json.dumps({"cursors": cursors}, separators=(",", ":"))
