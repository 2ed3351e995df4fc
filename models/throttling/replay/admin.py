"""What the admin API said of a topic. In: a lake, a topic and a time; out: rows of ``limits`` and ``topic_stats``, the version."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow.compute as pc

from throttlescope.ingest.lake import Lake
from throttlescope.models.throttling.replay.observed import LimitKey


def limit_rows(lake: Lake, cluster: str, topic: str, end_ms: int) -> dict[LimitKey, Sequence[Mapping]]:
    """Rows of ``limits`` as they were read before a time, oldest first; where all are younger, the first ones after it."""
    found: dict[LimitKey, list[Mapping]] = {}
    for row in newest(lake, "limits", cluster, topic, end_ms):
        found.setdefault((row["level"], row["partition"], row["subscription"]), []).append(row)
    return found


def newest(lake: Lake, table: str, cluster: str, topic: str, end_ms: int) -> list[dict]:
    """Rows of a topic from before a time, oldest first; where all are younger, those of the first reading after it."""
    rows = lake.read(table, where=(pc.field("cluster") == cluster) & (pc.field("topic") == topic)).to_pylist()
    rows.sort(key=lambda row: row["observed_ms"])
    before = [row for row in rows if row["observed_ms"] < end_ms]
    return before or [row for row in rows if row["observed_ms"] == rows[0]["observed_ms"]]


def version(lake: Lake, cluster: str) -> str | None:
    """The version that the cluster's brokers gave last."""
    where = (pc.field("cluster") == cluster) & (pc.field("scope") == "broker_version")
    rows = [row for row in lake.read("policies", where=where).to_pylist() if row["body"]]
    if not rows:
        return None
    found = re.search(r"\d+\.\d+\.\d+", max(rows, key=lambda row: row["observed_ms"])["body"])
    return found[0] if found else None
