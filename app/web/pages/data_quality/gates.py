"""What gates found. In: rows of ``quality``. Out: components: failed checks first, with one offending row each."""

from __future__ import annotations

import json
from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.address.data_quality import DataAddress
from throttlescope.app.web.components.grid import NONE
from throttlescope.app.web.components.pager import pager
from throttlescope.app.web.components.parts import hostile, plain_table, section, stored_english, view_link
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.quality import PAGE_ROWS, Rows
from throttlescope.models.messages.catalogue import sentence


def gates(found: Rows, counts: dict[str, int], address: DataAddress) -> list:
    """Findings, and how many checks passed."""
    run = None if address.run is None else fmt.name(address.run, 80)
    if not sum(counts.values()):
        return [
            panel(
                sentence("data_quality.not_checked")
                if run is None
                else sentence("data_quality.not_checked.run", run=run),
                [sentence("data_quality.not_checked.why")],
                next_step=_all_runs(address),
            )
        ]
    choice = html.Div(
        [
            view_link(
                words,
                replace(address, everything=everything, page=1).href(),
                chosen=everything == address.everything,
            )
            for words, everything in (
                (sentence("label.failed_checks"), False),
                (sentence("label.all_checks"), True),
            )
        ],
        className="views",
    )
    passed, warnings, errors = (fmt.exact(counts[word]) for word in ("held", "warnings", "errors"))
    if run is None:
        summary = sentence("data_quality.gates.counts", passed=passed, warnings=warnings, errors=errors)
    else:
        summary = sentence(
            "data_quality.gates.counts_run", passed=passed, warnings=warnings, errors=errors, run=run
        )
    head = html.Div(
        [
            choice,
            html.Span(summary),
            *([_all_runs(address)] if address.run is not None else []),
        ],
        className="toolbar gates-bar",
    )
    if found.total:
        body = _findings(found, address)
    else:
        body = html.P(sentence("data_quality.gates.passed"), className="all-held")
    return [
        section(
            sentence("label.gates"),
            [head, body],
            note=sentence("data_quality.gates.note"),
        )
    ]


def _findings(found: Rows, address: DataAddress) -> html.Div:
    """Findings of one page, failed checks first."""
    newest = max((row["observed_ms"] for row in found.rows), default=None)
    return html.Div(
        [
            plain_table(
                (
                    sentence("label.finding"),
                    sentence("label.check"),
                    sentence("label.gate"),
                    sentence("label.table"),
                    sentence("label.cluster"),
                    sentence("label.found"),
                    sentence("label.expected"),
                    sentence("label.rows"),
                    sentence("label.example"),
                    sentence("label.checked_zone", zone=fmt.zone_of(newest)),
                    sentence("label.run"),
                ),
                [_row(row) for row in found.rows],
            ),
            pager(
                address.page,
                found.total,
                PAGE_ROWS,
                lambda page: address.on(page).href(),
                noun="findings",
            ),
        ]
    )


def _all_runs(address: DataAddress):
    return (
        dcc.Link(sentence("data_quality.gates.all_runs"), href=replace(address, run=None, page=1).href())
        if address.run
        else None
    )


def severity(row: dict) -> html.Span:
    """Whether a check passed, as a mark and in words."""
    mark, words, kind = (
        ("✓", sentence("label.passed"), "good") if row["success"]
        else ("✖", sentence("label.error"), "bad") if row["severity"] == "error"
        else ("▲", sentence("label.warning"), "warn")
    )  # fmt: skip
    return html.Span([html.Span(mark, className=f"state-mark {kind}"), words], className="state")


def _row(row: dict) -> list:
    return [
        severity(row),
        stored_english(fmt.name(row["check"], 60).replace("_", " ")),
        stored_english(fmt.name(row["gate"], 20)),
        stored_english(fmt.name(row["table"], 20)),
        hostile(row["cluster"]) if row["cluster"] else sentence("label.all"),
        stored_english(fmt.name(row["observed"], 200), className="cell-long") if row["observed"] else NONE,
        stored_english(fmt.name(row["expected"], 200), className="cell-long") if row["expected"] else NONE,
        fmt.exact(row["rows"]),
        example(row["example"]),
        fmt.moment(row["observed_ms"]).rsplit(" ", 1)[0],
        dcc.Link(
            sentence("label.run_heading"),
            href=DataAddress("runs", run=row["run_id"]).href(),
            title=fmt.name(row["run_id"]),
        ),
    ]


def example(text: str | None):
    """A row as its columns and values; what is no JSON is shown as it is."""
    if not text:
        return NONE
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        return html.Bdi(fmt.name(text, 300), className="cell-long")
    pairs = [
        f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in found.items()
    ]
    return html.Details(
        [
            html.Summary(html.Bdi(fmt.name(", ".join(pairs), 60))),
            html.Ul([html.Li(html.Bdi(fmt.name(pair, 400))) for pair in pairs[:60]], className="example"),
        ]
    )
