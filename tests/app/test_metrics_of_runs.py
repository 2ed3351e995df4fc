"""``/metrics`` of runs and of the data: how runs ended, how far was read, what is missing, what was refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.app.test_metrics import only, scraped
from throttlescope.app.server.metrics.data import DataFamilies
from throttlescope.app.server.metrics.exposition import Exposition
from throttlescope.app.server.metrics.runs import run_families
from throttlescope.ingest import gaps
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import DAY_MS, date_of
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.manifest import RunManifest
from throttlescope.ingest.pull.watermarks import SourceKey

NOW_MS = 1_795_161_600_000  # 2026-11-20T08:00:00Z
HOUR_MS = 3_600_000
KEY = SourceKey("prometheus_remote_read http://source", "", "prod")


def run(lake, command, status, ended_ms, *, took_ms=90_000, samples=0, refused=0):
    manifest = RunManifest(
        command, "made", ended_ms - HOUR_MS, ended_ms, started_ms=ended_ms - took_ms, samples_written=samples,
        rows_quarantined=refused,
    )  # fmt: skip
    lake.upsert("ingest_runs", manifest.row(status, ended_ms), run_id=manifest.run_id)


@pytest.fixture
def lake(tmp_path):
    found = Lake(tmp_path / "lake")
    run(found, "run", "done", NOW_MS - 2 * HOUR_MS, samples=10)
    run(found, "run", "done", NOW_MS - HOUR_MS, took_ms=45_500, samples=700, refused=3)
    run(found, "run", "failed", NOW_MS - 60_000)
    run(found, "diagnose", "gated", NOW_MS - 30 * HOUR_MS)
    run(found, "backfill", "done", NOW_MS - 8 * DAY_MS)
    return found


def test_metrics_show_how_runs_ended(lake):
    found = scraped(Exposition(lake, now_ms=lambda: NOW_MS))
    ends = found["throttlescope_run_last_end_timestamp_seconds"]
    assert only(ends, command="run", status="done") == (NOW_MS - HOUR_MS) / 1000
    assert only(ends, command="run", status="failed") == (NOW_MS - 60_000) / 1000
    assert only(ends, command="diagnose", status="gated") == (NOW_MS - 30 * HOUR_MS) / 1000
    # Older than a week: it is left out.
    assert {dict(key)["command"] for key in ends} == {"run", "diagnose"}
    day = found["throttlescope_runs_of_a_day"]
    assert {(dict(key)["command"], dict(key)["status"]): number for key, number in day.items()} == {
        ("run", "done"): 2, ("run", "failed"): 1, ("run", "gated"): 0,
        ("diagnose", "done"): 0, ("diagnose", "failed"): 0, ("diagnose", "gated"): 0,
    }  # fmt: skip
    assert only(found["throttlescope_run_last_duration_seconds"], command="run") == 45.5
    assert only(found["throttlescope_run_last_samples_written"], command="run") == 700
    assert only(found["throttlescope_run_last_quarantined_rows"], command="run") == 3
    assert not [
        key for key in found["throttlescope_run_last_duration_seconds"] if ("command", "diagnose") in key
    ]


def test_daily_run_counts_cover_24_hours(lake):
    (_, day, *_) = run_families(lake, NOW_MS + 23 * HOUR_MS)
    assert sum(value for _, value in day.samples) == 2


@pytest.mark.long
def test_metrics_show_watermarks_gaps_and_quarantine(lake):
    until = {"prod": NOW_MS - 600_000, "*": NOW_MS - 300_000}
    rows = [
        {
            "source": KEY.source, "selectors": "", "cluster": cluster, "metric_name": metric, "since_ms": 0,
            "complete_until_ms": until_ms + late_ms, "read_ms": NOW_MS, "run_id": "r",
        }
        for cluster, until_ms in until.items()
        for metric, late_ms in (("a", 0), ("b", 60_000))
    ]  # fmt: skip
    lake.upsert("watermarks", _table("watermarks", rows), run_id="r")
    gaps.record(lake, KEY, NOW_MS - 2 * HOUR_MS, NOW_MS - HOUR_MS, "no_samples", now_ms=NOW_MS, run_id="r")
    refused = {
        "run_id": "r", "cluster": "prod", "table": "samples", "reason": "infinite_value", "rows": 4,
        "observed_ms": NOW_MS, "date": date_of(NOW_MS),
    }  # fmt: skip
    lake.upsert(
        "quarantine", _table("quarantine", [refused | {"row": "{}"}, refused | {"row": "{1}"}]), run_id="r"
    )
    finding = {
        "cluster": "prod", "gate": "samples", "table": "samples", "severity": "warning", "observed": None,
        "expected": None, "rows": 1, "example": None, "date": date_of(NOW_MS),
    }  # fmt: skip
    found = [
        finding | {"run_id": run, "check": check, "success": success, "observed_ms": at_ms}
        for run, at_ms, check, success in (
            ("old", NOW_MS - HOUR_MS, "a", False), ("new", NOW_MS, "a", False), ("new", NOW_MS, "b", True),
        )
    ]  # fmt: skip
    lake.upsert("quality", _table("quality", found), run_id="r")

    shown = scraped(Exposition(lake, now_ms=lambda: NOW_MS))
    marks = shown["throttlescope_watermark_timestamp_seconds"]
    assert only(marks, cluster="prod") == until["prod"] / 1000
    assert only(marks, cluster="*") == until["*"] / 1000
    assert only(shown["throttlescope_gaps_open"], cluster="prod") == 1
    assert only(shown["throttlescope_gaps_open"], cluster="*") == 0
    assert only(shown["throttlescope_quarantined_rows"], table="samples", reason="infinite_value") == 8
    assert only(shown["throttlescope_quality_failed_checks"], gate="samples", severity="warning") == 1


def test_unchanged_tables_are_not_reread(lake, monkeypatch):
    source, read = DataFamilies(), []
    real = Lake.read
    monkeypatch.setattr(
        Lake, "read", lambda self, table, **how: read.append(table) or real(self, table, **how)
    )
    source(lake, NOW_MS)
    before = len(read)
    source(lake, NOW_MS)
    assert len(read) == before
    gaps.record(lake, KEY, NOW_MS - HOUR_MS, NOW_MS, "no_samples", now_ms=NOW_MS, run_id="r")
    read.clear()
    source(lake, NOW_MS)
    assert "gaps" in read
    assert "quarantine" not in read


@pytest.mark.long
def test_source_without_gaps_reports_zero(lake):
    """Quality findings of long ago are left out."""

    def samples_by_label(source, now_ms, name):
        return {family.name: dict(family.samples) for family in source(lake, now_ms)}[name]

    source, failed = DataFamilies(), "throttlescope_quality_failed_checks"
    assert samples_by_label(source, NOW_MS, "throttlescope_gaps_open") == {}
    mark = {
        "source": KEY.source, "selectors": "", "cluster": "new", "metric_name": "a", "since_ms": 0,
        "complete_until_ms": NOW_MS, "read_ms": NOW_MS, "run_id": "r",
    }  # fmt: skip
    lake.upsert("watermarks", _table("watermarks", [mark]), run_id="r")
    assert list(samples_by_label(source, NOW_MS, "throttlescope_gaps_open").values()) == [0]
    finding = {
        "run_id": "r", "cluster": "prod", "gate": "samples", "check": "a", "table": "samples", "severity": "error",
        "success": False, "observed": None, "expected": None, "rows": 1, "example": None, "observed_ms": NOW_MS,
        "date": date_of(NOW_MS),
    }  # fmt: skip
    lake.upsert("quality", _table("quality", [finding]), run_id="r")
    assert list(samples_by_label(source, NOW_MS, failed).values()) == [1]
    assert samples_by_label(DataFamilies(), NOW_MS + 9 * DAY_MS, failed) == {}


def _table(name, rows):
    return TABLES[name].conform(pa.Table.from_pylist(rows, schema=TABLES[name].loose_schema))
