"""Parts of a page without behaviour are one component; places of charts keep their height."""

from __future__ import annotations

import json

import dash_mantine_components as dmc
import plotly.graph_objects as go
import pytest
from dash import dcc, html, no_update
from plotly.utils import PlotlyJSONEncoder

from tests.app.web.browser import MonitoredPage, is_settled, needs_chromium
from throttlescope.app.web.components.chart_place import ChartPlace
from throttlescope.app.web.components.parts import plain_table
from throttlescope.app.web.components.static_parts import with_static_parts


def test_table_of_texts_and_links_is_one_component():
    table = plain_table(
        ("Name", "Value"), [["a", dcc.Link("b", href="/limits", className="row-link")], [3, None]]
    )
    sent = with_static_parts(table)
    assert (sent["namespace"], sent["type"]) == ("throttlescope", "StaticPart")
    box, props, (tag, _, head, body) = sent["props"]["part"]
    assert (box, tag, props["aria-label"], props["tabIndex"]) == ("div", "table", "Name", 0)
    assert head == [
        "thead",
        {},
        ["tr", {}, ["th", {"scope": "col"}, "Name"], ["th", {"scope": "col"}, "Value"]],
    ]
    link = ["Link", {"href": "/limits", "className": "row-link"}, "b"]
    assert body == [
        "tbody",
        {},
        ["tr", {}, ["td", {}, "a"], ["td", {}, link]],
        ["tr", {}, ["td", {}, 3], ["td", {}]],
    ]


@pytest.mark.parametrize(
    "kept",
    [
        html.Button("x", id="button"),
        html.Button("x", n_clicks=0),
        dmc.Badge("x"),
        dcc.Link("x", href="/", target="_blank"),
        html.Iframe(src="/"),
    ],
    ids=lambda one: one._type,
)
def test_component_with_behaviour_stays_and_its_siblings_do_not(kept):
    tree = html.Div([html.P("before"), kept, html.P("after")])
    sent = with_static_parts(tree)
    assert isinstance(sent, html.Div)
    assert [one if one is kept else one["type"] for one in sent.children] == [
        "StaticPart",
        kept,
        "StaticPart",
    ]
    assert isinstance(tree.children[0], html.P), "the tree that was given is as it was"


def test_other_outputs_are_sent_as_they_are():
    rows = {"rowData": [], "rowCount": 0}
    figure = go.Figure()
    assert with_static_parts((rows, figure, no_update, None, "text", 1.5)) == [
        rows,
        figure,
        no_update,
        None,
        "text",
        1.5,
    ]


def test_chart_place_has_height_of_its_chart():
    place = with_static_parts(html.Div([ChartPlace(dcc.Graph(id="chart", style={"height": 250}))]))
    (sent,) = json.loads(json.dumps(place, cls=PlotlyJSONEncoder))["props"]["children"]
    assert (sent["namespace"], sent["type"], sent["props"]["height"]) == ("throttlescope", "ChartPlace", 250)
    assert sent["props"]["children"]["props"]["id"] == "chart"


@pytest.mark.browser
@needs_chromium
class TestInBrowser:
    def test_link_in_static_part_opens_page_without_reload(self, monitored: MonitoredPage):
        page = monitored.open("/method")
        page.wait_for_selector("#method-content .plain-table")
        page.evaluate("window.wasHere = true")
        page.click(".part-tabs a[href*='rules']")
        page.wait_for_selector(".part-tab.chosen[aria-current=page]:has-text('Rules')")
        assert page.evaluate("window.wasHere")
        assert "rules" in page.url

    def test_addresses_in_static_part_are_cleaned(self, monitored: MonitoredPage):
        page = monitored.open("/method")
        page.wait_for_selector("#method-content .plain-table")
        shown = page.evaluate(
            "() => window.throttlescope.StaticPart({ part: ['a', { href: 'java\\tscript:alert(1)' }, 'x'] }).props.href"
        )
        assert shown == "about:blank"

    def test_charts_keep_their_place_until_drawn(self, monitored: MonitoredPage):
        page = monitored.page
        # Plotly's script comes when the test lets it.
        held = []
        page.route("**/plotly.min.js", lambda route: held.append(route))
        monitored.open("/method")
        page.wait_for_selector("#method-content .dash-graph", state="attached")
        tops = "() => [...document.querySelectorAll('#method-content .section')].map((one) => one.offsetTop)"
        before = page.evaluate(tops)
        page.wait_for_function("() => document.querySelector('script[src*=\"plotly.min\"]')")
        while held:
            held.pop().continue_()
        is_settled(page)
        assert len(page.query_selector_all("#method-content .js-plotly-plot .main-svg")) >= 2
        assert page.evaluate(tops) == before

    def test_plotly_is_fetched_and_not_run_without_chart(self, monitored: MonitoredPage):
        page = monitored.open("/alerts")
        page.wait_for_selector("link[rel=prefetch][href*='plotly.min']", state="attached")
        assert page.evaluate("() => window.Plotly === undefined")
