"""Data, anomalies and method in a real Chromium: every part opens, search and back work, names are harmless, the page is not wider than the screen."""

from __future__ import annotations

import pytest

from tests.app.web import lake_of_anomalies, lake_of_runs
from tests.app.web.browser import fits, is_settled, needs_chromium, running_server
from tests.app.web.lake_of_anomalies import HOSTILE
from tests.app.web.lake_of_runs import GATED
from throttlescope.app.web.address.data_quality import TABS as DATA_TABS
from throttlescope.app.web.address.method import TABS as METHOD_TABS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    needs_chromium,
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    lake = lake_of_runs.add_run_records(lake_of_anomalies.write(tmp_path_factory.mktemp("quality") / "lake"))
    with running_server(lake.root, workers=1) as address:
        yield address


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    "path",
    [
        *(f"/data?tab={tab}" for tab in DATA_TABS),
        *(f"/method?tab={tab}" for tab in METHOD_TABS),
        "/anomalies",
    ],
)
def test_every_part_opens_and_fits_the_screen(monitored, path):
    page = monitored.open(path)
    page.wait_for_selector(".section")
    is_settled(page)
    assert fits(page)
    page.set_viewport_size({"width": 390, "height": 844})
    is_settled(page)
    assert fits(page)
    assert "could not be built" not in page.inner_text("#page")


@pytest.mark.study
def test_a_run_opens_and_back_closes_it(monitored):
    page = monitored.open("/data")
    page.click(f"a[title='{GATED}'] >> nth=0")
    page.wait_for_selector("#opened-run")
    assert GATED in page.inner_text("#opened-run")
    page.go_back()
    page.wait_for_selector("#opened-run", state="detached")
    page.click(".part-tabs >> text=Gates")
    page.wait_for_selector("text=12 missing scrapes in 3 blocks")
    assert page.url.endswith("/data?tab=gates")


@pytest.mark.study
def test_a_past_verdict_is_searched_and_opened(monitored):
    page = monitored.open("/data?tab=verdict")
    page.wait_for_selector("text=Which subscription?")
    page.fill("#data-search", "billing")
    page.wait_for_selector("text=1 of 1")
    assert page.url.endswith("?tab=verdict&q=billing")
    page.click(".row-link:has-text('billing')")
    page.click(".window-link >> nth=3")
    page.wait_for_selector("#reopened")
    assert "Today's rules" in page.inner_text("#reopened")
    assert "at=" in page.url
    page.go_back()
    page.wait_for_selector("#reopened", state="detached")


def test_anomaly_opens_with_chart_and_link(monitored):
    """The link leads to its subscription."""
    page = monitored.open("/anomalies")
    page.click(".anomaly-link:has-text('fell to zero') >> nth=0")
    page.wait_for_selector("#opened .js-plotly-plot .xtick text")
    assert "Samples arrived and were zero" in page.inner_text("#opened")
    page.click("#opened >> text=close")
    page.wait_for_selector("#opened", state="detached")
    page.click(".filter:has-text('silent')")
    page.wait_for_selector("text=1 anomaly in 1 group")
    page.fill("#anomalies-search", "onerror=alert")
    page.wait_for_selector("text=matches these filters.")
    page.click("text=Show all of this range")
    page.wait_for_selector("text=in 4 groups")
    assert page.input_value("#anomalies-search") == ""
    assert HOSTILE in page.inner_text("#anomalies-content")
    page.click(".anomaly-group .row-link:has-text('export') >> nth=0")
    page.wait_for_selector("h1:has-text('export')")
    assert "from=2026-10-09T04" in page.url


@pytest.mark.study
def test_accuracy_page_selects_recording_set(monitored):
    page = monitored.open("/method")
    page.wait_for_selector("#method-confusion .heatmaplayer image, #method-confusion .hm")
    page.click(".set-bar >> text=shipped")
    page.wait_for_selector(".view.chosen:has-text('shipped')")
    assert page.url.endswith("set=shipped")
    page.click(".part-tabs >> text=Simulator")
    page.wait_for_selector("text=The simulator compared with a real broker")
