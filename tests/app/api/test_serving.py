"""``throttlescope serve`` as a process: a lake without verdicts, and pages that do not wait for queries."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.app.api.serving import serving

pytestmark = pytest.mark.long

#: A good part of a second of work on nothing but numbers: two hours of them at each of 11,000 steps.
SLOW = {
    "query": "sum_over_time(vector(1)[2h:1s])",
    "start": "1700000000",
    "end": "1700010999",
    "step": "1",
}


def table(url: str) -> str:
    """What the table of subscriptions shows, as a browser asks for it."""
    parts = [
        ("subscriptions-cards", "children"),
        ("subscriptions-freshness", "children"),
        ("subscriptions-status", "children"),
        ("subscriptions-exports", "children"),
        ("subscriptions-clusters", "data"),
        ("subscriptions-view", "children"),
        ("subscriptions-grid", "columnDefs"),
        ("subscriptions-shown", "data"),
    ]
    body = {
        "output": "..{}..".format("...".join(f"{id_}.{name}" for id_, name in parts)),
        "outputs": [{"id": id_, "property": name} for id_, name in parts],
        "inputs": [{"id": "address", "property": "search", "value": ""}],
        "state": [
            {"id": "subscriptions-shown", "property": "data", "value": None},
            {"id": "address", "property": "pathname", "value": "/subscriptions"},
        ],
        "changedPropIds": ["address.search"],
    }
    answer = requests.post(f"{url}/_dash-update-component", json=body, timeout=120)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_lake_without_verdicts_is_served(served):
    page = table(served.url)
    assert "No verdicts yet." in page
    assert "throttlescope run" in page
    answer = requests.get(f"{served.url}/api/v1/label/__name__/values", timeout=60).json()
    assert "up" in answer["data"]


@pytest.mark.study
def test_pages_do_not_wait_for_queries(api_lake, tmp_path):
    with serving(api_lake.root, tmp_path / "log", "--query-concurrency", "1") as server:

        def query() -> tuple[int, float]:
            answer = requests.post(f"{server.url}/api/v1/query_range", data=SLOW, timeout=300)
            return answer.status_code, time.monotonic()

        # More than both processes have places for, and far more than they have at work.
        with ThreadPoolExecutor(50) as threads:
            queries = [threads.submit(query) for _ in range(50)]
            while not any(one.done() for one in queries):
                time.sleep(0.05)
            for _ in range(3):
                assert "No verdicts yet." in table(server.url)
                assert requests.get(f"{server.url}/-/healthy", timeout=60).status_code == 200
            answered_s = time.monotonic()
            done = [one.result() for one in queries]
        # Some requests were refused; others were still waiting when the pages had come.
        assert {code for code, _ in done} <= {200, 503}
        assert any(end_s > answered_s for code, end_s in done if code == 200)
        assert requests.get(f"{server.url}/api/v1/query?query=1", timeout=60).status_code == 200


@pytest.mark.study
def test_query_over_time_limit_returns_timeout(api_lake, tmp_path):
    with serving(api_lake.root, tmp_path / "log", "--query-timeout", "100ms") as server:
        found = requests.post(f"{server.url}/api/v1/query_range", data=SLOW, timeout=300)
        assert (found.status_code, found.json()["errorType"]) == (503, "timeout")
        # This one has a tenth of a second as well, and the server may still be at the end of the one before.
        end_s = time.monotonic() + 60
        while (
            code := requests.get(f"{server.url}/api/v1/query?query=1", timeout=60).status_code
        ) == 503 and time.monotonic() < end_s:
            time.sleep(0.2)
        assert code == 200


@pytest.mark.study
def test_sample_limit_flag_is_applied(api_lake, tmp_path):
    with serving(api_lake.root, tmp_path / "log", "--query-max-samples", "5") as server:
        parameters = {"query": "up[1h]", "time": "1700001800"}
        found = requests.get(f"{server.url}/api/v1/query", params=parameters, timeout=60)
        assert (found.status_code, found.json()["errorType"]) == (422, "execution")
