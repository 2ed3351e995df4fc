"""Sources of a run. In: settings or recordings. Out: objects that bring their part into the lake and count it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from throttlescope.app.pipeline.sources.source import ClusterSpan, Ingested, Note, Source, pulled_note
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.selector import Selector, parse_selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, block_start
from throttlescope.ingest.pull.plan import count_subscriptions
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from throttlescope.app.config import Cluster, Settings
    from throttlescope.app.pipeline.request import RunRequest
    from throttlescope.ingest.core.labels import LabelMapping
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.pull.incremental import Reader
    from throttlescope.ingest.pull.pull import PullResult
    from throttlescope.ingest.sources.prometheus import PrometheusSource
    from throttlescope.ingest.sources.pulsar_admin import Failure, PulsarAdmin
    from throttlescope.ingest.spark.task_executor import TaskExecutor


def open_cluster(name: str, cluster: Cluster, request: RunRequest) -> Source:
    from throttlescope.app.pipeline.sources.start import begun, note_down
    from throttlescope.ingest.sources.prometheus import open_prometheus

    selectors = [parse_selector(text) for text in cluster.match]
    mapping = label_mapping(name, cluster, override_cluster=request.override_cluster)
    try:
        prometheus = open_prometheus(
            cluster.prometheus.url,
            cluster.prometheus.access(),
            reader=cluster.prometheus.reader,
            mapping=mapping,
        )
    except SourceError:
        note_down(request, cluster.prometheus.url, selectors, mapping.cluster)
        raise
    admin = _open_admin(cluster, request.settings) if cluster.pulsar_admin is not None else None
    source = ClusterSource(
        prometheus, admin, selectors, request.settings, request.start_ms, request.end_ms,
        retention_ms=cluster.prometheus.retention, reset=request.reset_watermark,
    )  # fmt: skip
    return begun(source, request)


def label_mapping(name: str, cluster: Cluster, *, override_cluster: bool) -> LabelMapping:
    """How a configured cluster's series are named here."""
    from throttlescope.app.config import UNNAMED
    from throttlescope.ingest.core.labels import LabelMapping

    return LabelMapping(
        renames=cluster.labels.renames(),
        cluster=None if name == UNNAMED else name,
        override_cluster=override_cluster,
    )


def _open_admin(cluster: Cluster, settings: Settings) -> PulsarAdmin:
    from throttlescope.ingest.sources.pulsar_admin import PulsarAdmin

    admin = PulsarAdmin(
        list(cluster.pulsar_admin.urls), cluster.pulsar_admin.access(), settings.ingest.admin_calls_per_s
    )
    try:
        admin.get("/admin/v2/clusters")
    except SourceError:
        # A token may be refused one of the two and still read policies; refused both, or unreachable, ends the run here.
        admin.get("/admin/v2/brokers/version")
    return admin


@dataclass
class ClusterSource:
    """A Prometheus, and the cluster's admin API where there is one."""

    prometheus: PrometheusSource
    admin: PulsarAdmin | None
    selectors: Sequence[Selector]
    settings: Settings
    start_ms: int | None
    end_ms: int
    retention_ms: int | None = None
    reset: bool = False
    counting: Meter = field(default_factory=Meter)

    @property
    def name(self) -> str:
        return f"{self.prometheus.samples.name} {self.prometheus.samples.address}"

    def reader(self, lake: Lake, run_id: str = "") -> Reader:
        """What reads this source into a lake."""
        from throttlescope.ingest.pull.incremental import Reader

        return Reader(lake, self.prometheus, self.selectors, run_id, self.retention_ms, self.reset)

    def minutes(self) -> int | None:
        """Subscription partitions that the source counts at two moments of the range, times its minutes; None where it does not count."""
        found = count_subscriptions(
            self.prometheus.api, self.selectors, self.start_ms, self.end_ms, self.counting
        )
        hours = -(-(self.end_ms - block_start(self.start_ms)) // BLOCK_MS)
        return None if found is None else found * hours * (BLOCK_MS // MINUTE_MS)

    def ingest(self, executor: TaskExecutor, lake: Lake, run_id: str, note: Note) -> Ingested:
        from throttlescope.ingest.pull.pull import pull

        def read(start_ms: int, end_ms: int) -> PullResult:
            return pull(
                executor,
                lake,
                self.prometheus,
                self.selectors,
                start_ms,
                end_ms,
                run_id,
                max_concurrent_reads=self.settings.ingest.max_concurrent_reads,
                progress=lambda progress: note(pulled_note(progress)),
            )

        found = self.reader(lake, run_id).read(read, self.start_ms, self.end_ms)
        repaired = tuple(ClusterSpan(*span) for span in found.repaired)
        done = Ingested(
            self.name, found.clusters, (), repaired, findings=found.findings,
            source_requests=found.meter.requests + self.counting.requests,
            source_bytes=found.meter.bytes + self.counting.bytes,
            details={"gaps_closed": found.closed},
        )  # fmt: skip
        pulled = found.pulled
        if pulled is None:
            note(sentence("pipeline.no_samples.gap"))
            return done
        done.spans = (ClusterSpan(pulled.clusters, pulled.start_ms, pulled.end_ms),)
        done.source_requests += pulled.requests
        done.source_bytes += pulled.bytes
        done.series, done.samples, done.samples_written = (
            pulled.series,
            pulled.samples,
            pulled.samples_written,
        )
        done.rows_quarantined = pulled.rows_quarantined
        done.details |= pulled.details()
        if self.admin is not None:
            self._read_admin(lake, run_id, note, done)
        return done

    def _read_admin(self, lake: Lake, run_id: str, note: Note, done: Ingested) -> None:
        from throttlescope.ingest.pull.admin import pull_admin
        from throttlescope.ingest.quality.admin_scope import admin_scope_findings

        cluster = self.prometheus.mapping.cluster
        named_by_user = cluster is not None
        if cluster not in done.clusters:
            if len(done.clusters) != 1:
                raise InputError(
                    "The admin API belongs to one cluster, the Prometheus shows several",
                    got=", ".join(done.clusters),
                    fix="name the admin API's one with --cluster NAME, or narrow with --match '{cluster=\"NAME\"}'",
                )
            cluster = done.clusters[0]
        snapshot = pull_admin(
            lake,
            self.admin,
            cluster,
            done.start_ms,
            done.end_ms,
            run_id,
            named_by_user=named_by_user,
            progress=lambda text: note(f"admin API: {text}"),
        )
        done.admin_requests = self.admin.requests
        done.rows_quarantined += len(snapshot.refused)
        done.details["admin"] = {
            "address": self.admin.address,
            "policies": snapshot.policies.num_rows,
            "topic_stats": snapshot.topic_stats.num_rows,
            "bytes": snapshot.bytes,
            "unanswered": len(snapshot.failures),
        }
        done.findings += [_unanswered(cluster, snapshot.failures)] if snapshot.failures else []
        done.findings += admin_scope_findings(
            lake, cluster, snapshot.policies.to_pylist(), done.end_ms, named_by_user=named_by_user
        )


def _unanswered(cluster: str, failures: Sequence[Failure]) -> dict[str, Any]:
    """The row of ``quality`` for questions that the admin API did not answer."""
    first = failures[0]
    return {
        "cluster": cluster,
        "gate": "door",
        "check": "admin_api_answers",
        "table": "policies",
        "severity": "warning",
        "success": False,
        "observed": sentence(
            "pipeline.admin.unanswered",
            failures=len(failures),
            scope=first.scope,
            subject=first.key,
            reason=first.reason,
        ),
        "expected": sentence("pipeline.admin.expected"),
        "rows": len(failures),
        "example": json.dumps({"scope": first.scope, "key": first.key, "reason": first.reason}),
    }
