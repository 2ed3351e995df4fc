"""The page about episodes names every number that is in force."""

from __future__ import annotations

from docs.generate import episodes
from throttlescope.models.episodes.thresholds import THRESHOLDS


def test_every_threshold_is_on_the_page():
    page = episodes.PAGE.read_text(encoding="utf-8")
    assert all(f"`{threshold.name}`" in page for threshold in THRESHOLDS)
