"""The data quality page as HTML. In: gates and quarantine. Out: one HTML document with its style; it loads and runs nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from throttlescope.app.incident.document import document as html_document
from throttlescope.app.incident.quality_page.report import STATES, Finding, GateSummary
from throttlescope.ingest.quarantine import REASONS
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, minute_text, visible

_MARKS = {"error": "\u2716", "warning": "\u25b2", "passed": "\u2713", "not checked": "\u25cb"}
_KINDS = {"error": "bad", "warning": "warn", "passed": "good", "not checked": "none"}
_MOST_LETTERS = 200
_WORDS = (
    "heading", "nothing_checked", "newest_checks", "stops_a_run", "quarantine", "quarantine_list", "lost", "footer",
)  # fmt: skip


def document(gates: Sequence[GateSummary], refused: Sequence[dict], *, lake: str, of_run: str | None) -> str:
    """The whole page."""
    newest_ms = max((table.observed_ms or 0 for gate in gates for table in gate.tables), default=0)
    values = {
        "lake": lake,
        "of_run": of_run,
        "newest": sentence("quality_page.newest_finding", at=minute_text(newest_ms)) if newest_ms else None,
        "gates": gates,
        "refused": refused,
        "reasons": REASONS,
        "marks": _MARKS,
        "kinds": _KINDS,
        "words": {name: sentence(f"quality_page.words.{name}") for name in _WORDS},
    }
    return html_document(
        "quality", values, title=sentence("quality_page.title", lake=_cut(lake)), filters=_FILTERS
    )


def _counts(gate: GateSummary) -> str:
    """How many checks have each state, worst first."""
    counts = Counter(check.state for table in gate.tables for check in table.checks)
    return ", ".join(f"{counts[state]} {_many(state, counts[state])}" for state in STATES if counts[state])


def _many(state: str, number: int) -> str:
    return f"{state}s" if state in ("error", "warning") and number > 1 else state


def _shown_rows(one: Finding) -> str:
    if one.rows == 1:
        return sentence("quality_page.only_row")
    return sentence("quality_page.some_rows", shown=len(one.examples), rows=count(one.rows))


def _flat(value: object) -> str:
    return ", ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else str(value)


def _cut(text: str) -> str:
    text = visible(text)
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "\u2026"


_FILTERS = {
    "counts": _counts,
    "count_text": count,
    "cut": _cut,
    "flat": _flat,
    "minute": minute_text,
    "shown_rows": _shown_rows,
    "spaced": lambda name: name.replace("_", " "),
}
