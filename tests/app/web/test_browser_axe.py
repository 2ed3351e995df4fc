"""No page may have a serious finding of axe-core: labels, focus, contrast, roles; light and dark, wide and narrow."""

from __future__ import annotations

import pytest

from tests.app.web.browser import is_settled, needs_chromium, serious_findings
from throttlescope.app.web.pages import PAGES

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    needs_chromium,
]

KEY = (
    "cluster=sample-east&topic=persistent%3A%2F%2Fshop%2Fcheckout%2Forders&partition=-1&subscription=billing"
)
#: What a page needs to show something; the others show something by themselves.
QUERIES = {"/subscription": KEY, "/what-if": KEY}


def settled(page) -> None:
    """All of it is drawn, also what comes into sight below the fold."""
    is_settled(page)
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    is_settled(page)
    page.evaluate("window.scrollTo(0, 0)")


@pytest.mark.parametrize("path", sorted(PAGES))
def test_pages_have_no_serious_accessibility_finding(monitored, path):
    """Light and wide, then dark and narrow."""
    page = monitored.open(f"{path}?{QUERIES[path]}" if path in QUERIES else path)
    settled(page)
    assert serious_findings(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector("html[data-mantine-color-scheme=dark]")
    settled(page)
    assert serious_findings(page) == []
