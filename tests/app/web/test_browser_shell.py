"""What every page has, in a real Chromium: keys, the time zone, what is said when the server does not answer."""

from __future__ import annotations

import pytest

from tests.app.web.browser import MonitoredPage, is_settled, needs_chromium

pytestmark = [
    pytest.mark.browser,
    needs_chromium,
]

BILLING = "/subscription?cluster=sample-east&topic=persistent%3A%2F%2Fshop%2Fcheckout%2Forders&partition=-1&subscription=billing"
# Dash adds a parameter of its own.
CALLBACKS = "**/_dash-update-component*"
FOCUSED = "window.dash_ag_grid.getApi('subscriptions-grid').getFocusedCell()?.rowIndex"


def test_j_k_and_enter_navigate_table(monitored):
    page = monitored.open()
    page.wait_for_selector("#subscriptions-grid .ag-row .cause-badge")
    page.keyboard.press("j")
    page.wait_for_function(f"() => {FOCUSED} === 0")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.wait_for_function(f"() => {FOCUSED} === 1")
    name = page.inner_text("#subscriptions-grid .ag-row[row-index='1'] [col-id=subscription] a")
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer")
    assert name in page.inner_text("h1")


@pytest.mark.study
def test_j_and_k_focus_links_without_grid(monitored):
    page = monitored.open("/")
    page.wait_for_selector(".plain-table .row-link")
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.href")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.href") != first
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.href") == first


@pytest.mark.study
def test_brackets_shift_the_window_by_its_length(monitored):
    page = monitored.open(BILLING + "&from=2026-11-20T01:00:00Z&to=2026-11-20T02:00:00Z")
    page.wait_for_selector(".range-words:has-text('01:00:00 to 02:00:00')")
    page.keyboard.press("[")
    page.wait_for_selector(".range-words:has-text('00:00:00 to 01:00:00')")
    page.keyboard.press("]")
    page.wait_for_selector(".range-words:has-text('01:00:00 to 02:00:00')")


@pytest.mark.study
def test_shortcuts_are_text_in_input_fields(monitored):
    page = monitored.open()
    page.wait_for_selector("#subscriptions-cards .card")
    page.keyboard.press("/")
    page.keyboard.type("jt?[")
    assert page.input_value("#subscriptions-search") == "jt?["
    assert not page.evaluate("document.getElementById('keys-help').open")


@pytest.mark.study
def test_help_opens_and_closes(monitored):
    page = monitored.open("/")
    page.wait_for_selector(".card")
    page.keyboard.press("?")
    assert page.is_visible("#keys-help")
    assert "search subscriptions" in page.inner_text("#keys-help")
    page.keyboard.press("Escape")
    page.wait_for_selector("#keys-help", state="hidden")


@pytest.mark.study
def test_t_toggles_the_browsers_time_zone(browser, address):
    monitored = MonitoredPage(browser, address, timezone_id="Asia/Tokyo")
    page = monitored.open(BILLING)
    page.wait_for_selector(".range-words:has-text('03:00:00 UTC')")
    page.wait_for_selector(".js-plotly-plot .xtitle")
    # A page that is loaded again breaks off what it was reading.
    is_settled(page)
    page.wait_for_load_state("networkidle")
    page.keyboard.press("t")
    page.wait_for_selector(".range-words:has-text('12:00:00 UTC+09:00')")
    assert page.inner_text("#zone-toggle") == "times Asia/Tokyo"
    page.wait_for_selector(".js-plotly-plot .xtitle:has-text('UTC+09:00')")
    assert " UTC " not in page.inner_text("#subscription-page").replace("UTC+09:00", "")
    is_settled(page)
    page.wait_for_load_state("networkidle")
    page.keyboard.press("t")
    page.wait_for_selector(".range-words:has-text('03:00:00 UTC')")
    monitored.close_and_check()


def test_unreachable_server_is_reported_and_retried(browser, address):
    monitored = MonitoredPage(browser, address)
    page = monitored.page
    # What a real server cannot be made to do between two requests: go away, and fail.
    page.route(CALLBACKS, lambda route: route.abort())
    monitored.open("/")
    page.wait_for_selector("#notice:has-text('The server does not answer.')")
    page.unroute(CALLBACKS)
    page.route(CALLBACKS, lambda route: route.fulfill(status=503, body="no"))
    page.click("#notice >> text=Retry")
    page.wait_for_selector("#notice:has-text('HTTP 503')")
    page.unroute(CALLBACKS)
    page.click("#notice >> text=Retry")
    page.wait_for_selector("#overview-content .card")
    page.wait_for_selector("#notice", state="hidden")
    monitored.context.close()


@pytest.mark.study
def test_a_slow_answer_can_be_cancelled(browser, address):
    monitored = MonitoredPage(browser, address)
    page = monitored.page
    pending = []
    page.route(CALLBACKS, lambda route: pending.append(route))
    monitored.open("/")
    page.wait_for_selector("#notice:has-text('Still reading.')")
    page.click("#notice >> text=Cancel")
    page.wait_for_selector("#notice:has-text('Cancelled.')")
    monitored.context.close()


@pytest.mark.study
def test_a_chart_is_saved_as_a_picture(monitored):
    page = monitored.open(BILLING)
    page.wait_for_selector(".js-plotly-plot .xtick text")
    for form, begins in (("png", b"\x89PNG"), ("svg", b"<svg")):
        with page.expect_download() as download:
            page.click(f".chart-save[data-format={form}] >> nth=1")
        assert download.value.suggested_filename == f"throttlescope-rates.{form}"
        content = download.value.path().read_bytes()
        assert content.startswith(begins)
        assert len(content) > 5_000


@pytest.mark.study
def test_bundle_downloads_from_the_page(monitored):
    page = monitored.open(BILLING)
    page.wait_for_selector("#answer")
    with page.expect_download() as download:
        page.click(".download:has-text('bundle')")
    assert download.value.suggested_filename.endswith(".zip")
    assert download.value.path().read_bytes().startswith(b"PK")
