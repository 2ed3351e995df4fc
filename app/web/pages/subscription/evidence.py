"""What a verdict rests on and what it lacks. In: a view, a verdict. Out: components."""

from __future__ import annotations

import numpy as np
import pandas as pd
from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.figures.chart import gapless
from throttlescope.app.presentation.figures.sparkline import HEIGHT_PX, WIDTH_PX, in_words, sparkline
from throttlescope.app.web.components.parts import copy_button, hostile_sentence, section
from throttlescope.app.web.pages.subscription.content import ChartedWindow
from throttlescope.app.web.pages.subscription.links import promql_href
from throttlescope.app.web.pages.subscription.symptom_series import series_of, threshold_of
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.messages.catalogue import sentence


def evidence(view: ChartedWindow) -> html.Section:
    """Every evidence row of the selected verdict: what it says, its value, its measurement over the range, and the query that shows it."""
    rows = view.verdict["evidence"] or ()
    if not rows:
        return section(
            sentence("label.evidence"), [html.P(sentence("subscription.evidence.none"), className="quiet")]
        )
    minutes = gapless(view.minutes)
    drawn = [_evidence_row(row, view, minutes) for row in rows]
    note = sentence("subscription.evidence.note")
    return section(sentence("label.evidence"), [html.Ul(drawn, className="evidence")], note=note)


def _weights() -> dict:
    return {
        "for": ("+", sentence("label.speaks_for_it")),
        "against": ("\N{MINUS SIGN}", sentence("label.speaks_against_it")),
        "neutral": ("·", sentence("label.neither")),
    }


def _evidence_row(row: dict, view: ChartedWindow, minutes: pd.DataFrame) -> html.Li:
    mark, meaning = _weights()[row["weight"]]
    facts = []
    if not fmt.is_missing(row["value"]):
        facts.append(fmt.quantity(row["value"], row["unit"]))
        if not fmt.is_missing(row["threshold"]):
            facts.append(sentence("label.threshold_value", value=fmt.quantity(row["threshold"], row["unit"])))
    if row["at_ms"] is not None:
        facts.append(sentence("label.at_time", time=fmt.clock(row["at_ms"])))
    query = []
    if row["promql"]:
        shown = html.Details([html.Summary("PromQL"), html.Code(fmt.name(row["promql"], 4_000))])
        console = dcc.Link(
            sentence("label.open_query"),
            href=promql_href(row["promql"], view),
            title=sentence("subscription.evidence.query_hint"),
        )
        query.append(html.Div([shown, console, copy_button(row["promql"])], className="promql"))
    return html.Li(
        [
            html.Span(
                mark,
                className=f"weight weight-{row['weight']}",
                title=meaning,
                role="img",
                **{"aria-label": meaning},
            ),
            html.Div(
                [
                    html.P(hostile_sentence(row["text"])),
                    html.P(
                        [
                            html.Span(fmt.name(row["symptom"], 80), className="symptom"),
                            *(f" · {fact}" for fact in facts),
                        ],
                        className="facts",
                    ),
                    *_picture(row, view, minutes),
                    *query,
                ]
            ),
        ]
    )


def _picture(row: dict, view: ChartedWindow, minutes: pd.DataFrame) -> list[html.Img]:
    found = None if minutes.empty else series_of(row, minutes, view.verdict["limiter"])
    if found is None:
        return []
    values, unit, what = found
    source = sparkline(
        minutes["minute_ms"].to_numpy(dtype="int64") + MINUTE_MS,
        values.to_numpy(dtype=float, na_value=np.nan),
        start_ms=view.start_ms,
        end_ms=view.end_ms,
        window_ms=(view.verdict["window_start_ms"], view.verdict["window_end_ms"]),
        threshold=threshold_of(row),
    )
    if source is None:
        return []
    text = sentence("label.colon", label=fmt.name(what, 80)) + in_words(
        values, lambda value: fmt.quantity(value, unit)
    )
    return [
        html.Img(src=source, alt=text, title=text, className="sparkline", width=WIDTH_PX, height=HEIGHT_PX)
    ]


def missing(verdict: dict) -> list[html.Section]:
    rows = verdict["missing_evidence"] or ()
    if not rows:
        return []
    return [
        section(
            sentence("label.missing_evidence"),
            [
                html.Ul(
                    [
                        html.Li(
                            [
                                html.P(_capital(fmt.name(row["what"], 600))),
                                html.P(
                                    [html.Strong(sentence("label.fix_colon")), fmt.name(row["fix"], 600)],
                                    className="facts",
                                ),
                            ]
                        )
                        for row in rows
                    ],
                    className="missing",
                )
            ],
        )
    ]


def _capital(text: str) -> str:
    """With a capital, unless it begins with a name such as ``pulsar_...``."""
    return text if "_" in text.split(" ")[0] else text[:1].upper() + text[1:]
