"""What to change, and what will not help. In: the facts of :mod:`~throttlescope.app.presentation.advice`. Out: components; nothing was executed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.advice import (
    drain_within,
    lever_text,
    no_command,
    no_roll_back,
    none_found,
    primary_text,
    recommendations_of,
    replay_error,
    texts_of,
)
from throttlescope.app.web.components.parts import copy_button, hostile_sentence, plain_table
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.limiting import limiting_factor
from throttlescope.models.recommendation import Recommendation
from throttlescope.models.recommendation.recommendation import RecommendedCheck


def not_executed() -> str:
    return sentence("label.not_executed")


def advice(found: Mapping[str, Any]) -> html.Section:
    """The smallest changes first, then levers that do not help, then the counterfactuals behind both."""
    target = fmt.duration(found["target_s"] * SECOND_MS)
    known = recommendations_of(found)
    head = html.Div(
        [
            html.H2(
                sentence("subscription.advice.title")
                if len(known) == 1
                else sentence("subscription.advice.titles")
            ),
            html.Span(not_executed(), className="not-executed"),
            html.Span(
                sentence("subscription.advice.target", at=fmt.moment(found["at_ms"]), target=target),
                className="section-note",
            ),
        ],
        className="section-head",
    )
    body: list = [_recommendation(number, one) for number, one in enumerate(known, 1)]
    if not body:
        body = [html.P(html.Strong(none_found(found)))]
    if found["not_helping"]:
        body.append(
            html.Div(
                [
                    html.H3(sentence("subscription.advice.not_helping")),
                    html.Ul([html.Li(hostile_sentence(text)) for text in texts_of(found["not_helping"])]),
                ]
            )
        )
    return html.Section(
        [head, *body, _counterfactuals(found)],
        className="result",
        **{"aria-label": sentence("subscription.advice.label")},
    )


def _recommendation(number: int, one: Recommendation) -> html.Article:
    facts = [(sentence("label.gone_in"), one.gone_in.text)] if one.gone_in else []
    facts.append((sentence("label.then_limited_by"), limiting_factor(one.next_limiting_factor)))
    parts: list = [
        html.H3([f"{number}. ", hostile_sentence(one.text)]),
        html.P(" · ".join(f"{label}: {value}" for label, value in facts), className="facts"),
    ]
    for label, command in (
        (sentence("label.command_title"), one.apply),
        (sentence("label.rollback"), one.roll_back),
    ):
        if command:
            parts.append(_command(label, command))
    if not one.roll_back:
        parts.append(html.P(no_roll_back() if one.apply else no_command(), className="facts"))
    if one.risks:
        risks = " ".join(risk.text for risk in one.risks)
        parts.append(
            html.P([html.Strong(sentence("label.risk_colon")), hostile_sentence(risks)], className="risk")
        )
    if one.checks:
        parts.append(html.Details([html.Summary(sentence("label.how_to_verify")), *map(_check, one.checks)]))
    return html.Article(parts, className="recommendation")


def _command(label: str, command: str) -> html.Div:
    return html.Div(
        [
            html.Span([html.Strong(label), html.Span(f" {not_executed()}", className="quiet")]),
            html.Pre(
                html.Code(fmt.name(command, 20_000)),
                tabIndex=0,
                **{"aria-label": f"{label}, {not_executed()}"},
            ),
            copy_button(command, sentence("label.copy_what", what=label.lower())),
        ],
        className="command",
    )


def _check(check: RecommendedCheck) -> html.Div:
    """The query apart from what it should show."""
    return html.Div(
        [
            html.Code(fmt.name(check.query, 4_000)),
            html.Span(f" {check.expected.text}."),
            copy_button(check.query),
        ],
        className="check",
    )


def _counterfactuals(found: Mapping[str, Any]) -> html.Details:
    later = fmt.duration(found["target_s"] * SECOND_MS)
    rows = [[sentence("label.nothing_heading"), _span(found["as_is_entries"]), "", "", ""]]
    rows += [
        [
            lever_text(row["lever"], row["limiter"]),
            _span(row["entries"]),
            _span(row["gain_entries"]),
            drain_within(row["earliest_drain_s"], row["latest_drain_s"]),
            limiting_factor(row["held_by"]),
        ]
        for row in found["counterfactuals"]
    ]
    notes = [replay_error(found), *texts_of(found["notes"])]
    return html.Details(
        [
            html.Summary([sentence("label.counterfactuals_colon"), primary_text(found)]),
            plain_table(
                (
                    sentence("label.without"),
                    sentence("subscription.advice.backlog_later", later=later),
                    sentence("subscription.advice.less"),
                    sentence("label.gone_in"),
                    sentence("label.then_limited_by"),
                ),
                rows,
            ),
            *(html.P(hostile_sentence(note), className="facts") for note in notes),
        ],
        open=True,
    )


def _span(span: Mapping[str, Any]) -> str:
    low, high = fmt.short(round(span["low"])), fmt.short(round(span["high"]))
    return low if low == high else sentence("label.range_words", low=low, high=high)
