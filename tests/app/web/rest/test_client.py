"""The client of the reference page against a running server, and a recommendation that is computed there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from tests.app.api.serving import serving
from tests.app.web.rest.contract import PREFIX

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "rest-api.md"


@pytest.fixture(scope="module")
def served(sample_lake, tmp_path_factory):
    with serving(sample_lake, tmp_path_factory.mktemp("served") / "log") as server:
        yield server


@pytest.mark.study
def test_client_of_the_page_works(served, tmp_path):
    (code,) = re.findall(r"<!-- client -->\n```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    script = tmp_path / "client.py"
    assert "http://127.0.0.1:8050" in code
    script.write_text(code.replace("http://127.0.0.1:8050", served.url))
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(
        line.startswith("persistent://shop/checkout/orders#billing throttled subscription.msg ")
        for line in lines
    )
    assert any(line.startswith("for ") for line in lines)
    assert lines[-1] == "unchanged"


@pytest.mark.long
def test_curl_lines_of_the_page_work(served):
    """The addresses, as curl sends them."""
    addresses = re.findall(r"curl -s '(http://127\.0\.0\.1:8050[^']+)'", PAGE.read_text(encoding="utf-8"))
    assert len(addresses) == 2
    for address in addresses:
        answer = requests.get(address.replace("http://127.0.0.1:8050", served.url), timeout=30)
        assert answer.status_code == 200, answer.text
        assert answer.json()["items"]


@pytest.mark.study
@pytest.mark.long
def test_answers_are_compressed_on_request(served):
    answer = requests.get(
        f"{served.url}{PREFIX}/subscriptions", headers={"Accept-Encoding": "gzip"}, timeout=30
    )
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.json()["items"]
