"""One shape of labels. In: PromQL over a broker's metrics as some Prometheus has them. Out: PromQL whose results carry our labels.

A broker puts the partition into ``topic`` or beside it, and a Prometheus may call the cluster otherwise, or not at all. The
limits have the labels of the lake (:mod:`throttlescope.ingest.core.labels`); so must everything that is held against them. Over the
lake itself this changes nothing.
"""

from __future__ import annotations

import json
import re

from throttlescope.app.rules_export.options import ExportOptions

TOPIC = "cluster, namespace, topic, partition"
KEY = f"{TOPIC}, subscription"

#: A partition beside the topic is taken as it is; only without one a whole number ends the name.
_JOINED = '"shape", "[|](.+)-partition-(0|[1-9][0-9]*)"'


def in_our_shape(aggregate: str, by: str, expr: str, options: ExportOptions) -> str:
    """An expression, aggregated over series that become equal: ``sum`` of rates, ``max`` of gauges."""
    if options.cluster_label != "cluster":
        # In the shipped rules the word only ever names the label.
        expr = re.sub(r"\bcluster\b", options.cluster_label, expr)
    lines = [
        "label_join(",
        *_indented(expr),
        ', "shape", "|", "partition", "topic")',
    ]
    replacements = [
        f'"topic", "$1", {_JOINED}',
        f'"partition", "$2", {_JOINED}',
        '"partition", "-1", "partition", ""',
    ]
    if options.cluster_label != "cluster":
        replacements.append(f'"cluster", "$1", "{options.cluster_label}", "(.+)"')
    if options.cluster is not None:
        replacements.append(f'"cluster", {json.dumps(options.cluster.replace("$", "$$"))}, "cluster", ""')
    for replacement in replacements:
        lines = ["label_replace(", *(f"  {line}" for line in lines), f", {replacement})"]
    return "\n".join([f"{aggregate} by ({by}) (", *(f"  {line}" for line in lines), ")"])


def _indented(expr: str) -> list[str]:
    return [f"  {line}" for line in expr.splitlines()]
