"""The real server and a real Chromium for tests and screenshots. In: a lake. Out: an address and pages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, TimeoutError, sync_playwright

from tests.lab.processes import free_port, stop
from throttlescope.app.web.request_language import COOKIE

# The machine may be busy with servers under test: generous, and only ever waited for when something is wrong.
TIMEOUT_MS = 90_000
FOLLOWED_MS = 20_000
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--force-device-scale-factor=1"]


def chromium_path() -> str | None:
    """``$CHROMIUM``, or Debian's chromium; None where there is none."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium")


needs_chromium = pytest.mark.skipif(
    chromium_path() is None, reason="no chromium: apt-get install chromium, or set $CHROMIUM"
)


def new_context(browser, **options):
    """What pages share: cookies, and the scripts that were loaded once."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, **options)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    return context


class MonitoredPage:
    """A page with its requests and its errors.

    Parameters
    ----------
    context : BrowserContext, optional
        Of other pages too; None: one of its own, made with the ``options``.
    """

    def __init__(self, browser, address, *, context=None, **options):
        self.address, self.hosts, self.errors = address, set(), []
        self._own = new_context(browser, **options) if context is None else None
        self.context = context or self._own
        self.page = self.context.new_page()
        self.page.set_default_timeout(TIMEOUT_MS)
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).hostname))
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "dialog", lambda dialog: (self.errors.append(f"dialog: {dialog.message}"), dialog.dismiss())
        )
        self.page.on(
            "response",
            lambda answer: answer.status >= 400 and self.errors.append(f"{answer.status} {answer.url}"),
        )

    def open(self, path="/subscriptions"):
        self.page.goto(self.address + path)
        return self.page

    def go(self, path):
        """Open another address as a link inside of the app does: nothing is loaded again."""
        self.page.evaluate("path => window.throttlescope.navigate(path)", path)
        return self.page

    def close_and_check(self):
        """Close the page: it reported no error and sent requests to this machine only."""
        self.page.close()
        if self._own is not None:
            self._own.close()
        assert self.errors == []
        # data: and blob: addresses have no host; everything else is this machine.
        assert self.hosts - {None, ""} <= {"127.0.0.1"}


def is_settled(page) -> None:
    """Wait until nothing is being read any more and every chart and every grid in sight is drawn."""
    page.wait_for_function(
        """() => {
            // What is hidden is not drawn.
            const all = (what) => [...document.querySelectorAll(what)].filter((one) => one.getClientRects().length);
            // Before Dash has made the page, there is nothing that could be read or drawn.
            return document.querySelector('#page')
                && !document.querySelector('.page-skeleton, [data-dash-is-loading="true"]')
                && all('.dash-graph').every((graph) => graph.querySelector('.js-plotly-plot .main-svg'))
                && all('.ag-header-row').every((row) => row.children.length);
        }"""
    )
    # Two frames later what was just drawn is styled.
    page.evaluate("() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")


def axe_findings(page, context=None) -> list[str]:
    """What axe-core finds on a page, or in the part of it that a selector names, whatever its impact."""
    from axe_playwright_python.sync_playwright import Axe

    # What is being read again is dimmed for a moment, whenever that comes.
    page.add_style_tag(
        content='[data-dash-is-loading="true"] { opacity: 1 !important; transition: none !important }'
    )
    return [
        f"{finding['id']} ({finding['impact']}): {finding['help']}: {node['html'][:200]} {node['failureSummary']}"
        for finding in Axe().run(page, context=context).response["violations"]
        for node in finding["nodes"]
    ]


def in_language(context, address: str, language: str) -> None:
    """What a context opens from now on is in this language, as if it was chosen in the header."""
    context.add_cookies([{"name": COOKIE, "value": language, "url": address}])


def double_click(click, is_done) -> None:
    """Click twice until it counts: a busy browser may take the two for one each, which does nothing.

    Parameters
    ----------
    is_done : callable
        Given milliseconds; waits so long for what the double click does, and raises a ``TimeoutError`` of Playwright.
    """
    for _ in range(8):
        click()
        try:
            return is_done(10_000)
        except TimeoutError:
            continue
    raise AssertionError("no double click was taken for one")


def fits(page) -> bool:
    """Whether nothing is wider than the window. A chart follows a new width in its own time, so it is waited for."""
    try:
        page.wait_for_function(
            "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1",
            timeout=FOLLOWED_MS,
        )
    except TimeoutError:
        return False
    return True


@contextmanager
def running_server(lake_path: str, *, workers: int = 2, queries: int = 2) -> Iterator[str]:
    """The app as a person starts it: gunicorn in a process of its own on a free loopback port.

    Each worker loads and warms everything for itself: where nothing depends on there being two, one takes half the time.
    ``queries`` in PromQL run at once in each.
    """
    port = free_port()
    program = (
        "import sys; from dataclasses import replace; from throttlescope.app.server.api.routes import DEFAULT_LIMITS; "
        # A query whose place comes free was cancelled, then: it has not run out of time.
        "from throttlescope.app.web.data import promql; promql.LONGEST_S = 600.0; "
        "from throttlescope.app.server.app import serve; port, workers, queries = map(int, sys.argv[2:]); "
        "serve(sys.argv[1], port=port, workers=workers, limits=replace(DEFAULT_LIMITS, running=queries))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, lake_path, str(port), str(workers), str(queries)]
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(f"{address}/healthz", process)
        yield address
    finally:
        # Its workers have half a minute for what they answer, and some seconds for what they read.
        stop(process, 90)


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """Debian's Chromium, driven by Playwright."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=ARGUMENTS, timeout=2 * TIMEOUT_MS
        )
        try:
            yield browser
        finally:
            browser.close()


def _wait(address: str, process: subprocess.Popen, timeout_s: float = 180) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with code {process.returncode} before it answered")
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:  # noqa: S310
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.1)
    raise RuntimeError(f"no answer from {address} within {timeout_s} s")
