"""Use of a cluster's specified capacity. In: rates from the configuration. Out: recording rules, and alerts above 80 %.

No metric has the specified capacity of a cluster or a topic partition, so the figures are written into the rules. Production and
consumption count separately, messages and bandwidth too; consumption is counted once for every subscription that reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from throttlescope.app.rules_export.labels import TOPIC, normalized
from throttlescope.app.rules_export.rule_records import AlertDefinition, Alerting, ExportedRecording
from throttlescope.app.rules_export.wording import alerting
from throttlescope.ingest.contracts.vocabulary import UNITS
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.messages.catalogue import sentence
from throttlescope.transforms.rules.load import PREFIX

if TYPE_CHECKING:
    from throttlescope.app.config import Cluster
    from throttlescope.app.rules_export.options import ExportOptions

SPECIFICATION_NEARLY_USED = "PulsarSpecificationNearlyUsed"
FLOWS = ("publish", "dispatch")
SCOPES = ("cluster", "topic_partition")

_RATE, _SPECIFIED, _SHARE = f"{PREFIX}flow_rate", f"{PREFIX}specification", f"{PREFIX}specification_use_share"
_COUNTED = {
    ("publish", "msg"): "pulsar_in_messages_total",
    ("publish", "bytes"): "pulsar_in_bytes_total",
    ("dispatch", "msg"): 'pulsar_out_messages_total{subscription!="", consumer_name="", consumer_id=""}',
    ("dispatch", "bytes"): 'pulsar_out_bytes_total{subscription!="", consumer_name="", consumer_id=""}',
}
_BY = {"cluster": "cluster", "topic_partition": TOPIC}
_ALERTS = {
    scope: AlertDefinition(
        SPECIFICATION_NEARLY_USED,
        severity,
        {"action": "plan"},
        lambda _, scope=scope: f'{_SHARE}{{scope="{scope}"}} >= {t.RHO_NEAR_LIMIT:g}',
        subject=subject,
        for_ms=15 * MINUTE_MS,
        first_action=f"{SPECIFICATION_NEARLY_USED}.first_action.{scope}",
    )
    for scope, severity, subject in (("cluster", "warning", "cluster"), ("topic_partition", "info", "topic"))
}


@dataclass(frozen=True, order=True)
class Specified:
    """One figure: what a cluster, or each topic partition of it, was sized for, per second."""

    scope: str
    flow: str
    unit: str
    cluster: str
    per_s: float


def specified(clusters: Mapping[str, Cluster]) -> tuple[Specified, ...]:
    """The figures of a configuration."""
    found = []
    for name, cluster in clusters.items():
        whole = cluster.specification
        for scope, rates in zip(SCOPES, (whole, whole.topic_partition), strict=True):
            for flow in FLOWS:
                for unit in UNITS:
                    per_s = getattr(rates, f"{flow}_{unit}_rate")
                    if per_s is not None:
                        found.append(Specified(scope, flow, unit, name, per_s))
    return tuple(sorted(found))


def specification_rules(options: ExportOptions) -> list[ExportedRecording]:
    """Rates, their specification, and the share; no series where nothing was specified."""
    rules = []
    for scope, flow, unit in _kinds(options.specified):
        by = _BY[scope]
        # Labels are normalized first, then aggregated to the cluster.
        counted = f"sum by ({TOPIC}) (rate({_COUNTED[flow, unit]}[{options.window}]))"
        labels = {"scope": scope, "flow": flow, "unit": unit}
        rules.append(ExportedRecording(_RATE, normalized("sum", by, counted, options), labels))
        for one in options.specified:
            if (one.scope, one.flow, one.unit) == (scope, flow, unit):
                rules.append(
                    ExportedRecording(_SPECIFIED, f"vector({one.per_s!r})", labels | {"cluster": one.cluster})
                )
    if not rules:
        return []
    first = rules[0]
    rules[0] = ExportedRecording(
        first.record,
        first.expr,
        first.labels,
        sentence("exported_rules.rule.flow_rate"),
    )
    return [
        *rules,
        ExportedRecording(
            _SHARE,
            f"{_RATE}\n  / on (cluster, scope, flow, unit) group_left ()\n{_SPECIFIED}",
            why=sentence("exported_rules.rule.specification_use"),
        ),
    ]


def specification_alerts(options: ExportOptions) -> list[Alerting]:
    """An alert for clusters and one for topic partitions, where one was specified."""
    scopes = {one.scope for one in options.specified}
    return [alerting(alert, options) for scope, alert in _ALERTS.items() if scope in scopes]


def _kinds(figures: Iterable[Specified]) -> list[tuple[str, str, str]]:
    return list(dict.fromkeys((one.scope, one.flow, one.unit) for one in figures))
