"""The first page: is anything wrong, where, since when, and is it getting worse.

In: the address (clusters, range, moment, causes) and one reading of the lake. Out: components. The page looks every few seconds whether
the lake has a newer version, and fills itself again when it has: the address, and with it every filter, stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.links.paths import OVERVIEW_PATH
from throttlescope.app.web.address.overview import DEFAULT_LENGTH, LENGTHS_MS, OverviewAddress
from throttlescope.app.web.components.inputs_in_address import AddressInputs, choice
from throttlescope.app.web.components.parts import run_state
from throttlescope.app.web.components.range_bar import range_bar
from throttlescope.app.web.components.shell import (
    cluster_choices,
    freshness_line,
    no_verdicts,
    panel,
    skeleton,
)
from throttlescope.app.web.data import newest
from throttlescope.app.web.data import overview as stored
from throttlescope.app.web.data.overview import LONGEST_MS, LastRun, Overview
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.page_declaration import WebPage
from throttlescope.app.web.pages.overview.over_time import over_time
from throttlescope.app.web.pages.overview.panels import deadlines, incidents, limits
from throttlescope.app.web.pages.overview.places import places
from throttlescope.app.web.pages.overview.state import state
from throttlescope.app.web.pages.overview.worst import worst
from throttlescope.models.messages.catalogue import sentence

TITLE = "Overview"
#: How often the page looks for a newer version of the lake; it is one number in memory.
_LOOK_MS = 5_000

_INPUTS = AddressInputs("overview", OverviewAddress, ("clusters",))


def layout(_address: OverviewAddress | None, _query: str | None) -> html.Div:
    """The frame of the page; its content is filled by a callback."""
    return html.Div(
        [
            html.Div(
                [
                    html.H1(sentence("label.page.overview")),
                    html.Div(id="overview-freshness", className="freshness"),
                    choice("overview", "clusters"),
                ],
                className="page-head",
            ),
            html.Div(skeleton(), id="overview-content"),
            dcc.Interval(id="overview-look", interval=_LOOK_MS),
            dcc.Store(id="overview-version"),
            dcc.Store(id="overview-newer"),
            *_INPUTS.stores(),
        ],
        className="overview",
    )


def register(app: Dash, reader: LakeReader) -> None:
    """Callbacks: the page from one reading, the look for a newer version, and clicks on the chart."""
    PAGE.fill(
        app,
        lambda address, _newer: (*parts(reader, address), stored.version(reader)),
        Output("overview-content", "children"),
        Output("overview-freshness", "children"),
        Output("overview-clusters", "data"),
        Output("overview-version", "data"),
        also=(Input("overview-newer", "data"),),
        on_fault=([], no_update, no_update),
    )

    @PAGE.callback(
        app,
        Output("overview-newer", "data"),
        Input("overview-look", "n_intervals"),
        State("overview-version", "data"),
        prevent_initial_call=True,
    )
    def look(_times, shown):
        found = stored.version(reader)
        return no_update if shown in (None, found) else found

    app.clientside_callback(
        ClientsideFunction("throttlescope", "openMoment"),
        Output("overview-timeline", "className"),
        Input("overview-timeline", "clickData"),
        prevent_initial_call=True,
    )
    _INPUTS.register(app)


PAGE = WebPage(OVERVIEW_PATH, TITLE, OverviewAddress, layout, register)


def parts(reader: LakeReader, address: OverviewAddress) -> tuple[html.Div, Sequence, list[dict]]:
    """The content, how fresh it is, and the clusters to choose from."""
    freshness = newest.freshness(reader)
    view = stored.overview(reader, address)
    shown = replace(freshness, data_up_to_ms=view.newest_ms if view else freshness.data_up_to_ms)
    line = [*freshness_line(shown), *_behind(view), *run_line(stored.last_run(reader))]
    return _content(view, freshness.subscriptions > 0, reader.lake_path), line, cluster_choices(freshness)


def page(reader: LakeReader, address: OverviewAddress | None = None) -> html.Div:
    """What a person reads on it, in one piece."""
    content, line, _ = parts(reader, address or OverviewAddress())
    return html.Div([html.H1(sentence("label.page.overview")), html.Div(line), content])


def _content(view: Overview | None, has_verdicts: bool, lake_path: str) -> html.Div:
    if view is None:
        if not has_verdicts:
            return html.Div(no_verdicts(lake_path))
        nothing = panel(
            sentence("overview.no_such_cluster"),
            [sentence("overview.no_such_cluster_why")],
            next_step=dcc.Link(sentence("page.overview_link"), href=OVERVIEW_PATH),
        )
        return html.Div(nothing)
    return html.Div(
        [
            state(view),
            _range(view),
            html.Div([over_time(view), places(view)], className="overview-row"),
            html.Div(
                [
                    worst(view),
                    html.Div([limits(view), deadlines(view), incidents(view)], className="overview-next"),
                ],
                className="overview-row",
            ),
        ]
    )


def _range(view: Overview) -> html.Div:
    address = view.address

    def to(start_ms: int, end_ms: int) -> str:
        length_ms = end_ms - start_ms
        length = next((word for word, length in LENGTHS_MS.items() if length == length_ms), None)
        if end_ms == view.newest_ms and length is not None:
            # It ends at the newest verdict, whichever that will be: the page moves on with the lake.
            return address.over(None, None, length=length).href()
        return address.over(start_ms, end_ms).href()

    follows = address.start_ms is None and address.end_ms is None
    return range_bar(
        view.start_ms,
        view.end_ms,
        to,
        data_up_to_ms=view.newest_ms,
        lengths_ms=tuple(LENGTHS_MS.values()),
        lengths_end_ms=view.newest_ms,
        chosen_ms=LENGTHS_MS[address.length or DEFAULT_LENGTH] if follows else view.end_ms - view.start_ms,
        cut_to_ms=LONGEST_MS if view.was_cut else None,
    )


def _behind(view: Overview | None) -> list:
    """Clusters whose data ends earlier than that of the newest."""
    if view is None or not view.is_now:
        return []
    return [
        html.Span(
            sentence("overview.behind", cluster=fmt.name(cluster, 60), at=fmt.moment(end_ms)),
            className="quiet",
        )
        for cluster, end_ms in view.behind[:3]
    ]


def run_line(run: LastRun | None) -> list:
    """How the newest run ended; after a failure, when a run last succeeded."""
    if run is None:
        return []
    situation = "done" if run.status == "done" else "failed" if run.done_ms else "never_done"
    text = sentence(
        f"overview.run.{situation}",
        command=run.command,
        status=run_state(run.status)[1],
        at=fmt.moment(run.finished_ms),
        success=fmt.moment(run.done_ms),
    )
    if run.status == "done":
        return [html.Span(text, className="quiet")]
    return [html.Strong(text, className="run-failed")]
