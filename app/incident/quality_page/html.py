"""The data quality page as HTML. In: gates and quarantine. Out: one HTML document with its style; it loads and runs nothing.

Names come from other people's systems: every one is escaped, cut where it is very long, and keeps its own direction of writing.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources

from throttlescope.app.incident.quality_page.report import (
    STATES,
    CheckSummary,
    Finding,
    GateSummary,
    TableSummary,
)
from throttlescope.ingest.quarantine import REASONS
from throttlescope.models.messages.units import count, minute_text, visible

_MARKS = {"error": "\u2716", "warning": "\u25b2", "passed": "\u2713", "not checked": "\u25cb"}
_KINDS = {"error": "bad", "warning": "warn", "passed": "good", "not checked": "none"}
_MOST_LETTERS = 200
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def document(gates: Sequence[GateSummary], refused: Sequence[dict], *, lake: str, of_run: str | None) -> str:
    """The whole page."""
    style = (
        resources.files("throttlescope.app.incident.quality_page")
        .joinpath("style.css")
        .read_text(encoding="utf-8")
    )
    newest_ms = max((table.observed_ms or 0 for gate in gates for table in gate.tables), default=0)
    head = f"What the gates found: {_name(lake)}"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            '<meta name="color-scheme" content="light dark">',
            '<link rel="icon" href="data:,">',
            f"<title>{escape(head)}</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            f"<header><h1>What the gates found</h1><p>Lake <bdi><code>{escape(_name(lake))}</code></bdi>, {_scope(of_run, newest_ms)}.</p></header>",
            "<main>",
            _overview(gates),
            *(_gate(gate) for gate in gates),
            _refused(refused),
            "</main>",
            "<footer><p>An error stops its run before anything is computed from the table; a warning goes on, and verdicts carry what it "
            "tells as missing or doubtful evidence. Times are UTC.</p></footer>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _scope(of_run: str | None, newest_ms: int) -> str:
    if not newest_ms:
        return "in which no gate has checked anything yet"
    when = f"newest finding {minute_text(newest_ms)} UTC"
    return (
        f"run <bdi><code>{escape(_name(of_run))}</code></bdi>, {when}"
        if of_run
        else f"every gate's newest checks, {when}"
    )


def _overview(gates: Sequence[GateSummary]) -> str:
    cards = []
    for gate in gates:
        counts = dict.fromkeys(STATES, 0)
        for table in gate.tables:
            for check in table.checks:
                counts[check.state] += 1
        words = ", ".join(f"{number} {_many(state, number)}" for state, number in counts.items() if number)
        cards.append(
            f'<li class="{_KINDS[gate.state]}"><a href="#{gate.name}">{_mark(gate.state)}<strong>{escape(gate.name)}</strong>'
            f"<span>{escape(words)}</span></a></li>"
        )
    return f'<nav aria-label="gates"><ol class="gates">{"".join(cards)}</ol></nav>'


def _many(state: str, number: int) -> str:
    return f"{state}s" if state in ("error", "warning") and number > 1 else state


def _gate(gate: GateSummary) -> str:
    tables = "".join(_table(table) for table in gate.tables)
    return (
        f'<section id="{gate.name}"><h2>{_mark(gate.state)}{escape(gate.name)}</h2>'
        f"<p>Between {escape(gate.between)}.</p>{tables}</section>"
    )


def _table(table: TableSummary) -> str:
    when = (
        "not checked yet"
        if table.observed_ms is None
        else f"{escape(table.checked or 'rows not counted')}, {minute_text(table.observed_ms)} UTC"
    )
    rows = "".join(_check(check) for check in table.checks)
    return (
        f"<h3><code>{escape(table.table)}</code> <small>{when}</small></h3>"
        '<div class="wide"><table class="checks"><thead><tr><th scope="col">Check</th><th scope="col">State</th><th scope="col">Expected</th>'
        f'<th scope="col">Seen</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _check(check: CheckSummary) -> str:
    seen = "".join(_finding(one) for one in check.findings) or escape(check.observed or "")
    would = (
        "<small>stops a run if not</small>" if check.severity == "error" and check.state == "passed" else ""
    )
    return (
        f'<tr class="{_KINDS[check.state]}"><th scope="row">{escape(check.name.replace("_", " "))}</th>'
        f"<td>{_mark(check.state)}{escape(check.state)}{would}</td>"
        f'<td data-head="expected">{escape(_name(check.expected or ""))}</td><td>{seen}</td></tr>'
    )


def _finding(one: Finding) -> str:
    where = f"<bdi><code>{escape(_name(one.cluster))}</code></bdi>: " if one.cluster else ""
    head = f"{where}{escape(_name(one.observed or ''))}"
    if not one.examples:
        return f"<p>{head}</p>"
    shown = len(one.examples)
    shown_rows = "the only row" if one.rows == 1 else f"{shown} of {count(one.rows)} rows, the worst first"
    items = "".join(f"<li>{_pairs(example)}</li>" for example in one.examples)
    return f"<details><summary>{head}</summary><p><small>{shown_rows}</small></p><ol>{items}</ol></details>"


def _pairs(example: dict) -> str:
    parts = []
    for name, value in example.items():
        text = ", ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
        parts.append(f"<span>{escape(_name(str(name)))} <bdi><code>{escape(_name(text))}</code></bdi></span>")
    return " ".join(parts)


def _refused(refused: Sequence[dict]) -> str:
    if not refused:
        return '<section id="refused"><h2>Rejected by ingest validation</h2><p>Nothing is in quarantine.</p></section>'
    rows = "".join(
        f'<tr><th scope="row">{escape(row["reason"].replace("_", " "))}</th><td>{escape(REASONS.get(row["reason"], ""))}</td>'
        f'<td><code>{escape(row["table"])}</code></td><td class="number" data-head="rows kept">{count(row["kept"])}</td><td class="number" data-head="lost with them">{count(row["rows"])}</td></tr>'
        for row in refused
    )
    return (
        '<section id="refused"><h2>Rejected by ingest validation</h2><p>Rejected rows are stored whole in quarantine. '
        "<code>throttlescope quarantine list</code> lists them; repaired rows can be readmitted.</p>"
        '<div class="wide"><table><thead><tr><th scope="col">Reason</th><th scope="col">What it means</th><th scope="col">Meant for</th>'
        f'<th scope="col">Rows kept</th><th scope="col">Samples or rows lost with them</th></tr></thead><tbody>{rows}</tbody></table></div></section>'
    )


def _mark(state: str) -> str:
    return f'<span class="mark {_KINDS[state]}" aria-hidden="true">{_MARKS[state]}</span>'


def _name(text: str) -> str:
    text = visible(text)
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "\u2026"
