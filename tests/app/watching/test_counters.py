"""What the server counts of itself: requests by kind and code, looks into caches, lines of its log; over all workers."""

from __future__ import annotations

import logging
import re

import pytest
import requests

from tests.app.api.serving import serving
from tests.app.lake_of_verdicts import lake_with, verdict
from throttlescope.app.server.app import create_app
from throttlescope.app.services.server_counters import count_lookup, counters_text, kind_of


def value(text: str, name: str, **labels: str) -> float:
    """The sum of all samples of a metric with these labels."""
    found = 0.0
    for line in text.splitlines():
        if match := re.fullmatch(rf"{name}(?:\{{(.*)\}})? (\S+)", line):
            there = dict(re.findall(r'(\w+)="([^"]*)"', match[1] or ""))
            if labels.items() <= there.items():
                found += float(match[2])
    return found


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "page"), ("/subscriptions", "page"), ("/no/such/thing", "page"), ("/_dash-update-component", "callback"),
        ("/_dash-component-suites/dash/x.js", "static"), ("/assets/style.css", "static"), ("/api/v1/query", "api"),
        ("/metrics", "metrics"), ("/-/ready", "state"), ("/healthz", "state"), ("/export/incident.zip", "export"),
    ],
)  # fmt: skip
def test_paths_are_grouped_by_kind(path, kind):
    assert kind_of(path) == kind


@pytest.mark.long
def test_requests_lookups_and_log_lines_are_counted(tmp_path):
    lake = lake_with(tmp_path / "lake", [verdict(2)])
    client = create_app(lake.root).server.test_client()
    before = counters_text()

    def increase(name, **labels):
        return value(counters_text(), name, **labels) - value(before, name, **labels)

    for path, times in (("/api/v1/labels", 3), ("/api/v1/nothing", 2), ("/-/ready", 1)):
        for _ in range(times):
            client.get(path)
    assert increase("throttlescope_http_requests_total", kind="api", code="200") == 3
    assert increase("throttlescope_http_requests_total", kind="api", code="404") == 2
    assert increase("throttlescope_http_requests_total", kind="state") == 1
    assert increase("throttlescope_http_request_duration_seconds_count", kind="api") == 5
    assert 0 < increase("throttlescope_http_request_duration_seconds_sum", kind="api") < 60
    count_lookup("answers", found=True)
    count_lookup("answers", found=False)
    assert increase("throttlescope_cache_lookups_total", cache="answers", result="hit") == 1
    assert increase("throttlescope_cache_lookups_total", cache="answers", result="miss") == 1
    logging.getLogger("throttlescope.anything").error("a fault")
    logging.getLogger("throttlescope.anything").info("not counted")
    assert increase("throttlescope_log_messages_total", level="error") == 1
    assert increase("throttlescope_log_messages_total", level="info") == 0


@pytest.mark.long
def test_lake_snapshots_are_counted(tmp_path):
    lake = lake_with(tmp_path / "lake", [verdict(2)])
    before = counters_text()
    server = create_app(lake.root).server
    server.test_client().get("/-/ready")
    text = server.test_client().get("/metrics").text
    name = "throttlescope_lake_snapshots_total"
    assert value(text, name, result="made") - value(before, name, result="made") == 1
    assert "# TYPE throttlescope_http_requests_total counter" in text


@pytest.mark.study
@pytest.mark.long
def test_all_workers_count_together(tmp_path):
    """Each connection goes to whichever worker is free; one of them returns the sum."""
    lake_with(tmp_path / "lake", [verdict(2)])
    with serving(tmp_path / "lake", tmp_path / "serve.log") as server:
        name = "throttlescope_http_requests_total"
        before = value(requests.get(f"{server.url}/metrics", timeout=60).text, name, kind="api")
        for _ in range(40):
            assert requests.get(f"{server.url}/api/v1/labels", timeout=60).status_code == 200
        for _ in range(6):
            text = requests.get(f"{server.url}/metrics", timeout=60).text
            assert value(text, name, kind="api", code="200") - before == 40
