"""Parameters: what they select, and what is wrong with those that cannot be used."""

from __future__ import annotations

import pytest

from tests.app.web.rest.contract import PREFIX
from tests.app.web.sample_lake import END_MS, HOSTILE_NAME, START_MS
from throttlescope.ingest.core.times import MINUTE_MS

MIDDLE_MS = END_MS - 60 * MINUTE_MS
FEED = "persistent://shop/web/feed"

#: A request, and the same question asked of every item.
SELECTED = [
    ("verdicts", {"cluster": "sample-west"}, lambda one: one["cluster"] == "sample-west"),
    ("verdicts", {"cause": ["throttled", "slow_consumers"]}, lambda one: one["cause"] in ("throttled", "slow_consumers")),
    ("verdicts", {"side": "consumer_capacity"}, lambda one: one["side"] == "consumer_capacity"),
    ("verdicts", {"limiter": "topic.msg"}, lambda one: one["limiter"] == "topic.msg"),
    ("verdicts", {"tenant": "shop", "namespace": "shop/web"}, lambda one: one["namespace"] == "shop/web"),
    ("verdicts", {"topic": FEED, "subscription": "search-index"}, lambda one: one["subscription"] == "search-index"),
    ("verdicts", {"subscription": HOSTILE_NAME}, lambda one: one["subscription"] == HOSTILE_NAME),
    ("verdicts", {"partition": 2}, lambda one: one["partition"] == 2),
    ("verdicts", {"topic": "persistent://shop/checkout/payments-partition-2"}, lambda one: one["partition"] == 2),
    ("verdicts", {"selector": "persistent://shop/checkout/payments#ledger"}, lambda one: one["subscription"] == "ledger"),
    ("verdicts", {"min_backlog_entries": 1000}, lambda one: (one["backlog_entries"] or 0) >= 1000),
    ("verdicts", {"min_confidence": 0.93}, lambda one: one["confidence"] >= 0.93),
    ("verdicts", {"start_ms": MIDDLE_MS}, lambda one: one["window_end_ms"] > MIDDLE_MS),
    ("verdicts", {"end_ms": MIDDLE_MS}, lambda one: one["window_start_ms"] < MIDDLE_MS),
    ("verdicts", {"window_end_ms": END_MS}, lambda one: one["window_end_ms"] == END_MS),
    ("subscriptions", {"troubled_only": "true"}, lambda one: one["cause"] != "healthy"),
    ("subscriptions", {"main_cause": "throttled", "order": "recent"}, lambda one: one["main_cause"] == "throttled"),
    ("subscriptions", {"search": "SHOP ledger"}, lambda one: one["subscription"] == "ledger"),
    ("episodes", {"open_only": "true"}, lambda one: one["end_ms"] is None),
    ("episodes", {"min_backlog_entries": 100_000}, lambda one: one["peak_entries"] >= 100_000),
    ("episodes", {"end_ms": MIDDLE_MS}, lambda one: one["start_ms"] < MIDDLE_MS),
    ("episodes", {"start_ms": MIDDLE_MS}, lambda one: one["end_ms"] is None or one["end_ms"] > MIDDLE_MS),
    ("incidents", {"selector": f"{FEED}#search-index"}, lambda one: one["shared_with"] == FEED),
    ("incidents", {"kind": "topic_limiter"}, lambda one: one["kind"] == "topic_limiter"),
    ("forecasts", {"kind": "ttl"}, lambda one: one["kind"] == "ttl"),
    ("forecasts", {"state": "expected", "predicted_before_ms": END_MS + 60 * MINUTE_MS},
     lambda one: one["state"] == "expected" and one["predicted_ms"] < END_MS + 60 * MINUTE_MS),
]  # fmt: skip


@pytest.fixture(scope="module")
def everything(rest):
    return {
        name: rest.items(name, limit=1000)
        for name in ("verdicts", "subscriptions", "episodes", "incidents", "forecasts")
    }


@pytest.mark.long
@pytest.mark.parametrize(("resource", "parameters", "fits"), SELECTED)
def test_filter_selects_as_python_does(rest, everything, resource, parameters, fits):
    found = rest.items(resource, limit=1000, **parameters)
    wanted = [one for one in everything[resource] if fits(one)]
    assert wanted
    key = ("cluster", "topic", "partition", "subscription", "window_start_ms", "incident_id", "kind")

    def named(items):
        return sorted(str([one.get(name) for name in key]) for one in items)

    assert named(found) == named(wanted)


def test_nothing_matches_gives_no_items(rest):
    assert rest.items("incidents", subscription="nobody") == []
    assert rest.items("episodes", topic="persistent://shop/web/nothing") == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("parameters", "selects"),
    [
        ({"level": "topic"}, lambda one: one["level"] == "topic"),
        ({"unit": "bytes"}, lambda one: one["unit"] == "bytes"),
        ({"set_by": "topic_policy"}, lambda one: one["set_by"] == "topic_policy"),
        ({"limiter": "broker.msg"}, lambda one: one["limiter"] == "broker.msg"),
        ({"min_use_share": 0.5}, lambda one: (one["use_share_max"] or 0) >= 0.5),
    ],
)
def test_limits_are_filtered(rest_of_limits, parameters, selects):
    everything = rest_of_limits.items("limits", include_unset="true")
    wanted = [one for one in everything if selects(one)]
    assert wanted
    assert len(wanted) < len(everything)
    assert rest_of_limits.items("limits", include_unset="true", **parameters) == wanted


#: A request, and what its error says.
REFUSED = [
    ("verdicts", {"clutser": "a"}, "clutser", "did you mean cluster?"),
    ("verdicts", {"cause": "throtled"}, "cause", "did you mean throttled?"),
    ("verdicts", {"start_ms": END_MS, "end_ms": END_MS}, "end_ms", "make end_ms later"),
    ("verdicts", {"start_ms": END_MS, "end_ms": START_MS}, "end_ms", "make end_ms later"),
    ("verdicts", {"start_ms": "yesterday"}, "start_ms", "a whole number"),
    ("verdicts", {"start_ms": str(10**17)}, "start_ms", "less than or equal"),
    ("verdicts", {"start_ms": "1e3"}, "start_ms", "a whole number"),
    ("verdicts", {"limit": "0"}, "limit", "greater than or equal"),
    ("verdicts", {"limit": "1001"}, "limit", "less than or equal"),
    ("verdicts", {"limit": ["1", "2"]}, "limit", "cannot be repeated"),
    ("verdicts", {"limit": ""}, "limit", "a whole number"),
    ("verdicts", {"min_confidence": "nan"}, "min_confidence", "a number"),
    ("verdicts", {"min_confidence": "2"}, "min_confidence", "less than or equal"),
    ("verdicts", {"partition": "-2"}, "partition", "greater than or equal"),
    ("verdicts", {"selector": "billing"}, "selector", "[persistent://]tenant/ns/topic"),
    ("verdicts", {"selector": f"{FEED}#a", "subscription": "a"}, "selector", "leave selector or subscription out"),
    ("episodes", {"open_only": "yes"}, "open_only", "true or false"),
    ("incidents", {"kind": "brokr"}, "kind", "did you mean broker?"),
    ("recommendations", {}, "selector", "add selector="),
    ("recommendations", {"selector": f"{FEED}#a", "target_s": 1}, "target_s", "greater than or equal"),
]  # fmt: skip


@pytest.mark.parametrize(("resource", "parameters", "parameter", "says"), REFUSED)
def test_bad_parameter_is_explained(rest, resource, parameters, parameter, says):
    problem = rest.problem(resource, parameters)
    assert (problem["status"], problem["parameter"]) == (400, parameter)
    assert says in problem["detail"]


@pytest.mark.parametrize("query", ["cluster=%ff", "cluster=\x80", "&".join(["cluster=a"] * 300)])
def test_unreadable_address_is_explained(rest, query):
    response = rest.inner.get(f"{PREFIX}/verdicts?{query}")
    assert response.status_code == 400
    assert response.get_json()["title"] == "A parameter is not valid"


def test_unknown_resource_names_the_known(rest):
    response = rest.inner.get(f"{PREFIX}/verdict")
    assert (response.status_code, response.mimetype) == (404, "application/problem+json")
    assert f"{PREFIX}/verdicts" in response.get_json()["detail"]


def test_only_reading_methods_are_allowed(rest):
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        response = rest.inner.open(f"{PREFIX}/verdicts", method=method)
        assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert rest.inner.head(f"{PREFIX}/verdicts?limit=1").status_code == 200


def test_unknown_subscription_names_the_nearest(rest):
    problem = rest.problem("recommendations", {"selector": "persistent://shop/checkout/order#billing"})
    assert problem["status"] == 404
    assert "persistent://shop/checkout/orders#billing" in problem["detail"]
