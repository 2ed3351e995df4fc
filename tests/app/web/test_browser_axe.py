"""No page may have a finding of axe-core, whatever its impact: labels, headings, landmarks, focus, contrast, roles; light and dark, wide and narrow, in each language."""

from __future__ import annotations

import pytest

from tests.app.web.browser import axe_findings, in_language, is_settled, needs_chromium
from throttlescope.app.web.pages import PAGES
from throttlescope.models.messages.language import HTML_CODES

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
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


def settled(page) -> None:
    """All of it is drawn, also what comes into sight below the fold."""
    is_settled(page)
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    is_settled(page)
    page.evaluate("window.scrollTo(0, 0)")


def findings_of(monitored, path: str, language: str, looks) -> dict[str, list[str]]:
    """What axe-core finds on a page, by colour scheme and width; only those with findings."""
    in_language(monitored.context, monitored.address, language)
    page = monitored.open(f"{path}?{QUERIES[path]}" if path in QUERIES else path)
    assert page.get_attribute("html", "lang") == HTML_CODES[language]
    found = {}
    for scheme, size in looks:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        page.wait_for_selector(f"html[data-mantine-color-scheme={scheme}]")
        settled(page)
        found[f"{scheme}, {size['width']} px"] = axe_findings(page)
    return {look: findings for look, findings in found.items() if findings}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", sorted(PAGES))
def test_pages_have_no_accessibility_finding(monitored, path):
    assert findings_of(monitored, path, "en", (("light", WIDE), ("dark", NARROW))) == {}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", ["/", "/subscription"])
def test_chinese_pages_have_no_accessibility_finding(monitored, path):
    assert findings_of(monitored, path, "zh", (("light", WIDE), ("dark", WIDE))) == {}


@pytest.mark.study
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("path", sorted(PAGES))
def test_each_look_has_no_accessibility_finding(monitored, path, language):
    """Every page, in both schemes, wide and narrow, in both languages."""
    looks = [(scheme, size) for size in (WIDE, NARROW) for scheme in ("light", "dark")]
    assert findings_of(monitored, path, language, looks) == {}
