"""Known bugs of brokers as a page. In: the table of bugs. Out: ``docs/background/known-bugs.md`` with its table rewritten."""

from __future__ import annotations

from docs.generate.markdown import DOCS, fill_marked, markdown_table
from throttlescope.models.diagnosis.known_bugs import KNOWN_BUGS

PAGE = DOCS / "background" / "known-bugs.md"


def bugs() -> str:
    rows = [
        (
            f"[#{bug.issue}]({bug.url})",
            bug.what,
            bug.sign,
            ", ".join(f"`{cause.name}`" for cause in bug.causes),
            bug.fix,
        )
        for bug in KNOWN_BUGS
    ]
    return markdown_table(
        ("apache/pulsar", "what it does", "sign in the metrics", "verdicts it hides behind", "fixed"), rows
    )


def render(page: str) -> str:
    """The page with its table rewritten."""
    return fill_marked(page, "table", {"bugs": bugs})
