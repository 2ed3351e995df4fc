"""A small lake in which runs failed, gates found something, rows were refused and some things cannot be seen. In: a folder. Out: the lake."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from tests.app.web.sample_lake import END_MS, SAMPLES, START_MS, write_sample_lake
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS, date_of
from throttlescope.ingest.lake import Lake

FAILED, GATED = "20261120T021000.000Z-aaaaaa", "20261120T022000.000Z-bbbbbb"
HOSTILE = '<script>alert("x")</script>'
SHOWN = ("billing", "ledger", "archive")


def write(root: Path) -> Lake:
    """Three subscriptions with verdicts, and what runs left behind."""
    return add_run_records(
        write_sample_lake(root, tuple(one for one in SAMPLES if one.subscription in SHOWN))
    )


def add_run_records(lake: Lake) -> Lake:
    """Add what runs leave behind to an existing lake."""
    for table, rows in (
        ("ingest_runs", [_run(FAILED, "failed", 40), _run(GATED, "gated", 30), *_old_runs()]),
        ("quality", _findings()),
        ("quarantine", _refused()),
        (
            "policies",
            [_version("sample-east", "one:8080", "4.0.3"), _version("sample-east", "two:8080", "4.2.4")],
        ),
        ("series", _series()),
    ):
        lake.upsert(table, pa.Table.from_pylist(rows, schema=TABLES[table].loose_schema), run_id="by hand")
    return lake


def _run(run_id: str, status: str, minutes_ago: int) -> dict:
    began_ms = END_MS - minutes_ago * MINUTE_MS
    return {
        "run_id": run_id, "cluster": "sample-east", "command": "run", "source": f"prometheus_remote_read http://{HOSTILE}:9090",
        "start_ms": START_MS, "end_ms": END_MS, "started_ms": began_ms, "finished_ms": began_ms + 134_000, "status": status,
        "source_requests": 1200, "admin_requests": 34, "source_bytes": 5 * 1024 * 1024, "series": 4000, "samples": 1_250_000,
        "samples_written": 1_000_000, "rows_quarantined": 8, "date": date_of(began_ms),
        "details": json.dumps({
            "settings": {"window_ms": 300_000},
            "sources": [{"missing_metrics": ["pulsar_consumer_available_permits"], "why_not_remote_read": HOSTILE, "repairs": {}}],
        }),
    }  # fmt: skip


def _old_runs() -> list[dict]:
    return [
        _run(f"20261119T{n:06d}.000Z-cccccc", "done", 2000 + n) | {"rows_quarantined": 0} for n in range(55)
    ]


def _findings() -> list[dict]:
    common = {
        "run_id": GATED,
        "table": "samples",
        "observed_ms": END_MS - 29 * MINUTE_MS,
        "date": date_of(END_MS),
        "gate": "samples",
    }
    return [
        common | {
            "cluster": None, "check": "timestamps_rise", "severity": "error", "success": True, "observed": None,
            "expected": "rising times", "rows": 0, "example": None,
        },
        common | {
            "cluster": "sample-east", "check": "scrapes_complete", "severity": "warning", "success": False,
            "observed": "12 missing scrapes in 3 blocks", "expected": "no distance above 2", "rows": 3,
            "example": json.dumps({"topic": f"persistent://a/b/{HOSTILE}", "missing_scrapes": 7}),
        },
        common | {
            "cluster": "sample-east", "check": "block_key_unique", "severity": "error", "success": False,
            "observed": "2 repeated blocks in 2 blocks", "expected": "one row per series_id", "rows": 2,
            "example": json.dumps({"series_id": "abc"}),
        },
    ]  # fmt: skip


def _refused() -> list[dict]:
    common = {
        "run_id": GATED,
        "cluster": "sample-east",
        "observed_ms": END_MS - 29 * MINUTE_MS,
        "date": date_of(END_MS),
    }
    return [
        common | {"table": "samples", "reason": "missing_key_label", "row": json.dumps({"topic": HOSTILE}), "rows": 5},
        common | {"table": "samples", "reason": "missing_key_label", "row": json.dumps({"topic": "b"}), "rows": 2},
        common | {"table": "policies", "reason": "policy_unreadable", "row": "no JSON {", "rows": 1, "cluster": None},
    ]  # fmt: skip


def _version(cluster: str, broker: str, version: str) -> dict:
    return {
        "cluster": cluster, "scope": "broker_version", "key": broker, "body": json.dumps(version), "broker": broker,
        "observed_ms": END_MS, "date": date_of(END_MS),
    }  # fmt: skip


def _series() -> list[dict]:
    def one(number: int, metric: str, **labels) -> dict:
        return {
            "series_id": f"{number:032x}", "metric_name": metric, "cluster": "sample-east", "shard": 0, "first_ms": START_MS,
            "last_ms": END_MS, "labels": list(labels.items()),
        }  # fmt: skip

    return [
        one(1, "pulsar_subscription_back_log", topic="non-persistent://shop/web/live", subscription="a"),
        one(2, "pulsar_rate_in", topic="non-persistent://shop/web/live"),
        one(3, "pulsar_rate_in", topic="persistent://shop/web/feed"),
        one(4, "pulsar_replication_backlog", topic="persistent://shop/web/feed"),
        one(5, "pulsar_version_info", instance="three:8080", version="3.3.9"),
    ]
