"""Accuracy: how often the shipped rules, simulator, forecasts and anomalies are right, and what the rules say.

In: the address, and the figures that the package brings. Out: components. Nothing of the lake is read: figures are of the
package, not of this cluster.
"""

from __future__ import annotations

from dash import Dash, Output, html

from throttlescope.app.presentation.links.paths import METHOD_PATH
from throttlescope.app.web.address.method import MethodAddress
from throttlescope.app.web.components.shell import skeleton
from throttlescope.app.web.components.tabs import tabs
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.page_declaration import WebPage
from throttlescope.app.web.pages.accuracy.diagnosis import accuracy
from throttlescope.app.web.pages.accuracy.models import anomalies, forecasts, simulator
from throttlescope.app.web.pages.accuracy.rules import rules
from throttlescope.models.evaluation.measured import measured_of
from throttlescope.models.messages.catalogue import sentence

TITLE = "Accuracy"


def _tabs() -> tuple:
    return (
        ("accuracy", sentence("label.accuracy")),
        ("rules", sentence("label.rules")),
        ("simulator", sentence("label.simulator")),
        ("forecasts", sentence("label.forecasts")),
        ("anomalies", sentence("label.anomalies")),
    )


def layout(_address: MethodAddress | None, _query: str | None) -> html.Div:
    """The frame of the page; its content is filled by a callback."""
    return html.Div(
        [
            html.Div(
                [
                    html.H1(sentence("label.page.accuracy")),
                    html.Span(sentence("accuracy.freshness"), className="freshness"),
                ],
                className="page-head",
            ),
            html.Div(skeleton(), id="method-content"),
        ],
        className="method",
    )


def register(app: Dash, _reader: LakeReader) -> None:
    """One callback: a part of the page from the address."""
    PAGE.fill(app, page, Output("method-content", "children"))


def page(address: MethodAddress) -> html.Div:
    """The parts as links, and the one that the address names."""
    links = tabs(
        [(word, title, MethodAddress(word).href()) for word, title in _tabs()],
        address.tab,
        label=sentence("accuracy.parts"),
    )
    return html.Div([links, *content_of(address)])


def content_of(address: MethodAddress) -> list:
    """One part of the page."""
    if address.tab == "rules":
        return rules()
    if address.tab == "simulator":
        return simulator(measured_of("simulator"))
    if address.tab == "forecasts":
        return forecasts(measured_of("forecasts"))
    if address.tab == "anomalies":
        return anomalies(measured_of("anomalies"))
    return accuracy(measured_of("diagnosis"), address)


PAGE = WebPage(METHOD_PATH, TITLE, MethodAddress, layout, register)
