"""Topics, namespaces and brokers: a table of them, worst first, and one of them opened.

In: the address (by what, search, clusters, the one that is opened, a range). Out: components. Rows are sorted, filtered and paged by the server.
"""

from __future__ import annotations

from dash import Dash, Output, html, no_update

from throttlescope.app.presentation.links.paths import ROLLUPS_PATH
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.components.inputs_in_address import AddressInputs, choice, search_box
from throttlescope.app.web.components.now_or_recent import view_links, with_view
from throttlescope.app.web.components.served_table import page_grid, register_table, shown_store
from throttlescope.app.web.components.shell import cluster_choices, freshness_line, skeleton
from throttlescope.app.web.data import newest
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.data.rollups import places, recent_is_read, share_view
from throttlescope.app.web.page_declaration import WebPage
from throttlescope.app.web.pages.rollups.details import never_seen, rollup_page
from throttlescope.app.web.pages.rollups.rollups_table import choices, columns, grid_row, status
from throttlescope.app.web.pages.rollups.view import read_rollup
from throttlescope.models.messages.catalogue import sentence

TITLE = "Roll-ups"

_INPUTS = AddressInputs("rollups", RollupsAddress, ("search", "clusters"), unless="name")


def layout(address: RollupsAddress | None, query: str | None) -> html.Div:
    """The frame of the page: the table, and a container for what is opened; callbacks show one of them."""
    address = address or RollupsAddress()
    return html.Div(
        [
            html.Div(
                [
                    html.Div(
                        [
                            html.H1(sentence("label.page.roll_ups")),
                            html.Div(id="rollups-freshness", className="freshness"),
                        ],
                        className="page-head",
                    ),
                    html.Div(
                        [
                            html.Div(id="rollups-by", className="views"),
                            html.Div(id="rollups-view", className="views"),
                            search_box("rollups", address.search, sentence("rollups.search")),
                            choice("rollups", "clusters"),
                        ],
                        className="toolbar",
                    ),
                    html.Div(id="rollups-status", className="status", role="status"),
                    page_grid("rollups"),
                    html.P(sentence("rollups.blind_spots"), className="facts"),
                ],
                id="rollups-list",
                hidden=address.name is not None,
            ),
            html.Div(skeleton() if address.name is not None else None, id="rollups-place"),
            shown_store("rollups", query),
            *_INPUTS.stores(),
        ],
        className="rollups",
    )


def register(app: Dash, reader: LakeReader) -> None:
    """Callbacks: the parts of the page, the rows of the table, and the inputs."""
    PAGE.fill(
        app,
        lambda address: _parts(reader, address),
        Output("rollups-place", "children"),
        Output("rollups-list", "hidden"),
        Output("rollups-freshness", "children"),
        Output("rollups-status", "children"),
        Output("rollups-clusters", "data"),
        Output("rollups-by", "children"),
        Output("rollups-view", "children"),
        Output("rollups-grid", "columnDefs"),
        on_fault=(True, *(no_update,) * 6),
        table="rollups",
    )

    def rows(address, sort, start, end):
        address = with_view(address, newest.freshness(reader))
        if address.name is not None:
            return [], 0
        found, total = places(reader, address, sort=sort, start=start, end=end)
        return [grid_row(row, address) for row in found], total

    register_table(app, "rollups", RollupsAddress, rows)
    _INPUTS.register(app)


def _parts(reader: LakeReader, address: RollupsAddress) -> tuple:
    """What is opened, whether the list is hidden, and the parts of the list."""
    if address.name is not None:
        view = read_rollup(reader, address)
        return (never_seen(address) if view is None else rollup_page(view), True, *(no_update,) * 6)
    freshness = newest.freshness(reader)
    address = with_view(address, freshness)
    _, total = places(reader, address, end=0)
    share_over = share_view(address.view, recent_is_read=recent_is_read(reader))
    return (
        None,
        False,
        freshness_line(freshness),
        status(address, freshness, total, reader.lake_path),
        cluster_choices(freshness),
        choices(address),
        view_links(address),
        columns(address, share_over),
    )


PAGE = WebPage(ROLLUPS_PATH, TITLE, RollupsAddress, layout, register)
