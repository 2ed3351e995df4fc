"""The overview in a real Chromium: the worst is one key away, bars and cards filter, and it fills itself again when the lake has changed."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pytest

from tests.app.web.browser import MonitoredPage, fits, is_settled, needs_chromium, running_server
from tests.app.web.sample_lake import END_MS, SAMPLES, write_sample_lake
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS, date_of

pytestmark = [
    pytest.mark.browser,
    needs_chromium,
]

WORST = "#overview-content .worst-link"


@pytest.mark.study
def test_worst_cause_is_one_key_away(monitored):
    """A key, or Tab and Enter."""
    page = monitored.open("/")
    page.wait_for_selector(WORST)
    is_settled(page)
    page.keyboard.press("w")
    page.wait_for_selector("#answer")
    assert "topic message limit" in page.inner_text("#answer").replace("\N{NO-BREAK SPACE}", " ")
    page.go_back()
    page.wait_for_selector(WORST)
    is_settled(page)
    page.focus("#page")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "worst-link":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer")


@pytest.mark.study
def test_bar_opens_its_moment_and_cause(monitored):
    page = monitored.open("/")
    page.wait_for_selector("#overview-timeline .barlayer .point")
    is_settled(page)
    # The drag layer lies over the bars and takes the click.
    bar = page.locator("#overview-timeline .barlayer .trace").first.locator(".point").nth(2).bounding_box()
    page.mouse.click(bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] / 2)
    page.wait_for_function("() => location.search.includes('at=')")
    query = parse_qs(urlsplit(page.url).query)
    assert query["show"] == ["throttled"]
    page.wait_for_selector("#overview-worst h2:has-text('Largest backlogs: Throttled')")
    assert "back to the newest" in page.inner_text("#overview-content .state-words")
    assert set(page.locator("#overview-worst .cause-badge").all_inner_texts()) != set()
    assert all("Throttled" in text for text in page.locator("#overview-worst .cause-badge").all_inner_texts())
    page.click("text=back to the newest")
    page.wait_for_function("() => !location.search.includes('at=')")
    page.click("text=Show all causes")
    page.wait_for_selector("#overview-worst h2:has-text('Largest backlogs with a problem')")


def test_overview_fits_a_phone(browser, address):
    monitored = MonitoredPage(browser, address)
    page = monitored.page
    page.set_viewport_size({"width": 375, "height": 812})
    monitored.open("/")
    page.wait_for_selector("#overview-timeline .xtick text")
    is_settled(page)
    assert fits(page)
    # What is wrong, and the way to the worst, are on the first screen.
    box = page.locator(WORST).bounding_box()
    assert box["y"] + box["height"] < 812
    monitored.close_and_check()


def test_overview_follows_the_lake(browser, tmp_path):
    """Nothing is loaded again: the focus, the filter and the page itself stay."""
    lake = write_sample_lake(tmp_path / "lake", SAMPLES[:3])
    with running_server(lake.root, workers=1) as address:
        monitored = MonitoredPage(browser, address)
        page = monitored.open("/?show=throttled")
        page.wait_for_selector("#overview-freshness:has-text('03:00:00 UTC')")
        is_settled(page)
        page.evaluate("window.wasHere = true")
        page.focus("#overview-worst a.row-link")
        newest = [row for row in lake.read("verdicts").to_pylist() if row["window_end_ms"] == END_MS]
        later = [
            row
            | {
                "window_start_ms": row["window_start_ms"] + 5 * MINUTE_MS,
                "window_end_ms": END_MS + 5 * MINUTE_MS,
                "cause": "throttled",
                "backlog_entries": 5_000_000.0 if row["subscription"] == "audit" else row["backlog_entries"],
                "date": date_of(row["window_start_ms"] + 5 * MINUTE_MS),
            }
            for row in newest
        ]
        lake.upsert(
            "verdicts", pa.Table.from_pylist(later, schema=TABLES["verdicts"].loose_schema), run_id="later"
        )
        page.wait_for_selector("#overview-freshness:has-text('03:05:00 UTC')")
        # What was focused is the second row now: audit is larger.
        page.wait_for_selector("#overview-worst tbody tr:first-child:has-text('audit')")
        assert page.evaluate("window.wasHere")
        assert urlsplit(page.url).query == "show=throttled"
        assert "billing" in page.evaluate("document.activeElement.innerText")
        monitored.close_and_check()
