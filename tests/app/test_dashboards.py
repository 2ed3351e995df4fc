"""Grafana dashboards: a document that Grafana's schema knows, and queries that have an answer on a lake and on a live Prometheus."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import requests
import yaml
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from tests.app.api.serving import serving
from tests.app.commands import throttlescope
from tests.app.test_rules_export_scenes import (
    AT_LIMIT,
    END_MS,
    STEP_MS,
    TICKING,
    TOPIC,
    scene,
)
from tests.lab.prometheus import running_prometheus, write_arrays
from tests.transforms.lakes import lake_of
from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.app.rules_export.dashboards import dashboards
from throttlescope.app.rules_export.export import all_rules, export_rules
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.app.rules_export.rule_records import ExportedRecording
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.transforms.promql.source import Series
from throttlescope.transforms.rules import RecordingRule, read_rule_file
from throttlescope.transforms.rules.recording_run import run_rules

MINUTE_MS = 60_000
DEPLOYED = Path(__file__).parents[2] / "deploy" / "grafana"
NAMES = ("fleet", "subscription")
OPTIONS = (
    ExportOptions(),
    ExportOptions(scrape_interval_ms=120_000, external_url="https://scope.example/at"),
)
KEY = ("cluster", "topic", "partition", "subscription")

#: A subscription of each cause that the fleet counts. The first one is limited by messages, and has a limit of bytes.
SCENES = {
    "limited": {**AT_LIMIT, "subscription_bytes": (1e6, TICKING)},
    "slow": {"permits": 0.0},
    "alone": {"consumers": 0.0, "dispatched": 0.0, "permits": None, "unacked": 0.0},
    "blocked": {"blocked": 1.0},
    "redelivered": {"permits": 0.0, "redelivered": 30.0},
}
SHOWN = {**TOPIC, "topic": "persistent://t/n/limited", "subscription": "limited"}


def scenes(shifted_ms: int) -> list[Series]:
    """Half an hour of all of them, each on a topic of its own."""
    return [
        Series(
            {**one.labels, "topic": f"persistent://t/n/{name}"}, one.timestamps_ms + shifted_ms, one.values
        )
        for name, changed in SCENES.items()
        for one in scene(name, **changed)
    ]


def panels(options: ExportOptions = OPTIONS[0]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, document in dashboards(options).items():
        for panel in document["panels"]:
            yield name, panel


def filled(text: str, values: Mapping[str, str]) -> str:
    """A query with its variables, as Grafana writes them: a variable of all values is a regular expression."""
    return re.sub(r"\$(\w+)", lambda found: values[found[1]], text)


def values_of(name: str) -> dict[str, str]:
    return {"cluster": ".*", "namespace": ".*"} if name == "fleet" else dict(SHOWN)


# -- the document -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", OPTIONS)
def test_grafanas_schema_knows_every_field(name, options):
    """Read into the models that Grafana generates from its schema, and written again: what they do not know would be missing."""
    document = json.loads(json.dumps(dashboards(options)[name]))
    assert document == kept(document)
    strange = json.loads(json.dumps(document))
    strange["panels"][0]["fieldConfig"]["defaults"]["colour"] = "red"
    assert strange != kept(strange)


def kept(document: dict[str, Any]) -> dict[str, Any]:
    """What Grafana's models keep of a document."""
    plugins.register_default_plugins()
    written = json.loads(JSONEncoder(sort_keys=True).encode(Dashboard.from_json(document)))
    return _common(document, written)


def _common(document: Any, written: Any) -> Any:
    """The part of ``document`` that is in ``written``, which has defaults in addition."""
    if isinstance(document, dict) and isinstance(written, dict):
        return {name: _common(value, written[name]) for name, value in document.items() if name in written}
    if isinstance(document, list) and isinstance(written, list) and len(document) == len(written):
        return [_common(one, other) for one, other in zip(document, written, strict=True)]
    return written


@pytest.mark.parametrize("name", NAMES)
def test_deployed_file_equals_the_export(name):
    assert json.loads((DEPLOYED / f"{name}.json").read_text(encoding="utf-8")) == dashboards(OPTIONS[0])[name]


def test_panels_have_unit_text_and_link():
    for _, panel in panels():
        assert panel["title"]
        assert panel["description"]
        defaults = panel["fieldConfig"]["defaults"]
        assert defaults["unit"]
        assert defaults["thresholds"]["steps"][0]["value"] is None
        assert panel["links"][0]["url"].startswith("${throttlescope}/")
        assert all(target["legendFormat"] for target in panel["targets"]) or panel["type"] == "table"


@pytest.mark.parametrize("name", NAMES)
def test_panels_do_not_overlap(name):
    taken = set()
    for panel in dashboards(OPTIONS[0])[name]["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert max(x for x, _ in cells) < 24
        assert not cells & taken
        taken |= cells


def links_of(panel: dict[str, Any]) -> list[str]:
    """Addresses of a panel, of its series and of its columns."""
    overrides = [
        link["url"]
        for one in panel["fieldConfig"]["overrides"]
        for change in one["properties"]
        if change["id"] == "links"
        for link in change["value"]
    ]
    own = [link["url"] for link in panel["fieldConfig"]["defaults"].get("links", ())]
    return [*(link["url"] for link in panel["links"]), *own, *overrides]


def test_links_open_our_pages():
    """As Grafana fills them in."""
    seen = set()
    for _, panel in panels():
        for url in links_of(panel):
            text = url.replace("${throttlescope}", "http://scope.example")
            text = re.sub(r"\$\{__(?:from|to):date:iso\}", lambda found: (found[0][4:6] == "fr" and "2026-11-20T01:00:00.000Z") or "2026-11-20T02:00:00.000Z", text)  # fmt: skip
            text = re.sub(
                r"\$\{(?:__field\.labels\.|__data\.fields\.)?(\w+):percentencode\}",
                lambda found: quote(SHOWN[found[1]], safe=""),
                text,
            )
            assert "$" not in text
            path, query = urlsplit(text).path, urlsplit(text).query
            seen.add(path)
            if path == "/subscription":
                address = SubscriptionAddress.parse(query)
                assert {name: str(value) for name, value in vars(address.subscription).items()} == {
                    name: SHOWN[name] for name in KEY
                }
                assert address.end_ms - address.start_ms == BLOCK_MS
            elif path == "/rollups":
                RollupsAddress.parse(query)
            else:
                SubscriptionsAddress.parse(query)
    assert seen == {"/", "/subscription", "/subscriptions", "/rollups"}


@pytest.mark.parametrize("options", OPTIONS)
def test_queries_read_recorded_series_only(options):
    """With windows of another length the names of series are others."""
    recorded = {rule.record for rule in all_rules(options) if isinstance(rule, ExportedRecording)} | {
        "ALERTS"
    }
    read = set()
    for name, panel in panels(options):
        for target in panel["targets"]:
            rule = RecordingRule("r", filled(target["expr"], values_of(name)))
            read |= {selector.metric_name for selector in rule.selectors}
    assert read <= recorded
    assert len(read) > 10


@pytest.mark.long
def test_command_writes_rules_and_dashboards(tmp_path):
    outcome = throttlescope(
        "rules", "export", "--out", tmp_path / "rules", "--dashboards", tmp_path / "grafana",
        "--external-url", "https://scope.example/at", "--scrape-interval", "2m", "--format", "json",
    )  # fmt: skip
    assert outcome.code == 0, outcome.line
    assert len(list((tmp_path / "rules").iterdir())) == 2
    for name in NAMES:
        assert json.loads((tmp_path / "grafana" / f"{name}.json").read_text()) == dashboards(OPTIONS[1])[name]
    (tmp_path / "file").write_text("")
    refused = throttlescope("rules", "export", "--dashboards", tmp_path / "file" / "below")
    assert (refused.code, "The dashboards cannot be written" in refused.line) == (2, True)
    assert throttlescope("rules", "export").code == 2


# -- the queries ------------------------------------------------------------------------------


@pytest.mark.long
def test_every_panel_has_data_on_a_lake(tmp_path):
    """The HTTP API of a lake, in which ``rules run`` has evaluated the exported rules."""
    start_ms = time.time_ns() // 1_000_000 // BLOCK_MS * BLOCK_MS - 2 * BLOCK_MS
    lake = lake_of(tmp_path / "lake", scenes(start_ms))
    (rules, _) = export_rules(tmp_path, ExportOptions(scrape_interval_ms=STEP_MS))
    result = run_rules(lake, [read_rule_file(rules.path)], start_ms, start_ms + END_MS)
    assert result.failures == 0
    with serving(lake.root, tmp_path / "serve.log") as server:
        check_panels(server.url, start_ms + END_MS - MINUTE_MS)


@pytest.mark.prometheus
@pytest.mark.long
def test_every_panel_has_data_on_prometheus(tmp_path):
    """A live one with the exported rules loaded."""
    (rules, _) = export_rules(tmp_path, ExportOptions(scrape_interval_ms=STEP_MS, interval_ms=1000, for_ms=0))
    now_ms = time.time_ns() // 1_000_000
    with running_prometheus(extra_flags=["--web.enable-lifecycle"]) as prometheus:
        # From twenty minutes ago to nine minutes ahead, which is as far as Prometheus takes them.
        shifted = scenes(now_ms - 21 * MINUTE_MS)
        write_arrays(prometheus.url, [(one.labels, one.timestamps_ms, one.values) for one in shifted])
        config = yaml.safe_load(prometheus.config_file.read_text())
        prometheus.config_file.write_text(yaml.safe_dump(config | {"rule_files": [str(rules.path)]}))
        assert requests.post(f"{prometheus.url}/-/reload", timeout=30).status_code == 200
        deadline_s = time.monotonic() + 120
        while True:
            try:
                return check_panels(prometheus.url, time.time_ns() // 1_000_000)
            except NoDataError:
                # Rules are evaluated one after the other, once a second.
                assert time.monotonic() < deadline_s
                time.sleep(1)


class NoDataError(AssertionError):
    """A query has no answer, or not yet."""


def check_panels(url: str, at_ms: int) -> None:
    """Fail unless every query of every panel has data whose labels its legend and its links name, and every variable its values."""
    counted = {}
    for name, panel in panels(ExportOptions(scrape_interval_ms=STEP_MS)):
        for target in panel["targets"]:
            query = filled(target["expr"], values_of(name))
            series = answer(url, query, at_ms, is_range=target["range"])
            if not series:
                raise NoDataError(f"{panel['title']}: {query}")
            texts = [
                target["legendFormat"],
                *(link["url"] for link in panel["fieldConfig"]["defaults"].get("links", ())),
            ]
            named = {label for text in texts for label in re.findall(r"\{\{(\w+)\}\}|__field\.labels\.(\w+)", text) for label in label if label}  # fmt: skip
            for one in series:
                assert named <= one["metric"].keys(), (panel["title"], one["metric"])
            if panel["type"] == "stat":
                counted[panel["title"]] = float(series[0]["values"][-1][1])
    wanted = {
        "Held back by a limiter": 1, "Slow consumers": 1, "No consumers": 1, "Blocked on unacked": 1,
        "Unexplained": 0, "Subscriptions": len(SCENES),
    }  # fmt: skip
    if counted != wanted:
        raise NoDataError(f"{counted}, expected {wanted}")
    for document in dashboards(ExportOptions()).values():
        for variable in document["templating"]["list"]:
            if variable["type"] == "query":
                check_variable(url, variable["query"]["query"], at_ms)


def check_variable(url: str, query: str, at_ms: int) -> None:
    """``label_values(SELECTOR, LABEL)``, as Grafana asks for it."""
    selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query).groups()
    values = SHOWN if "$topic" in selector or '="$' in selector else values_of("fleet")
    response = requests.get(
        f"{url}/api/v1/label/{label}/values",
        params={"match[]": filled(selector, values), "start": at_ms / 1000 - 1800, "end": at_ms / 1000},
        timeout=60,
    )
    assert SHOWN[label] in response.json()["data"], (query, response.text)


def answer(url: str, query: str, at_ms: int, *, is_range: bool) -> list[dict[str, Any]]:
    at_s = at_ms / 1000
    moments = {"start": at_s - 60, "end": at_s, "step": 15} if is_range else {"time": at_s}
    path = "query_range" if is_range else "query"
    response = requests.post(f"{url}/api/v1/{path}", data={"query": query, **moments}, timeout=60)
    assert response.status_code == 200, response.text
    return response.json()["data"]["result"]
