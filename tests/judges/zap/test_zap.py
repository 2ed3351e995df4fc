"""ZAP as a judge: what is recorded of a server, what its rules report of a poor answer, and how alerts are counted."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import requests

from tests.judges.page import RESULTS
from tests.judges.zap.crawl import shape_of
from tests.judges.zap.exchanges import Exchange, Recorder, proxy_of
from tests.judges.zap.judge import alerts_by_kind, distinct, is_serious, result_of
from tests.judges.zap.reasons import reason
from tests.judges.zap.rules import Scan, compiled_rules, scan
from tests.lab.parts import PartMissing

ADDRESS = "http://127.0.0.1:8050"
GOOD_HEADERS = (
    "X-Content-Type-Options: nosniff",
    "Content-Security-Policy: default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy: same-origin",
    "Permissions-Policy: camera=()",
    "Cache-Control: no-store",
)


def exchange(path: str, *headers: str, body: str = "", status: str = "200 OK") -> Exchange:
    return Exchange(
        f"GET {ADDRESS}{path} HTTP/1.1\r\nHost: 127.0.0.1:8050\r\n\r\n".encode(),
        b"",
        "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode(),
        body.encode(),
    )


@pytest.fixture
def _rules():
    try:
        compiled_rules()
    except PartMissing as error:
        pytest.skip(str(error))


@pytest.mark.long
@pytest.mark.usefixtures("_rules")
def test_poor_answers_raise_alerts_and_good_ones_none():
    good = exchange("/good", "Content-Type: application/json", *GOOD_HEADERS, body="{}")
    poor = exchange(
        "/poor",
        "Content-Type: text/html; charset=utf-8",
        "Set-Cookie: session=1",
        body="<html><p>ORA-00942: x</p></html>",
    )
    old = exchange(
        "/jquery-1.8.0.min.js", "Content-Type: text/javascript", *GOOD_HEADERS, body="/*! jQuery v1.8.0 */"
    )
    policy = exchange(
        "/policy", "Content-Type: text/html", "Content-Security-Policy: script-src *", body="<html></html>"
    )
    found = scan([good, poor, old, policy])
    assert found.failed == []
    assert len(found.rules) >= 60

    def raised(index: int) -> set[str]:
        return {
            one["name"] for one in found.alerts if one["exchange"] == index and one["risk"] != "Informational"
        }

    assert raised(0) == set()
    assert raised(1) >= {
        "Content Security Policy (CSP) Header Not Set", "Cookie No HttpOnly Flag", "Application Error Disclosure",
        "X-Content-Type-Options Header Missing",
    }  # fmt: skip
    assert raised(2) == {"Vulnerable JS Library"}
    assert "CSP: Wildcard Directive" in raised(3)


@pytest.fixture
def server():
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(201)
            for value in ("a=1", "b=2"):
                self.send_header("Set-Cookie", value)
            self.end_headers()
            self.wfile.write(body[::-1])

        def log_message(self, *_):
            """Nothing is printed."""

    with HTTPServer(("127.0.0.1", 0), Handler) as one:
        thread = threading.Thread(target=one.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{one.server_port}"
        one.shutdown()
        thread.join()


def test_the_proxy_records_what_passes(server):
    recorder = Recorder(server)
    with proxy_of(recorder) as proxy:
        session = requests.Session()
        session.trust_env, session.proxies = False, {"http": proxy}
        answer = session.post(f"{server}/a?b=c", data=b"abc", headers={"X-Sent": "1"}, timeout=30)
        refused = session.get("http://127.0.0.1:1/", timeout=30)
    assert (answer.status_code, answer.content, refused.status_code) == (201, b"cba", 403)
    (one,) = recorder.exchanges
    assert (one.named, one.status, one.request_body, one.answer_body) == ("POST /a?b=c", 201, b"abc", b"cba")
    assert b"\r\nX-Sent: 1\r\n" in one.request_header
    assert b"\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n" in one.answer_header


def alert(path: str = "/", risk: str = "Medium", confidence: str = "Medium", **others: str) -> dict:
    return {
        "reference": "1-1", "name": "x", "risk": risk, "confidence": confidence, "method": "GET", "url": ADDRESS + path,
        "status": 200, "param": "", "evidence": "", "other": "",
    } | others  # fmt: skip


def test_alerts_count_once_for_an_address():
    alerts = [alert(), alert(), alert("/a"), alert("/a", param="p"), alert(risk="High", reference="2-1")]
    assert [(row["rule"], row["alerts"]) for row in alerts_by_kind(alerts)] == [("2-1", 1), ("1-1", 3)]


@pytest.mark.parametrize(
    ("risk", "confidence", "serious"),
    [
        ("High", "Medium", True), ("Medium", "High", True), ("Medium", "Medium", True), ("High", "Low", False),
        ("Low", "High", False), ("Medium", "False Positive", False),
    ],
)  # fmt: skip
def test_serious_is_medium_risk_and_confidence(risk, confidence, serious):
    assert is_serious(alert(risk=risk, confidence=confidence)) is serious


def test_server_errors_are_counted():
    exchanges = [exchange("/a", status="500 Error"), exchange("/b", status="400 Bad")]
    result = result_of(exchanges, Scan([], [alert()], []), ["/"], "no version")
    assert result["figure"].startswith("1 server errors and 1 serious alerts (1 kinds) in 2 exchanges")
    assert result["details"][0] == {"server error": "GET /a"}


def test_addresses_of_one_shape_are_opened_once():
    assert shape_of("/limits?q=a&tab=b") == shape_of("/limits?tab=b&q=c")
    assert shape_of("/limits?tab=a") != shape_of("/limits?tab=b")
    assert shape_of("/limits") != shape_of("/limits?q=a")


def test_repeated_exchanges_are_judged_once():
    library = exchange("/a.js", "Date: 1", body="x")
    again = exchange("/a.js", "Date: 2", body="x")
    others = [exchange("/a.js", "Date: 1", body="y"), exchange("/b.js", "Date: 1", body="x")]
    assert distinct([library, again, *others]) == [library, *others]


def test_recorded_alerts_have_a_reason():
    details = json.loads((RESULTS / "zap.json").read_text())["details"]
    rules = {one["rule"] for one in details if "rule" in one}
    assert rules
    assert [rule for rule in rules if reason(rule) == "open"] == []
