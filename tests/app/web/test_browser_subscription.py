"""The page of a subscription in a real Chromium: a zoom that can be shared, parts that come later, an answer that is kept."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.app.web.browser import TIMEOUT_MS, double_click, fits, is_settled, needs_chromium
from tests.app.web.sample_lake import START_MS
from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.ingest.core.times import MINUTE_MS

pytestmark = [
    pytest.mark.browser,
    needs_chromium,
]

BILLING = "/subscription?cluster=sample-east&topic=persistent%3A%2F%2Fshop%2Fcheckout%2Forders&partition=-1&subscription=billing"
#: With a byte limit: two charts have the rates in and out.
THUMBNAILS = "/subscription?cluster=sample-east&topic=persistent%3A%2F%2Fshop%2Fmedia%2Fimages&partition=-1&subscription=thumbnails"
ZOOM = "&zoom=2026-11-20T01:00:00Z..2026-11-20T01:30:00Z"
# The range of each chart, in the milliseconds that Plotly keeps as text or as numbers.
RANGES = (
    "[...document.querySelectorAll('#subscription-page .js-plotly-plot')].map(graph => graph._fullLayout.xaxis.range"
    ".map(end => typeof end === 'number' ? end : Date.parse(end.replace(' ', 'T') + 'Z')))"
)


def wait_for_ranges(page, start_ms: int, end_ms: int, timeout: float = TIMEOUT_MS) -> None:
    page.wait_for_function(
        f"([start, end]) => {{ const all = {RANGES}; return all.length > 3 && all.every(one => "
        "Math.abs(one[0] - start) < 1000 && Math.abs(one[1] - end) < 1000); }",
        arg=[start_ms, end_ms],
        timeout=timeout,
    )


def requests_of(page) -> list[str]:
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url) if request.method == "POST" else None)
    return seen


@pytest.mark.study
def test_double_click_resets_a_linked_zoom(monitored):
    page = monitored.open(BILLING + ZOOM)
    page.wait_for_selector(".js-plotly-plot .xtick text")
    wait_for_ranges(page, START_MS + 60 * MINUTE_MS, START_MS + 90 * MINUTE_MS)
    page.wait_for_selector("#subscription-zoom-open:visible")
    href = parse_qs(urlsplit(page.get_attribute("#subscription-zoom-open", "href")).query)
    assert (href["from"], href["to"]) == (["2026-11-20T01:00:00Z"], ["2026-11-20T01:30:00Z"])
    page.wait_for_selector("#subscription-windows .ag-row a", state="attached")
    is_settled(page)
    page.wait_for_load_state("networkidle")
    seen, length = requests_of(page), page.evaluate("history.length")
    double_click(
        page.locator(".js-plotly-plot .nsewdrag").nth(1).dblclick,
        lambda ms: wait_for_ranges(page, START_MS, START_MS + 180 * MINUTE_MS, timeout=ms),
    )
    page.wait_for_function("() => !location.search.includes('zoom=')")
    assert page.evaluate("history.length") == length
    assert not seen, "a zoom asks the server nothing"


@pytest.mark.study
def test_zoom_survives_a_reload(monitored):
    """It is written to the address."""
    page = monitored.open(BILLING)
    page.wait_for_selector(".js-plotly-plot .xtick text")
    page.wait_for_function("() => document.querySelectorAll('.js-plotly-plot .xtick').length > 10")
    is_settled(page)
    page.wait_for_load_state("networkidle")
    box = page.locator(".js-plotly-plot .nsewdrag").nth(1).bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 40, steps=8)
    page.mouse.up()
    page.wait_for_function("() => location.search.includes('zoom=')")
    zoomed = SubscriptionAddress.parse(urlsplit(page.url).query).zoom_ms
    assert START_MS + 50 * MINUTE_MS < zoomed[0] < START_MS + 58 * MINUTE_MS
    wait_for_ranges(page, *zoomed)
    page.reload()
    page.wait_for_selector(".js-plotly-plot .xtick text")
    wait_for_ranges(page, *zoomed)
    page.wait_for_selector("#subscription-zoom-open:visible")
    page.click("#subscription-zoom-open")
    page.wait_for_function("() => !location.search.includes('zoom=')")
    opened = SubscriptionAddress.parse(urlsplit(page.url).query)
    assert (opened.start_ms, opened.end_ms) == zoomed
    page.wait_for_selector("#subscription-zoom-open", state="hidden")


def test_answer_fits_on_the_first_screen(browser, address):
    """With its deadlines and the first step."""
    for width, height in ((1440, 900), (390, 844)):
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(TIMEOUT_MS)
        page.goto(address + BILLING)
        page.wait_for_selector(".answer-when li")
        for part in ("#answer", ".answer-do p >> nth=0", ".answer-when li >> nth=0"):
            box = page.locator(part).bounding_box()
            assert box["y"] + box["height"] <= height, (width, part)
        assert fits(page)
        page.close()


@pytest.mark.study
def test_windows_load_on_scroll_and_open(monitored):
    page = monitored.open(BILLING)
    page.wait_for_selector("#answer")
    page.locator("#subscription-windows").scroll_into_view_if_needed()
    first = page.locator("#subscription-windows .ag-row[row-index='4'] a").first
    first.wait_for()
    first.click()
    page.wait_for_function("() => location.search.includes('at=2026-11-20T02%3A56%3A00Z')")
    page.wait_for_selector(".answer-newest")


@pytest.mark.study
def test_pictures_of_evidence_are_drawn_and_described(monitored):
    page = monitored.open(BILLING)
    page.wait_for_selector("img.sparkline")
    page.wait_for_function(
        "() => [...document.querySelectorAll('img.sparkline')].every(one => one.naturalWidth > 0 && one.alt)"
    )
    assert page.get_attribute(".promql a >> nth=0", "href").startswith("/promql?query=sum%20by")


@pytest.mark.study
@pytest.mark.long
def test_failed_advice_is_kept_for_window(monitored):
    """It survives a reload, and another window does not show it."""
    page = monitored.open(BILLING)
    page.wait_for_selector("#subscription-advice-ask")
    # It is disabled for a moment that the test may miss.
    page.evaluate(
        "new MutationObserver(() => { if (document.querySelector('#subscription-advice-ask:disabled')) window.wasDisabled = true; })"
        ".observe(document.body, {subtree: true, attributes: true, attributeFilter: ['disabled']})"
    )
    page.click("#subscription-advice-ask")
    page.wait_for_function("() => window.wasDisabled")
    page.wait_for_selector("text=The smallest change could not be computed")
    assert page.inner_text("#subscription-advice-ask") == "Find the smallest change"
    page.reload()
    page.wait_for_selector("text=The smallest change could not be computed")
    page.goto(monitored.address + BILLING + "&at=2026-11-20T02:00:00Z")
    page.wait_for_selector(".answer-newest")
    page.wait_for_load_state("networkidle")
    assert page.locator("text=The smallest change could not be computed").count() == 0
    assert page.locator("button:has-text('Diagnose now')").is_disabled()


def test_legend_entry_hides_its_line_everywhere(monitored):
    """In each chart that has it; a second click shows it again."""
    page = monitored.open(THUMBNAILS)
    is_settled(page)
    shown = (
        "name => [...document.querySelectorAll('#subscription-page .js-plotly-plot')].flatMap(graph => graph._fullData)"
        ".filter(trace => trace.name === name).map(trace => trace.visible)"
    )
    name = "out (dispatched)"
    entry = page.locator(f".chart-key button[data-name='{name}']")
    assert page.evaluate(shown, name) == [True, True]
    entry.click()
    page.wait_for_function(f"name => ({shown})(name).every(visible => visible === false)", arg=name)
    assert entry.get_attribute("aria-pressed") == "false"
    assert page.evaluate(shown, "in (published)") == [True, True]
    entry.click()
    page.wait_for_function(f"name => ({shown})(name).every(visible => visible === true)", arg=name)
    assert entry.get_attribute("aria-pressed") == "true"
