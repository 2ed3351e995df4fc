"""Requests to Dash's own addresses: those of pages are answered, others refused in one line."""

from __future__ import annotations

import pytest

from throttlescope.app.server import app

ADDRESS = "/_dash-update-component"
REFUSED = "The request is not one that a page of this server sends.\n"


def properties(*names: str, **values) -> list[dict]:
    return [{"id": "address", "property": name, "value": values.get(name)} for name in names]


#: As a browser sends it when it opens an address.
ROUTE = {
    "output": "page.children",
    "outputs": {"id": "page", "property": "children"},
    "inputs": properties("pathname", pathname="/no-such-page"),
    "state": properties("search", search=""),
    "changedPropIds": ["address.pathname"],
}


@pytest.fixture(scope="module")
def client(sample_lake):
    return app.create_app(sample_lake).server.test_client()


@pytest.mark.long
def test_callback_of_a_page_is_answered(client):
    assert client.post(ADDRESS, json=ROUTE).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        [],
        "page.children",
        None,
        {"inputs": 1},
        {"output": "none.children"},
        {"output": ["page.children"]},
        {"output": "page.children"},
        {**ROUTE, "inputs": []},
        {**ROUTE, "inputs": {}},
        {**ROUTE, "inputs": [1]},
        {**ROUTE, "inputs": [{"id": 1, "property": "pathname"}]},
        {**ROUTE, "state": [*ROUTE["state"], *ROUTE["state"]]},
        {**ROUTE, "outputs": 5},
        {**ROUTE, "outputs": None},
        {**ROUTE, "outputs": {"id": "address", "property": "children"}},
        {**ROUTE, "outputs": [ROUTE["outputs"]]},
        {**ROUTE, "changedPropIds": 5},
        {**ROUTE, "changedPropIds": [{}]},
    ],
)
def test_other_requests_are_refused(client, body):
    answer = client.post(ADDRESS, json=body)
    assert (answer.status_code, answer.mimetype, answer.text) == (400, "text/plain", REFUSED)
    assert answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff"])
def test_bodies_that_are_no_json_are_refused(client, body):
    assert client.post(ADDRESS, data=body, content_type="application/json").status_code == 400
    assert client.post(ADDRESS, data=body).status_code == 400


@pytest.mark.parametrize("path", ["none/none.js", "dash/none.js", "plotly/..%2fnone.js"])
def test_unknown_scripts_are_not_found(client, path):
    answer = client.get(f"/_dash-component-suites/{path}")
    assert (answer.status_code, answer.text) == (404, "There is no such file.\n")
