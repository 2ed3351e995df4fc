"""The PromQL console: type a query, see its answer as a table or a graph, or how it would run.

In: the address (query, range, step, tab). Out: components. Queries share the limits and the concurrency limit of the HTTP API.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from urllib.parse import urlencode

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.links.paths import PROMQL_PATH
from throttlescope.app.web.address.promql import GRAPH, TABLE, PromqlAddress, step_text
from throttlescope.app.web.components.form_inputs import PageAnswer, no_samples, register_answer, stores
from throttlescope.app.web.components.parts import copy_button, section
from throttlescope.app.web.components.range_bar import range_bar
from throttlescope.app.web.components.shell import skeleton
from throttlescope.app.web.data.promql import PromqlAccess, promql_access
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.page_declaration import WebPage
from throttlescope.app.web.pages.promql.console_answer import QueryView, read_view
from throttlescope.app.web.pages.promql.form import form, tabs
from throttlescope.app.web.pages.promql.query_error import fault_of_query
from throttlescope.app.web.pages.promql.result import explained as plan_of
from throttlescope.app.web.pages.promql.result import graph, notes, table
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.catalogue import sentence

TITLE = "PromQL"

#: Key of its sentence, query, tab.
_EXAMPLES = (
    (
        "largest_backlogs",
        "topk(10, max by (topic, partition, subscription) (pulsar_subscription_back_log))",
        TABLE,
    ),
    ("in_per_topic", "sum by (topic) (rate(pulsar_in_messages_total[5m]))", GRAPH),
    (
        "throttle_events",
        "sum by (subscription, reason) (rate(pulsar_subscription_dispatch_throttled_msg_events[5m])) > 0",
        GRAPH,
    ),
    (
        "limits",
        'throttlescope_dispatch_limit{level="subscription", unit="msg"} < Inf',
        TABLE,
    ),
)


def layout(address: PromqlAddress | None, _query: str | None) -> html.Div:
    """The frame of the page: the form stays, its answer is filled by a callback."""
    address = address or PromqlAddress()
    return html.Div(
        [
            html.H1(sentence("label.promql_console")),
            form(address),
            html.Div(skeleton(), id="promql-content", className="promql-content"),
            *stores("promql"),
        ],
        className="promql-page",
    )


def register(app: Dash, _reader: LakeReader) -> None:
    """One callback that evaluates, one in the browser that copies the address into the form."""
    access = promql_access(app)

    register_answer(app, "promql", PAGE, lambda address: _evaluated(access, address))
    app.clientside_callback(
        ClientsideFunction("throttlescope", "fillPromql"),
        Output("promql-filled", "data"),
        Input("address", "search"),
        Input("promql-shown", "data"),
        State("address", "pathname"),
        State("promql-words", "data"),
        State("promql-zone", "data"),
    )


def _evaluated(access: PromqlAccess, address: PromqlAddress) -> PageAnswer:
    view = read_view(access, address)
    if view is None:
        return no_samples(access.queries.lake.root), None
    return page(view, access), (view.start_ms, view.end_ms)


def page(view: QueryView, access: PromqlAccess) -> html.Div:
    """The page of a view. Pure but for the limits that it names."""
    at = replace(view.address, start_ms=view.start_ms, end_ms=view.end_ms)
    bar = range_bar(
        view.start_ms,
        view.end_ms,
        lambda start_ms, end_ms: replace(view.address, start_ms=start_ms, end_ms=end_ms).href(),
        data_up_to_ms=view.newest_ms,
    )
    return html.Div(
        [
            bar,
            html.Div([tabs(at), *_facts(view)], className="promql-bar"),
            *_answer(view, access),
            limits_line(access),
        ]
    )


def _answer(view: QueryView, access: PromqlAccess) -> list:
    if view.fault is not None:
        return [fault_of_query(view.address.query, view.fault, timeout_s=access.limits.options.timeout_s)]
    if view.explained is not None:
        return plan_of(view)
    if view.answer is not None:
        return [*notes(view.answer), *(graph(view) if view.address.tab == GRAPH else table(view))]
    return [examples(view)]


def _facts(view: QueryView) -> list:
    """How long it took, and the same query for other programs."""
    if view.answer is None:
        return []
    stats = view.answer.stats
    return [
        html.Span(
            sentence(
                "promql.cost",
                duration=fmt.duration(round(view.took_s * 1000)),
                samples=fmt.exact(stats.get("samples", 0)),
                series=fmt.exact(stats.get("series", 0)),
            ),
            className="quiet",
        ),
        html.A("JSON", href=_api_href(view), target="_blank", title=sentence("promql.json_hint")),
        copy_button(_command(view), sentence("promql.copy_command")),
    ]


def limits_line(access: PromqlAccess) -> html.P:
    """The limits of a query on this page."""
    limits, options = access.limits, access.limits.options
    return html.P(
        sentence(
            "promql.limits",
            timeout_s=options.timeout_s,
            samples=fmt.exact(options.max_samples),
            steps=fmt.exact(options.max_points),
            running=limits.running,
        ),
        className="quiet promql-limits",
    )


def examples(view: QueryView) -> html.Section:
    """Something to begin with; every link carries its times."""
    items = [
        html.Li(
            [
                dcc.Link(
                    html.Code(text), href=PromqlAddress(text, view.start_ms, view.end_ms, tab=tab).href()
                ),
                html.Span(f" {sentence(f'promql.example.{name}')}", className="quiet"),
            ]
        )
        for name, text, tab in _EXAMPLES
    ]
    return section(
        sentence("promql.examples.title"),
        [html.Ul(items, className="promql-examples")],
        note=sentence("promql.examples.note"),
    )


def _api_href(view: QueryView) -> str:
    pairs = {"query": view.address.query}
    if view.address.tab == GRAPH:
        pairs |= {
            "start": format_time(view.start_ms),
            "end": format_time(view.end_ms),
            "step": step_text(view.step_ms),
        }
        return f"/api/v1/query_range?{urlencode(pairs, errors='replace')}"
    return f"/api/v1/query?{urlencode({**pairs, 'time': format_time(view.end_ms)}, errors='replace')}"


def _command(view: QueryView) -> str:
    times = ["--at", format_time(view.end_ms)]
    if view.address.tab == GRAPH:
        times = [
            "--start",
            format_time(view.start_ms),
            "--end",
            format_time(view.end_ms),
            "--step",
            step_text(view.step_ms),
        ]
    return shlex.join(["throttlescope", "promql", view.address.query, *times])


PAGE = WebPage(PROMQL_PATH, TITLE, PromqlAddress, layout, register)
