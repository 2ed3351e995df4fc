"""What a verdict rests on and what it lacks, briefly. In: a verdict's row. Out: components, so that two can be compared side by side."""

from __future__ import annotations

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.components.grid import NONE
from throttlescope.app.web.components.parts import hostile_sentence, plain_table, section

_WEIGHTS = {
    "for": ("+", "speaks for it", "good"),
    "against": ("\N{MINUS SIGN}", "speaks against it", "bad"),
    "neutral": ("·", "neither", "open"),
}


def evidence(title: str, row: dict) -> html.Section:
    """Evidence for and against, strongest first."""
    found = row["evidence"] or ()
    if not found:
        return section(title, [html.P("None.", className="quiet")])
    return section(
        title,
        [plain_table(("Weighs", "In words", "Value", "Threshold"), [_evidence(item) for item in found])],
    )


def _evidence(item: dict) -> list:
    mark, meaning, kind = _WEIGHTS[item["weight"]]
    return [
        html.Span(
            mark,
            className=f"state-mark {kind}",
            title=meaning,
            role="img",
            **{"aria-label": meaning},
        ),
        html.Span(hostile_sentence(item["text"]), title=fmt.name(item["symptom"], 80), className="cell-long"),
        _number(item["value"], item["unit"]),
        _number(item["threshold"], item["unit"]),
    ]


def _number(value: float | None, unit: str | None) -> str:
    return NONE if fmt.is_missing(value) else fmt.quantity(value, unit)


def missing(title: str, row: dict) -> html.Section:
    """What would have made it surer, each with its fix."""
    found = row["missing_evidence"] or ()
    if not found:
        return section(title, [html.P("Nothing.", className="quiet")])
    return section(
        title,
        [
            html.Ul(
                [
                    html.Li([fmt.name(item["what"], 600), html.Strong(" Fix: "), fmt.name(item["fix"], 600)])
                    for item in found
                ],
                className="missing-briefly",
            )
        ],
    )
