"""A person in a real Chromium. In: the address of a running server and subscriptions that have minutes. Out: times, bytes, requests.

Every answer to a callback is timed by the browser (from the first byte sent to the last byte received), and every request is kept
with the step in which it was made, so that :mod:`load` can make it again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote_plus

from playwright.sync_api import Browser, Page, Request

from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition

CALLBACK = "/_dash-update-component"
#: A step is over when no callback was under way for so long.
_QUIET_MS = 400
_TIMEOUT_MS = 60_000

#: The frame that needs no script counts: it is what a person sees first.
_SKELETON = ".first-page:visible, .shell-header:visible, .page-skeleton:visible"
_OVERVIEW = "#overview-content .worst-link"
_OVERVIEW_DRAWN = """() =>
  [...document.querySelectorAll("#overview-content .dash-graph")].every((chart) => chart.querySelector(".main-svg .xtick"))"""
_SUBSCRIPTIONS = "#subscriptions-grid .ag-row .cause-badge"
_SUBSCRIPTION = "#answer"
#: The answer comes first, the charts after it; drawn is a page whose last chart is.
_DRAWN = """() => {
  const charts = [...document.querySelectorAll("#subscription-page .dash-graph")];
  return charts.length > 1 && charts.every((chart) => chart.querySelector(".main-svg .xtick"));
}"""
# 30 minutes, 1, 3, 6 and 24 hours up to the end.
_LENGTHS = ".range-bar .range-link:not(.shift-earlier):not(.shift-later)"


@dataclass
class Recorded:
    """What a session requested, and how long it took.

    Attributes
    ----------
    steps : list of dict
        ``{"name", "requests": [{"method", "path", "body"}]}``, in order.
    callbacks : list of dict
        ``{"step", "ms", "bytes"}`` of every callback.
    """

    steps: list[dict] = field(default_factory=list)
    callbacks: list[dict] = field(default_factory=list)


def href(subscription: dict) -> str:
    """The address of a subscription's page."""
    names = ("cluster", "topic", "partition", "subscription")
    return SubscriptionAddress(SubscriptionPartition(**{name: subscription[name] for name in names})).href()


def encodings(subscription: dict) -> list[str]:
    """How a subscription stands in addresses, and in what is searched for."""
    searched = f"{subscription['topic']} {subscription['subscription']}"
    return [href(subscription).partition("?")[2], searched, quote_plus(searched)]


def cold(browser: Browser, address: str, path: str, content: str, drawn: str | None = None) -> dict:
    """A page in a browser that has nothing cached: seconds to the shell, to its content and to its last chart, and what was sent."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    sent: list[tuple[str, int]] = []
    page.on("requestfinished", lambda request: sent.append((request.url, _bytes(request))))
    try:
        began_s = time.monotonic()
        page.goto(address + path, wait_until="commit", timeout=_TIMEOUT_MS)
        page.wait_for_selector(_SKELETON, timeout=_TIMEOUT_MS)
        shell_s = time.monotonic() - began_s
        page.wait_for_selector(content, timeout=_TIMEOUT_MS)
        content_s = time.monotonic() - began_s
        if drawn:
            page.wait_for_function(drawn, timeout=_TIMEOUT_MS)
        drawn_s = time.monotonic() - began_s
        page.wait_for_load_state("networkidle", timeout=_TIMEOUT_MS)
        data = sum(size for url, size in sent if CALLBACK in url)
        return {
            "shell_s": shell_s,
            "content_s": content_s,
            "drawn_s": drawn_s,
            "data_bytes": data,
            "all_bytes": sum(size for _, size in sent),
        }
    finally:
        context.close()


def cold_overview(browser: Browser, address: str) -> dict:
    return cold(browser, address, "/", _OVERVIEW)


def cold_subscription(browser: Browser, address: str, subscription: dict) -> dict:
    return cold(browser, address, href(subscription), _SUBSCRIPTION, _DRAWN)


def session(browser: Browser, address: str, subscription: dict) -> tuple[Recorded, dict[str, float]]:
    """One way through the pages. Returns the requests, and seconds from a click to the content of the page that it leads to."""
    recorded = Recorded()
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(_TIMEOUT_MS)
    pending: set[Request] = set()
    changed_s = [time.monotonic()]

    def begins(request: Request) -> None:
        if not request.url.startswith(address):
            return
        asked = {
            "method": request.method,
            "path": request.url.removeprefix(address),
            "body": request.post_data,
        }
        recorded.steps[-1]["requests"].append(asked)
        if CALLBACK in request.url:
            pending.add(request)
            changed_s[0] = time.monotonic()

    def ends(request: Request) -> None:
        if request in pending:
            pending.discard(request)
            changed_s[0] = time.monotonic()
            timing = request.timing
            recorded.callbacks.append(
                {
                    "step": recorded.steps[-1]["name"],
                    "ms": timing["responseEnd"] - max(timing["requestStart"], 0),
                    "bytes": _bytes(request),
                }
            )

    page.on("request", begins)
    page.on("requestfinished", ends)
    page.on("requestfailed", lambda request: pending.discard(request))

    def step(
        name: str, do: Callable[[Page], None], content: str | None = None, drawn: str | None = None
    ) -> float:
        recorded.steps.append({"name": name, "requests": []})
        began_s = time.monotonic()
        changed_s[0] = began_s
        do(page)
        if content:
            page.wait_for_selector(content)
        passed_s = time.monotonic() - began_s
        if drawn:
            page.wait_for_function(drawn)
            inside["subscription, its last chart"] = time.monotonic() - began_s
        while pending or time.monotonic() - changed_s[0] < _QUIET_MS / 1000:
            page.wait_for_timeout(50)
        return passed_s

    inside = {}
    topic = subscription["topic"]
    try:
        step("open the overview", lambda page: page.goto(address + "/"), _OVERVIEW)
        # A click while Plotly's script runs waits for it, for up to a second in a new browser.
        page.wait_for_function(_OVERVIEW_DRAWN)
        page.wait_for_timeout(_QUIET_MS)
        inside["subscriptions"] = step(
            "open the table",
            lambda page: page.click(".shell-header a[href='/subscriptions']"),
            _SUBSCRIPTIONS,
        )
        step("filter by a cause", lambda page: page.locator("#subscriptions-cards .card").first.click())
        step("filter no longer", lambda page: page.locator("#subscriptions-cards .card").first.click())
        for way in ("up", "down"):
            step(
                f"sort {way}",
                lambda page: page.click(
                    "#subscriptions-grid .ag-header-cell[col-id='backlog'] .ag-header-cell-text"
                ),
            )
        step("page", lambda page: page.evaluate(_SCROLL, 0.5))
        step("page far", lambda page: page.evaluate(_SCROLL, 1.0))
        step("search", lambda page: page.fill("#subscriptions-search", "team-01 service-1"))
        step(
            "search one",
            lambda page: page.fill("#subscriptions-search", f"{topic} {subscription['subscription']}"),
        )
        inside["subscription"] = step(
            "open a subscription",
            lambda page: page.locator("#subscriptions-grid .ag-row[row-index='0'] a").first.click(),
            _SUBSCRIPTION,
            _DRAWN,
        )
        for words, place in (("1 h", 1), ("24 h", 4), ("3 h", 2)):
            step(f"window {words}", lambda page, place=place: page.locator(_LENGTHS).nth(place).click())
        step("earlier", lambda page: page.locator(".range-bar .shift-earlier").first.click())
        inside["overview"] = step(
            "back to the overview", lambda page: page.click(".shell-header .shell-brand"), _OVERVIEW
        )
    finally:
        context.close()
    return recorded, inside


# The table's scroll position decides which rows are requested.
_SCROLL = """async (share) => {
  const api = await window.dash_ag_grid.getApiAsync("subscriptions-grid");
  api.ensureIndexVisible(Math.max(0, Math.floor((api.getDisplayedRowCount() - 1) * share)));
}"""


def _bytes(request: Request) -> int:
    try:
        sizes = request.sizes()
    except Exception:
        return 0
    return sizes["responseBodySize"] + sizes["responseHeadersSize"]
