"""What gates found. In: rows of ``quality``. Out: components: what did not hold first, with one offending row each."""

from __future__ import annotations

import json
from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.address.data_quality import DataAddress
from throttlescope.app.web.components.grid import NONE
from throttlescope.app.web.components.pager import pager
from throttlescope.app.web.components.parts import hostile, plain_table, section, view_link
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.quality import PAGE_ROWS, Rows


def gates(found: Rows, counts: dict[str, int], address: DataAddress) -> list:
    """Findings, and how many held."""
    of_run = f" of run {fmt.name(address.run, 80)}" if address.run is not None else ""
    if not sum(counts.values()):
        return [
            panel(
                f"No gate has checked anything{of_run}.",
                [
                    "Gates check what a run read before anything is computed from it. A run that failed earlier has no findings, "
                    "and throttlescope run --follow judges without gates."
                ],
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
            for words, everything in (("what did not hold", False), ("all checks", True))
        ],
        className="views",
    )
    words = [
        f"{fmt.exact(counts['held'])} held",
        f"{fmt.exact(counts['warnings'])} warnings",
        f"{fmt.exact(counts['errors'])} errors",
    ]
    head = html.Div(
        [
            choice,
            html.Span(", ".join(words) + of_run + "."),
            *([_all_runs(address)] if address.run is not None else []),
        ],
        className="toolbar gates-bar",
    )
    if not found.total:
        body = html.P("✓ Every check held.", className="all-held")
    else:
        newest = max((row["observed_ms"] for row in found.rows), default=None)
        body = html.Div(
            [
                plain_table(
                    (
                        "Finding",
                        "Check",
                        "Gate",
                        "Table",
                        "Cluster",
                        "Seen",
                        "Expected",
                        "Rows",
                        "One of them",
                        f"Checked, {fmt.zone_of(newest)}",
                        "Run",
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
    return [
        section(
            "Gates",
            [head, body],
            note="an error stops its run before anything is computed; a warning goes on, and the verdict's evidence carries it",
        )
    ]


def _all_runs(address: DataAddress):
    return (
        dcc.Link("Findings of all runs", href=replace(address, run=None, page=1).href())
        if address.run
        else None
    )


def severity(row: dict) -> html.Span:
    """Whether a check held, as a mark and in words."""
    mark, words, kind = (
        ("✓", "held", "good") if row["success"]
        else ("✖", "error", "bad") if row["severity"] == "error"
        else ("▲", "warning", "warn")
    )  # fmt: skip
    return html.Span([html.Span(mark, className=f"state-mark {kind}"), words], className="state")


def _row(row: dict) -> list:
    return [
        severity(row),
        html.Span(fmt.name(row["check"], 60).replace("_", " ")),
        fmt.name(row["gate"], 20),
        fmt.name(row["table"], 20),
        hostile(row["cluster"]) if row["cluster"] else "all",
        html.Span(fmt.name(row["observed"], 200), className="cell-long") if row["observed"] else NONE,
        html.Span(fmt.name(row["expected"], 200), className="cell-long") if row["expected"] else NONE,
        fmt.exact(row["rows"]),
        example(row["example"]),
        fmt.moment(row["observed_ms"]).rsplit(" ", 1)[0],
        dcc.Link("run", href=DataAddress("runs", run=row["run_id"]).href(), title=fmt.name(row["run_id"])),
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
