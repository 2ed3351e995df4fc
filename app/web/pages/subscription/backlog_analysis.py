"""The button that has the broker count what is in a backlog. In: a page that is open, the admin API. Out: the counts, or why there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import Dash, Output, html

from throttlescope.app.presentation.backlog_analysis import COLUMNS, notes, rows
from throttlescope.app.web.client_disconnect import disconnect_check
from throttlescope.app.web.components.parts import hostile_sentence, plain_table
from throttlescope.app.web.components.shell import explained
from throttlescope.app.web.live import ANALYSIS_DEADLINE_S, Live
from throttlescope.app.web.pages.subscription.page_state import PageState
from throttlescope.app.web.pages.subscription.slow_button import register_button, slow_button
from throttlescope.ingest.core.subscription_name import remote_cluster
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from throttlescope.app.services.analyze_backlog import AnalyzedBacklog


def button(live: Live | None, subscription: str) -> list:
    """The button, which says before a click that storage is read; disabled without an admin API, none for a replicator."""
    if remote_cluster(subscription) is not None:
        return []
    if live is not None and live.can_analyze:
        title = sentence("analyze_backlog.hint", deadline_s=ANALYSIS_DEADLINE_S)
        label, waiting = sentence("analyze_backlog.button"), sentence("analyze_backlog.running")
        return [slow_button("subscription-analysis-ask", label, waiting, title=title)]
    return [
        html.Button(
            sentence("analyze_backlog.button"),
            className="action",
            disabled=True,
            title=sentence("analyze_backlog.no_source"),
        )
    ]


def register(app: Dash, live: Live | None) -> None:
    """One callback, registered where an admin API is configured."""
    if live is None or not live.can_analyze:
        return
    register_button(
        app,
        "subscription-analysis-ask",
        Output("subscription-analysis", "children"),
        explained(lambda data: analysis_card(live, data)),
    )


def analysis_card(live: Live, data: dict) -> html.Section:
    """The card of an analysis."""
    key = PageState.of(data).address.subscription
    return card(live.analyze(key, cancelled=disconnect_check()))


def card(found: AnalyzedBacklog) -> html.Section:
    """The counts as a table, and what they say."""
    return html.Section(
        [
            html.Div(html.Strong(sentence("analyze_backlog.button")), className="answer-top"),
            plain_table(COLUMNS, rows(found)),
            *(html.P(hostile_sentence(note), className="facts") for note in notes(found)),
        ],
        className="result",
        **{"aria-label": sentence("analyze_backlog.label")},
    )


def placeholder() -> html.Div:
    """Where the answer appears."""
    return html.Div(id="subscription-analysis", **{"aria-live": "polite"})
