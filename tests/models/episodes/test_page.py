"""The page about episodes shows the numbers that are in force."""

from __future__ import annotations

from pathlib import Path

from throttlescope.models.episodes.describe import fill
from throttlescope.models.episodes.thresholds import THRESHOLDS

PAGE = Path(__file__).parents[3] / "docs" / "background" / "episodes.md"


def test_the_page_has_the_numbers():
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"`{threshold.name}`" in page for threshold in THRESHOLDS)
    assert fill(page) == page, (
        "the page is old: python -m throttlescope.models.episodes.describe docs/background/episodes.md"
    )
