"""Label normalization. In: PromQL over a broker's metrics with the labels of some Prometheus. Out: PromQL whose results have our labels.

A broker writes the partition into ``topic`` or into a label of its own, and a Prometheus may use another label for the cluster,
or none. Limits have the labels of the lake (:mod:`throttlescope.ingest.core.labels`); everything that is compared with them needs
the same. Over the lake itself this changes nothing.
"""

from __future__ import annotations

import json
import re

from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.ingest.core.topic_name import RE2_DESCRIPTOR, SCALABLE, SEGMENT

TOPIC = "cluster, namespace, topic, partition"
KEY = f"{TOPIC}, subscription"

#: A partition label is used as it is; only without one a number at the end of the topic name is the partition.
_JOINED = '"shape", "[|](.+)-partition-(0|[1-9][0-9]*)"'

#: A segment of a scalable topic: the broker has its hash range and its id in the name, and -1 as partition.
_SEGMENT = f'"shape", "(?:-1)?[|]{SEGMENT}(.+)/{RE2_DESCRIPTOR.format("(0|[1-9][0-9]*)")}"'


def normalized(aggregate: str, by: str, expr: str, options: ExportOptions) -> str:
    """An expression, aggregated over series that become equal: ``sum`` of rates, ``max`` of gauges."""
    if options.cluster_label != "cluster":
        # In the shipped rules the word is always the label.
        expr = re.sub(r"\bcluster\b", options.cluster_label, expr)
    lines = [
        "label_join(",
        *_indented(expr),
        ', "shape", "|", "partition", "topic")',
    ]
    replacements = [
        f'"topic", "$1", {_JOINED}',
        f'"partition", "$2", {_JOINED}',
        f'"topic", "{SCALABLE}$1", {_SEGMENT}',
        f'"partition", "$2", {_SEGMENT}',
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
