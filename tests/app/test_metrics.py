"""``/metrics``: what a scrape shows, what it leaves out, and that nothing fails it."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path

import pytest
import requests
from flask import Flask

from tests.app.api.serving import serving
from tests.app.lake_of_verdicts import FIVE, HOUR, healthy, lake_with, verdict
from tests.lab.parts import promtool_binary
from tests.lab.prometheus import running_prometheus
from tests.naive.limits import limits_at
from tests.transforms.lakes import limit_row, table_of
from throttlescope.app.server.api.routes import api_blueprint
from throttlescope.app.server.metrics.exposition import Exposition
from throttlescope.app.server.metrics.families import Family
from throttlescope.app.server.metrics.limits import LimitFamilies
from throttlescope.app.server.metrics.verdicts import (
    CONSUMERS_HELP,
    consumers_could_drain_entries,
    verdict_families,
)
from throttlescope.app.services.promql.lake_queries import LakeQueries
from throttlescope.ingest.contracts.vocabulary import CAUSES
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.limit_series import LIMIT_HELP

MINUTE_MS = 60_000
NOW_MS = HOUR + 4 * FIVE + 2 * MINUTE_MS
KEY = {
    "cluster": "prod",
    "namespace": "acme/shop",
    "topic": "persistent://acme/shop/orders",
    "partition": "3",
    "subscription": "billing",
}
ROW_KEY = KEY | {"partition": 3}
LIMITS = [
    limit_row("subscription", at_ms=HOUR, msg=500, period_s=10, set_by="subscription_policy", **ROW_KEY),
    limit_row("topic", at_ms=HOUR, set_by="none", **ROW_KEY),
    limit_row("broker", at_ms=HOUR, msg=70_000, size=10_000_000, set_by="broker_dynamic", **ROW_KEY),
]
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"(?:,|$)')
ODD = 'a"b\\c\nd{}, é'


def scraped(exposition: Exposition) -> dict[str, dict[tuple, float]]:
    return parsed(exposition.text().decode())


def parsed(text: str) -> dict[str, dict[tuple, float]]:
    """Read slowly, sample by sample; Prometheus' own reader reads it below."""
    found: dict[str, dict[tuple, float]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            assert re.fullmatch(r"# (HELP \w+ .+|TYPE \w+ gauge)", line), line
            continue
        name, labels, value = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
        key = tuple(sorted((one, _unquoted(text)) for one, text in _LABEL.findall(labels or "")))
        assert key not in found.setdefault(name, {})
        found[name][key] = float(value)
    return found


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", lambda escape: {"n": "\n"}.get(escape[1], escape[1]), text)


def only(family: dict[tuple, float], **labels) -> float:
    (value,) = [value for key, value in family.items() if labels.items() <= dict(key).items()]
    return value


@pytest.fixture
def lake(tmp_path):
    rows = [
        verdict(2, "slow_consumers", None),
        verdict(3),
        # The same window end, a longer window: the shorter one is the newer word.
        verdict(2, "slow_consumers", None, window_end_ms=HOUR + 4 * FIVE),
        verdict(3, "slow_consumers", None, subscription="audit", backlog_entries=700.0),
        healthy(3, subscription="idle"),
        verdict(3, "unknown", None, subscription=ODD),
        verdict(3, "slow_consumers", None, subscription="unmeasured", backlog_entries=None),
        # Six minutes and more ago.
        verdict(2, subscription="gone"),
        verdict(40, subscription="ahead"),
    ]
    found = lake_with(tmp_path / "lake", rows)
    found.upsert("limits", table_of("limits", LIMITS), run_id="test")
    return found


def test_scrape_shows_newest_recent_verdicts(lake):
    found = scraped(Exposition(lake, now_ms=lambda: NOW_MS))
    billing = {**KEY, "cause": "throttled", "side": "throttle", "limiter": "subscription.msg"}
    assert found["throttlescope_verdict"][tuple(sorted(billing.items()))] == 1.0
    there = {dict(key)["subscription"] for key in found["throttlescope_verdict"]}
    assert there == {"billing", "audit", "idle", ODD, "unmeasured"}
    assert "limiter" not in dict(
        next(k for k in found["throttlescope_verdict"] if ("subscription", "audit") in k)
    )
    for name in ("throttlescope_verdict_confidence", "throttlescope_verdict_timestamp_seconds"):
        assert {dict(key)["subscription"] for key in found[name]} == there
    assert only(found["throttlescope_verdict_confidence"], subscription="billing") == 0.9
    ends = found["throttlescope_verdict_timestamp_seconds"]
    assert only(ends, subscription="billing") == (HOUR + 4 * FIVE) / 1000
    drain = found["throttlescope_backlog_consumers_could_drain_entries"]
    assert [only(drain, subscription=name) for name in ("billing", "audit", "idle", ODD)] == [0, 700, 0, 0]
    # Consumers would help, and how much is not known: no number, and not zero.
    assert not [key for key in drain if ("subscription", "unmeasured") in key]
    assert only(found["throttlescope_verdicts_newest_timestamp_seconds"], cluster="prod") > NOW_MS / 1000


def test_verdicts_older_than_five_minutes_disappear(lake):
    end_ms = HOUR + 4 * FIVE
    for late_ms, there in ((FIVE, 5), (FIVE + 1, 0)):
        (family, *_) = verdict_families(lake, end_ms + late_ms)
        assert len(family.samples) == there


@pytest.mark.parametrize("cause", CAUSES)
def test_autoscaler_metric_counts_consumer_causes(cause):
    drained = consumers_could_drain_entries(verdict(0, cause, backlog_entries=42.0))
    assert drained == (42.0 if cause in ("slow_consumers", "no_consumers", "healthy") else 0.0)
    assert (cause in CONSUMERS_HELP) == (drained > 0)


def test_limit_metrics_match_promql(lake):
    found = scraped(Exposition(lake, now_ms=lambda: NOW_MS))["throttlescope_dispatch_limit"]
    assert found == limits_at(LIMITS, NOW_MS - NOW_MS % MINUTE_MS)
    answer = LakeQueries(lake.root).instant("throttlescope_dispatch_limit", NOW_MS)
    read = {
        tuple(pair for pair in labels if pair[0] != "__name__"): float(values[0])
        for labels, values in zip(answer.value.labels, answer.value.values, strict=True)
    }
    assert read == found
    billing = [
        value for key, value in found.items() if {("level", "subscription"), ("unit", "msg")} <= set(key)
    ]
    assert billing == [50.0]


def test_api_describes_the_limit_metric(lake):
    server = Flask("test")
    server.register_blueprint(api_blueprint(LakeQueries(lake.root)))
    client = server.test_client()

    def data(path):
        answer = client.get(f"/api/v1/{path}")
        assert answer.status_code == 200
        return answer.json["data"]

    (known,) = data("metadata")["throttlescope_dispatch_limit"]
    assert (known["type"], known["help"]) == ("gauge", LIMIT_HELP)
    assert data("label/__name__/values") == ["throttlescope_dispatch_limit"]
    assert set(data("labels?match[]=throttlescope_dispatch_limit")) >= {"level", "unit", "set_by", "period_s"}
    shown = data(f"series?match[]=throttlescope_dispatch_limit&start={NOW_MS // 1000}&end={NOW_MS // 1000}")
    assert {tuple(sorted((n, v) for n, v in one.items() if n != "__name__")) for one in shown} == set(
        limits_at(LIMITS, NOW_MS - NOW_MS % MINUTE_MS)
    )
    answer = data(f"query?query=throttlescope_dispatch_limit%7Bset_by='none'%7D&time={NOW_MS // 1000}")
    assert [row["value"][1] for row in answer["result"]] == ["+Inf", "+Inf"]


def test_failing_source_leaves_others_intact(lake, caplog):
    table = Path(lake.root) / "verdicts"
    for file in table.rglob("*.parquet"):
        file.write_bytes(b"torn")
    exposition = Exposition(lake, now_ms=lambda: NOW_MS, kept_s=0)
    for _ in range(2):
        found = scraped(exposition)
        assert only(found["throttlescope_metrics_source_up"], source="verdicts") == 0
        assert only(found["throttlescope_metrics_source_up"], source="limits") == 1
        assert len(found["throttlescope_dispatch_limit"]) == 6
        assert "throttlescope_verdict" not in found
    assert len([record for record in caplog.records if "verdicts" in record.getMessage()]) == 1


def test_empty_lake_can_be_scraped(tmp_path):
    found = scraped(Exposition(Lake(tmp_path / "nothing")))
    assert set(found["throttlescope_metrics_source_up"].values()) == {1.0}
    assert "throttlescope_verdict" not in found


def test_scrape_is_bounded_and_counts_omissions(lake):
    found = scraped(Exposition(lake, now_ms=lambda: NOW_MS, max_series=2))
    assert only(found["throttlescope_metrics_left_out_series"], source="limits") == 4
    # Set limits stay, and the largest backlogs.
    limits = found["throttlescope_dispatch_limit"]
    assert len(limits) == 2
    assert float("inf") not in limits.values()
    assert {dict(key)["subscription"] for key in found["throttlescope_verdict"]} == {"billing", ODD}


def test_scrape_is_cached_then_rendered_again():
    calls = []

    def source(_lake, now_ms):
        calls.append(now_ms)
        return [Family("m", "help", [("", float(len(calls)))])]

    kept = Exposition(Lake("nowhere"), {"one": source}, kept_s=3600)
    assert kept.text() == kept.text()
    assert len(calls) == 1
    fresh = Exposition(Lake("nowhere"), {"one": source}, kept_s=0)
    assert fresh.text() != fresh.text()
    assert len(calls) == 3


def test_new_limits_snapshot_is_shown(lake):
    source = LimitFamilies()
    before = source(lake, NOW_MS)[0].samples
    lake.upsert(
        "limits",
        table_of("limits", [limit_row("topic", at_ms=NOW_MS - 2 * MINUTE_MS, msg=9, **ROW_KEY)]),
        run_id="later",
    )
    after = source(lake, NOW_MS)[0].samples
    # Of the newest snapshot only, as a level that was not observed in it is not known.
    assert (len(before), len(after)) == (6, 2)
    assert {value for _, value in after} == {9.0, float("inf")}
    (observed,) = source(lake, NOW_MS)[1].samples
    assert observed == ('cluster="prod"', (NOW_MS - 2 * MINUTE_MS) / 1000)


@pytest.mark.prometheus
def test_promtool_accepts_the_metrics(lake):
    text = Exposition(lake, now_ms=lambda: NOW_MS).text()
    done = subprocess.run(
        [str(promtool_binary()), "check", "metrics"], input=text, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, b"")
    # It would.
    bad = subprocess.run(
        [str(promtool_binary()), "check", "metrics"],
        input=b"# TYPE m_total gauge\nm_total 1\n",
        capture_output=True,
    )
    assert bad.returncode != 0


@pytest.mark.prometheus
@pytest.mark.long
def test_real_prometheus_scrapes_the_metrics(tmp_path):
    now_ms = time.time_ns() // 1_000_000
    end_ms = now_ms - now_ms % MINUTE_MS
    rows = [
        verdict(0, start_ms=end_ms - FIVE, window_end_ms=end_ms),
        verdict(0, "slow_consumers", None, start_ms=end_ms - FIVE, window_end_ms=end_ms, subscription=ODD),
    ]
    found = lake_with(tmp_path / "lake", rows)
    limits = [
        row | {"observed_ms": end_ms, "date": limit_row("topic", at_ms=end_ms)["date"]} for row in LIMITS
    ]
    found.upsert("limits", table_of("limits", limits), run_id="test")
    with serving(tmp_path / "lake", tmp_path / "serve.log") as server:
        answer = requests.get(f"{server.url}/metrics", timeout=30)
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert requests.get(f"{server.url}/metrics", timeout=30).headers.get("Content-Encoding") == "gzip"
        assert requests.post(f"{server.url}/metrics", timeout=30).status_code == 405
        target = server.url.removeprefix("http://")
        scrape = [
            {"job_name": "throttlescope", "honor_labels": True, "static_configs": [{"targets": [target]}]}
        ]
        with running_prometheus(scrape, scrape_interval_s=5) as prometheus:
            deadline_s = time.monotonic() + 180
            while not prometheus.query("throttlescope_verdict") and time.monotonic() < deadline_s:
                time.sleep(0.3)
            assert [
                row["value"][1] for row in prometheus.query('max_over_time(up{job="throttlescope"}[5m])')
            ] == ["1"]
            # One scrape that came too late hides nothing.
            seen = prometheus.query("last_over_time(throttlescope_dispatch_limit[5m])")
            assert {
                tuple(
                    sorted(
                        (n, v) for n, v in row["metric"].items() if n not in ("__name__", "job", "instance")
                    )
                )
                for row in seen
            } == set(limits_at(limits, end_ms))
            (odd,) = prometheus.query(
                f"last_over_time(throttlescope_verdict{{subscription={json.dumps(ODD, ensure_ascii=False)}}}[5m])"
            )
            assert odd["metric"]["cause"] == "slow_consumers"
