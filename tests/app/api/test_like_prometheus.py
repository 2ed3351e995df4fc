"""The API compared with a real Prometheus 3.5: the same requests to both, compared field by field."""

from __future__ import annotations

import http.client
import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
import requests

from tests.app.api.samples import END_MS, START_MS

pytestmark = pytest.mark.prometheus

AT = f"{START_MS / 1000 + 600:.3f}"
START, END = f"{START_MS / 1000:.3f}", f"{END_MS / 1000:.3f}"
RANGE = {"query": "up", "start": START, "end": END, "step": "60"}
BACKLOG = "pulsar_subscription_back_log"
EVENTS = "pulsar_subscription_dispatch_throttled_msg_events"


def send_request(url: str, method: str, path: str, parameters: Any = (), **headers: str) -> requests.Response:
    """Parameters go into the address, or with POST into a form."""
    where = {"data" if method == "POST" else "params": parameters}
    return requests.request(
        method, f"{url}/{path}", headers=headers, timeout=60, allow_redirects=False, **where
    )


def with_sorted_series(document: Any) -> Any:
    """JSON with series in one order where Prometheus has that of its storage."""
    data = document.get("data")
    if isinstance(data, dict) and data.get("resultType") == "vector":
        data["result"].sort(key=lambda series: sorted(series["metric"].items()))
    elif isinstance(data, list):
        # Label sets; names and values are sorted by Prometheus too.
        data = [sorted(labels.items()) if isinstance(labels, dict) else labels for labels in data]
        document["data"] = sorted(data) if data and isinstance(data[0], list) else data
    return document


def both(prometheus, served, method: str, path: str, parameters: Any = ()) -> tuple[Any, Any]:
    """Ours and theirs: status, kind of content and JSON."""
    found = []
    for url in (served.url, prometheus.url):
        answer = send_request(url, method, path, parameters)
        found.append((answer.status_code, answer.headers["Content-Type"], with_sorted_series(answer.json())))
    return tuple(found)


QUERIES = (
    "up",
    BACKLOG,
    f"{BACKLOG} offset 5m",
    f"{BACKLOG}[2m]",
    f'{BACKLOG}{{subscription=~"billing-[12]"}} > 100',
    f"rate({EVENTS}[5m])",
    f"sum by (subscription) (increase({EVENTS}[5m])) * 0",
    f"count by (reason) ({EVENTS})",
    f"max_over_time({BACKLOG}[5m:1m])",
    f"{BACKLOG} unless on (subscription) ({EVENTS} > 100)",
    "odd_numbers",
    'last_over_time(odd_numbers{"utf8.label"="u/ü"}[1h])',
    "interrupted",
    "interrupted[1h]",
    "absent(nothing)",
    "nothing",
    "scalar(vector(2)) ^ 70",
    '"a <string>"',
    "time()",
    "1 / 0",
    "quantile(2, up)",
    "rate(up[5m])",
)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_instant_queries_match_prometheus(prometheus, served, query, method):
    for at in (AT, END, START):
        ours, theirs = both(prometheus, served, method, "api/v1/query", {"query": query, "time": at})
        assert ours == theirs
        assert ours[0] == 200


@pytest.mark.sampled(5)
@pytest.mark.parametrize("query", [query for query in QUERIES if "[1h]" not in query and '"a' not in query])
def test_range_queries_match_prometheus(prometheus, served, query):
    if query == f"{BACKLOG}[2m]":
        query = f"sum_over_time({query})"
    for step in ("15", "1m", "47.5"):
        ours, theirs = both(
            prometheus, served, "POST", "api/v1/query_range", {**RANGE, "query": query, "step": step}
        )
        assert ours == theirs
        assert ours[0] == 200


def test_query_response_bytes_match_prometheus(prometheus, served):
    for path, parameters in (
        ("query", {"query": 'odd_numbers{cluster="odd"}[1d]', "time": END}),
        ("query_range", {**RANGE, "query": f"rate({EVENTS}[5m])"}),
        ("query", {"query": "odd_numbers", "time": START}),
    ):
        ours, theirs = (
            send_request(url, "GET", f"api/v1/{path}", parameters).content
            for url in (served.url, prometheus.url)
        )
        assert ours.split(b',"infos"')[0] == theirs.split(b',"infos"')[0]
        assert len(ours) > 200


#: Requests whose answer, JSON and status, has to be Prometheus' own.
SAME = [
    ("query", parameters)
    for parameters in [
        {},
        {"query": " "},
        {"query": "time()", "time": "2026-11-19T14:13:20.123456789+02:00"},
        {"query": "time()", "time": "2026-11-19T14:13:20Z"},
        {"query": "time()", "time": "2026-11-19 14:13:20"},
        {"query": "time()", "time": "2026-11-19T14:13:20"},
        {"query": "time()", "time": "2026-13-19T14:13:20Z"},
        {"query": "time()", "time": "abc"},
        {"query": "time()", "time": "1e3"},
        {"query": "time()", "time": "-5.5"},
        {"query": "time()", "time": "0x10"},
        {"query": "time()", "time": "0x1p4"},
        {"query": "time()", "time": "1_000"},
        {"query": "time()", "time": "1__0"},
        {"query": "time()", "time": " 5"},
        {"query": "time()", "time": "+5"},
        {"query": "time()", "time": "5."},
        {"query": "time()", "time": ".5"},
        {"query": "time()", "time": "1795160000.0004"},
        {"query": "time()", "time": "1795160000.0006"},
        {"query": "time()", "time": "1795160000.9996"},
        {"query": "time()", "time": "1795160000.57"},
        {"query": "time()", "time": "٣"},
        *(
            {"query": "1", "time": AT, "timeout": timeout}
            for timeout in ("abc", "Inf", "1e300", "5m", "1h30m", "5m ", "1.5m", "0x1p3", "300y", "")
        ),
        *(
            {"query": f"count({BACKLOG})", "time": AT, "lookback_delta": lookback}
            for lookback in ("0", "-1", "abc", "1ms", "NaN", "1e300", "1d", "3s", "0.0005", "2h1m")
        ),
        *(
            {"query": f"sort({BACKLOG})", "time": AT, "limit": limit}
            for limit in ("0", "-1", "abc", "1.5", "1", "+1", "1_0", "9" * 30, "2", "4", "5")
        ),
        {"query": "1", "time": AT, "limit": "1"},
    ]
] + [
    ("query_range", parameters)
    for parameters in [
        {},
        *({name: value for name, value in RANGE.items() if name != left_out} for left_out in RANGE),
        *(
            {**RANGE, name: value}
            for name, value in (
                ("start", "x"),
                ("end", "x"),
                ("step", "x"),
                ("step", "0"),
                ("step", "-1"),
                ("step", "NaN"),
                ("step", "1e300"),
                ("step", "0.0005"),
                ("step", "1h1m"),
                ("step", "1m1h"),
                ("end", f"{START_MS / 1000 - 1}"),
                ("end", START),
                ("limit", "1"),
                ("limit", "-1"),
                ("timeout", "x"),
                ("lookback_delta", "x"),
                ("query", "up[5m]"),
                ("query", '"a"'),
                ("query", ""),
            )
        ),
        {**RANGE, "step": "5", "end": str(START_MS / 1000 + 55_005)},
        {**RANGE, "step": "5", "end": str(START_MS / 1000 + 55_000), "query": "absent(nothing)"},
        {**RANGE, "step": "5", "end": str(START_MS / 1000 + 55_004.999), "query": "absent(nothing)"},
    ]
] + [
    (path, parameters)
    for path in ("labels", "label/subscription/values", "label/__name__/values", "series")
    for parameters in [
        {},
        {"match[]": BACKLOG},
        {"match[]": [f'{BACKLOG}{{subscription="billing-1"}}', "odd_numbers"]},
        {"match[]": ["odd_numbers", "up", '{cluster="odd"}']},
        {"match[]": '{subscription=~"billing-.*",reason!="topic"}'},
        {"match[]": "nothing"},
        {"match[]": ["nothing", "nothing_else"]},
        {"match[]": "{}"},
        {"match[]": '{a=""}'},
        {"match[]": ""},
        {"match[]": "up", "start": "x"},
        {"match[]": "up", "end": "x"},
        {"match[]": "up", "limit": "x"},
        {"match[]": "up", "limit": "-1"},
        {"match[]": "up", "limit": "0"},
        {"match[]": BACKLOG, "limit": "9"},
        {"match[]": "up", "start": "5", "end": "2"},
        {"match[]": "up", "start": START, "end": END},
        {"match[]": "up", "start": str(END_MS / 1000 + 100_000), "end": str(END_MS / 1000 + 200_000)},
        {"match[]": "up", "start": str(START_MS / 1000 - 200_000), "end": str(START_MS / 1000 - 100_000)},
    ]
] + [
    ("metadata", {"limit": "x"}),
    ("metadata", {"limit_per_metric": "x"}),
    ("metadata", {"limit": "0"}),
    ("metadata", {"metric": "nothing"}),
    *(
        (f"label/{name}/values", {})
        for name in ("utf8.label", "U__utf8_2e_label", "U__with_20_space", "U__a_", "U__", "U__up__", "1a", "a%20b", "Upper")
    ),
]  # fmt: skip


@pytest.mark.parametrize(("path", "parameters"), SAME)
def test_json_and_status_match_prometheus(prometheus, served, path, parameters):
    ours, theirs = both(prometheus, served, "GET", f"api/v1/{path}", parameters)
    assert ours == theirs
    if path != "metadata" and not path.startswith("label/"):
        again = both(prometheus, served, "POST", f"api/v1/{path}", parameters)
        # A time that is not given is that of the request.
        assert again == (ours, theirs)


#: Texts that are refused: our words follow Prometheus' position of the error.
REFUSED = (
    "1 +",
    "é + up",
    "sum(rate(up))",
    '\n\n  up{a=~"("}',
    "up{",
    "foo(1)",
    "up and",
    "1 and 2",
    "up[5x]",
    "{}",
    "x{a='b'} y",
)


@pytest.mark.parametrize("query", REFUSED)
@pytest.mark.parametrize("path", ["query", "query_range"])
def test_invalid_promql_is_bad_data(prometheus, served, query, path):
    ours, theirs = both(prometheus, served, "POST", f"api/v1/{path}", {**RANGE, "query": query})
    assert ours[:2] == theirs[:2] == (400, "application/json")
    for document in (ours[2], theirs[2]):
        words = document.pop("error")
        assert words.startswith('invalid parameter "query": ')
        assert "parse error: " in words
    assert ours[2] == theirs[2] == {"status": "error", "errorType": "bad_data"}


@pytest.mark.parametrize("selector", ["up[", "sum(up)", "up[5m]", "up offset 5m", '{a=~"("}', "x{"])
@pytest.mark.parametrize("path", ["labels", "label/job/values", "series"])
def test_invalid_match_selector_is_bad_data(prometheus, served, selector, path):
    ours, theirs = both(prometheus, served, "GET", f"api/v1/{path}", {"match[]": selector})
    assert ours[:2] == theirs[:2] == (400, "application/json")
    begins = 'invalid parameter "match[]": 1:' if path == "series" else "1:"
    for document in (ours[2], theirs[2]):
        words = document.pop("error")
        assert words.startswith(begins)
        assert "parse error: " in words
    assert ours[2] == theirs[2]


@pytest.mark.parametrize(
    "query",
    [
        f"up + on () {BACKLOG}",
        'label_replace(up, "instance", "x", "", "")',
        f"{BACKLOG} * on (topic) {EVENTS}",
    ],
)
def test_execution_errors_match_prometheus(prometheus, served, query):
    ours, theirs = both(prometheus, served, "POST", "api/v1/query", {"query": query, "time": AT})
    assert ours[:2] == theirs[:2] == (422, "application/json")
    assert ours[2].pop("error")
    assert theirs[2].pop("error")
    assert ours[2] == theirs[2] == {"status": "error", "errorType": "execution"}


@pytest.mark.parametrize("timeout", ["0", "-1", "1e-9", "NaN"])
@pytest.mark.parametrize("path", ["query", "query_range"])
def test_zero_timeout_reports_a_timeout(prometheus, served, timeout, path):
    """Prometheus says one of three things, by chance; we always the one that is true."""
    ours, theirs = both(prometheus, served, "POST", f"api/v1/{path}", {**RANGE, "timeout": timeout})
    assert theirs[0] in (400, 422, 503)
    assert (ours[0], ours[2]["errorType"]) == (503, "timeout")
    assert ours[2]["error"].startswith("query timed out in ")


def test_series_limit_adds_a_warning(prometheus, served):
    ours, theirs = both(prometheus, served, "GET", "api/v1/series", {"match[]": BACKLOG, "limit": "2"})
    assert len(ours[2]["data"]) == len(theirs[2]["data"]) == 2
    assert ours[2]["warnings"] == theirs[2]["warnings"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "api/v1/nothing"),
        ("POST", "api/v1/nothing"),
        ("GET", "api/v1/"),
        ("GET", "api/v2/query"),
        ("GET", "api/v1/label/values"),
        ("GET", "api/v1/label/a%2fb/values"),
        ("GET", "-/nothing"),
        ("PUT", "api/v1/query"),
        ("DELETE", "api/v1/query"),
        ("HEAD", "api/v1/query"),
        ("PATCH", "api/v1/labels"),
        ("POST", "api/v1/label/a/values"),
        ("POST", "api/v1/metadata"),
        ("POST", "-/ready"),
        ("OPTIONS", "api/v1/query"),
        ("OPTIONS", "api/v1/nothing"),
        ("OPTIONS", "-/ready"),
        ("HEAD", "-/healthy"),
        ("HEAD", "-/ready"),
    ],
)
def test_unknown_paths_and_methods_match_prometheus(prometheus, served, method, path):
    found = []
    for url in (served.url, prometheus.url):
        answer = send_request(url, method, path)
        # Prometheus leaves the type of an empty answer out.
        kind = answer.headers["Content-Type"] if answer.content else None
        found.append((answer.status_code, kind, answer.headers.get("Allow"), answer.text))
    assert found[0] == found[1]


def test_ready_and_healthy_endpoints_answer(served):
    for word in ("Ready", "Healthy"):
        answer = send_request(served.url, "GET", f"-/{word.lower()}")
        assert (answer.status_code, answer.text) == (200, f"throttlescope is {word}.\n")


def raw_request(url: str, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, Any]:
    """A request whose bytes no library mends."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize(
    ("method", "path", "body", "headers"),
    [
        ("GET", "/api/v1/query?query=%zz&time=5", b"", {}),
        ("GET", "/api/v1/query?query=1;time=5", b"", {}),
        ("GET", "/api/v1/query?time=5&query=1&query=2", b"", {}),
        ("GET", "/api/v1/query?time=5&query=1+%2B+1&&=x", b"", {}),
        ("POST", "/api/v1/query?time=5&query=3", b"query=4", FORM),
        ("POST", "/api/v1/query?time=5", b"query=4", {}),
        ("POST", "/api/v1/query?time=5", b"query=4", {"Content-Type": "text/plain"}),
        ("POST", "/api/v1/query?time=5", b"query=%", FORM),
        ("POST", "/api/v1/query?time=5", b"query=4", {"Content-Type": FORM["Content-Type"] + "; charset=utf-8"}),
        (
            "POST",
            "/api/v1/query?time=5",
            b'--x\r\nContent-Disposition: form-data; name="query"\r\n\r\n6\r\n--x--\r\n',
            {"Content-Type": "multipart/form-data; boundary=x"},
        ),
        ("GET", "/api/v1/label/%ff/values", b"", {}),
        ("GET", "/api/v1/label/utf8%2elabel/values", b"", {}),
    ],
)  # fmt: skip
def test_forms_are_parsed_as_in_go(prometheus, served, method, path, body, headers):
    assert raw_request(served.url, method, path, body, **headers) == raw_request(
        prometheus.url, method, path, body, **headers
    )


@pytest.mark.parametrize("path", ["/api/v1/query?query=%ff", "/api/v1/query?query=up%7Ba=%22%ff%22%7D"])
def test_invalid_utf8_is_refused(prometheus, served, path):
    ours, theirs = (raw_request(url, "GET", path) for url in (served.url, prometheus.url))
    assert ours[0] == theirs[0] == 400
    assert ours[1]["errorType"] == theirs[1]["errorType"]


def test_request_body_over_limit_is_refused(prometheus, served):
    body = b"query=1&x=" + b"y" * (10 * 2**20)
    for url in (prometheus.url, served.url):
        status, document = raw_request(url, "POST", "/api/v1/query", body, **FORM)
        assert (status, document["errorType"]) == (400, "bad_data")
    assert raw_request(served.url, "GET", "/api/v1/query?query=1&time=5")[0] == 200


def test_cors_headers_match_prometheus(prometheus, served):
    names = [
        f"Access-Control-{name}"
        for name in ("Allow-Origin", "Allow-Headers", "Allow-Methods", "Expose-Headers")
    ]
    for method, path in (
        ("GET", "api/v1/labels"),
        ("OPTIONS", "api/v1/query"),
        ("GET", "api/v1/query"),
        ("GET", "-/ready"),
    ):
        for headers in ({"Origin": "http://grafana.example"}, {}):
            ours, theirs = (
                send_request(url, method, path, **headers).headers for url in (served.url, prometheus.url)
            )
            assert [ours.get(name) for name in names] == [theirs.get(name) for name in names]
            assert ours.get("Vary") == theirs.get("Vary")
            assert ("Access-Control-Allow-Origin" in ours) == bool(headers) * path.startswith("api")


@pytest.mark.parametrize(
    "accepted", ["gzip", "deflate", "gzip;q=1.0", "br, gzip", "deflate, gzip", "identity", ""]
)
def test_compression_follows_accept_encoding(prometheus, served, accepted):
    parameters = {**RANGE, "query": BACKLOG, "step": "15"}
    ours, theirs = (
        send_request(url, "GET", "api/v1/query_range", parameters, **{"Accept-Encoding": accepted})
        for url in (served.url, prometheus.url)
    )
    assert ours.headers.get("Content-Encoding") == theirs.headers.get("Content-Encoding")
    assert ours.json() == theirs.json()


def test_grafana_dashboard_requests_match_prometheus(prometheus, served):
    """Version, labels for a matcher, values, series and the panels' queries as forms, metadata for the editor."""
    span = {"start": START, "end": END}
    build = send_request(served.url, "GET", "api/v1/status/buildinfo").json()
    theirs = send_request(prometheus.url, "GET", "api/v1/status/buildinfo").json()
    assert build["data"].keys() == theirs["data"].keys()
    assert theirs["data"]["version"].startswith(build["data"]["version"])
    steps = [
        ("POST", "query", {"query": "1+1", "time": AT}),
        ("GET", "labels", {**span, "match[]": BACKLOG}),
        ("POST", "labels", {**span, "match[]": '{__name__=~"pulsar_.+"}', "limit": "40000"}),
        ("GET", "label/__name__/values", {**span, "limit": "40000"}),
        ("GET", "label/subscription/values", {**span, "match[]": f'{BACKLOG}{{namespace="acme/shop"}}'}),
        ("POST", "series", {**span, "match[]": [BACKLOG, EVENTS], "limit": "40000"}),
        ("POST", "query_range", {**span, "step": "15", "query": f"sum by (subscription) (rate({EVENTS}[1m])) * 0"}),
        ("POST", "query_range", {**span, "step": "30", "query": f'{BACKLOG}{{subscription=~"billing-1|billing-2"}}'}),
        ("POST", "query", {"time": END, "query": f"topk(2, {BACKLOG})"}),
    ]  # fmt: skip
    for method, path, parameters in steps:
        ours, real = both(prometheus, served, method, f"api/v1/{path}", parameters)
        assert ours == real
        assert ours[0] == 200
        assert ours[2]["data"]
    known = send_request(served.url, "GET", "api/v1/metadata").json()["data"]
    assert known[BACKLOG] == [
        {"type": "gauge", "help": "undelivered plus delivered and not acknowledged", "unit": "entries"}
    ]
    assert known[EVENTS][0]["type"] == "counter"
    assert known["up"][0]["unit"] == ""
    assert set(known) == {BACKLOG, EVENTS, "up"}
    assert send_request(served.url, "GET", "api/v1/metadata", {"metric": "up"}).json()["data"].keys() == {
        "up"
    }
    assert len(send_request(served.url, "GET", "api/v1/metadata", {"limit": "2"}).json()["data"]) == 2


def test_prometheus_api_client_gets_equal_results(prometheus, served):
    from prometheus_api_client import PrometheusApiClientException, PrometheusConnect

    start, end = (datetime.fromtimestamp(ms / 1000, UTC) for ms in (START_MS, END_MS))
    at = {"time": AT}

    def everything(url: str, method: str) -> list[Any]:
        with PrometheusConnect(url, method=method, timeout=60) as client:
            found = [
                client.get_label_names(),
                client.get_label_values("subscription"),
                client.all_metrics(),
                client.get_series(start, end, {"match[]": BACKLOG}),
                client.get_current_metric_value(BACKLOG, {"subscription": "billing-1"}, at),
                client.custom_query(f"max({BACKLOG})", at),
                client.custom_query_range(BACKLOG, start, end, "60"),
                client.get_metric_range_data(BACKLOG, start_time=start, end_time=end),
                client.get_metric_aggregation(BACKLOG, ["sum", "max", "percentile_50"], start, end, "60"),
            ]
            with pytest.raises(PrometheusApiClientException, match="parse error"):
                client.custom_query("up{")
        return found

    # It asks for the first page, which a Prometheus without its own web app does not have.
    assert PrometheusConnect(served.url).check_prometheus_connection()
    for method in ("GET", "POST"):
        ours, theirs = everything(served.url, method), everything(prometheus.url, method)
        assert ours == theirs
        assert all(ours)


def test_long_query_works_by_get_and_post(prometheus, served):
    query = " or ".join(f'up{{instance="broker-{n}:8080",cluster="prod"}}' for n in range(100))
    parameters = {"query": query, "time": AT}
    assert 5_000 < len(urlencode(parameters)) < 8_000
    for method in ("GET", "POST"):
        ours, theirs = both(prometheus, served, method, "api/v1/query", parameters)
        assert ours == theirs
        assert len(ours[2]["data"]["result"]) == 2
