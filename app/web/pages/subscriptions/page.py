"""All subscriptions with the cause of each, worst first.

In: the address (search, causes, clusters) and the newest verdicts. Out: components. Rows are sorted,
filtered and paged by the server; a click or Enter opens a subscription.
"""

from __future__ import annotations

import dash_mantine_components as dmc
from dash import Dash, Output, html, no_update

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.links.paths import SUBSCRIPTIONS_PATH
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.components.inputs_in_address import AddressInputs, choice, search_box
from throttlescope.app.web.components.now_or_recent import view_links, with_view
from throttlescope.app.web.components.served_table import page_grid, register_table, shown_store
from throttlescope.app.web.components.shell import cluster_choices, freshness_line
from throttlescope.app.web.data import newest
from throttlescope.app.web.data.backlogs import recent_backlogs
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.page_declaration import WebPage
from throttlescope.app.web.pages.subscriptions.subscriptions_table import columns, grid_row
from throttlescope.app.web.pages.subscriptions.summary import cards, exports, status
from throttlescope.models.messages.catalogue import sentence

TITLE = "Subscriptions"
#: Two rows of cards, as wide screens show them.
_CARDS_PX = 131

_INPUTS = AddressInputs("subscriptions", SubscriptionsAddress, ("search", "clusters"))


def layout(address: SubscriptionsAddress | None, query: str | None) -> html.Div:
    """The frame of the page; its parts are filled by callbacks."""
    address = address or SubscriptionsAddress()
    return html.Div(
        [
            html.Div(
                [
                    html.H1(sentence("label.page.subscriptions")),
                    html.Div(id="subscriptions-freshness", className="freshness"),
                ],
                className="page-head",
            ),
            html.Div(dmc.Skeleton(height=_CARDS_PX), id="subscriptions-cards"),
            html.Div(
                [
                    html.Div(id="subscriptions-view", className="views"),
                    search_box("subscriptions", address.search, sentence("subscriptions.search")),
                    choice("subscriptions", "clusters"),
                ],
                className="toolbar",
            ),
            html.Div(
                [
                    html.Div(id="subscriptions-status", role="status"),
                    html.Span(id="subscriptions-exports", className="section-tools"),
                ],
                className="status",
            ),
            page_grid("subscriptions"),
            shown_store("subscriptions", query),
            *_INPUTS.stores(),
        ],
        className="subscriptions",
    )


def register(app: Dash, reader: LakeReader) -> None:
    """Callbacks: the parts of the page, the rows of the table, and the inputs."""
    PAGE.fill(
        app,
        lambda address: _page_parts(reader, address),
        Output("subscriptions-cards", "children"),
        Output("subscriptions-freshness", "children"),
        Output("subscriptions-status", "children"),
        Output("subscriptions-exports", "children"),
        Output("subscriptions-clusters", "data"),
        Output("subscriptions-view", "children"),
        Output("subscriptions-grid", "columnDefs"),
        on_fault=("", "", "", no_update, "", no_update),
        table="subscriptions",
    )

    def rows(address, sort, start, end):
        address = with_view(address, newest.freshness(reader))
        found, total = newest.subscriptions(reader, address, sort=sort, start=start, end=end)
        backlogs = recent_backlogs(reader, found)
        return [
            grid_row(row, address.view, backlog) for row, backlog in zip(found, backlogs, strict=True)
        ], total

    register_table(app, "subscriptions", SubscriptionsAddress, rows)
    _INPUTS.register(app)


def _page_parts(reader: LakeReader, address: SubscriptionsAddress) -> tuple:
    freshness = newest.freshness(reader)
    address = with_view(address, freshness)
    counts = newest.cause_counts(reader, address)
    _, total = newest.subscriptions(reader, address, end=0)
    return (
        cards(counts, address),
        freshness_line(freshness),
        status(address, freshness, total, reader.lake_path),
        exports(address) if total else "",
        cluster_choices(freshness),
        view_links(address),
        columns(address.view, fmt.zone_of(freshness.data_up_to_ms)),
    )


PAGE = WebPage(SUBSCRIPTIONS_PATH, TITLE, SubscriptionsAddress, layout, register)
