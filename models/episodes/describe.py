"""The numbers as a table to read. In: thresholds. Out: Markdown.

``docs/background/episodes.md`` contains it between markers; ``python -m throttlescope.models.episodes.describe PAGE`` rewrites it,
and a test compares page and numbers.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from throttlescope.models.diagnosis.describe import markdown
from throttlescope.models.episodes.thresholds import THRESHOLDS

_MARKED = re.compile(r"(<!-- episodes: thresholds -->\n).*?(<!-- end -->)", re.DOTALL)


def thresholds() -> str:
    """A row per number."""
    rows = [(f"`{t.name}`", f"{t.value:g}", t.unit, t.source, t.meaning) for t in THRESHOLDS]
    return markdown(("name", "value", "unit", "from", "meaning"), rows)


def fill(page: str) -> str:
    """The page with its table rewritten."""
    return _MARKED.sub(lambda match: match[1] + thresholds() + match[2], page)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(fill(path.read_text(encoding="utf-8")), encoding="utf-8")
