"""Roll-ups and limits in a real Chromium: from the table to a place, its limits over time, its neighbours; and which policy applies."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.app.web.browser import (
    MonitoredPage,
    axe_findings,
    fits,
    is_settled,
    needs_chromium,
    running_server,
)
from tests.app.web.lake_of_limits import write_lake_of_limits

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    needs_chromium,
]

FEED = "/rollups?by=topic&cluster=sample-east&name=persistent%3A%2F%2Fshop%2Fweb%2Ffeed"
SUBJECT = "/limits?cluster=recorded&topic=persistent%3A%2F%2Ft%2Fn%2Fx&partition=-1&subscription=s"


def query_of(page) -> dict:
    return parse_qs(urlsplit(page.url).query)


def test_rollup_is_found_opened_and_shifted(monitored):
    """Its time range is shifted by a key."""
    page = monitored.open("/rollups")
    page.wait_for_selector("#rollups-grid .ag-row a")
    page.click("#rollups-by >> text=Namespaces")
    page.wait_for_selector("#rollups-grid .ag-row a >> text=shop/web")
    page.keyboard.press("/")
    page.keyboard.type("web east")
    page.wait_for_selector("#rollups-status:has-text('1 namespace,')")
    assert query_of(page) == {"by": ["namespace"], "q": ["web east"], "view": ["recent"]}
    page.click("#rollups-grid .ag-row a >> text=shop/web")
    page.wait_for_selector("#rollups-heat .annotation-text")
    assert page.is_hidden("#rollups-list")
    assert "topic.msg of shop/web/feed" in page.inner_text("#rollups-heat")
    page.keyboard.press("[")
    page.wait_for_selector(".range-words:not(:has-text('03:00:00 UTC'))")
    assert {"from", "to"} <= query_of(page).keys()
    page.go_back()
    page.wait_for_selector(".range-words:has-text('03:00:00 UTC')")
    page.click("#rollups-place .plain-table .row-link >> nth=0")
    page.wait_for_selector("#answer")
    page.go_back()
    page.wait_for_selector("#rollups-heat")
    page.go_back()
    page.wait_for_selector("#rollups-grid .ag-row a >> text=shop/web")
    assert page.input_value("#rollups-search") == "web east"


@pytest.mark.study
def test_rollup_is_accessible_and_fits_phone(monitored):
    page = monitored.open(FEED)
    page.wait_for_selector("#rollups-heat .annotation-text")
    is_settled(page)
    # The frame around it and the tables are judged with all pages.
    assert axe_findings(page, "#page") == []
    page.set_viewport_size({"width": 390, "height": 844})
    is_settled(page)
    assert fits(page)


@pytest.fixture
def monitored_limits(browser, tmp_path_factory):
    lake = write_lake_of_limits(tmp_path_factory.mktemp("limits") / "lake")
    with running_server(lake.root, workers=1) as address:
        monitored = MonitoredPage(browser, address)
        yield monitored
        monitored.close_and_check()


@pytest.mark.study
def test_limit_opens_with_its_records(monitored_limits):
    """The winning record and the hidden ones."""
    page = monitored_limits.open("/limits")
    page.wait_for_selector("#limits-grid .ag-row a")
    page.wait_for_selector("#limits-changes .plain-table")
    page.click(".toggle >> text=subscription >> nth=0")
    page.wait_for_selector("#limits-status:has-text('2 limiters.')")
    page.fill("#limits-search", "#s recorded")
    page.wait_for_selector("#limits-status:has-text('1 limiter.')")
    assert query_of(page) == {"level": ["subscription"], "q": ["#s recorded"]}
    page.click("#limits-grid .ag-row a")
    page.wait_for_selector(".answer-body")
    said = page.inner_text("#limits-below").replace("\N{NO-BREAK SPACE}", " ")
    assert "✓ applies" in said
    assert "overridden by the topic policy" in said
    page.click(".answer-body:has-text('topic_dispatch_rate') summary >> nth=0")
    page.wait_for_selector("#limits-changes .plain-table")
    is_settled(page)
    assert axe_findings(page, "#page") == []
    page.go_back()
    page.wait_for_selector("#limits-grid .ag-row a")
    assert page.input_value("#limits-search") == "#s recorded"
    monitored_limits.page.set_viewport_size({"width": 390, "height": 844})
    page = monitored_limits.open(SUBJECT)
    page.wait_for_selector(".answer-body")
    assert fits(page)
