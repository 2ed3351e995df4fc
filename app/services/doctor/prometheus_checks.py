"""Checks of a Prometheus. In: a cluster's settings. Out: checks, and findings for the admin checks.

Every query is an aggregation or a bounded list, so that it is cheap for a large Prometheus.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from throttlescope.app.config import UNNAMED
from throttlescope.app.services.doctor.check import FAILED, OK, SKIPPED, WARNING, DoctorCheck, refused
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.models.messages.units import duration_text

if TYPE_CHECKING:
    from throttlescope.app.config import Cluster

AREA = "prometheus"
BACKLOG = "pulsar_subscription_back_log"
_FRESH_S = 300
_SLOWEST_SCRAPE_S = 60
_GREATEST_SKEW_S = 15

# The effect of a missing metric, and its fix. Without the first three there are no verdicts.
_METRICS = (
    (("pulsar_subscription_back_log_no_delayed",), FAILED, "no backlog, so no verdict"),
    (("pulsar_out_messages_total", "pulsar_out_bytes_total"), FAILED, "no dispatch rate, so use / limit is unknown"),
    (("pulsar_in_messages_total", "pulsar_in_bytes_total"), WARNING, "no publish rate: growth cannot be explained"),
    (("pulsar_subscription_msg_ack_rate",), WARNING, "no ack rate: consumption is only seen as dispatch"),
    (("pulsar_subscription_consumers_count",), WARNING, "no_consumers cannot be distinguished from slow_consumers"),
    (("pulsar_subscription_unacked_messages",), WARNING, "queue fill of Shared subscriptions stays unknown"),
    (("pulsar_storage_write_rate",), WARNING, "messages per entry only from the admin API"),
)  # fmt: skip
_THROTTLE = (
    "pulsar_subscription_dispatch_throttled_msg_events",
    "pulsar_subscription_dispatch_throttled_bytes_events",
)
_TOPIC_LEVEL = "set exposeTopicLevelMetricsInPrometheus=true in broker.conf and restart the brokers"
_CONSUMER_LEVEL = "set exposeConsumerLevelMetricsInPrometheus=true in broker.conf and restart the brokers (9 more series per consumer)"


def examine_prometheus(name: str, cluster: Cluster) -> tuple[list[DoctorCheck], dict[str, Any]]:
    """Checks of one cluster's Prometheus.

    Returns
    -------
    list of Check
    dict
        ``clusters`` (values of the cluster label), ``topic`` and ``subscription`` (one of them, for the admin checks).
    """
    from throttlescope.app.services.doctor.requests import PrometheusQuestions

    try:
        api = PrometheusQuestions(cluster.prometheus.url, cluster.prometheus.access())
    except ThrottlescopeError as error:
        return [refused(name, AREA, "reachable", error)], {}
    return _PrometheusExamination(name, cluster, api).run()


class _PrometheusExamination:
    def __init__(self, name: str, cluster: Cluster, api: Any) -> None:
        self.name, self.cluster, self.api = name, cluster, api
        self.checks: list[DoctorCheck] = []
        self.seen: dict[str, Any] = {}
        self.backlog = BACKLOG

    def run(self) -> tuple[list[DoctorCheck], dict[str, Any]]:
        if self._reachable():
            names = self._names()
            if names and self._guarded(self._topic_level, names):
                for check in (
                    self._metrics,
                    self._throttle_counters,
                    self._consumer_level,
                    self._freshness,
                    self._scrape_interval,
                    self._labels,
                    self._duplicates,
                    self._specification,
                ):
                    self._guarded(check, names)
        return self.checks, self.seen

    # -- access ----------------------------------------------------------------------------

    def _reachable(self) -> bool:
        try:
            version = self.api.version()
        except ThrottlescopeError as error:
            self.checks.append(refused(self.name, AREA, "reachable", error))
            return False
        self._say("reachable", OK, f"{self.cluster.prometheus.url}, version {version or 'unknown'}")
        self._guarded(self._clock, set())
        self._guarded(self._remote_read, set())
        return True

    def _clock(self, _: set[str]) -> None:
        skew_s = self.api.now_s() - time.time()
        if abs(skew_s) > _GREATEST_SKEW_S:
            self._say(
                "clock", WARNING, f"its clock differs from this machine's by {skew_s:+.0f} s",
                "synchronise both clocks; relative times such as -6h count from this machine's",
            )  # fmt: skip
        else:
            self._say("clock", OK, f"within {_GREATEST_SKEW_S} s of this machine's")

    def _remote_read(self, _: set[str]) -> None:
        wanted = self.cluster.prometheus.reader
        if wanted == "api":
            self._say("remote read", SKIPPED, 'not checked: reader = "api"')
        elif self.api.offers_remote_read():
            self._say("remote read", OK, "offered: samples come streamed, staleness markers kept")
        else:
            self._say(
                "remote read", FAILED if wanted == "remote_read" else WARNING,
                "not offered: samples come as JSON, slower and without staleness markers",
                "allow POST /api/v1/read in the proxy before it" + (' or set reader = "auto"' if wanted != "auto" else ""),
            )  # fmt: skip

    # -- content ---------------------------------------------------------------------------

    def _names(self) -> set[str]:
        try:
            names = self.api.names("pulsar_.+")
        except ThrottlescopeError as error:
            self.checks.append(refused(self.name, AREA, "Pulsar metrics", error))
            return set()
        if not names:
            self._say(
                "Pulsar metrics", FAILED, "no series begins with pulsar_",
                "scrape the brokers' /metrics/ on their web port (8080), or configure the Prometheus that does",
            )  # fmt: skip
        else:
            self._say("Pulsar metrics", OK, f"{len(names)} names begin with pulsar_")
        return names

    def _topic_level(self, names: set[str]) -> bool:
        subscriptions = self._count(BACKLOG, f'{self._label("subscription")}!=""')
        if subscriptions:
            self._say("topic level", OK, f"{subscriptions:,.0f} subscription partitions have a backlog")
        elif BACKLOG in names:
            self._say(
                "topic level",
                FAILED,
                f"{BACKLOG} has had no sample with a subscription for 5 minutes",
                "check that the brokers' targets are up and that topics are loaded; or correct the label mapping",
            )
        else:
            self._say(
                "topic level",
                FAILED,
                "only sums are exposed: there is no series of a subscription",
                _TOPIC_LEVEL,
            )
        return subscriptions > 0

    def _metrics(self, names: set[str]) -> None:
        for group, status, cost in _METRICS:
            missing = [metric for metric in group if metric not in names]
            if missing:
                self._say(
                    "metric",
                    status,
                    f"missing {', '.join(missing)}: {cost}",
                    "check that no metric_relabel_configs drops it",
                )

    def _throttle_counters(self, names: set[str]) -> None:
        missing = [metric for metric in _THROTTLE if metric not in names]
        if not missing:
            self._say("throttle counters", OK, "present (Pulsar 4.0.4, 4.1.0 or newer)")
            return
        versions = ", ".join(sorted(self._values("pulsar_version_info", "version"))) or "unknown"
        self._say(
            "throttle counters", WARNING, f"missing {', '.join(missing)}; brokers' version: {versions}",
            "upgrade the brokers to 4.0.4, 4.1.0 or newer; until then only use / limit can prove a limiter",
        )  # fmt: skip

    def _consumer_level(self, names: set[str]) -> None:
        if "pulsar_consumer_available_permits" in names:
            self._say("consumer metrics", OK, "permits of consumers are exposed")
        else:
            self._say(
                "consumer metrics", WARNING,
                "permits of consumers are hidden: a full client queue is seen only in samples of the admin API's stats",
                _CONSUMER_LEVEL,
            )  # fmt: skip

    def _freshness(self, _: set[str]) -> None:
        age_s = self._number(f"time() - max(timestamp({BACKLOG}))")
        if age_s is None:
            return
        status = OK if age_s < _FRESH_S else WARNING
        self._say(
            "freshness", status, f"newest sample is {duration_text(round(age_s * 1000))} old",
            "" if status == OK else "check that the brokers' targets are up",
        )  # fmt: skip

    def _scrape_interval(self, _: set[str]) -> None:
        # One series per broker, so the raw samples are few; the share of lost scrapes shows in them too.
        times = [
            [float(t) for t, _ in row["values"]] for row in self.api.ask("pulsar_broker_topics_count[10m]")
        ]
        gaps = [b - a for series in times for a, b in itertools.pairwise(series)]
        if not gaps:
            self._say("scrape interval", SKIPPED, "fewer than two samples in the last 10 minutes")
            return
        interval_s = statistics.median(gaps)
        lost = sum(gap > 1.5 * interval_s for gap in gaps)
        text = f"{interval_s:.0f} s" + (f", {lost} of {len(gaps)} scrapes late or lost" if lost else "")
        if interval_s > _SLOWEST_SCRAPE_S:
            self._say(
                "scrape interval", WARNING, text,
                "scrape the brokers every 15 to 60 s; slower, brief throttling and restarts are not seen",
            )  # fmt: skip
        elif lost > len(gaps) / 20:
            self._say(
                "scrape interval",
                WARNING,
                text,
                "raise scrape_timeout, or see what keeps the brokers from answering",
            )
        else:
            self._say("scrape interval", OK, text)

    def _labels(self, _: set[str]) -> None:
        topic, partition = self._label("topic"), self._label("partition")
        split = self._count(BACKLOG, f'{partition}!=""')
        joined = self._count(BACKLOG, f'{topic}=~".+-partition-[0-9]+"')
        if split and joined:
            shape = "both shapes: brokers differ in splitTopicAndPartitionLabelInPrometheus"
        elif split:
            shape = f"split: topic in {topic}, partition in {partition}"
        else:
            shape = (
                f"joined: the partition is part of {topic}"
                if joined
                else f"topic in {topic}, no partitioned topic seen"
            )
        self._say("label shape", OK, shape)

        named = self._values(BACKLOG, self._label("namespace"))
        if not any("/" in value for value in named):
            exported = self._values(BACKLOG, "exported_namespace")
            fix = "set honor_labels: true in the scrape configuration"
            if any("/" in value for value in exported):
                fix += f', or namespace = "exported_namespace" in [clusters.{"NAME" if self.name == UNNAMED else self.name}.labels]'
            got = ", ".join(sorted(named)[:3]) or "nothing"
            self._say("namespace label", FAILED, f"holds {got}, not tenant/namespace", fix)
        else:
            self._say("namespace label", OK, f"{len(named)} namespaces in {self._label('namespace')}")

        clusters = self._values(BACKLOG, self._label("cluster"))
        self.seen["clusters"] = clusters
        if not clusters:
            self._say("cluster label", OK, f"missing; filled with the configured name, {self.name}")
        elif self.name not in (*clusters, UNNAMED):
            self._say(
                "cluster label", WARNING, f"holds {', '.join(sorted(clusters)[:5])}, not the configured {self.name}",
                "name the table in throttlescope.toml (or --cluster) as the label says",
            )  # fmt: skip
        else:
            self._say("cluster label", OK, ", ".join(sorted(clusters)[:5]))

    def _duplicates(self, _: set[str]) -> None:
        labels = ", ".join(
            self._label(part) for part in ("cluster", "namespace", "topic", "partition", "subscription")
        )
        most = self._number(f"max(count by ({labels}) ({BACKLOG}))")
        if most is not None and most > 1:
            self._say(
                "one series each", WARNING, f"a subscription is there {most:.0f} times at once",
                "scrape each broker once, and give each cluster a label of its own; a topic that has just moved is there twice "
                "for up to 5 minutes",
            )  # fmt: skip
        else:
            self._say("one series each", OK, "no subscription is scraped twice")
        brokers = self._number("count(count by (instance) (pulsar_broker_rate_out))")
        if brokers is not None:
            self.seen["brokers"] = round(brokers)
        row = self.api.ask(f"topk(1, {BACKLOG})")
        if row:
            self.seen["labels"] = row[0]["metric"]

    def _specification(self, _: set[str]) -> None:
        wanted = self.cluster.specification
        for does, what, rate, metric in (
            ("dispatch", "messages/s", wanted.dispatch_msg_rate, "pulsar_broker_rate_out"),
            ("dispatch", "bytes/s", wanted.dispatch_bytes_rate, "pulsar_broker_throughput_out"),
            ("take in", "messages/s", wanted.publish_msg_rate, "pulsar_broker_rate_in"),
            ("take in", "bytes/s", wanted.publish_bytes_rate, "pulsar_broker_throughput_in"),
        ):
            if rate is None:
                continue
            used = self._number(f"sum({metric})")
            if used is None:
                self._say("specification", SKIPPED, f"{metric} is missing")
                continue
            text = f"brokers {does} {used:,.0f} of {rate:,.0f} {what} ({100 * used / rate:.0f} %)"
            if used >= 0.8 * rate:
                self._say(
                    "specification", WARNING, text, "raise the cluster's specification or move load away"
                )
            else:
                self._say("specification", OK, text)

    # -- helpers ---------------------------------------------------------------------------

    def _say(self, check: str, status: str, found: str, fix: str = "") -> None:
        self.checks.append(DoctorCheck(self.name, AREA, check, status, found, fix))

    def _guarded(self, check: Callable[[set[str]], Any], names: set[str]) -> Any:
        try:
            return check(names)
        except ThrottlescopeError as error:
            what = check.__name__.strip("_").replace("_", " ")
            self.checks.append(refused(self.name, AREA, what, error))

    def _label(self, part: str) -> str:
        return getattr(self.cluster.labels, part)

    def _count(self, metric: str, matcher: str) -> float:
        return self._number(f"count({metric}{{{matcher}}})") or 0.0

    def _number(self, query: str) -> float | None:
        result = self.api.ask(query)
        return float(result[0]["value"][1]) if result else None

    def _values(self, metric: str, label: str) -> set[str]:
        rows = self.api.ask(f"group by ({label}) ({metric})")
        return {row["metric"][label] for row in rows if row["metric"].get(label)}
