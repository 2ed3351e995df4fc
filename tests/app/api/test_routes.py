"""The API without a socket: limits, faults of the lake, long answers, and that nothing is written."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.app.api.samples import END_MS, START_MS
from throttlescope.app.server.api.endpoints import Endpoints
from throttlescope.app.server.api.parameters import Parameters, parse_form
from throttlescope.app.server.app import create_app
from throttlescope.app.services.promql.concurrency import QueryLimits
from throttlescope.transforms.promql.annotations import Annotation
from throttlescope.transforms.promql.matrix import Steps, empty
from throttlescope.transforms.promql.query import Options, QueryAnswer

AT = f"{START_MS / 1000 + 600:.3f}"
RANGE = {"query": "up", "start": f"{START_MS / 1000}", "end": f"{END_MS / 1000}", "step": "15"}
BACKLOG = "pulsar_subscription_back_log"


def client_with(lake, **limits):
    options = Options(**{name: limits.pop(name) for name in ("max_samples", "timeout_s") if name in limits})
    return create_app(lake.root, limits=QueryLimits(options, **limits)).server.test_client()


def failure(answer) -> tuple[int, str, str]:
    document = answer.get_json()
    assert document.keys() == {"status", "errorType", "error"}
    assert document["status"] == "error"
    assert answer.content_type == "application/json"
    return answer.status_code, document["errorType"], document["error"]


def still_answers(client) -> bool:
    answer = client.get(f"/api/v1/query?query=count(up)&time={AT}")
    return answer.get_json()["data"]["result"][0]["value"][1] == "2"


@pytest.mark.long
def test_unknown_host_header_is_refused(client, api_lake):
    for path in ("/api/v1/query?query=1", "/-/ready"):
        assert client.get(path, headers={"Host": "attacker.example"}).status_code == 400
        assert client.get(path, headers={"Host": "localhost:8050"}).status_code == 200
    opened = create_app(api_lake.root, host="0.0.0.0").server.test_client()  # noqa: S104
    assert opened.get("/-/ready", headers={"Host": "pulsar.example"}).status_code == 200


def test_web_app_is_on_the_same_server(client):
    assert "_dash-component-suites" in client.get("/").text
    assert client.get("/healthz").status_code == 200


def test_other_origins_need_permission(client):
    answer = client.get("/api/v1/labels", headers={"Origin": "http://grafana.example"})
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_cors_origins_can_be_restricted(api_lake):
    client = create_app(api_lake.root, cors_origin="https?://grafana[.]example").server.test_client()
    for origin, allowed in (("http://grafana.example", True), ("http://grafana.example.org", False)):
        answer = client.get("/api/v1/labels", headers={"Origin": origin})
        assert answer.headers.get("Access-Control-Allow-Origin") == (origin if allowed else None)


@pytest.mark.long
def test_sample_limit_ends_the_query(api_lake):
    client = client_with(api_lake, max_samples=100)
    assert failure(client.get("/api/v1/query_range", query_string={**RANGE, "query": f"rate({BACKLOG}[5m])"})) == (
        422, "execution", "query processing would load too many samples into memory in query execution",
    )  # fmt: skip
    assert still_answers(client)


@pytest.mark.long
def test_query_timeout_is_reported(api_lake):
    client = client_with(api_lake, timeout_s=1e-9)
    found = failure(client.get("/api/v1/query_range", query_string=RANGE))
    assert found[:2] == (503, "timeout")
    assert found[2].startswith("query timed out in ")
    client = client_with(api_lake)
    failed = failure(client.get("/api/v1/query_range", query_string={**RANGE, "timeout": "0.000001"}))
    assert failed[:2] == (503, "timeout")
    assert still_answers(client)


def test_request_timeout_cannot_exceed_server_timeout(api_lake):
    client = client_with(api_lake, timeout_s=1e-9)
    assert failure(client.get(f"/api/v1/query?query=up&time={AT}&timeout=1h"))[:2] == (503, "timeout")


@pytest.mark.long
def test_exponential_regex_does_not_block_server(client):
    bomb = "(a*)*(a|aa)+" * 20 + "b"
    answer = client.get(
        "/api/v1/query",
        query_string={"query": f'up{{instance=~"{bomb}"}} or up{{job!~"({bomb}){{50}}"}}', "time": AT},
    )
    assert answer.status_code in (200, 400)
    assert (
        client.get("/api/v1/series", query_string={"match[]": f'{{job=~"{bomb}"}}'}).get_json()["data"] == []
    )
    assert still_answers(client)


@pytest.mark.parametrize(
    "text", ["(" * 500_000, "1+" * 300_000 + "1", "{" + "a" * 900_000, "\0" * 1000, "up" + " " * 10**6]
)
def test_hostile_query_text_is_answered(client, text):
    answer = client.post("/api/v1/query", data={"query": text, "time": AT})
    assert answer.status_code in (200, 400)
    assert answer.get_json()["status"] in ("success", "error")
    assert still_answers(client)


def test_unsupported_function_is_refused_by_name(client):
    answer = client.get("/api/v1/query", query_string={"query": "info(up)", "time": AT})
    code, kind, words = failure(answer)
    assert (code, kind) == (400, "bad_data")
    assert words.startswith('invalid parameter "query": ')
    assert "info" in words


def test_long_answer_is_streamed_in_chunks(client, monkeypatch):
    parameters = {**RANGE, "query": f"{BACKLOG} or up", "stats": "all"}
    whole = client.get("/api/v1/query_range", query_string=parameters)
    assert "Content-Length" in whole.headers
    monkeypatch.setattr("throttlescope.app.server.api.endpoints._POINTS_OF_ONE_PIECE", 10)
    monkeypatch.setattr("throttlescope.transforms.promql.answer._POINTS_AT_ONCE", 50)
    pieces = client.get("/api/v1/query_range", query_string=parameters)
    assert "Content-Length" not in pieces.headers
    assert pieces.get_json()["data"]["result"] == whole.get_json()["data"]["result"]
    assert pieces.get_json()["data"].keys() == {"resultType", "result", "stats"}
    zipped = client.get("/api/v1/query_range", query_string=RANGE, headers={"Accept-Encoding": "gzip"})
    assert json.loads(gzip.decompress(zipped.data))["status"] == "success"
    assert len(zipped.data) < len(client.get("/api/v1/query_range", query_string=RANGE).data)


def test_statistics_are_given_on_request(client):
    plain = client.get("/api/v1/query", query_string={"query": "up", "time": AT}).get_json()
    assert "stats" not in plain["data"]
    found = client.get("/api/v1/query", query_string={"query": "up", "time": AT, "stats": "all"}).get_json()
    stats = found["data"].pop("stats")
    assert found == plain
    assert stats["timings"]["execTotalTime"] >= stats["timings"]["evalTotalTime"] > 0
    assert stats["throttlescope"]["samples"] > 0


class _AnnotatedQueries:
    """Queries that are answered with annotations."""

    def __init__(self, *annotations):
        self.annotations = annotations

    def instant(self, text, time_ms, options):
        return QueryAnswer("vector", Steps.at(time_ms), empty(1), self.annotations)


def test_annotations_beyond_ten_are_counted():
    warnings, infos = (
        [Annotation(kind, str(n)) for n in range(count)] for kind, count in (("warning", 13), ("info", 10))
    )
    reply = Endpoints(_AnnotatedQueries(*warnings, *infos), QueryLimits()).query(
        Parameters(parse_form(b"query=1"))
    )
    assert reply.warnings == (
        *(one.text for one in warnings[:10]),
        "3 more warning annotations omitted",
    )
    assert reply.infos == tuple(one.text for one in infos)


def test_annotations_come_with_the_data(client):
    found = client.get(
        "/api/v1/query", query_string={"query": "quantile(2, rate(up[5m]))", "time": AT}
    ).get_json()
    assert found["warnings"] == ["PromQL warning: quantile value should be between 0 and 1, got 2 (1:10)"]
    assert "might not be a counter" in found["infos"][0]


# -- a lake that is not whole -------------------------------------------------------------------


@pytest.fixture
def broken(api_lake, tmp_path):
    """A copy of the lake to break, and its files of one metric."""
    root = Path(shutil.copytree(api_lake.root, tmp_path / "lake"))
    files = [
        root / "samples" / file.relative_path
        for file in api_lake.files("samples", partition={"metric_name": [BACKLOG]})
    ]
    assert files
    return root, files


def range_query(client, query):
    return client.get("/api/v1/query_range", query_string={**RANGE, "query": query})


def test_truncated_file_is_an_internal_error(broken):
    root, files = broken
    client = create_app(root).server.test_client()
    for file in files:
        file.write_bytes(file.read_bytes()[:100])
    for _ in range(2):
        code, kind, words = failure(range_query(client, BACKLOG))
        assert (code, kind) == (500, "internal")
        assert "Files of table samples are damaged" in words
        assert "\n" not in words
        assert still_answers(client)


@pytest.mark.long
def test_missing_file_is_an_internal_error(broken):
    root, files = broken
    client = create_app(root).server.test_client()
    for file in files:
        file.unlink()
    assert failure(range_query(client, BACKLOG))[:2] == (500, "internal")
    assert still_answers(client)


@pytest.mark.long
@pytest.mark.parametrize("column", ["values", "timestamps_ms", "series_id", "stale_ms"])
def test_missing_column_is_an_internal_error(broken, column):
    root, files = broken
    for file in files:
        pq.write_table(pq.read_table(file).drop_columns([column]), file)
    client = create_app(root).server.test_client()
    code, kind, words = failure(range_query(client, BACKLOG))
    assert (code, kind) == (500, "internal")
    assert column in words
    assert still_answers(client)


@pytest.mark.long
def test_catalogue_without_labels_is_not_ready(broken):
    root, _ = broken
    for file in (root / "series" / "data").rglob("*.parquet"):
        pq.write_table(pq.read_table(file).drop_columns(["labels"]), file)
    client = create_app(root).server.test_client()
    assert failure(client.get("/api/v1/labels"))[:2] == (500, "internal")
    assert failure(range_query(client, BACKLOG))[:2] == (500, "internal")
    assert client.get("/-/ready").status_code == 503
    assert client.get("/-/healthy").status_code == 200
    assert client.get("/api/v1/query?query=1").status_code == 200


def test_corrupt_delta_log_is_logged(broken, caplog):
    root, _ = broken
    client = create_app(root).server.test_client()
    for log in (root / "series" / "_delta_log").glob("*.json"):
        log.write_text("not a log")
    code, kind, words = failure(client.get("/api/v1/labels"))
    assert (code, kind) == (500, "internal")
    assert "Traceback" not in words
    assert "Traceback" in caplog.text
    # The pages read the lake again soon, or have not read it yet.
    assert client.get("/-/ready").get_data(as_text=True).startswith("Service Unavailable: the API")


def test_empty_folder_returns_empty_results(tmp_path):
    client = create_app(tmp_path).server.test_client()
    assert range_query(client, "up").get_json()["data"]["result"] == []
    for path in ("labels", "label/job/values", "series?match[]=up"):
        assert client.get(f"/api/v1/{path}").get_json() == {"status": "success", "data": []}
    assert client.get("/-/ready").status_code == 200
    assert not list(tmp_path.iterdir())


def test_new_samples_are_seen(api_lake, tmp_path):
    from tests.transforms.lakes import lake_of

    client = create_app(tmp_path / "lake").server.test_client()
    assert client.get("/api/v1/labels").get_json()["data"] == []
    from tests.app.api.samples import series

    lake_of(tmp_path / "lake", series())
    assert client.get("/api/v1/label/job/values").get_json()["data"] == ["pulsar"]


def test_requests_do_not_write_files(api_lake, client):
    def files():
        return {path: path.stat().st_mtime_ns for path in Path(api_lake.root).rglob("*")}

    before = files()
    range_query(client, f"sum(rate({BACKLOG}[5m]))")
    for method in ("GET", "POST", "PUT", "DELETE"):
        for path in (
            "query",
            "query_range",
            "labels",
            "label/job/values",
            "series",
            "metadata",
            "write",
            "admin/tsdb/x",
        ):
            client.open(f"/api/v1/{path}", method=method, query_string={"query": "up", "match[]": "up"})
    assert files() == before
