"""Versions of the lake: cursors that keep theirs, ETags that name it, and a lake that goes away."""

from __future__ import annotations

import shutil
import time

import pytest

from tests.app.lake_of_verdicts import healthy, lake_with, verdict
from tests.app.web.rest.contract import CheckedClient
from tests.transforms.lakes import table_of
from throttlescope.app.server.app import create_app
from throttlescope.ingest.lake import Lake

# The reader looks every second.
_LONGEST_S = 30


@pytest.fixture
def lake(tmp_path) -> Lake:
    return lake_with(
        tmp_path / "lake",
        [verdict(n) for n in range(4)] + [healthy(n, subscription="audit") for n in range(4)],
    )


@pytest.fixture
def client(lake) -> CheckedClient:
    return CheckedClient(create_app(lake.root).server.test_client())


def add_verdict(lake: Lake, client: CheckedClient, index: int) -> None:
    """Write one more, and wait until the server has it."""
    lake.upsert("verdicts", table_of("verdicts", [verdict(index)]), run_id="later")
    version = lake.version("verdicts")
    deadline_s = time.monotonic() + _LONGEST_S
    while client.get("verdicts").get_json()["freshness"]["table_versions"]["verdicts"] != version:
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "limit"), [("verdicts", 150), ("subscriptions", 7), ("episodes", 1), ("forecasts", 1)]
)
def test_pages_join_to_the_whole(rest, name, limit):
    whole = rest.items(name, limit=1000)
    assert len(whole) > 2 * limit
    assert rest.items(name, limit=limit) == whole


@pytest.mark.long
def test_cursor_keeps_its_version(lake, client):
    """A row that is written between two pages neither moves nor repeats the others."""
    before = client.items("verdicts")
    first = client.get("verdicts", {"limit": 3}).get_json()
    add_verdict(lake, client, 9)
    second = client.get("verdicts", {"limit": 100, "cursor": first["next_cursor"]}).get_json()
    assert first["items"] + second["items"] == before
    assert second["freshness"] == first["freshness"]
    assert len(client.items("verdicts")) == len(before) + 1


@pytest.mark.long
def test_old_cursor_is_refused(lake, client, tmp_path):
    """Its version's files were deleted, as a vacuum does."""
    cursor = client.get("verdicts", {"limit": 3}).get_json()["next_cursor"]
    old = {file.path for file in lake.files("verdicts")}
    add_verdict(lake, client, 3)
    for path in old - {file.path for file in lake.files("verdicts")}:
        (tmp_path / "lake" / path).unlink()
    problem = client.problem("verdicts", {"limit": 3, "cursor": cursor})
    assert (problem["status"], problem["parameter"]) == (400, "cursor")
    assert "too old" in problem["detail"]
    assert "leave cursor out" in problem["detail"]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (lambda cursor: cursor[:-2] + ("AA" if cursor[-2:] != "AA" else "BB"), "not one that this API gave"),
        (lambda cursor: "a" + cursor, "not one that this API gave"),
        (lambda cursor: "next", "not one that this API gave"),
        (lambda cursor: "ÄÖ", "not one that this API gave"),
        (lambda cursor: "A" * 1000, "not one that this API gave"),
    ],
)
def test_altered_cursor_is_refused(rest, changed, says):
    cursor = rest.get("verdicts", {"limit": 3}).get_json()["next_cursor"]
    problem = rest.problem("verdicts", {"limit": 3, "cursor": changed(cursor)})
    assert (problem["status"], problem["parameter"]) == (400, "cursor")
    assert says in problem["detail"]
    assert "leave cursor out" in problem["detail"]


def test_cursor_of_another_request_is_refused(rest):
    cursor = rest.get("verdicts", {"limit": 3}).get_json()["next_cursor"]
    for resource, more in (("verdicts", {"cause": "throttled"}), ("episodes", {})):
        problem = rest.problem(resource, {"cursor": cursor, **more})
        assert (problem["status"], "another request" in problem["detail"]) == (400, True)


def test_etag_names_version_and_parameters(rest):
    first = rest.get("verdicts", {"limit": 3})
    etag = first.headers["ETag"]
    again = rest.get("verdicts", {"limit": 3}, headers={"If-None-Match": etag})
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", etag)
    assert rest.get("verdicts", {"limit": 4}, headers={"If-None-Match": etag}).status_code == 200
    assert rest.get("episodes", {"limit": 3}, headers={"If-None-Match": etag}).status_code == 200
    assert first.headers["Cache-Control"] == "private, no-cache"


@pytest.mark.long
def test_etag_changes_with_the_lake(lake, client):
    etag = client.get("verdicts").headers["ETag"]
    add_verdict(lake, client, 9)
    after = client.get("verdicts", headers={"If-None-Match": etag})
    assert after.status_code == 200
    assert after.headers["ETag"] != etag


@pytest.mark.long
def test_lake_that_is_gone_is_503(lake, client, tmp_path):
    assert client.get("verdicts").status_code == 200
    (tmp_path / "lake").rename(tmp_path / "elsewhere")
    for name in ("verdicts", "subscriptions", "limits"):
        response = client.get(name)
        assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
        assert response.get_json()["type"].endswith("lake-unavailable")
        assert str(tmp_path) not in response.text
    (tmp_path / "elsewhere").rename(tmp_path / "lake")
    deadline_s = time.monotonic() + _LONGEST_S
    while client.get("verdicts").status_code != 200:
        assert time.monotonic() < deadline_s
        time.sleep(0.1)


@pytest.mark.long
def test_lake_that_vanishes_within_a_request_is_503(lake, client, tmp_path, monkeypatch):
    """After the checks, before the rows."""
    from throttlescope.app.server.rest import routes

    client.get("verdicts")
    resource = routes.RESOURCES["verdicts"]

    def read(*arguments):
        shutil.rmtree(tmp_path / "lake")
        return resource.read(*arguments)

    gone = type(resource)(resource.name, resource.item, resource.filters, resource.tables, read)
    monkeypatch.setitem(routes.RESOURCES, "verdicts", gone)
    response = client.get("verdicts")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")


@pytest.mark.long
def test_slow_request_ends_at_its_deadline(lake, monkeypatch):
    from throttlescope.app.server.api.routes import DEFAULT_LIMITS
    from throttlescope.app.server.rest import routes
    from throttlescope.app.services.promql.concurrency import QueryLimits

    options = type(DEFAULT_LIMITS.options)(timeout_s=0.2)
    slow = CheckedClient(create_app(lake.root, limits=QueryLimits(options)).server.test_client())
    resource = routes.RESOURCES["verdicts"]

    def read(reader, *_):
        return reader.read(
            lambda cursor, _: cursor.execute("SELECT count(*) FROM range(100000000000) a").fetchall()
        )

    monkeypatch.setitem(
        routes.RESOURCES,
        "verdicts",
        type(resource)(resource.name, resource.item, resource.filters, resource.tables, read),
    )
    began_s = time.monotonic()
    problem = slow.problem("verdicts")
    assert problem["type"].endswith("timeout")
    assert time.monotonic() - began_s < 10
