"""What is requested of a running server. In: its recorder. Out: the exchanges of its pages in a browser, of its APIs, downloads and errors.

The browser opens every page, then one page of every shape of address that these link to, and so on, up to a number of pages. What is no page is requested
without a browser: all resources of the REST API, the endpoints of Prometheus' API, metrics and states, one download of every shape that pages
link to, and what a server has to refuse.
"""

from __future__ import annotations

import base64
import json
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from tests.app.web.browser import TIMEOUT_MS, chromium_path, is_settled, running_chromium
from tests.judges.zap.exchanges import Recorder, proxy_of
from tests.lab.parts import PartMissing
from throttlescope.app.presentation.links.paths import SUBSCRIPTION_PATH
from throttlescope.app.server.rest.routes import PREFIX
from throttlescope.app.web.pages import PAGES

#: What a page begins with, or says instead of it.
_SHOWN = ":is(main h1, .explain) >> visible=true"
_LINKS = "[...document.querySelectorAll('a[href^=\"/\"]')].map((link) => link.getAttribute('href'))"
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_QUERY = "sum by (topic) (rate(pulsar_out_messages_total[5m]))"


def crawl_pages(recorder: Recorder, most: int) -> list[str]:
    """Open pages through the recorder's proxy, ``most`` of them, and request what else they link to; the pages that were opened.

    Raises
    ------
    PartMissing
        There is no Chromium.
    """
    if chromium_path() is None:
        raise PartMissing("no chromium: apt-get install chromium, or set $CHROMIUM")
    waiting = [path for path in PAGES if path != SUBSCRIPTION_PATH]
    waiting += [f"/promql?query={quote(_QUERY)}", "/no-such-page", "/subscriptions?page=0"]
    shapes, opened, downloads = set(), [], {}
    with proxy_of(recorder) as proxy, running_chromium() as browser:
        context = browser.new_context(
            viewport={"width": 1440, "height": 900}, proxy={"server": proxy}, locale="en-GB"
        )
        while waiting and len(opened) < most:
            path = waiting.pop(0)
            if shape_of(path) in shapes:
                continue
            shapes.add(shape_of(path))
            page = context.new_page()
            page.set_default_timeout(TIMEOUT_MS)
            page.goto(recorder.target + path)
            page.wait_for_selector(_SHOWN)
            for height in ("document.body.scrollHeight", "0"):
                page.evaluate(f"window.scrollTo(0, {height})")
                is_settled(page)
                page.wait_for_load_state("networkidle")
            opened.append(path)
            for link in page.evaluate(_LINKS):
                if urlsplit(link).path in PAGES:
                    waiting.append(link)
                else:
                    downloads.setdefault(shape_of(link), link)
            page.close()
        context.close()
    for link in downloads.values():
        recorder.send("GET", link)
    return opened


def shape_of(path: str) -> tuple:
    """Path, names of parts, and the view: pages that differ in other values are made by the same code."""
    url = urlsplit(path)
    parts = parse_qsl(url.query)
    views = tuple(value for name, value in parts if name in ("tab", "by", "view", "set"))
    return url.path, frozenset(name for name, _ in parts), views


def request_apis(recorder: Recorder) -> None:
    """The REST API by its own document, Prometheus' API, metrics and states."""
    document = json.loads(recorder.send("GET", f"{PREFIX}/openapi.json").answer_body)
    for path in document["paths"]:
        address = path if path.startswith(PREFIX) else PREFIX + path
        recorder.send("GET", f"{address}?limit=2")
        recorder.send("GET", f"{address}?limit=none")
        recorder.send("HEAD", address)
    newest = json.loads(recorder.send("GET", "/api/v1/query?query=timestamp(up)").answer_body)
    values = [float(one["value"][1]) for one in newest.get("data", {}).get("result", [])] or [0.0]
    end = max(values)
    window = {"start": end - 3600, "end": end, "step": 60}
    recorder.send("GET", f"/api/v1/query?{urlencode({'query': _QUERY, 'time': end})}")
    recorder.send("POST", "/api/v1/query", _FORM, urlencode({"query": _QUERY, "time": end}).encode())
    recorder.send("GET", f"/api/v1/query_range?{urlencode({'query': _QUERY, **window})}")
    recorder.send("POST", "/api/v1/query_range", _FORM, urlencode({"query": _QUERY, **window}).encode())
    recorder.send("GET", "/api/v1/series?" + urlencode({"match[]": "up", **window}))
    for name in (
        "labels", "label/topic/values", "label/__name__/values", "metadata", "rules", "alerts", "targets", "status/buildinfo",
        "status/config", "status/flags", "format_query?query=up",
    ):  # fmt: skip
        recorder.send("GET", f"/api/v1/{name}")
    for path in (
        "/metrics",
        "/healthz",
        "/-/healthy",
        "/-/ready",
        "/robots.txt",
        "/sitemap.xml",
        "/favicon.ico",
    ):
        recorder.send("GET", path)


def request_faults(recorder: Recorder) -> None:
    """What has to be refused, and how it is said."""
    script = quote("<script>alert(1)</script>")
    for path in (
        "/api/v1/query?query=sum(", "/api/v1/query", f"/api/v1/query?query={script}", "/api/v1/query_range?query=up&start=1&end=0&step=1",
        "/api/v1/nothing", "/api/v2/query", f"{PREFIX}/nothing", f"{PREFIX}/{script}", f"{PREFIX}/verdicts?cause={script}",
        f"{PREFIX}/verdicts?cursor={script}", f"{PREFIX}/incidents/none", "/export/nothing", f"/export/{script}", "/export/table/none.csv",
        "/export/table/incidents.csv?limit=x", "/export/subscriptions.csv?q=no-such-subscription", "/export/verdict.json",
        "/export/incident.zip", "/export/notebook.ipynb", "/assets/none.js", "/assets/..%2fapp.py", "/-/nothing", f"/{script}", f"/limits?q={script}",
        "/_dash-component-suites/none/none.js",
    ):  # fmt: skip
        recorder.send("GET", path)
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        recorder.send(method, f"{PREFIX}/verdicts")
        recorder.send(method, "/")
        recorder.send(method, "/api/v1/query")
    for body in (b"", b"{", b"[]", b'{"output": "none.children"}', b'{"inputs": 1}'):
        recorder.send("POST", "/_dash-update-component", {"Content-Type": "application/json"}, body)
    recorder.send("GET", "/", {"Host": "attacker.example"})
    recorder.send("GET", "/" + "a" * 9000)


def request_login(recorder: Recorder, name: str, password: str, origin: str) -> None:
    """A server with users: without a name, with a wrong password and with the right one; and as pages of another origin do."""
    said = {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}
    wrong = {"Authorization": "Basic " + base64.b64encode(f"{name}:wrong".encode()).decode()}
    for path in (
        "/",
        "/_dash-layout",
        "/api/v1/labels",
        f"{PREFIX}/verdicts?limit=1",
        "/metrics",
        "/healthz",
    ):
        for headers in (
            {},
            wrong,
            said,
            said | {"Origin": origin},
            said | {"Origin": "https://other.example"},
        ):
            recorder.send("GET", path, headers)
    asked = {"Origin": origin, "Access-Control-Request-Method": "GET"}
    recorder.send("OPTIONS", "/api/v1/query", asked)
