"""The server without a browser: health, headers, nothing from elsewhere, faults explained."""

from __future__ import annotations

import gzip
import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.web.sample_lake import SAMPLES, write_sample_lake
from throttlescope.app import web
from throttlescope.app.server import app
from throttlescope.app.web import warm_pages
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.ingest.core.errors import InputError

ASSETS = Path(web.__file__).parent / "assets"


@pytest.fixture
def client(sample_lake):
    return app.create_app(sample_lake).server.test_client()


def call(client, output: str, inputs: list[dict], state: list[dict] = ()) -> dict:
    """One callback, as the browser asks for it."""
    specifications = [
        dict(zip(("id", "property"), part.rsplit(".", 1), strict=True))
        for part in output.strip(".").split("...")
    ]
    body = {
        "output": output,
        "outputs": specifications if output.startswith("..") else specifications[0],
        "inputs": inputs,
        "state": list(state),
        "changedPropIds": [f"{part['id']}.{part['property']}" for part in inputs],
    }
    answer = client.post("/_dash-update-component", data=json.dumps(body), content_type="application/json")
    assert answer.status_code == 200, answer.text
    return answer.get_json()["response"]


def show_subscription(client, query: str) -> str:
    response = call(
        client,
        "..subscription-content.children...subscription-shown.data..",
        [{"id": "address", "property": "search", "value": query}],
        [{"id": "address", "property": "pathname", "value": "/subscription"}],
    )
    return json.dumps(response, ensure_ascii=False)


def test_health_and_headers(client):
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Frame-Options"] == "DENY"


@pytest.mark.long
def test_unknown_host_header_is_refused(client, sample_lake):
    assert client.get("/", headers={"Host": "attacker.example"}).status_code == 400
    assert client.get("/", headers={"Host": "localhost:8050"}).status_code == 200
    assert client.get("/", headers={"Host": "127.0.0.1:8050"}).status_code == 200
    opened = app.create_app(sample_lake, host="0.0.0.0").server.test_client()  # noqa: S104
    assert opened.get("/", headers={"Host": "pulsar.example"}).status_code == 200


def test_the_first_page_names_no_other_host(client):
    text = client.get("/").text
    assert "_dash-component-suites" in text
    assert re.findall(r"(?:https?:)?//[\w.-]+", text) == []


def test_page_frame_comes_before_scripts(client):
    text = client.get("/").text
    body = text[text.index("<body>") : text.index("<footer>")]
    for page in app.IN_HEADER:
        assert f'href="{page.path}"' in body
        assert f">{page.title}<" in body
    assert body.index("first-bar") < body.index("react-entry-point")
    assert "<script" not in body


@pytest.mark.long
def test_scripts_are_compressed_for_clients_that_accept_it(client):
    address = re.search(r'src="(/_dash-component-suites/[^"]+ag_grid[^"]+)"', client.get("/").text).group(1)
    plain = client.get(address)
    packed = client.get(address, headers={"Accept-Encoding": "gzip, deflate, br"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert len(packed.data) == int(packed.headers["Content-Length"]) < len(plain.data) / 2
    assert gzip.decompress(packed.data) == plain.data
    assert "Content-Encoding" not in client.get(address, headers={"Accept-Encoding": "gzip;q=0"}).headers


@pytest.mark.long
def test_styles_are_compressed_and_keep_their_etag(client):
    packed = client.get("/assets/overview.css", headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.data) == (ASSETS / "overview.css").read_bytes()
    again = {"Accept-Encoding": "gzip", "If-None-Match": packed.headers["ETag"]}
    assert client.get("/assets/overview.css", headers=again).status_code == 304


@pytest.mark.long
def test_warm_up_builds_first_pages(sample_lake, tmp_path):
    # Overview, the worst subscription, and what comes later on its page; of an empty lake the overview alone.
    assert warm_pages.build(LakeReader(sample_lake)) == 3
    assert warm_pages.build(LakeReader(tmp_path)) == 1


@pytest.mark.long
def test_worker_serves_scripts_of_other_workers_page(client, sample_lake):
    scripts = re.findall(r'src="(/_dash-component-suites/[^"]+)"', client.get("/").text)
    other = app.create_app(sample_lake).server.test_client()
    assert len(scripts) > 5
    assert [other.get(path).status_code for path in scripts] == [200] * len(scripts)


@pytest.mark.parametrize("path", sorted(ASSETS.iterdir()), ids=lambda path: path.name)
def test_assets_fetch_nothing_external(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(
        r"https?://|@import|url\(\s*['\"]?//|innerHTML|outerHTML|insertAdjacentHTML|eval\(", text
    )


@pytest.mark.long
def test_server_sorts_and_pages_rows(client):
    request = {
        "startRow": 0,
        "endRow": 3,
        "sortModel": [{"colId": "backlog", "sort": "asc"}],
        "filterModel": {},
    }
    response = call(
        client,
        "subscriptions-grid.getRowsResponse",
        [{"id": "subscriptions-grid", "property": "getRowsRequest", "value": request}],
        [{"id": "address", "property": "search", "value": "?cause=throttled&view=recent"}],
    )["subscriptions-grid"]["getRowsResponse"]
    assert response["rowCount"] == 6
    assert len(response["rowData"]) == 3
    assert response["rowData"][0]["subscription"] == "thumbnails"


def test_invalid_address_is_explained_without_rows(client):
    request = {"startRow": 0, "endRow": 3, "sortModel": [], "filterModel": {}}
    response = call(
        client,
        "subscriptions-grid.getRowsResponse",
        [{"id": "subscriptions-grid", "property": "getRowsRequest", "value": request}],
        [{"id": "address", "property": "search", "value": "?cause=bad_luck"}],
    )
    assert response["subscriptions-grid"]["getRowsResponse"] == {"rowData": [], "rowCount": 0}


@pytest.mark.long
@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("", "does not name a subscription"),
        ("?cluster=c&topic=t&subscription=s&partition=x", "not a number"),
        ("?cluster=c&topic=t&subscription=s", "The lake has no data of this subscription."),
        (
            "?cluster=c&topic=t&subscription=s&from=2026-11-20T03:00:00Z&to=2026-11-20T02:00:00Z",
            "The start is not before the end",
        ),
    ],
)
def test_invalid_address_is_explained(client, query, says):
    assert says in show_subscription(client, query)


def test_an_unknown_page_is_explained(client):
    response = call(
        client,
        "page.children",
        [{"id": "address", "property": "pathname", "value": "/<script>"}],
        [{"id": "address", "property": "search", "value": ""}],
    )
    assert "There is no such page." in json.dumps(response)


@pytest.mark.long
def test_errors_show_no_stack_trace(tmp_path, caplog, monkeypatch):
    """A lake whose log cannot be read: the page says which. An unexpected error: the page says so, the trace goes to the log."""
    lake = write_sample_lake(tmp_path / "lake", SAMPLES[:1])
    for log in (Path(lake.root) / "verdicts" / "_delta_log").glob("*.json"):
        log.write_text("not a log")
    client = app.create_app(lake.root).server.test_client()
    said = show_subscription(client, "?cluster=c&topic=t&subscription=s")
    assert "The log of table verdicts is damaged" in said
    assert "Traceback" not in said

    def broken(self, ask):
        raise RuntimeError("unexpected")

    monkeypatch.setattr(LakeReader, "read", broken)
    said = show_subscription(client, "?cluster=c&topic=t&subscription=s")
    assert "This page could not be built." in said
    assert "unexpected" not in said
    assert "Traceback" not in said
    assert "Traceback" in caplog.text


@pytest.mark.long
def test_a_page_is_built_without_spark(sample_lake):
    """In a process of its own: other tests of this run have long imported pyspark."""
    program = """
import sys
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages.subscription import page as subscription
from throttlescope.app.web.pages.subscription.content import read_view
from throttlescope.app.server.app import create_app
create_app(sys.argv[1])
key = SubscriptionPartition("sample-east", "persistent://shop/checkout/orders", -1, "billing")
page = subscription.page(read_view(LakeReader(sys.argv[1]), SubscriptionAddress(key)))
assert "Throttled" in str(page)
print(sorted(name for name in sys.modules if name.split(".")[0] in ("pyspark", "py4j", "great_expectations")))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, sample_lake], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_used_port_is_reported_before_start(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(InputError, match="--port"):
        app.serve(tmp_path, port=taken.getsockname()[1])
