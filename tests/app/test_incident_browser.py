"""The page of a bundle in a real Chromium, from a file and without a network; and the picture of its plots."""

from __future__ import annotations

import pytest

from tests.app.test_incident_names import NAMES, sample
from tests.app.web.browser import needs_chromium, running_chromium
from tests.app.web.sample_lake import write_sample_lake
from throttlescope.app.incident.bundle import Bundle, make_bundle
from throttlescope.app.incident.computed import ComputedResults
from throttlescope.app.incident.load import read_incident
from throttlescope.app.incident.selection import IncidentSelection

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    needs_chromium,
]

# The machine may be busy: only waited for when something is wrong.
TIMEOUT_MS = 120_000
NAME = NAMES["everything"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> Bundle:
    hostile = sample(NAME)
    lake = write_sample_lake(tmp_path_factory.mktemp("browser") / "lake", (hostile,))
    incident = read_incident(lake, IncidentSelection(f"{hostile.topic}#{NAME}"))
    return make_bundle(incident, ComputedResults([], None, None, {"advice": "not requested"}))


def test_page_works_offline_with_hostile_name(bundle, tmp_path):
    """It draws its plots, fetches nothing and runs nothing that a name contains."""
    path = tmp_path / "incident.html"
    path.write_bytes(bundle.files["incident.html"])
    requests, complaints = [], []
    with running_chromium() as browser:
        page = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True).new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri())
        page.wait_for_selector("#plots .main-svg .xtick text")
        assert page.locator("#plots .subplot.xy, #plots .subplot[class*=x]").count() >= 4
        # Zooming one plot zooms all.
        page.evaluate("Plotly.relayout('plots', {'xaxis.range': [1795136400000, 1795138200000]})")
        ranges = page.evaluate(
            "Object.entries(document.getElementById('plots')._fullLayout).filter(([k]) => /^xaxis/.test(k))"
            ".map(([, axis]) => axis.range.map(String).join())"
        )
        words = page.locator("body").inner_text()
    assert len(set(ranges)) == 1
    assert len(ranges) >= 4
    assert complaints == []
    assert {url.split(":")[0] for url in requests} <= {"file", "data", "blob"}
    assert "⟨U+202E⟩" in words
    assert "</script><img src=x onerror=alert(1)>" in words


def test_bundle_has_a_picture_of_plots(bundle):
    assert bundle.not_made == ("advice: not requested",)
    assert bundle.files["plots.png"].startswith(b"\x89PNG\r\n")
    assert "![plots](plots.png)" in bundle.files["README.md"].decode()
