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


def runs_of(shown) -> list[str]:
    return parse_qs(urlsplit(shown.url).query).get("run", [])


def wait_for_curves(shown):
    shown.wait_for_selector("#what-if-graph .xtick text")
    shown.wait_for_selector("#what-if-runs .plain-table")


def test_dragged_slider_updates_field_address_table(watched):
    shown = watched.open(ADDRESS.href())
    wait_for_curves(shown)
    field = shown.locator(".what-if-field input").first
    thumb = shown.locator(".what-if-control").first.locator("[role=slider]")
    assert thumb.get_attribute("aria-label").startswith("Subscription limit, messages")
    box = thumb.bounding_box()
    shown.mouse.move(box["x"] + 6, box["y"] + 6)
    shown.mouse.down()
    shown.mouse.move(box["x"] + 36, box["y"] + 6, steps=30)
    shown.mouse.up()
    # The newest value is the one that the command has too.
    shown.wait_for_function(
        "() => { const typed = document.querySelector('.what-if-field input').value; return Number(typed) > 500 &&"
        " document.getElementById('what-if-command').innerText.includes('-md ' + typed + ' '); }"
    )
    typed = field.input_value()
    shown.wait_for_function("limit => location.search.includes('subscription.msg%3D' + limit)", arg=typed)
    assert runs_of(shown) == [f"subscription.msg={typed}"]
    shown.wait_for_function(
        "limit => document.getElementById('what-if-command').innerText.includes('-md ' + limit + ' ')",
        arg=typed,
    )
    shown.go_back()
    shown.wait_for_function("() => !location.search.includes('run=')")
    shown.wait_for_function("() => document.querySelector('.what-if-field input').value === ''")


def test_typed_value_moves_slider(watched):
    """An invalid value is explained."""
    shown = watched.open(ADDRESS.href())
    wait_for_curves(shown)
    field = shown.locator(".what-if-field input").first
    thumb = shown.locator(".what-if-control").first.locator("[role=slider]")
    before = int(thumb.get_attribute("aria-valuenow"))
    field.fill("1200")
    field.press("Enter")
    shown.wait_for_selector(
        "#what-if-runs :text('1 200 msg per 1 s'), #what-if-runs :text('200 msg per 1 s, was 500')"
    )
    assert int(thumb.get_attribute("aria-valuenow")) > before
    field.fill("abc")
    field.press("Enter")
    shown.wait_for_selector(".what-if-error")
    assert "Accepted: a whole number from 1 to" in shown.inner_text(".what-if-error")
    field.fill("")
    field.press("Enter")
    shown.wait_for_function("() => !location.search.includes('run=')")


def test_search_survives_reload(watched):
    """Its answer becomes a run."""
    shown = watched.open(ADDRESS.href())
    wait_for_curves(shown)
    shown.click("#what-if-start")
    shown.wait_for_function("() => location.search.includes('job=')")
    shown.reload()
    shown.wait_for_selector("#what-if-job :text('Which of the levers drains it within')")
    # A search gives way to everything else on the machine.
    shown.wait_for_selector(".what-if-try", timeout=400_000)
    shown.click(".what-if-try >> nth=0")
    shown.wait_for_function("() => location.search.includes('run=subscription.msg')")
    shown.wait_for_selector("#what-if-command :text('pulsar-admin, not executed')")


def test_without_a_subscription_one_is_searched_for(watched):
    shown = watched.open(WhatIfAddress().href())
    shown.fill("#what-if-search", "billing")
    shown.wait_for_function("() => location.search === '?q=billing'")
    shown.click("#what-if-found .row-link")
    shown.wait_for_function("() => location.search.includes('from=')")
    wait_for_curves(shown)
    assert parse_qs(urlsplit(shown.url).query)["subscription"] == [BILLING.subscription]


def test_alert_to_change_takes_three_clicks(watched):
    """Alert link, then the answer with its evidence; what-if; copy the command; the bundle."""
    shown, clicks = watched.page, 0

    def click(selector: str) -> None:
        nonlocal clicks
        clicks += 1
        shown.click(selector)

    # What the annotation of an exported alert leads to.
    watched.open(SubscriptionAddress(BILLING, at_ms=ADDRESS.end_ms).href())
    shown.wait_for_selector("#answer")
    assert "throttles this subscription" in shown.inner_text("#answer")
    assert "First:" in shown.inner_text(".answer")
    shown.wait_for_selector(".section:has(h2:text-is('Evidence'))")
    subscription_page = shown.url
    click("text=What-if lab")
    wait_for_curves(shown)
    field = shown.locator(".what-if-field input").first
    field.fill("1200")
    field.press("Enter")
    shown.wait_for_function(
        "() => document.getElementById('what-if-command').innerText.includes('-md 1200 ')"
    )
    click("#what-if-command button >> nth=0")
    shown.wait_for_selector("#what-if-command :text('copied')")
    assert "-md 1200 " in shown.evaluate("navigator.clipboard.readText()")
    shown.go_back()
    shown.go_back()
    shown.wait_for_function("address => location.href === address", arg=subscription_page)
    with shown.expect_download() as download:
        click(".download:has-text('bundle')")
    assert download.value.suggested_filename.startswith("incident-")
    assert clicks <= 4
