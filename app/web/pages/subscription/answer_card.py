"""The answer on top of the page: what, since when, why, how sure, what first and what not. In: a verdict. Out: components."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.answer import VerdictAnswer
from throttlescope.app.presentation.cause_runs import runs
from throttlescope.app.web.address.data_quality import past_verdict
from throttlescope.app.web.components.parts import cause_badge, hostile_sentence
from throttlescope.app.web.pages.subscription.accuracy import accuracy_line
from throttlescope.app.web.pages.subscription.content import AnsweredWindow
from throttlescope.app.web.pages.subscription.deadlines import by_when

_MOST_EARLIER = 3


def answer_card(
    told: VerdictAnswer, view: AnsweredWindow, newest: dict | None, newest_href: str
) -> html.Section:
    """What, since when, how sure; then why, what happens by when, what first and what not; with the newest verdict where that is another."""
    verdict = view.told
    beside = []
    if newest is not None:
        link = dcc.Link([cause_badge(newest["cause"], newest["limiter"])], href=newest_href)
        beside = [html.Span(["not the newest; newest: ", link], className="answer-newest")]
    window = [
        f"window {fmt.between(verdict['window_start_ms'], verdict['window_end_ms'])}"
        f" · rules {fmt.name(verdict['rules_version'], 40)} · ",
        dcc.Link(
            "its inputs",
            href=past_verdict(view.address.subscription, verdict["window_end_ms"]).href(),
            title="this stored verdict with everything that it was made from, and its run",
        ),
    ]
    return html.Section(
        [
            html.Div(
                [
                    cause_badge(told.cause.word),
                    html.Span(told.sure, className="sure"),
                    *beside,
                    html.Span(window, className="answer-window"),
                ],
                className="answer-top",
            ),
            html.P(told.title, className="answer-title", id="answer"),
            html.P(f"{told.since} {told.backlog}", className="answer-since"),
            # In the order in which a small screen shows them; a wide one has all three beside each other.
            html.Div(
                [_what_to_do(told), by_when(view.outlook, verdict), _why(told)], className="answer-columns"
            ),
            accuracy_line(verdict),
        ],
        className="answer",
        style={"borderLeftColor": told.cause.colour},
        **{"aria-label": "answer"},
    )


def _what_to_do(told: VerdictAnswer) -> html.Div:
    return html.Div(
        [
            html.P([html.Strong("First: "), told.first]),
            html.P([html.Strong("Not: "), told.never], className="never"),
            html.P(
                [
                    html.Strong("The naive rule says: "),
                    told.naive,
                    html.Span(" (agrees)" if told.naive_agrees else " (differs)", className="quiet"),
                ],
                title="backlog > 1000 entries: a limit if there was any throttle event, else the consumers",
                className="naive",
            ),
        ],
        className="answer-do",
    )


def _why(told: VerdictAnswer) -> html.Div:
    reasons = (
        html.Ul([html.Li(hostile_sentence(text)) for text in told.why])
        if told.why
        else html.P("No evidence for it is recorded in this window.", className="quiet")
    )
    against = []
    if told.against:
        against = [
            html.P([html.Strong("Against it: "), hostile_sentence(told.against[0])], className="against")
        ]
    return html.Div([html.H3("Why"), reasons, *against], className="answer-why")


def earlier(view: AnsweredWindow) -> list:
    """Other troubles of the range, longest first: what an alert that has gone quiet was about."""
    told = view.told
    others = [
        run
        for run in runs(view.verdicts)
        if run.cause not in ("healthy", "unknown") and not run.start_ms < told["window_end_ms"] <= run.end_ms
    ]
    others.sort(key=lambda run: run.start_ms - run.end_ms)
    if not others:
        return []
    links = [
        dcc.Link(
            [
                cause_badge(run.cause, run.limiter),
                f" {fmt.between(run.start_ms, run.end_ms, day=False)}, "
                f"{fmt.duration(run.end_ms - run.start_ms)}",
            ],
            href=replace(view.address, at_ms=run.end_ms, zoom_ms=None).href(),
            className="earlier-link",
        )
        for run in others[:_MOST_EARLIER]
    ]
    more = len(others) - len(links)
    return [
        html.Div(
            [
                html.Span("Also in this range: ", className="quiet"),
                *links,
                *([html.Span(f"and {more} more below", className="quiet")] if more else []),
            ],
            className="earlier",
        )
    ]
