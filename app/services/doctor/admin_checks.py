"""Checks of a Pulsar admin API. In: a cluster's settings and findings from its Prometheus. Out: checks.

Only GET requests: nothing is changed on the cluster.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from throttlescope.app.services.doctor.check import FAILED, OK, SKIPPED, WARNING, DoctorCheck, refused
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from throttlescope.app.config import Cluster

AREA = "pulsar_admin"
#: Switches of the broker's runtime configuration: the value that hides evidence, and how bad that is.
_SWITCHES = (
    ("exposeTopicLevelMetricsInPrometheus", "false", FAILED),
    ("exposeConsumerLevelMetricsInPrometheus", "false", WARNING),
    ("exposePreciseBacklogInPrometheus", "false", WARNING),
    ("metricsBufferResponse", "true", WARNING),
    ("topicLevelPoliciesEnabled", "false", WARNING),
)


def examine_admin(name: str, cluster: Cluster, seen: Mapping[str, Any]) -> list[DoctorCheck]:
    """Checks of one cluster's admin API.

    Parameters
    ----------
    seen : mapping
        From the Prometheus checks: ``clusters`` (values of the cluster label), ``brokers`` (how many are scraped) and
        ``labels`` (of one subscription).
    """
    from throttlescope.app.services.doctor.requests import AdminReader

    try:
        admin = AdminReader(list(cluster.pulsar_admin.urls), cluster.pulsar_admin.access())
    except ThrottlescopeError as error:
        return [refused(name, AREA, "reachable", error)]
    return _AdminExamination(name, cluster, seen, admin).run()


class _AdminExamination:
    def __init__(self, name: str, cluster: Cluster, seen: Mapping[str, Any], admin: Any) -> None:
        self.name, self.cluster, self.seen, self.admin = name, cluster, seen, admin
        self.checks: list[DoctorCheck] = []

    def run(self) -> list[DoctorCheck]:
        try:
            version = str(self.admin.read("brokers/version"))
        except ThrottlescopeError as error:
            return [refused(self.name, AREA, "reachable", error)]
        urls = ", ".join(self.cluster.pulsar_admin.urls)
        self._say("reachable", OK, sentence("doctor.admin.reachable", urls=urls, version=version))
        self._version(version)
        for check in (self._configuration, self._cluster_name, self._brokers, self._policies, self._stats):
            self._guarded(check)
        return self.checks

    def _version(self, version: str) -> None:
        if has_throttle_counters(version):
            self._say("version", OK, sentence("doctor.admin.version", version=version))
        else:
            self._say(
                "version", WARNING, sentence("doctor.admin.old_version", version=version),
                sentence("doctor.admin.old_version.fix"),
            )  # fmt: skip

    def _configuration(self) -> None:
        runtime = self.admin.read("brokers/configuration/runtime")
        hidden = 0
        for setting, hides, status in _SWITCHES:
            if str(runtime.get(setting, "")).lower() == hides:
                hidden += 1
                found, fix = sentence(f"doctor.switch.{setting}"), sentence(f"doctor.switch_fix.{setting}")
                self._say(setting, status, found, fix)
        if not hidden:
            self._say("switches", OK, sentence("doctor.admin.switches"))
        if str(runtime.get("dispatchThrottlingOnNonBacklogConsumerEnabled", "true")).lower() == "false":
            self._say(
                "dispatchThrottlingOnNonBacklogConsumerEnabled", OK,
                sentence("doctor.admin.caught_up_exempt"),
            )  # fmt: skip
        frequency = runtime.get("statsUpdateFrequencyInSecs")
        if frequency is not None:
            self._say("rate gauges", OK, sentence("doctor.admin.rate_gauges", seconds=frequency))

    def _cluster_name(self) -> None:
        clusters = set(self.admin.read("clusters"))
        shown = self.seen.get("clusters") or {self.name}
        if clusters & set(shown):
            self._say("cluster name", OK, ", ".join(sorted(clusters & set(shown))))
        else:
            self._say(
                "cluster name", WARNING,
                sentence("doctor.admin.other_cluster", listed=", ".join(sorted(clusters)), scraped=", ".join(sorted(shown))),
                sentence("doctor.admin.other_cluster.fix"),
            )  # fmt: skip

    def _brokers(self) -> None:
        listed, scraped = len(self.admin.read("brokers")), self.seen.get("brokers")
        if scraped is None:
            self._say("brokers", OK, sentence("doctor.admin.brokers_listed", listed=listed))
        elif listed == scraped:
            self._say("brokers", OK, sentence("doctor.admin.brokers", listed=listed))
        elif scraped < listed:
            self._say(
                "brokers", WARNING, sentence("doctor.admin.fewer_scraped", scraped=scraped, listed=listed),
                sentence("doctor.admin.fewer_scraped.fix"),
            )  # fmt: skip
        else:
            self._say(
                "brokers", WARNING, sentence("doctor.admin.more_scraped", scraped=scraped, listed=listed),
                sentence("doctor.admin.more_scraped.fix"),
            )  # fmt: skip

    def _policies(self) -> None:
        namespace = _namespace(self.seen, self.cluster)
        if namespace is None:
            tenants = self.admin.read("tenants")
            self._say("rights", OK, sentence("doctor.admin.tenants", tenants=len(tenants)))
            return
        self.admin.read(f"namespaces/{_path(namespace)}")
        self._say("rights on policies", OK, sentence("doctor.admin.policies", namespace=namespace))

    def _stats(self) -> None:
        topic = _topic(self.seen, self.cluster)
        if topic is None:
            self._say("rights on topics", SKIPPED, sentence("doctor.admin.no_topic"))
            return
        domain, rest = topic.split("://", 1)
        stats = self.admin.read(f"{domain}/{_path(rest)}/stats")
        subscriptions = stats.get("subscriptions", {})
        counted = [s for s in subscriptions.values() if "dispatchThrottledMsgEventsBySubscriptionLimit" in s]
        if subscriptions and not counted:
            self._say(
                "topic stats",
                WARNING,
                sentence("doctor.admin.no_counts", topic=topic),
                sentence("doctor.admin.no_counts.fix"),
            )
        else:
            found = sentence("doctor.admin.topic_stats", topic=topic, subscriptions=len(subscriptions))
            self._say("topic stats", OK, found)

    def _say(self, check: str, status: str, found: str, fix: str = "") -> None:
        self.checks.append(DoctorCheck(self.name, AREA, check, status, found, fix))

    def _guarded(self, check: Callable[[], None]) -> None:
        try:
            check()
        except ThrottlescopeError as error:
            what = check.__name__.strip("_").replace("_", " ")
            failed = refused(self.name, AREA, what, error)
            # A token without one permission still reads the rest: verdicts have less evidence.
            self.checks.append(
                DoctorCheck(
                    self.name,
                    AREA,
                    what,
                    WARNING,
                    failed.found,
                    failed.fix or sentence("doctor.admin.not_allowed.fix"),
                )
            )


def has_throttle_counters(version: str) -> bool:
    """Whether a release has the counters of PIP-406: 4.0.4 and later 4.0, 4.1.0 and anything after."""
    numbers = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    if numbers is None:
        return False
    major, minor, patch = (int(n or 0) for n in numbers.groups())
    return (major, minor) >= (4, 1) or ((major, minor) == (4, 0) and patch >= 4)


def _namespace(seen: Mapping[str, Any], cluster: Cluster) -> str | None:
    value = seen.get("labels", {}).get(cluster.labels.namespace, "")
    return value if value.count("/") == 1 else None


def _topic(seen: Mapping[str, Any], cluster: Cluster) -> str | None:
    labels = seen.get("labels", {})
    topic, partition = labels.get(cluster.labels.topic, ""), labels.get(cluster.labels.partition, "-1")
    if not re.match(r"(persistent|non-persistent)://[^/]+/[^/]+/.", topic):
        return None
    return topic if partition in ("", "-1") else f"{topic}-partition-{partition}"


def _path(text: str) -> str:
    # tenant/namespace/local-name: the local name may contain a slash, which must not split the path.
    return "/".join(quote(part, safe="") for part in text.split("/", 2))
