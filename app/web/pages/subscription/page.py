"""One subscription: the answer in words first, then what it rests on.

In: the address (subscription, range, window) and what :mod:`content` read. Out: components.
"""

from __future__ import annotations

from dataclasses import replace

import dash_mantine_components as dmc
import pandas as pd
from dash import ALL, ClientsideFunction, Dash, Input, Output, dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.answer import answer, newest_type
from throttlescope.app.presentation.limits import known_limits
from throttlescope.app.presentation.links.paths import SUBSCRIPTION_PATH, SUBSCRIPTIONS_PATH
from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.app.web.components.parts import hostile, identity
from throttlescope.app.web.components.shell import back_link, explained, panel, skeleton
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.live import Live
from throttlescope.app.web.page_declaration import WebPage
from throttlescope.app.web.pages.subscription import advice, backlog_analysis, context, now, windows
from throttlescope.app.web.pages.subscription.answer_card import answer_card, earlier
from throttlescope.app.web.pages.subscription.charts import charts
from throttlescope.app.web.pages.subscription.content import (
    AnsweredWindow,
    ChartedWindow,
    SubscriptionView,
    read_answered,
    read_charted,
)
from throttlescope.app.web.pages.subscription.episode import this_backlog
from throttlescope.app.web.pages.subscription.evidence import evidence, missing
from throttlescope.app.web.pages.subscription.limits import limits_table
from throttlescope.app.web.pages.subscription.links import crumbs, range_of_page, what_if_href
from throttlescope.app.web.pages.subscription.page_state import PageState, state_of
from throttlescope.ingest.core.subscription_name import remote_cluster
from throttlescope.models.messages.catalogue import sentence

TITLE = "Subscription"
#: About the height of an answer: what is below it does not move much when it comes.
_ANSWER_PX = 374


def layout(_address: SubscriptionAddress | None, _query: str | None) -> html.Div:
    """The frame of the page: its parts are filled by callbacks, the answer first."""
    return html.Div(
        [
            html.Div(skeleton(answer_px=_ANSWER_PX, chart=False), id="subscription-content"),
            html.Div(skeleton(answer=False), id="subscription-body"),
            html.Div(id="subscription-more", className="more"),
            html.Div(id="subscription-below"),
            # What the parts that are filled later read.
            dcc.Store(id="subscription-shown"),
            advice.answer_store(),
            dcc.Store(id="subscription-answered"),
            dcc.Store(id="subscription-zoomed"),
        ],
        id="subscription-page",
        className="subscription",
    )


def register(app: Dash, reader: LakeReader) -> None:
    """Callbacks: one that gives the answer, one the charts, those of the parts, and in the browser one that links the charts' zoom to each other and the address."""
    live = now.live_of(app)
    PAGE.fill(
        app,
        lambda address: _answered(reader, address, live),
        Output("subscription-content", "children"),
        Output("subscription-shown", "data"),
        on_fault=(None,),
    )

    @app.callback(
        Output("subscription-body", "children"),
        Output("subscription-below", "children"),
        Input("subscription-shown", "data"),
        prevent_initial_call=True,
    )
    def show_rest(data):
        found = explained(lambda: _rest(reader, PageState.of(data)))() if data else (None, None)
        return found if isinstance(found, tuple) else (found, None)

    for part in (advice, context, windows):
        part.register(app, reader)
    now.register(app)
    backlog_analysis.register(app, live)
    app.clientside_callback(
        ClientsideFunction("throttlescope", "tellWindow"),
        Output("subscription-answered", "data"),
        Input({"type": "chart", "panel": ALL}, "clickData"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        ClientsideFunction("throttlescope", "linkZoom"),
        Output("subscription-page", "className"),
        Input({"type": "chart", "panel": ALL}, "relayoutData"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        ClientsideFunction("throttlescope", "openZoomed"),
        Output("subscription-zoomed", "data"),
        Input("subscription-body", "children"),
        prevent_initial_call=True,
    )


def _answered(reader: LakeReader, address: SubscriptionAddress, live: Live | None) -> tuple:
    found = read_answered(reader, address)
    if found is None:
        return never_seen(address), None
    return html.Div(top(found, live)), state_of(found)


def _rest(reader: LakeReader, data: PageState) -> tuple:
    found = read_charted(reader, data.pinned)
    if found is None:
        return None, None
    view = replace(found, address=data.address)
    return body(view), below(view)


def never_seen(address: SubscriptionAddress) -> html.Div:
    key = address.subscription
    return html.Div(
        [
            html.Div(
                dcc.Link(sentence("label.marked_all_subscriptions"), href=SUBSCRIPTIONS_PATH),
                className="crumbs",
            ),
            _head(address, None),
            panel(
                sentence("subscription.never_seen.title"),
                [
                    sentence("subscription.never_seen.stored", cluster=fmt.name(key.cluster)),
                    sentence("subscription.never_seen.why"),
                ],
                next_step=back_link(),
                tone="orange",
            ),
        ]
    )


def page(view: SubscriptionView, live: Live | None = None) -> html.Div:
    """The whole page at once. Pure: the same view gives the same components.

    Parameters
    ----------
    live : Live, optional
        The sources that *diagnose now* reads; without them its button says what to configure.
    """
    return html.Div([*top(view, live), body(view), *below(view)])


def top(found: AnsweredWindow, live: Live | None = None) -> list:
    """The answer, and possible next steps."""
    children: list = [crumbs(found), _head(found.address, found.hash_range)]
    verdict = found.verdict
    if verdict:
        # Limits as of the selected window, not as of the range's end.
        limits = known_limits(
            found.verdict_minutes, verdict["subscription"], since_ms=verdict["window_start_ms"]
        )
        history = [row for row in found.history if row["window_end_ms"] < verdict["window_end_ms"]]
        newest = found.verdicts[-1]
        is_newest = newest["window_end_ms"] <= verdict["window_end_ms"]
        whole = replace(found.address, at_ms=None, zoom_ms=None).href()
        card = answer_card(
            answer(
                verdict,
                history,
                limits,
                found.broker_versions,
                _last(found.verdict_minutes),
                found.age,
                newest_type(found.verdict_minutes),
            ),
            found,
            None if is_newest else newest,
            whole,
        )
        children += [card, *earlier(found)]
    else:
        children.append(_no_verdict(found))
    return [
        *children,
        _actions(found, live),
        now.placeholder(),
        backlog_analysis.placeholder(),
        advice.placeholder(),
        range_of_page(found),
    ]


def _last(minutes: pd.DataFrame) -> dict | None:
    return None if minutes.empty else minutes.iloc[-1].to_dict()


def body(view: ChartedWindow) -> html.Div:
    """The charts, and next to them what the verdict is based on."""
    verdict = view.verdict
    right = []
    if verdict:
        right += [evidence(view), *missing(verdict), *this_backlog(view.outlook, view.address)]
    limits = known_limits(
        _until(view.minutes, verdict["window_end_ms"] if verdict else view.end_ms),
        view.address.subscription.subscription,
        since_ms=verdict["window_start_ms"] if verdict else None,
    )
    right.append(limits_table(limits, view.address.subscription))
    left = charts(view, verdict["window_end_ms"] if verdict else None)
    return html.Div(
        [html.Div(left, className="column-wide"), html.Div(right, className="column-narrow")],
        className="columns",
    )


def below(view: ChartedWindow) -> list:
    """What comes after everything else."""
    return [windows.windows(view)] if view.verdicts else []


def _actions(view: AnsweredWindow, live: Live | None) -> html.Div:
    """Possible next steps; none of them changes anything on the cluster."""
    return html.Div(
        [
            *advice.button(view.verdict),
            dcc.Link(sentence("label.what_if_lab"), href=what_if_href(view), className="action"),
            *now.button(live),
            *backlog_analysis.button(live, view.address.subscription.subscription),
        ],
        className="actions",
        role="group",
        **{"aria-label": sentence("label.next_steps")},
    )


def _until(minutes: pd.DataFrame, end_ms: int) -> pd.DataFrame:
    return minutes[minutes["minute_ms"] < end_ms]


def _head(address: SubscriptionAddress, hash_range: str | None) -> html.Div:
    key = address.subscription
    part = fmt.part_name(key.topic, key.partition)
    if hash_range is not None:
        part = sentence("label.part_hashes", part=part, range=hash_range)
    remote = remote_cluster(key.subscription)
    kind, named = (
        (sentence("label.subscription_title"), key.subscription)
        if remote is None
        else (sentence("label.replicator_to"), remote)
    )
    return html.Div(
        [
            html.H1([html.Span(kind, className="quiet"), hostile(named)]),
            identity(key, part=part),
        ],
        className="page-identity",
    )


def _no_verdict(view: AnsweredWindow) -> dmc.Alert:
    first, last = view.span_ms
    return panel(
        sentence("subscription.no_verdict.title"),
        [
            sentence(
                "subscription.no_verdict.range", start=fmt.moment(view.start_ms), end=fmt.moment(view.end_ms)
            ),
            sentence("subscription.no_verdict.span", first=fmt.moment(first), last=fmt.moment(last)),
        ],
        next_step=dcc.Link(
            sentence("subscription.no_verdict.link"),
            href=replace(view.address, start_ms=None, end_ms=None, at_ms=None, zoom_ms=None).href(),
        ),
    )


PAGE = WebPage(SUBSCRIPTION_PATH, TITLE, SubscriptionAddress, layout, register)
