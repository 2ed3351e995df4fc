"""The button that diagnoses this moment from Prometheus. In: a page that is open, the configured sources. Out: a verdict of now, or why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from dash import Dash, Output, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.answer import VerdictAnswer, answer
from throttlescope.app.presentation.limits import known_limits
from throttlescope.app.web.client_disconnect import disconnect_check
from throttlescope.app.web.components.parts import cause_badge, hostile_sentence
from throttlescope.app.web.components.shell import explained, panel
from throttlescope.app.web.live import DEADLINE_S, Live
from throttlescope.app.web.pages.subscription.page_state import PageState
from throttlescope.app.web.pages.subscription.slow_button import register_button, slow_button
from throttlescope.models.backlog_age import backlog_age
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from throttlescope.app.services.diagnose_now import NowAnswer

#: Where :func:`~throttlescope.app.server.app.create_app` puts the sources, among Flask's extensions.
LIVE = "throttlescope-live"


def live_of(app: Dash) -> Live | None:
    """The sources that the server was started with."""
    return app.server.extensions.get(LIVE)


def button(live: Live | None) -> list:
    """The button; without a source it is disabled and says what to configure."""
    if live is not None and live.can_diagnose:
        title = sentence("subscription.now.hint", deadline_s=DEADLINE_S)
        label, waiting = sentence("label.diagnose_now"), sentence("subscription.now.running")
        return [slow_button("subscription-now-ask", label, waiting, title=title)]
    return [
        html.Button(
            sentence("label.diagnose_now"),
            className="action",
            disabled=True,
            **{"aria-describedby": "subscription-now-why"},
        ),
        html.Span(
            sentence("subscription.now.no_source"),
            id="subscription-now-why",
            className="quiet",
        ),
    ]


def register(app: Dash) -> None:
    """One callback, registered where a source is configured."""
    live = live_of(app)
    if live is None or not live.can_diagnose:
        return

    register_button(
        app,
        "subscription-now-ask",
        Output("subscription-now", "children"),
        explained(lambda data: diagnosis_card(live, data)),
    )


def diagnosis_card(live: Live, data: dict):
    """The card of a diagnosis."""
    key = PageState.of(data).address.subscription
    return card(live.diagnose(key, cancelled=disconnect_check()))


def card(found: NowAnswer):
    """The verdict of this moment on one card; without a verdict, a panel that says why."""
    rows = sorted(found.verdicts.to_pylist(), key=lambda row: row["window_end_ms"])
    foot = html.P(
        [
            sentence(
                f"subscription.now.read.{'both' if found.admin_requests else 'prometheus'}",
                newest=fmt.moment(found.newest_ms),
                samples=fmt.exact(found.samples),
                series=fmt.exact(found.series),
                took=fmt.duration(found.took_s * 1000),
            ),
            " ",
            *(hostile_sentence(f"{note} ") for note in found.notes),
        ],
        className="facts",
    )
    if not rows:
        return html.Div(
            [
                panel(
                    sentence("subscription.now.no_verdict"), [sentence("subscription.now.no_whole_window")]
                ),
                foot,
            ]
        )
    row = rows[-1]
    history = [one for one in found.windows.to_pylist() if one["window_end_ms"] < row["window_end_ms"]]
    minutes = _minutes(found, row)
    limits = known_limits(minutes, row["subscription"], since_ms=row["window_start_ms"])
    newest = None if minutes.empty else minutes.iloc[-1].to_dict()
    verdict = answer(row, history, limits, minute=newest, age=backlog_age(minutes))
    return html.Section(
        [
            html.Div(
                [
                    html.Strong(sentence("label.now_title")),
                    cause_badge(verdict.cause.word),
                    html.Span(verdict.sure, className="sure"),
                    html.Span(
                        sentence(
                            "label.window_between",
                            range=fmt.between(row["window_start_ms"], row["window_end_ms"]),
                        ),
                        className="answer-window",
                    ),
                ],
                className="answer-top",
            ),
            html.P(html.Strong(verdict.title)),
            html.P(f"{verdict.since} {verdict.backlog}"),
            *_reasons(verdict),
            *_slow_consumers(found),
            html.P(
                [
                    html.Strong(sentence("label.first_colon")),
                    verdict.first,
                    " ",
                    html.Strong(sentence("label.caution_colon")),
                    verdict.never,
                ]
            ),
            foot,
        ],
        className="result now-card",
        style={"borderLeftColor": verdict.cause.colour},
        **{"aria-label": sentence("subscription.now.label")},
    )


def _reasons(verdict: VerdictAnswer) -> list:
    rows = [html.Li(hostile_sentence(text)) for text in verdict.why]
    rows += [
        html.Li([sentence("label.against_it_colon"), hostile_sentence(text)]) for text in verdict.against
    ]
    return [html.Ul(rows)] if rows else []


def _slow_consumers(found: NowAnswer) -> list:
    """Who of the consumers is slow."""
    return [
        html.P([sentence("label.consumers_colon"), hostile_sentence(one.text)])
        for one in found.slowest.values()
    ]


def _minutes(found: NowAnswer, row: dict) -> pd.DataFrame:
    """Minutes of the one subscription partition, up to its window's end."""
    frame = found.signals.to_pandas()
    mine = frame["minute_ms"] < row["window_end_ms"]
    for name in ("cluster", "topic", "partition", "subscription"):
        mine &= frame[name] == row[name]
    return frame[mine].sort_values("minute_ms").reset_index(drop=True)


def placeholder() -> html.Div:
    """Where the answer appears."""
    return html.Div(id="subscription-now", **{"aria-live": "polite"})
