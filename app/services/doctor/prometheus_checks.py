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
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import duration_text

if TYPE_CHECKING:
    from throttlescope.app.config import Cluster

AREA = "prometheus"
BACKLOG = "pulsar_subscription_back_log"
_FRESH_S = 300
_SLOWEST_SCRAPE_S = 60
_GREATEST_SKEW_S = 15

#: Groups of metrics by what they are needed for. Without the first two there are no verdicts.
_METRICS = (
    ("backlog", FAILED, ("pulsar_subscription_back_log_no_delayed",)),
    ("dispatch", FAILED, ("pulsar_out_messages_total", "pulsar_out_bytes_total")),
    ("publish", WARNING, ("pulsar_in_messages_total", "pulsar_in_bytes_total")),
    ("acks", WARNING, ("pulsar_subscription_msg_ack_rate",)),
    ("consumers", WARNING, ("pulsar_subscription_consumers_count",)),
    ("unacked", WARNING, ("pulsar_subscription_unacked_messages",)),
    ("writes", WARNING, ("pulsar_storage_write_rate",)),
)
_THROTTLE = (
    "pulsar_subscription_dispatch_throttled_msg_events",
    "pulsar_subscription_dispatch_throttled_bytes_events",
)


def examine_prometheus(name: str, cluster: Cluster) -> tuple[list[DoctorCheck], dict[str, Any]]:
    """Checks of one cluster's Prometheus.

    Returns
    -------
    list of Check
    dict
        ``clusters`` (values of the cluster label), ``topic`` and ``subscription`` (one of them, for the admin checks).
    """
    from throttlescope.app.services.doctor.requests import PrometheusQueries

    try:
        api = PrometheusQueries(cluster.prometheus.url, cluster.prometheus.access())
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
                    self._backlog_age,
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
        url = self.cluster.prometheus.url
        found = sentence("doctor.prometheus.reachable", url=url, version=version or "unknown")
        self._say("reachable", OK, found)
        self._guarded(self._clock, set())
        self._guarded(self._remote_read, set())
        return True

    def _clock(self, _: set[str]) -> None:
        skew_s = self.api.now_s() - time.time()
        if abs(skew_s) > _GREATEST_SKEW_S:
            self._say(
                "clock", WARNING, sentence("doctor.prometheus.clock_differs", skew_s=skew_s),
                sentence("doctor.prometheus.clock_differs.fix"),
            )  # fmt: skip
        else:
            self._say("clock", OK, sentence("doctor.prometheus.clock", seconds=_GREATEST_SKEW_S))

    def _remote_read(self, _: set[str]) -> None:
        wanted = self.cluster.prometheus.reader
        if wanted == "api":
            self._say("remote read", SKIPPED, sentence("doctor.prometheus.remote_read_unused"))
        elif self.api.offers_remote_read():
            self._say("remote read", OK, sentence("doctor.prometheus.remote_read"))
        else:
            self._say(
                "remote read", FAILED if wanted == "remote_read" else WARNING,
                sentence("doctor.prometheus.no_remote_read"), sentence(f"doctor.prometheus.no_remote_read.fix.{wanted}"),
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
                "Pulsar metrics", FAILED, sentence("doctor.prometheus.no_names"),
                sentence("doctor.prometheus.no_names.fix"),
            )  # fmt: skip
        else:
            self._say("Pulsar metrics", OK, sentence("doctor.prometheus.names", names=len(names)))
        return names

    def _topic_level(self, names: set[str]) -> bool:
        subscriptions = self._count(BACKLOG, f'{self._label("subscription")}!=""')
        if subscriptions:
            found = sentence("doctor.prometheus.topic_level", subscriptions=subscriptions)
            self._say("topic level", OK, found)
            self.seen["subscriptions"] = subscriptions
        elif BACKLOG in names:
            self._say(
                "topic level",
                FAILED,
                sentence("doctor.prometheus.no_samples", metric=BACKLOG),
                sentence("doctor.prometheus.no_samples.fix"),
            )
        else:
            self._say(
                "topic level",
                FAILED,
                sentence("doctor.prometheus.only_sums"),
                sentence("doctor.prometheus.only_sums.fix"),
            )
        return subscriptions > 0

    def _metrics(self, names: set[str]) -> None:
        for purpose, status, group in _METRICS:
            missing = [metric for metric in group if metric not in names]
            if missing:
                self._say(
                    "metric",
                    status,
                    sentence(f"doctor.missing_metric.{purpose}", metrics=", ".join(missing)),
                    sentence("doctor.prometheus.missing_metric.fix"),
                )

    def _throttle_counters(self, names: set[str]) -> None:
        missing = [metric for metric in _THROTTLE if metric not in names]
        if not missing:
            self._say("throttle counters", OK, sentence("doctor.prometheus.throttle_counters"))
            return
        versions = ", ".join(sorted(self._values("pulsar_version_info", "version"))) or "unknown"
        self._say(
            "throttle counters", WARNING,
            sentence("doctor.prometheus.no_throttle_counters", metrics=", ".join(missing), versions=versions),
            sentence("doctor.prometheus.no_throttle_counters.fix"),
        )  # fmt: skip

    def _consumer_level(self, names: set[str]) -> None:
        if "pulsar_consumer_available_permits" in names:
            self._say("consumer metrics", OK, sentence("doctor.prometheus.consumer_level"))
        else:
            self._say(
                "consumer metrics", WARNING,
                sentence("doctor.prometheus.no_consumer_level"),
                sentence("doctor.prometheus.no_consumer_level.fix"),
            )  # fmt: skip

    def _backlog_age(self, names: set[str]) -> None:
        if "pulsar_subscription_storage_backlog_age_seconds" in names:
            self._say("backlog age", OK, sentence("doctor.prometheus.backlog_age"))
        else:
            self._say(
                "backlog age", SKIPPED,
                sentence("doctor.prometheus.no_backlog_age"),
                sentence("doctor.prometheus.no_backlog_age.fix"),
            )  # fmt: skip

    def _freshness(self, _: set[str]) -> None:
        age_s = self._number(f"time() - max(timestamp({BACKLOG}))")
        if age_s is None:
            return
        status = OK if age_s < _FRESH_S else WARNING
        self._say(
            "freshness", status, sentence("doctor.prometheus.freshness", age=duration_text(round(age_s * 1000))),
            "" if status == OK else sentence("doctor.prometheus.old.fix"),
        )  # fmt: skip

    def _scrape_interval(self, _: set[str]) -> None:
        # One series per broker, so the raw samples are few; the share of lost scrapes shows in them too.
        times = [
            [float(t) for t, _ in row["values"]]
            for row in self.api.query_now("pulsar_broker_topics_count[10m]")
        ]
        gaps = [b - a for series in times for a, b in itertools.pairwise(series)]
        if not gaps:
            self._say("scrape interval", SKIPPED, sentence("doctor.prometheus.too_few_samples"))
            return
        interval_s = statistics.median(gaps)
        lost = sum(gap > 1.5 * interval_s for gap in gaps)
        if lost:
            text = sentence(
                "doctor.prometheus.lost_scrapes", interval_s=interval_s, lost=lost, scrapes=len(gaps)
            )
        else:
            text = sentence("doctor.prometheus.scrape_interval", interval_s=interval_s)
        if interval_s > _SLOWEST_SCRAPE_S:
            self._say(
                "scrape interval", WARNING, text, sentence("doctor.prometheus.slow_scrapes.fix"),
            )  # fmt: skip
        elif lost > len(gaps) / 20:
            self._say(
                "scrape interval",
                WARNING,
                text,
                sentence("doctor.prometheus.lost_scrapes.fix"),
            )
        else:
            self._say("scrape interval", OK, text)

    def _labels(self, _: set[str]) -> None:
        topic, partition = self._label("topic"), self._label("partition")
        split = self._count(BACKLOG, f'{partition}!=""')
        joined = self._count(BACKLOG, f'{topic}=~".+-partition-[0-9]+"')
        if split and joined:
            shape = sentence("doctor.labels.both")
        elif split:
            shape = sentence("doctor.labels.split", topic=topic, partition=partition)
        elif joined:
            shape = sentence("doctor.labels.joined", topic=topic)
        else:
            shape = sentence("doctor.labels.not_partitioned", topic=topic)
        self._say("label shape", OK, shape)

        named = self._values(BACKLOG, self._label("namespace"))
        if not any("/" in value for value in named):
            exported = self._values(BACKLOG, "exported_namespace")
            fix = sentence("doctor.labels.no_namespace.fix")
            if any("/" in value for value in exported):
                own = "NAME" if self.name == UNNAMED else self.name
                fix = sentence("doctor.labels.exported_namespace.fix", cluster=own)
            got = ", ".join(sorted(named)[:3]) or "nothing"
            self._say("namespace label", FAILED, sentence("doctor.labels.no_namespace", found=got), fix)
        else:
            found = sentence("doctor.labels.namespace", namespaces=len(named), label=self._label("namespace"))
            self._say("namespace label", OK, found)

        clusters = self._values(BACKLOG, self._label("cluster"))
        self.seen["clusters"] = clusters
        if not clusters:
            self._say("cluster label", OK, sentence("doctor.labels.no_cluster", cluster=self.name))
        elif self.name not in (*clusters, UNNAMED):
            self._say(
                "cluster label", WARNING,
                sentence("doctor.labels.other_cluster", found=", ".join(sorted(clusters)[:5]), cluster=self.name),
                sentence("doctor.labels.other_cluster.fix"),
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
                "one series each", WARNING, sentence("doctor.prometheus.duplicates", most=most),
                sentence("doctor.prometheus.duplicates.fix"),
            )  # fmt: skip
        else:
            self._say("one series each", OK, sentence("doctor.prometheus.no_duplicates"))
        brokers = self._number("count(count by (instance) (pulsar_broker_rate_out))")
        if brokers is not None:
            self.seen["brokers"] = round(brokers)
        row = self.api.query_now(f"topk(1, {BACKLOG})")
        if row:
            self.seen["labels"] = row[0]["metric"]

    def _specification(self, _: set[str]) -> None:
        wanted = self.cluster.specification
        for direction, unit, rate, metric in (
            ("dispatch", "messages/s", wanted.dispatch_msg_rate, "pulsar_broker_rate_out"),
            ("dispatch", "bytes/s", wanted.dispatch_bytes_rate, "pulsar_broker_throughput_out"),
            ("publish", "messages/s", wanted.publish_msg_rate, "pulsar_broker_rate_in"),
            ("publish", "bytes/s", wanted.publish_bytes_rate, "pulsar_broker_throughput_in"),
        ):
            if rate is None:
                continue
            used = self._number(f"sum({metric})")
            if used is None:
                self._say("specification", SKIPPED, f"{metric} is missing")
                continue
            percent = 100 * used / rate
            text = sentence(
                f"doctor.specification.{direction}", used=used, rate=rate, unit=unit, percent=percent
            )
            if used >= 0.8 * rate:
                self._say("specification", WARNING, text, sentence("doctor.prometheus.specification.fix"))
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
        result = self.api.query_now(query)
        return float(result[0]["value"][1]) if result else None

    def _values(self, metric: str, label: str) -> set[str]:
        rows = self.api.query_now(f"group by ({label}) ({metric})")
        return {row["metric"][label] for row in rows if row["metric"].get(label)}
