"""The answer on top of the page: what, since when, why, how sure, what first and what not. In: a verdict. Out: components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.answer import VerdictAnswer
from throttlescope.app.presentation.cause_runs import runs
from throttlescope.app.web.address.data_quality import past_verdict
from throttlescope.app.web.components.parts import cause_badge, hostile_sentence
from throttlescope.app.web.pages.subscription.accuracy import accuracy_line
from throttlescope.app.web.pages.subscription.content import AnsweredWindow
from throttlescope.app.web.pages.subscription.deadlines import deadlines
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.spacing import text_of

_MOST_EARLIER = 3


def answer_card(
    answer: VerdictAnswer, view: AnsweredWindow, newest: dict | None, newest_href: str
) -> html.Section:
    """What, since when, how sure; then why, what happens by when, what first and what not; with the newest verdict where that is another."""
    verdict = view.verdict
    newest_note = []
    if newest is not None:
        link = dcc.Link([cause_badge(newest["cause"], newest["limiter"])], href=newest_href)
        newest_note = [
            html.Span([sentence("subscription.answer.newest"), " ", link], className="answer-newest")
        ]
    window = [
        sentence(
            "subscription.answer.window",
            window=fmt.between(verdict["window_start_ms"], verdict["window_end_ms"]),
            rules=fmt.name(verdict["rules_version"], 40),
        ),
        " ",
        dcc.Link(
            sentence("subscription.answer.inputs"),
            href=past_verdict(view.address.subscription, verdict["window_end_ms"]).href(),
            title=sentence("subscription.answer.inputs_hint"),
        ),
    ]
    return html.Section(
        [
            html.Div(
                [
                    cause_badge(answer.cause.word),
                    html.Span(answer.sure, className="sure"),
                    *newest_note,
                    html.Span(window, className="answer-window"),
                ],
                className="answer-top",
            ),
            html.P(answer.title, className="answer-title", id="answer"),
            html.P(text_of([answer.since, answer.backlog]), className="answer-since"),
            # In the order in which a small screen shows them; a wide one has all three next to each other.
            html.Div(
                [_what_to_do(answer), deadlines(view.outlook, verdict), _why(answer)],
                className="answer-columns",
            ),
            accuracy_line(verdict),
        ],
        className="answer",
        style={"borderLeftColor": answer.cause.colour},
        **{"aria-label": sentence("subscription.answer.label")},
    )


def _what_to_do(answer: VerdictAnswer) -> html.Div:
    return html.Div(
        [
            html.P([html.Strong(sentence("label.first_colon")), answer.first]),
            html.P([html.Strong(sentence("label.caution_colon")), answer.never], className="never"),
            html.P(
                [
                    html.Strong([sentence("subscription.answer.naive"), " "]),
                    answer.naive,
                    html.Span(
                        sentence("label.agrees")
                        if answer.naive_agrees
                        else sentence("label.differs_heading"),
                        className="quiet",
                    ),
                ],
                title=sentence("subscription.answer.naive_hint"),
                className="naive",
            ),
            *(
                [
                    html.P(
                        [html.Strong(sentence("label.known_bugs_colon")), *_lines(answer.bugs)],
                        className="quiet",
                    )
                ]
                if answer.bugs
                else []
            ),
        ],
        className="answer-do",
    )


def _lines(texts: Sequence[str]) -> list:
    """Texts below each other."""
    return [part for text in texts for part in (text, html.Br())][:-1]


def _why(answer: VerdictAnswer) -> html.Div:
    reasons = (
        html.Ul([html.Li(hostile_sentence(text)) for text in answer.why])
        if answer.why
        else html.P(sentence("subscription.answer.no_evidence"), className="quiet")
    )
    against = []
    if answer.against:
        against = [
            html.P(
                [html.Strong(sentence("label.against_it_colon")), hostile_sentence(answer.against[0])],
                className="against",
            )
        ]
    return html.Div([html.H2(sentence("label.why")), reasons, *against], className="answer-why")


def earlier(view: AnsweredWindow) -> list:
    """Other causes of the range, longest first: they explain an alert that is no longer firing."""
    end_ms = view.verdict["window_end_ms"]
    others = [
        run
        for run in runs(view.verdicts)
        if run.cause not in ("healthy", "unknown") and not run.start_ms < end_ms <= run.end_ms
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
                html.Span([sentence("subscription.answer.earlier"), " "], className="quiet"),
                *links,
                *(
                    [html.Span(sentence("subscription.answer.more_earlier", more=more), className="quiet")]
                    if more
                    else []
                ),
            ],
            className="earlier",
        )
    ]
