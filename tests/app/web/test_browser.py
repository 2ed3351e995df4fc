"""The way of a person, in a real Chromium on the real server: open, search, open a subscription, read its cause."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.app.web.browser import MonitoredPage, double_click, is_settled, needs_chromium
from tests.app.web.sample_lake import HOSTILE_NAME, START_MS

pytestmark = [
    pytest.mark.browser,
    needs_chromium,
]

# Where each chart begins; Plotly keeps the ends of a range as text or as numbers.
# A text that is no function would be evaluated in the page, which its content security policy forbids.
STARTS = (
    "[...document.querySelectorAll('.js-plotly-plot')].map(graph => graph._fullLayout.xaxis.range[0])"
    ".map(end => typeof end === 'number' ? end : Date.parse(end.replace(' ', 'T') + 'Z'))"
)


def rows(page):
    return page.locator(
        "#subscriptions-grid .ag-center-cols-container .ag-row, #subscriptions-grid .ag-row"
    ).filter(has=page.locator("a"))


def wait_for_rows(page, number):
    page.wait_for_function(
        "wanted => new Set([...document.querySelectorAll('#subscriptions-grid .ag-row a')].map(a => a.href.split('&at=')[0])).size === wanted",
        arg=number,
    )


def test_search_leads_to_subscription_and_cause(monitored):
    page = monitored.open()
    page.wait_for_selector("#subscriptions-cards .card")
    assert "Throttled" in page.inner_text("#subscriptions-cards")
    assert "data up to 2026-11-20 03:00:00 UTC" in page.inner_text("#subscriptions-freshness")
    page.wait_for_selector("#subscriptions-grid .ag-row a")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "subscriptions-search"
    page.keyboard.type("billing")
    wait_for_rows(page, 1)
    assert urlsplit(page.url).query == "q=billing"
    page.click("#subscriptions-grid .ag-row a")
    page.wait_for_selector("#answer")
    assert page.inner_text("#answer").replace("\N{NO-BREAK SPACE}", " ") == (
        "The subscription message limit (50 msg per 1 s, set by subscription policy) throttles this subscription."
    )
    assert "Throttled" in page.inner_text(".answer-top")
    assert "93" in page.inner_text(".sure")
    page.wait_for_selector(".js-plotly-plot .xtick text")
    assert page.title() == "billing - throttlescope"
    assert "subscription=billing" in page.url
    # The answer is on the first screen.
    assert (
        page.locator(".answer").bounding_box()["y"] + page.locator(".answer").bounding_box()["height"] < 900
    )
    page.go_back()
    wait_for_rows(page, 1)
    assert page.input_value("#subscriptions-search") == "billing"


@pytest.mark.study
def test_enter_opens_the_focused_row(monitored):
    page = monitored.open("/subscriptions?q=ledger")
    wait_for_rows(page, 1)
    page.focus("#subscriptions-search")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("() => document.activeElement.closest('.ag-cell')")
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer")
    assert page.inner_text("#answer") == "The consumers cannot keep up."


def test_cards_filter_and_columns_sort(monitored):
    """The server sorts."""
    page = monitored.open()
    page.click("#subscriptions-cards .card:has-text('Throttled')")
    wait_for_rows(page, 6)
    assert urlsplit(page.url).query == "cause=throttled&view=recent"
    page.click(".ag-header-cell[col-id=backlog] .ag-header-cell-label")
    page.wait_for_function(
        "() => document.querySelector('#subscriptions-grid .ag-row[row-index=\"0\"] a')?.innerText === 'thumbnails'"
    )
    page.click("#subscriptions-cards .card:has-text('Slow consumers')")
    wait_for_rows(page, 7)
    page.go_back()
    wait_for_rows(page, 6)
    page.click("#subscriptions-view .view:has-text('now')")
    wait_for_rows(page, 5)
    assert "Cause now" in page.inner_text("#subscriptions-grid .ag-header")
    page.fill("#subscriptions-search", "nobody is called so")
    page.wait_for_selector("text=matches these filters.")
    page.click("text=Show all of them")
    page.wait_for_selector("text=34 subscriptions, worst first")
    assert page.input_value("#subscriptions-search") == ""


@pytest.mark.study
def test_a_shared_link_opens_the_same_view(monitored):
    path = (
        "/subscription?cluster=sample-west&topic=persistent%3A%2F%2Fshop%2Fweb%2Flifted&partition=-1"
        "&subscription=recommendations&from=2026-11-20T00:30:00Z&to=2026-11-20T02:30:00Z&at=2026-11-20T01:50:00Z"
    )
    page = monitored.open(path)
    page.wait_for_selector("#answer")
    assert page.inner_text("#answer").startswith("The subscription message limit")
    assert "2026-11-20 00:30:00 to 02:30:00 UTC" in page.inner_text(".range-words")
    page.click(".range-bar >> text=1 h")
    page.wait_for_selector(".range-words:has-text('01:30:00 to')")
    page.go_back()
    page.wait_for_selector(".range-words:has-text('00:30:00 to')")


def _settled_box(page, locator, tries=50):
    """Where an element is once it has stopped moving: charts above it may still be drawn."""
    before = None
    for _ in range(tries):
        box = locator.bounding_box()
        if box is not None and box == before:
            return box
        before = box
        page.wait_for_timeout(100)
    raise AssertionError("the page does not come to rest")


@pytest.mark.study
def test_zoom_applies_to_all_charts(monitored):
    """A click on the ribbon opens the window at that time."""
    page = monitored.open(
        "/subscription?cluster=sample-east&topic=persistent%3A%2F%2Fshop%2Fcheckout%2Forders&partition=-1&subscription=billing"
    )
    page.wait_for_selector(".js-plotly-plot .xtick text")
    page.wait_for_function("() => document.querySelectorAll('.js-plotly-plot .xtick').length > 10")
    is_settled(page)
    plot = page.locator(".js-plotly-plot").nth(1).locator(".nsewdrag").first
    box = _settled_box(page, plot)
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 40, steps=8)
    page.mouse.up()
    page.wait_for_function(f"() => {STARTS}.every((start, _, all) => start === all[0] && start > {START_MS})")
    # In the middle of what is healthy; Plotly's drag layer lies over the bars and takes the click.
    ribbon = _settled_box(page, page.locator(".js-plotly-plot").first.locator(".nsewdrag").first)
    double_click(
        lambda: page.mouse.dblclick(box["x"] + 100, box["y"] + 60),
        lambda ms: page.wait_for_function(f"() => {STARTS}.every(start => start === {START_MS})", timeout=ms),
    )
    page.mouse.move(ribbon["x"] + ribbon["width"] * 0.1, ribbon["y"] + 20)
    page.mouse.click(ribbon["x"] + ribbon["width"] * 0.1, ribbon["y"] + 20)
    page.wait_for_selector("text=No problem was found with this subscription.")
    assert "at=2026-11-20T01%3A02%3A00Z" in page.url


@pytest.mark.study
def test_promql_is_copied_unchanged(monitored):
    page = monitored.open(
        "/subscription?cluster=sample-east&topic=persistent%3A%2F%2Fshop%2Fcheckout%2Forders&partition=-1&subscription=billing"
    )
    page.click(".promql button >> nth=0")
    page.wait_for_function("async () => (await navigator.clipboard.readText()).startsWith('sum by')")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(
        'sum by (topic, subscription) (rate(pulsar_out_messages_total{topic="persistent://shop/checkout/orders"'
    )


def test_hostile_name_is_shown_as_text(monitored):
    """In the table and on the subscription's own page."""
    page = monitored.open()
    page.fill("#subscriptions-search", "onerror=alert")
    wait_for_rows(page, 1)
    shown = page.inner_text("#subscriptions-grid .ag-row a")
    assert shown.startswith("</script><img src=x onerror=alert(1)>")
    page.hover("#subscriptions-grid .ag-row a")
    # The tip of a cell shows the name too.
    page.wait_for_selector(".ag-tooltip:has-text('onerror=alert')")
    page.click("#subscriptions-grid .ag-row a")
    page.wait_for_selector("#answer")
    assert "</script><img src=x onerror=alert(1)>" in page.inner_text("h1")
    # Our own pictures, of the backlog and of a chart's key, are in the page itself.
    assert page.locator("img:not([src^='data:image/svg+xml'])").count() == 0
    assert HOSTILE_NAME in page.evaluate("new URLSearchParams(location.search).get('subscription')")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/nowhere", "There is no such page."),
        ("/?cause=bad_luck", "The address names a cause that does not exist"),
        ("/subscription", "The address does not name a subscription"),
        ("/subscription?cluster=a&topic=b&subscription=c", "The lake has no data of this subscription."),
    ],
)
def test_invalid_address_is_explained(monitored, path, says):
    page = monitored.open(path)
    page.wait_for_selector(f"text={says}")


def test_dark_scheme_is_legible(browser, address):
    monitored = MonitoredPage(browser, address, color_scheme="dark")
    page = monitored.open(
        "/subscription?cluster=sample-east&topic=persistent%3A%2F%2Fshop%2Fcheckout%2Forders&partition=-1&subscription=billing"
    )
    page.wait_for_selector(".js-plotly-plot .xtick text")
    fill = page.evaluate("getComputedStyle(document.querySelector('.js-plotly-plot .xtick text')).fill")
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = [sum(int(part) for part in colour[4:-1].split(",")) / 3 for colour in (fill, back)]
    assert brightness[0] > 170
    assert brightness[1] < 60
    monitored.close_and_check()
