"""A lake with verdicts written by hand, for tests of what is printed."""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import date_of
from throttlescope.ingest.lake import Lake, write_data_file

HOUR = 1_795_161_600_000  # 2026-11-20T08:00:00Z
FIVE = 300_000


def verdict(index, cause="throttled", limiter="subscription.msg", **changed):
    start_ms = changed.pop("start_ms", HOUR + index * FIVE)
    sides = {"throttled": "throttle", "slow_consumers": "consumer_capacity", "healthy": "neither"}
    return {
        "cluster": "prod", "namespace": "acme/shop", "topic": "persistent://acme/shop/orders", "partition": 3,
        "subscription": "billing", "window_start_ms": start_ms, "window_end_ms": start_ms + FIVE,
        "side": sides.get(cause, "unknown"), "cause": cause, "limiter": limiter, "confidence": 0.9,
        "evidence": [
            {"symptom": "rho", "weight": "for", "text": "it uses 98 % of its limit", "value": 0.98, "threshold": 0.9,
             "unit": "share", "at_ms": start_ms, "promql": None}
        ],
        "missing_evidence": [{"what": "permits", "fix": "expose consumer metrics"}],
        "naive_side": "throttle", "rules_version": "1", "backlog_entries": 1000.0 * (index + 1),
        "backlog_growth_entries": 10.0, "date": date_of(start_ms),
    } | changed  # fmt: skip


def healthy(index, **changed):
    return verdict(
        index, "healthy", None, **{"backlog_entries": 0.0, "naive_side": "consumer_capacity"} | changed
    )


def lake_with(folder, rows):
    lake = Lake(folder)
    parts = {}
    for row in rows:
        parts.setdefault((row["cluster"], row["date"]), []).append(row)
    schema = TABLES["verdicts"].schema
    files = [
        write_data_file(lake.root, "verdicts", pa.Table.from_pylist(part, schema=schema))
        for part in parts.values()
    ]
    lake.commit("verdicts", files, run_id="by hand")
    return lake
