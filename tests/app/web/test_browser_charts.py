"""No text of a chart covers a curve or another text, or leaves its chart: measured in a real Chromium, wide and narrow, light and dark."""

from __future__ import annotations

import pytest

from tests.app.web.browser import is_settled, needs_chromium
from tests.app.web.test_browser_axe import KEY, settled

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    needs_chromium,
]

#: Under a limit of its own, under one that it shares, whose broker's limit is far above, with a limit that was lifted, and the overview.
PAGES = {
    "own limit": f"/subscription?{KEY}",
    "shared limit": "/subscription?cluster=sample-east&topic=persistent%3A%2F%2Fshop%2Fweb%2Ffeed&partition=-1&subscription=search-index",
    "lifted limit": "/subscription?cluster=sample-west&topic=persistent%3A%2F%2Fshop%2Fweb%2Flifted&partition=-1&subscription=recommendations",
    "byte limit": "/subscription?cluster=sample-east&topic=persistent%3A%2F%2Fshop%2Fmedia%2Fimages&partition=-1&subscription=thumbnails",
    "overview": "/",
}

# Boxes of all texts that are seen, and points of all curves, of each chart; what of them meets is returned in words.
FAULTS = """() => {
  const faults = [];
  const seen = (one) => one.textContent.trim() && one.getClientRects().length && getComputedStyle(one).visibility !== "hidden";
  const meets = (a, b, by) => a.left < b.right - by && b.left < a.right - by && a.top < b.bottom - by && b.top < a.bottom - by;
  for (const graph of document.querySelectorAll(".js-plotly-plot")) {
    if (!graph.getClientRects().length) continue;
    const whole = graph.getBoundingClientRect();
    const texts = [...graph.querySelectorAll(".main-svg text")].filter(seen)
      .map((one) => ({ text: one.textContent, box: one.getBoundingClientRect(), inBar: !!one.closest(".bars") }));
    texts.forEach((one, at) => {
      const { box } = one;
      if (box.left < whole.left - 1 || box.right > whole.right + 1 || box.top < whole.top - 1 || box.bottom > whole.bottom + 1)
        faults.push(`"${one.text}" leaves its chart`);
      texts.slice(at + 1).filter((other) => meets(box, other.box, 1)).forEach((other) => faults.push(`"${one.text}" and "${other.text}"`));
    });
    for (const curve of graph.querySelectorAll(".scatterlayer path.js-line")) {
      const toScreen = curve.getScreenCTM(), length = curve.getTotalLength();
      for (let at = 0; at <= length; at += 2) {
        const point = curve.getPointAtLength(at).matrixTransform(toScreen);
        const hit = texts.find(({ box }) => point.x > box.left + 1 && point.x < box.right - 1 && point.y > box.top + 2 && point.y < box.bottom - 2);
        if (hit) { faults.push(`"${hit.text}" covers a curve`); break; }
      }
    }
  }
  return faults;
}"""


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", list(PAGES))
def test_chart_texts_cover_nothing(monitored, name):
    page = monitored.page
    for width, height, scheme in ((1440, 900, "light"), (375, 812, "dark")):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        monitored.open(PAGES[name])
        page.wait_for_selector(".js-plotly-plot .xtick text")
        settled(page)
        assert page.locator(".js-plotly-plot .xtick text").count() > 3
        assert page.evaluate(FAULTS) == [], f"{width} px"


def test_measure_finds_a_text_over_a_curve(monitored):
    """What the other test relies on."""
    page = monitored.open(PAGES["own limit"])
    page.wait_for_selector(".js-plotly-plot .xtick text")
    is_settled(page)
    page.evaluate("""() => {
      const graph = [...document.querySelectorAll(".js-plotly-plot")][1], all = graph._fullLayout;
      const middle = { xref: "paper", x: 0.5, text: "in the way in the way", showarrow: false };
      return window.Plotly.relayout(graph, { annotations: [
        { ...middle, y: 50, yref: "y" }, { ...middle, x: 1, xanchor: "left", y: 0.1, yref: "paper" },
      ] });
    }""")
    faults = page.evaluate(FAULTS)
    assert any("covers a curve" in fault for fault in faults)
    assert any("leaves its chart" in fault for fault in faults)
