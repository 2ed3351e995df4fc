"""The two sources of one cluster, opened for one question. In: settings and a deadline. Out: addresses, access, label mapping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from throttlescope.app.pipeline.sources.prometheus import label_mapping
from throttlescope.app.services.diagnose_now.admin import CALLS_PER_S, DeadlineAdmin
from throttlescope.app.services.diagnose_now.deadline import Deadline
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.selector import Selector, parse_selector
from throttlescope.ingest.sources.access import Access
from throttlescope.ingest.sources.prometheus import PrometheusSource, open_prometheus

if TYPE_CHECKING:
    from throttlescope.app.config import Cluster, Settings


@dataclass(frozen=True)
class Sources:
    """Where one cluster's facts come from."""

    cluster: Cluster
    mapping: LabelMapping
    match: Sequence[Selector]
    admin: DeadlineAdmin | None

    @classmethod
    def of(cls, settings: Settings, cluster: str | None, *, override_cluster: bool = False) -> Sources:
        """The sources of one cluster of the settings, of the only one by default; nothing is requested yet.

        Raises
        ------
        InputError
            There is none, there are several, or it has no Prometheus.
        """
        known = settings.clusters
        if cluster is None and len(known) > 1:
            raise InputError(
                "One cluster is diagnosed at a time", got=", ".join(known), fix="name it with --cluster NAME"
            )
        name = next(iter(known), None) if cluster is None else cluster
        found = known.get(name) if name is not None else None
        if found is None or found.prometheus is None:
            raise InputError(
                "There is no Prometheus to read",
                got=f"cluster {cluster}"
                if cluster
                else "no --prometheus and no cluster in a configuration file",
                fix="add --prometheus URL, or write a throttlescope.toml (docs/reference/configuration.md)",
            )
        mapping = label_mapping(name, found, override_cluster=override_cluster)
        admin = None
        if found.pulsar_admin is not None:
            configured = "admin_calls_per_s" in settings.ingest.model_fields_set
            admin = DeadlineAdmin(
                list(found.pulsar_admin.urls),
                found.pulsar_admin.access(),
                settings.ingest.admin_calls_per_s if configured else CALLS_PER_S,
            )
        return cls(found, mapping, [parse_selector(text) for text in found.match], admin)

    def prometheus(self, deadline: Deadline) -> PrometheusSource:
        """Open the Prometheus, and check that it is one.

        Raises
        ------
        SourceError
        """
        section = self.cluster.prometheus
        return open_prometheus(
            section.url, _within(section.access(), deadline), reader=section.reader, mapping=self.mapping
        )


def _within(access: Access, deadline: Deadline) -> Access:
    """No answer is waited for longer than the whole may take."""
    return replace(access, timeout_s=max(0.1, min(access.timeout_s, deadline.left_s)))
