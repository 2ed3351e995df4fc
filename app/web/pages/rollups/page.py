"""Topics, namespaces and brokers: a table of them, worst first, and one of them opened.

In: the address (by what, search, clusters, one place, a range). Out: components. Rows are sorted, filtered and paged by the server.
"""

from __future__ import annotations

from dash import Dash, Input, Output, State, html, no_update

from throttlescope.app.presentation.links.paths import ROLLUPS_PATH
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.components.inputs_in_address import AddressInputs, choice, search_box
from throttlescope.app.web.components.now_or_recent import view_links, with_view
from throttlescope.app.web.components.served_table import page_grid, register_table, shown_store
from throttlescope.app.web.components.shell import cluster_choices, explained, freshness_line, skeleton
from throttlescope.app.web.data import newest
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.data.rollups import places, recent_is_read, share_view
from throttlescope.app.web.pages.rollups.details import BLIND_SPOTS, never_seen, place_page
from throttlescope.app.web.pages.rollups.listing import read_place
from throttlescope.app.web.pages.rollups.table import choices, columns, grid_row, status
from throttlescope.ingest.core.errors import InputError

PATH = ROLLUPS_PATH
TITLE = "Roll-ups"

_INPUTS = AddressInputs("rollups", PATH, {"search": "q", "clusters": "cluster"}, unless="name")


def layout(query: str | None) -> html.Div:
    """The frame of the page: the table, and the place of what is opened; callbacks show one of them."""
    try:
        address = RollupsAddress.parse(query)
    except InputError:
        address = RollupsAddress()
    return html.Div(
        [
            html.Div(
                [
                    html.Div(
                        [html.H1(TITLE), html.Div(id="rollups-freshness", className="freshness")],
                        className="page-head",
                    ),
                    html.Div(
                        [
                            html.Div(id="rollups-by", className="views"),
                            html.Div(id="rollups-view", className="views"),
                            search_box("rollups", address.search, "search name, cluster"),
                            choice("rollups", "clusters"),
                        ],
                        className="toolbar",
                    ),
                    html.Div(id="rollups-status", className="status", role="status"),
                    page_grid("rollups"),
                    html.P(BLIND_SPOTS, className="facts"),
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
    """Callbacks: thin ways from the address to the reader and back to components."""

    @app.callback(
        Output("rollups-list", "hidden"),
        Output("rollups-place", "children"),
        Output("rollups-freshness", "children"),
        Output("rollups-status", "children"),
        Output("rollups-clusters", "data"),
        Output("rollups-by", "children"),
        Output("rollups-view", "children"),
        Output("rollups-grid", "columnDefs"),
        Output("rollups-shown", "data"),
        Input("address", "search"),
        State("address", "pathname"),
        State("rollups-shown", "data"),
    )
    def show(query, pathname, shown):
        if pathname != PATH:
            return (no_update,) * 9
        now = no_update if (query or "") == shown else query or ""
        parts = explained(lambda: _parts(reader, query))()
        return (*parts, now) if isinstance(parts, tuple) else (True, parts, *(no_update,) * 6, now)

    def rows(query, sort, start, end):
        address = with_view(RollupsAddress.parse(query), newest.freshness(reader))
        if address.name is not None:
            return [], 0
        found, total = places(reader, address, sort=sort, start=start, end=end)
        return [grid_row(row, address) for row in found], total

    register_table(app, "rollups", rows)
    _INPUTS.register(app)


def _parts(reader: LakeReader, query: str | None) -> tuple:
    address = RollupsAddress.parse(query)
    if address.name is not None:
        view = read_place(reader, address)
        return (True, never_seen(address) if view is None else place_page(view), *(no_update,) * 6)
    freshness = newest.freshness(reader)
    address = with_view(address, freshness)
    _, total = places(reader, address, end=0)
    share_over = share_view(address.view, recent_is_read=recent_is_read(reader))
    return (
        False,
        None,
        freshness_line(freshness),
        status(address, freshness, total, reader.lake_path),
        cluster_choices(freshness),
        choices(address),
        view_links(address),
        columns(address, share_over),
    )
