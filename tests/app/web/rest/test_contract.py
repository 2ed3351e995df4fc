"""The published contract: a valid OpenAPI document that describes every answer."""

from __future__ import annotations

import jsonschema_rs
import pytest
from openapi_spec_validator import validate

from tests.app.web.rest.contract import PREFIX, CheckedClient, validator
from throttlescope.app.server.app import create_app
from throttlescope.app.server.rest.resources import RESOURCES
from throttlescope.ingest.contracts import TABLES

TABLE_OF = {
    "verdicts": "verdicts",
    "subscriptions": "verdict_latest",
    "episodes": "episodes",
    "incidents": "incidents",
    "forecasts": "forecasts",
}


@pytest.mark.long
def test_document_is_valid_openapi(rest):
    assert rest.document["openapi"].startswith("3.1.")
    validate(rest.document)


@pytest.mark.long
@pytest.mark.parametrize("name", TABLE_OF)
def test_items_have_every_column(rest, name):
    items = rest.items(name, limit=1000)
    assert items
    columns = [column.name for column in TABLES[TABLE_OF[name]].columns if column.name != "messages"]
    assert all(set(columns) <= item.keys() for item in items)


@pytest.mark.long
def test_limits_have_use_and_owner(rest_of_limits):
    items = rest_of_limits.items("limits")
    topic = next(item for item in items if item["limiter"] == "topic.msg")
    assert (topic["rate_per_period"], topic["period_s"], topic["rate_per_s"]) == (120, 1, 120.0)
    assert (topic["shared_by_subscriptions"], topic["subscription"]) == (2, None)
    assert topic["use_share_max"] > 0.9
    assert topic["near_limit_minutes"] > 0
    broker = next(item for item in items if item["limiter"] == "broker.msg")
    assert (broker["rate_per_period"], broker["topic"]) == (5000, None)


def test_every_resource_has_a_path(rest):
    assert set(rest.document["paths"]) == {f"/{name}" for name in (*RESOURCES, "recommendations")}


def test_every_field_has_a_description(rest):
    """Fields of structs in a table's cell are described in the reference of the tables."""
    schemas = rest.document["components"]["schemas"]
    tops = {name for name in schemas if name.endswith("Page")} | {
        "Verdict", "Subscription", "Episode", "Incident", "Limit", "Forecast", "Recommendation", "Problem",
    }  # fmt: skip
    bare = [
        (name, field)
        for name in tops
        for field, schema in schemas[name]["properties"].items()
        if not schema.get("description")
    ]
    assert bare == []


@pytest.mark.long
def test_verdict_fits_its_own_schema(rest):
    schema = rest.inner.get(f"{PREFIX}/verdict.schema.json").get_json()
    checked = jsonschema_rs.Draft202012Validator(schema)
    items = rest.items("verdicts", limit=1000)
    for item in items:
        checked.validate(item)
    assert not checked.is_valid({**items[0], "cause": "the weather"})
    assert not checked.is_valid({name: value for name, value in items[0].items() if name != "confidence"})


def test_a_wrong_answer_would_fail(rest):
    page = rest.get("verdicts", {"limit": 1}).get_json()
    checked = validator(rest.document, "#/components/schemas/VerdictPage")
    assert checked.is_valid(page)
    assert not checked.is_valid({**page, "items": [{**page["items"][0], "window_end_ms": "now"}]})


def test_freshness_is_in_each_answer(rest):
    for name in RESOURCES:
        freshness = rest.get(name, {"limit": 1}).get_json()["freshness"]
        assert {one["cluster"] for one in freshness["clusters"]} == {"sample-east", "sample-west"}
        assert set(freshness["table_versions"]) == set(RESOURCES[name].tables)


@pytest.mark.long
def test_empty_lake_answers_without_items(tmp_path):
    client = CheckedClient(create_app(tmp_path / "lake").server.test_client())
    for name in RESOURCES:
        page = client.get(name).get_json()
        assert (page["items"], page["next_cursor"]) == ([], None)
        assert set(page["freshness"]["table_versions"].values()) == {None}


@pytest.mark.long
def test_page_of_an_item_opens(rest):
    for name in ("verdicts", "episodes", "incidents", "forecasts"):
        for item in rest.items(name, limit=1000)[:5]:
            assert rest.inner.get(item["page"]).status_code == 200
