"""The What-if lab in a real Chromium: a slider is dragged, a search runs through a reload, going back goes back."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.app.web.browser import needs_chromium, running_server
from tests.app.web.lab_lake import ADDRESS, BILLING, write_lab_lake
from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.app.web.address.what_if import WhatIfAddress

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    needs_chromium,
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    lake = write_lab_lake(tmp_path_factory.mktemp("lab") / "lake").root
    with running_server(lake, workers=1) as address:
        yield address


def runs_of(page) -> list[str]:
    return parse_qs(urlsplit(page.url).query).get("run", [])


def wait_for_curves(page):
    page.wait_for_selector("#what-if-graph .xtick text")
    page.wait_for_selector("#what-if-runs .plain-table")


@pytest.mark.study
def test_dragged_slider_updates_field_address_table(monitored):
    page = monitored.open(ADDRESS.href())
    wait_for_curves(page)
    field = page.locator(".what-if-field input").first
    thumb = page.locator(".what-if-control").first.locator("[role=slider]")
    assert thumb.get_attribute("aria-label").startswith("Subscription limit, messages")
    box = thumb.bounding_box()
    page.mouse.move(box["x"] + 6, box["y"] + 6)
    page.mouse.down()
    page.mouse.move(box["x"] + 36, box["y"] + 6, steps=30)
    page.mouse.up()
    # The newest value is the one that the command has too.
    page.wait_for_function(
        "() => { const typed = document.querySelector('.what-if-field input').value; return Number(typed) > 500 &&"
        " document.getElementById('what-if-command').innerText.includes('-md ' + typed + ' '); }"
    )
    typed = field.input_value()
    page.wait_for_function("limit => location.search.includes('subscription.msg%3D' + limit)", arg=typed)
    assert runs_of(page) == [f"subscription.msg={typed}"]
    page.wait_for_function(
        "limit => document.getElementById('what-if-command').innerText.includes('-md ' + limit + ' ')",
        arg=typed,
    )
    page.go_back()
    page.wait_for_function("() => !location.search.includes('run=')")
    page.wait_for_function("() => document.querySelector('.what-if-field input').value === ''")


@pytest.mark.study
def test_typed_value_moves_slider(monitored):
    """An invalid value is explained."""
    page = monitored.open(ADDRESS.href())
    wait_for_curves(page)
    field = page.locator(".what-if-field input").first
    thumb = page.locator(".what-if-control").first.locator("[role=slider]")
    before = int(thumb.get_attribute("aria-valuenow"))
    field.fill("1200")
    field.press("Enter")
    page.wait_for_selector(
        "#what-if-runs :text('1 200 msg per 1 s'), #what-if-runs :text('200 msg per 1 s, was 500')"
    )
    assert int(thumb.get_attribute("aria-valuenow")) > before
    field.fill("abc")
    field.press("Enter")
    page.wait_for_selector(".what-if-error")
    assert "Accepted: a whole number from 1 to" in page.inner_text(".what-if-error")
    field.fill("")
    field.press("Enter")
    page.wait_for_function("() => !location.search.includes('run=')")


@pytest.mark.study
def test_search_survives_reload(monitored):
    """Its answer becomes a run."""
    page = monitored.open(ADDRESS.href())
    wait_for_curves(page)
    page.click("#what-if-start")
    page.wait_for_function("() => location.search.includes('job=')")
    page.reload()
    page.wait_for_selector("#what-if-job :text('Which of the levers drains it within')")
    # A search gives way to everything else on the machine.
    page.wait_for_selector(".what-if-try", timeout=400_000)
    page.click(".what-if-try >> nth=0")
    page.wait_for_function("() => location.search.includes('run=subscription.msg')")
    page.wait_for_selector("#what-if-command :text('pulsar-admin, not executed')")


@pytest.mark.study
def test_search_finds_a_subscription(monitored):
    page = monitored.open(WhatIfAddress().href())
    page.fill("#what-if-search", "billing")
    page.wait_for_function("() => location.search === '?q=billing'")
    page.click("#what-if-found .row-link")
    page.wait_for_function("() => location.search.includes('from=')")
    wait_for_curves(page)
    assert parse_qs(urlsplit(page.url).query)["subscription"] == [BILLING.subscription]


def test_alert_to_change_takes_three_clicks(monitored):
    """Alert link, then the answer with its evidence; what-if; copy the command; the bundle."""
    page, clicks = monitored.page, 0

    def click(selector: str) -> None:
        nonlocal clicks
        clicks += 1
        page.click(selector)

    # What the annotation of an exported alert leads to.
    monitored.open(SubscriptionAddress(BILLING, at_ms=ADDRESS.end_ms).href())
    page.wait_for_selector("#answer")
    assert "throttles this subscription" in page.inner_text("#answer")
    assert "First:" in page.inner_text(".answer")
    page.wait_for_selector(".section:has(h2:text-is('Evidence'))")
    subscription_page = page.url
    click("text=What-if lab")
    wait_for_curves(page)
    field = page.locator(".what-if-field input").first
    field.fill("1200")
    field.press("Enter")
    page.wait_for_function("() => document.getElementById('what-if-command').innerText.includes('-md 1200 ')")
    click("#what-if-command button >> nth=0")
    page.wait_for_selector("#what-if-command :text('copied')")
    assert "-md 1200 " in page.evaluate("navigator.clipboard.readText()")
    page.go_back()
    page.go_back()
    page.wait_for_function("address => location.href === address", arg=subscription_page)
    with page.expect_download() as download:
        click(".download:has-text('bundle')")
    assert download.value.suggested_filename.startswith("incident-")
    assert clicks <= 4
