"""The checks of the quality gates. In: the gates. Out: ``docs/guides/quality.md`` with its table of checks rewritten."""

from __future__ import annotations

from docs.generate.markdown import DOCS, fill_marked, markdown_table
from throttlescope.ingest.quality.gates import GATES

PAGE = DOCS / "guides" / "quality.md"


def checks() -> str:
    """A row per check, gate by gate."""
    rows = [
        (
            f"`{gate.name}`",
            f"`{table}`",
            f"`{check.name}`",
            check.severity,
            check.fault,
            check.expected,
            check.fix,
        )
        for gate in GATES.values()
        for table, suite in gate.suites
        for check in suite
    ]
    return markdown_table(("gate", "table", "check", "severity", "counts", "expected", "what to do"), rows)


def render(page: str) -> str:
    """The page with its table rewritten."""
    return fill_marked(page, "quality", {"checks": checks})
