"""The alerts page: addresses, what a preview shows, what is missed, and the limits that it shares with the API."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from tests.app.web.components import find, text_of
from tests.app.web.sample_lake import END_MS, HOSTILE_NAME, START_MS
from tests.app.web.sampled_lake import write_sampled_lake
from tests.app.web.test_format import plain
from tests.app.web.test_server import call
from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.app.rules_export import alert_rules as a
from throttlescope.app.rules_export.export import all_rules
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.app.rules_export.preview.firings import NOT_REAL, REAL, UNDECIDED
from throttlescope.app.rules_export.rule_records import Alerting
from throttlescope.app.server.app import create_app
from throttlescope.app.services.promql.concurrency import QueryLimits
from throttlescope.app.web.address.alerts import AlertsAddress
from throttlescope.app.web.data.promql import promql_access
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.exported_rules import INHIBIT_PATH, RULES_PATH
from throttlescope.app.web.pages.alerts import preview as view_module
from throttlescope.app.web.pages.alerts.page import page, size_words
from throttlescope.app.web.pages.alerts.preview import read_view
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.transforms.promql.query import Options
from throttlescope.transforms.rules.rule_file import read_rule_text

RANGE = {"start_ms": START_MS + 10 * MINUTE_MS, "end_ms": END_MS}


def rule(expr: str, hold: str = "5m", **labels: str) -> str:
    alert = {"alert": "Mine", "expr": expr, "for": hold, **({"labels": labels} if labels else {})}
    return yaml.safe_dump({"groups": [{"name": "g", "rules": [alert]}]})


LARGE = rule("pulsar_subscription_back_log > 10000")


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return write_sampled_lake(tmp_path_factory.mktemp("alerts") / "lake")


@pytest.fixture(scope="module")
def app(lake):
    return create_app(lake.root)


def preview(app, lake, **parts):
    view = read_view(promql_access(app), LakeReader(lake.root), AlertsAddress(**{**RANGE, **parts}))
    return view, page(view, promql_access(app))


def read(tree) -> str:
    return " ".join(plain(text_of(tree)).split())


def page_json(app, query: str) -> str:
    response = call(
        app.server.test_client(),
        "..alerts-content.children...alerts-shown.data..",
        [
            {"id": "address", "property": "search", "value": query},
            {"id": "alerts-again", "property": "data", "value": None},
        ],
        [{"id": "address", "property": "pathname", "value": "/alerts"}],
    )
    return json.dumps(response["alerts-content"]["children"], ensure_ascii=False)


# -- the address


@pytest.mark.parametrize(
    "address",
    [
        AlertsAddress(),
        AlertsAddress("PulsarSubscriptionThrottled", None, 1_000, 61_000, "any"),
        AlertsAddress(None, "groups:\n- name: '</script>&#?'\n", end_ms=61_000),
    ],
)
def test_address_round_trip(address):
    assert AlertsAddress.parse(urlsplit(address.href()).query) == address


@pytest.mark.long
@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("?kind=bad", "that does not exist"),
        ("?rule=a&yaml=b", "one of them"),
        ("?rule=Nobody", "There is no exported alert of this name"),
        ("?yaml=" + "x" * 9_000, "too long for an address"),
        ("?yaml=%3Cscript%3E", "no mapping"),
        ("?yaml=groups:%20[]", "There is no alerting rule"),
        ("?from=2026-11-20T03:00:00Z&to=2026-11-20T02:00:00Z", "The start is not before the end"),
        (
            "?rule=PulsarSubscriptionThrottled&from=2020-01-01T00:00:00Z&to=2026-11-20T02:00:00Z",
            "too long for a preview",
        ),
    ],
)
def test_bad_address_shows_an_error(app, query, says):
    said = page_json(app, query)
    assert says in said
    assert "Traceback" not in said


# -- without a range, without samples


@pytest.mark.long
def test_exported_alerts_are_listed_without_a_rule(app, lake):
    view, tree = preview(app, lake)
    assert view.plan is None
    names = {one.alert for one in all_rules(ExportOptions()) if isinstance(one, Alerting)}
    offered = {
        address.rule: address
        for link in find(tree, "Link")
        if (address := AlertsAddress.parse(urlsplit(link.href).query)).rule
    }
    assert offered.keys() == names
    assert all((one.start_ms, one.end_ms) == (RANGE["start_ms"], END_MS) for one in offered.values())


@pytest.mark.long
def test_rule_without_range_is_not_evaluated(app, lake):
    view, tree = preview(app, lake, rule=a.THROTTLED, start_ms=None, end_ms=None)
    assert view.plan is None
    assert "Preview it in this range" in read(tree)
    assert "throttlescope:limiter_binds_rho" in read(tree)
    copies = [
        AlertsAddress.parse(urlsplit(link.href).query)
        for link in find(tree, "Link")
        if "yaml=" in (link.href or "")
    ]
    assert len(copies) == 1
    assert read_rule_text(copies[0].text, "x")


@pytest.mark.long
def test_lake_without_samples_is_explained(sample_lake):
    assert "No samples yet." in page_json(create_app(sample_lake), "?rule=PulsarSubscriptionThrottled")


# -- what a preview says


@pytest.mark.long
def test_firings_are_counted_judged_and_linked(app, lake):
    view, tree = preview(app, lake, text=LARGE)
    said = {(one.firing.labels["subscription"], one.outcome) for one in view.judged}
    assert ("billing", REAL) in said
    assert ("features", UNDECIDED) not in said, "any cause but healthy is trouble, unknown too"
    count = sum(one.outcome == REAL for one in view.judged)
    assert count == len(view.judged) > 5
    assert f"It would have fired {count} times : {count} real" in read(tree)
    assert "every cause but healthy" in read(tree)
    (billing,) = [one for one in view.judged if one.firing.labels["subscription"] == "billing"]
    assert billing.firing.end_ms is None
    assert billing.firing.start_ms - billing.firing.active_ms == 5 * MINUTE_MS
    links = [
        SubscriptionAddress.parse(urlsplit(link.href).query) for link in find(find(tree, "Tbody")[0], "Link")
    ]
    (link,) = [one for one in links if one.subscription.subscription == "billing"]
    assert link.start_ms < billing.firing.active_ms < billing.firing.start_ms < link.end_ms
    assert billing.firing.active_ms < link.at_ms <= END_MS


@pytest.mark.long
def test_kind_decides_which_firings_are_real(app, lake):
    by_kind = {}
    for kind in ("limit", "consumers", None):
        view, _ = preview(app, lake, text=LARGE, kind=kind)
        by_kind[kind] = {one.firing.labels["subscription"]: one.outcome for one in view.judged}
    assert (by_kind["limit"]["billing"], by_kind["limit"]["ledger"]) == (REAL, NOT_REAL)
    assert (by_kind["consumers"]["billing"], by_kind["consumers"]["ledger"]) == (NOT_REAL, REAL)
    assert by_kind["limit"]["features"] == by_kind["consumers"]["features"] == UNDECIDED
    labelled, _ = preview(app, lake, text=rule("pulsar_subscription_back_log > 10000", cause="no_consumers"))
    assert {one.firing.labels["subscription"] for one in labelled.judged if one.outcome == REAL} == {
        "archive"
    }


@pytest.mark.long
def test_missed_backlogs_are_listed(app, lake):
    view, tree = preview(app, lake, text=rule('pulsar_subscription_back_log{subscription="billing"} > 10000'))
    missed = {row["subscription"] for row in view.missed}
    assert "billing" not in missed
    assert {"ledger", "thumbnails", "archive"} <= missed
    assert view.real_total == len(view.missed) + 1
    assert f"{len(view.missed)} of {view.real_total} backlogs of that kind would have been missed" in read(
        tree
    )
    assert "the expression did not hold for 5 m" in read(tree)
    nothing, tree = preview(app, lake, text=rule("pulsar_subscription_back_log > 1e12"))
    assert "It would not have fired" in read(tree)
    assert len(nothing.missed) == nothing.real_total > 5


@pytest.mark.long
def test_alert_without_a_cause_is_not_judged(app, lake):
    view, tree = preview(app, lake, rule=a.LIMITS_MISSING)
    assert view.missed is None
    assert "no firing is called real or not" in read(tree)
    assert " real" not in read(find(tree, "P")[0])


@pytest.mark.long
def test_topic_alert_is_compared_with_subscriptions(app, lake):
    text = rule("max by (cluster, topic) (pulsar_subscription_back_log) > 10000", cause="throttled")
    view, _ = preview(app, lake, text=text)
    said = {one.firing.labels["topic"]: (one.outcome, one.main_verdict.key[-1]) for one in view.judged}
    assert said["persistent://shop/checkout/orders"] == (REAL, "billing")
    assert said["persistent://shop/checkout/payments"][0] == NOT_REAL


@pytest.mark.long
def test_rule_labels_without_a_subscription(app, lake):
    odd = 'label_replace(label_replace(pulsar_subscription_back_log > 10000, "partition", "-", "", ""), "subscription", "x\\u202e", "", "")'
    view, tree = preview(app, lake, text=rule(f"max by (topic, partition, subscription) ({odd})"))
    assert view.judged
    assert "\u202e" not in text_of(tree)
    view, tree = preview(app, lake, text=rule("sum(pulsar_subscription_back_log) > 0"))
    assert {one.outcome for one in view.judged} == {None}
    assert "no subscription" in read(tree)


@pytest.mark.long
def test_hostile_names_are_shown_and_harmless(app, lake):
    view, tree = preview(app, lake, text=LARGE)
    assert HOSTILE_NAME in {one.firing.labels["subscription"] for one in view.judged}
    assert "</script><img src=x onerror=alert(1)>" in text_of(tree)
    assert "\u202e" not in text_of(tree)
    links = [link.href for link in find(tree, "Link") if "onerror" in (link.href or "")]
    assert links
    assert all(parse_qs(urlsplit(href).query)["subscription"][0] == HOSTILE_NAME for href in links)


@pytest.mark.long
def test_failing_rule_is_shown(app, lake):
    text = rule("pulsar_subscription_back_log * on (cluster) pulsar_subscription_back_log > 0")
    view, tree = preview(app, lake, text=text)
    assert view.failures
    assert "Some evaluations failed" in read(tree)
    assert re.search(r"Mine failed \d+ times, first at 2026-11-20T", read(tree))


@pytest.mark.long
def test_preview_evaluates_rules_the_alert_reads(app, lake):
    view, tree = preview(app, lake, rule=a.UNEXPLAINED)
    assert len(view.plan.rules) > 20
    assert view.plan.before_ms >= 6 * 60 * MINUTE_MS, "messages per entry are remembered for six hours"
    assert view.failures == ()
    said = size_words(promql_access(app), AlertsAddress(a.UNEXPLAINED, **RANGE))
    assert plain(said).startswith(f"{len(view.plan.rules)} rules at {view.plan.moments} moments")
    assert "counts as real" in read(tree)


# -- limits


@pytest.mark.long
def test_previews_share_the_concurrency_limit(lake):
    app = create_app(lake.root, limits=QueryLimits(running=1, waiting=0))
    query = "?" + urlsplit(AlertsAddress(None, LARGE, **RANGE).href()).query
    with promql_access(app).slot():
        assert "Too many queries run at once." in page_json(app, query)
    assert "It would have fired" in page_json(app, query)
    answer = app.server.test_client().get("/api/v1/query?query=1")
    assert answer.status_code == 200, "the place was given back"


@pytest.mark.long
def test_one_preview_at_a_time(app, lake, monkeypatch):
    monkeypatch.setattr(view_module, "_PATIENCE_S", 0.01)
    query = "?" + urlsplit(AlertsAddress(None, LARGE, **RANGE).href()).query
    with view_module._RUNNING:
        assert "one preview runs at a time" in page_json(app, query)
    assert "It would have fired" in page_json(app, query)


@pytest.mark.long
def test_time_and_results_are_bounded(lake, monkeypatch):
    query = "?" + urlsplit(AlertsAddress(None, LARGE, **RANGE).href()).query
    slow = create_app(lake.root, limits=QueryLimits(Options(timeout_s=1e-9)))
    assert re.search("waited too long|timed out", page_json(slow, query))
    monkeypatch.setattr(view_module, "MOST_CELLS", 100)
    assert "The rule has too many series for this range" in page_json(create_app(lake.root), query)
    monkeypatch.undo()
    with pytest.raises(InputError, match="too long"):
        AlertsAddress.parse("?yaml=" + "%0A" * 4_000)


# -- files


@pytest.mark.long
def test_rules_download_as_files(app):
    client = app.server.test_client()
    answer = client.get(RULES_PATH, base_url="http://127.0.0.1:8050")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="throttlescope.live.rules.yml"'
    file = read_rule_text(answer.text, "x")
    assert {rule.name for rule in file.rules} >= {a.THROTTLED, "throttlescope:rho"}
    assert "http://127.0.0.1:8050/subscription?" in answer.text
    inhibit = yaml.safe_load(client.get(INHIBIT_PATH).text)
    assert len(inhibit["inhibit_rules"]) == 3
    assert client.post(RULES_PATH).status_code == 405
