"""What a window has once: its head and its controls. In: an address and its window. Out: components; the runs fill the rest."""

from __future__ import annotations

from dash import dcc, html

from throttlescope.app.presentation.figures.chart import graph_config
from throttlescope.app.presentation.links.paths import WHAT_IF_PATH
from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.app.services.whatif.scales import scales
from throttlescope.app.web.address.what_if import WhatIfAddress
from throttlescope.app.web.components.chart_place import ChartPlace
from throttlescope.app.web.components.parts import hostile, identity, save_buttons, section
from throttlescope.app.web.components.shell import skeleton
from throttlescope.app.web.data.what_if import LabWindow
from throttlescope.app.web.pages.what_if import search
from throttlescope.app.web.pages.what_if.controls import controls
from throttlescope.app.web.pages.what_if.replayed_runs import absolute
from throttlescope.ingest.core.topic_name import part_word
from throttlescope.models.messages.catalogue import sentence

#: How often the page asks for the progress of a search.
_LOOK_MS = 1_000


def place(address: WhatIfAddress, window: LabWindow) -> html.Div:
    """Everything but the runs."""
    address = absolute(address, window)
    graph = dcc.Graph(
        id="what-if-graph",
        config=graph_config(toImageButtonOptions={"filename": "throttlescope-what-if"}),
        style={"height": 430},
    )
    moved = controls(window.ground.observed, scales(window.ground), address.runs[address.chosen])
    return html.Div(
        [
            head(address),
            # The request of the address, sent to the server once there is a place for the answer.
            dcc.Store(id="what-if-asked"),
            dcc.Store(id="what-if-job-named"),
            dcc.Interval(id="what-if-look", interval=_LOOK_MS, disabled=True),
            html.Div(id="what-if-bar"),
            html.Div(
                [
                    html.Div(
                        [
                            html.Div(id="what-if-said", className="what-if-said"),
                            section(
                                sentence("label.backlog_title"),
                                [ChartPlace(graph)],
                                note=sentence("what_if_page.backlog.note"),
                                tools=save_buttons("what-if"),
                            ),
                            html.Div(skeleton(), id="what-if-runs"),
                            search.form(address, window),
                        ],
                        className="column-wide what-if-live",
                    ),
                    html.Div(
                        [moved, html.Div(id="what-if-command"), html.Div(id="what-if-sure")],
                        className="column-narrow what-if-live",
                    ),
                ],
                className="columns what-if-columns",
            ),
        ]
    )


def head(address: WhatIfAddress) -> html.Div:
    """Whose window it is, and that nothing is executed."""
    key = address.subscription
    part = sentence(f"label.all_parts.{part_word(key.topic)}") if key.partition < 0 else None
    return html.Div(
        [
            html.Div(
                [
                    dcc.Link(
                        sentence("what_if_page.head.subscription"), href=SubscriptionAddress(key).href()
                    ),
                    dcc.Link(sentence("label.another_subscription"), href=WHAT_IF_PATH),
                ],
                className="crumbs",
            ),
            html.H1(
                [
                    html.Span([sentence("what_if_page.head.title"), " "], className="quiet"),
                    hostile(key.subscription),
                ]
            ),
            identity(
                key,
                html.Strong(sentence("what_if_page.head.simulated"), className="what-if-simulated"),
                part=part,
            ),
        ],
        className="page-identity",
    )
