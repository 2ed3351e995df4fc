"""The numbers of episodes as a table. In: thresholds. Out: ``docs/background/episodes.md`` with its table rewritten."""

from __future__ import annotations

from docs.generate.markdown import DOCS, fill_marked, markdown_table
from throttlescope.models.episodes.thresholds import THRESHOLDS

PAGE = DOCS / "background" / "episodes.md"


def thresholds() -> str:
    """A row per number."""
    rows = [(f"`{t.name}`", f"{t.value:g}", t.unit, t.source, t.meaning) for t in THRESHOLDS]
    return markdown_table(("name", "value", "unit", "from", "meaning"), rows)


def render(page: str) -> str:
    """The page with its table rewritten."""
    return fill_marked(page, "episodes", {"thresholds": thresholds})
