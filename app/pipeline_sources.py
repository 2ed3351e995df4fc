"""Sources of a run. In: settings or recordings. Out: objects that bring their part into the lake and count it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from throttlescope.app.render import count
from throttlescope.ingest.errors import InputError, SourceError
from throttlescope.ingest.selector import Selector, parse_selector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from throttlescope.app.config import Cluster, Settings
    from throttlescope.app.pipeline import Request
    from throttlescope.ingest.labels import LabelMapping
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.pull import PullProgress
    from throttlescope.ingest.sources.prometheus import PrometheusSource
    from throttlescope.ingest.sources.pulsar_admin import Failure, PulsarAdmin

Note = Callable[[str], None]


@dataclass(frozen=True)
class Span:
    """Clusters and a range [start_ms, end_ms) that is to be computed for them."""

    clusters: tuple[str, ...]
    start_ms: int
    end_ms: int


@dataclass
class Ingested:
    """What one source brought, and what it had to serve for it.

    Attributes
    ----------
    spans : tuple of Span
        What is now in the lake of the range that was asked for.
    findings : list of dict
        Rows of ``quality`` of the door, without the run's own columns.
    """

    source: str
    clusters: tuple[str, ...]
    spans: tuple[Span, ...]
    source_requests: int = 0
    admin_requests: int = 0
    source_bytes: int = 0
    series: int = 0
    samples: int = 0
    samples_written: int = 0
    rows_quarantined: int = 0
    details: dict[str, Any] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)

    @property
    def start_ms(self) -> int:
        return min(span.start_ms for span in self.spans)

    @property
    def end_ms(self) -> int:
        return max(span.end_ms for span in self.spans)


class Source(Protocol):
    """A source that answered when it was opened."""

    name: str
    start_ms: int
    end_ms: int

    def ingest(self, session: SparkSession, lake: Lake, run_id: str, note: Note) -> Ingested: ...


def open_sources(request: Request) -> list[Source]:
    """Open everything that a request names, before anything is started or written.

    Raises
    ------
    InputError
        There is nothing to read, or a selector or recording is wrong.
    SourceError
        A source cannot be reached or refuses.
    """
    if request.recordings:
        from throttlescope.app.pipeline_recordings import open_recordings

        return open_recordings(request)
    clusters = request.settings.clusters
    if not clusters:
        raise InputError(
            "There is no source to read",
            got="no --prometheus, no --recording and no cluster in a configuration file",
            fix="add --prometheus URL, or write a throttlescope.toml (docs/reference/configuration.md)",
        )
    without = [name for name, cluster in clusters.items() if cluster.prometheus is None]
    if without:
        raise InputError(
            "A cluster has no Prometheus to read samples from",
            got=", ".join(without),
            fix=f"add --prometheus URL, or url to [clusters.{without[0]}.prometheus]",
        )
    return [_open_cluster(name, cluster, request) for name, cluster in clusters.items()]


def _open_cluster(name: str, cluster: Cluster, request: Request) -> Source:
    from throttlescope.ingest.sources.prometheus import open_prometheus

    selectors = [parse_selector(text) for text in cluster.match]
    mapping = label_mapping(name, cluster, override_cluster=request.override_cluster)
    prometheus = open_prometheus(
        cluster.prometheus.url, cluster.prometheus.access(), reader=cluster.prometheus.reader, mapping=mapping
    )
    admin = _open_admin(cluster, request.settings) if cluster.pulsar_admin is not None else None
    return ClusterSource(prometheus, admin, selectors, request.settings, request.start_ms, request.end_ms)


def label_mapping(name: str, cluster: Cluster, *, override_cluster: bool) -> LabelMapping:
    """How a configured cluster's series are named here."""
    from throttlescope.app.config import UNNAMED
    from throttlescope.ingest.labels import LabelMapping

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
    """A Prometheus, and the admin API beside it where there is one."""

    prometheus: PrometheusSource
    admin: PulsarAdmin | None
    selectors: Sequence[Selector]
    settings: Settings
    start_ms: int
    end_ms: int

    @property
    def name(self) -> str:
        return f"{self.prometheus.samples.name} {self.prometheus.samples.address}"

    def ingest(self, session: SparkSession, lake: Lake, run_id: str, note: Note) -> Ingested:
        from throttlescope.ingest.pull import pull

        pulled = pull(
            session,
            lake,
            self.prometheus,
            self.selectors,
            self.start_ms,
            self.end_ms,
            run_id,
            max_concurrent_reads=self.settings.ingest.max_concurrent_reads,
            progress=lambda progress: note(pulled_note(progress)),
        )
        done = Ingested(
            self.name,
            pulled.clusters,
            (Span(pulled.clusters, pulled.start_ms, pulled.end_ms),),
            source_requests=pulled.requests,
            source_bytes=pulled.bytes,
            series=pulled.series,
            samples=pulled.samples,
            samples_written=pulled.samples_written,
            rows_quarantined=pulled.rows_quarantined,
            details=pulled.details(),
        )
        if self.admin is not None:
            self._ask_admin(lake, run_id, note, done)
        return done

    def _ask_admin(self, lake: Lake, run_id: str, note: Note, done: Ingested) -> None:
        from throttlescope.ingest.pull_admin import pull_admin

        cluster = self.prometheus.mapping.cluster
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
            progress=lambda text: note(f"admin API: {text}"),
        )
        done.admin_requests = self.admin.requests
        done.details["admin"] = {
            "address": self.admin.address,
            "policies": snapshot.policies.num_rows,
            "topic_stats": snapshot.topic_stats.num_rows,
            "bytes": snapshot.bytes,
            "unanswered": len(snapshot.failures),
        }
        done.findings = [_unanswered(cluster, snapshot.failures)] if snapshot.failures else []


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
        "observed": f"{len(failures)} questions without an answer, such as {first.scope} of {first.key}: {first.reason}",
        "expected": "an answer to every question; without one the limit concerned is unknown",
        "rows": len(failures),
        "example": json.dumps({"scope": first.scope, "key": first.key, "reason": first.reason}),
    }


def pulled_note(progress: PullProgress) -> str:
    """How far a pull is, in words."""
    return (
        f"{progress.items_done} of {progress.items} parts, {count(progress.samples)} samples, "
        f"{progress.bytes / 1e6:,.1f} MB, {count(progress.requests)} requests"
    )
