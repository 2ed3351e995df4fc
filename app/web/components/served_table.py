"""A table whose rows the server sorts, filters and pages. In: a page's name, and a reader of its rows. Out: the grid and its callbacks.

The table of the page NAME is ``NAME-grid``; it requests its rows again when ``NAME-shown`` is filled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import dash_ag_grid as dag
from dash import ClientsideFunction, Dash, Input, Output, State, dcc, no_update

from throttlescope.app.presentation.links.fields import PageAddress
from throttlescope.app.web.components.grid import GRID_THEME
from throttlescope.ingest.core.errors import InputError

ROW_PX = 34
#: Rows of one request.
BLOCK_ROWS = 100

#: From the address and an order to rows [start, end) as text, and the total number of rows.
Rows = Callable[[PageAddress, Sequence[tuple[str, bool]], int, int], tuple[list[dict], int]]


def served_grid(
    name: str,
    *,
    columns: Sequence[dict] = (),
    sortable: bool = True,
    height: str | None = None,
    options: dict | None = None,
    **more: object,
) -> dag.AgGrid:
    """An empty grid; a click or Enter opens the ``href`` of a row.

    Parameters
    ----------
    name : str
        Its id.
    columns : sequence of dict
        Those that do not depend on the lake's data; a callback may replace them.
    height : str, optional
        None: as the style sheet says.
    options : dict, optional
        Of AG Grid, in addition to those that all tables have, or instead of them.
    """
    return dag.AgGrid(
        id=name,
        rowModelType="infinite",
        columnDefs=list(columns),
        defaultColDef={"resizable": True, "sortable": sortable, "suppressHeaderMenuButton": True},
        eventListeners={"cellKeyDown": ["openOnEnter(params)"], "rowClicked": ["openOnClick(params)"]},
        dashGridOptions={
            "theme": GRID_THEME,
            "rowHeight": ROW_PX,
            "headerHeight": 36,
            "cacheBlockSize": BLOCK_ROWS,
            "tooltipShowDelay": 300,
            **(options or {}),
        },
        style={"height": height},
        **more,
    )


def page_grid(page: str) -> dag.AgGrid:
    """The grid of a page that is a table; a callback sets its columns, since they depend on the lake's data."""
    return served_grid(
        f"{page}-grid",
        options={
            "maxConcurrentDatasourceRequests": 1,
            "infiniteInitialRowCount": 1,
            "suppressNoRowsOverlay": True,
        },
        getRowId="params.data.id",
        className=f"{page}-grid",
    )


def shown_store(page: str, query: str | None) -> dcc.Store:
    """Filled when the address changes what the table shows: the grid then requests its rows again."""
    return dcc.Store(id=f"{page}-shown", data=query or "")


def register_table(app: Dash, page: str, address: type[PageAddress], rows: Rows) -> None:
    """Two callbacks: the server gives rows, and the browser requests them again when the address changed.

    An address that cannot be read has no rows: the page says what is wrong with it.
    """

    @app.callback(
        Output(f"{page}-grid", "getRowsResponse"),
        Input(f"{page}-grid", "getRowsRequest"),
        State("address", "search"),
    )
    def answer(request, query):
        if request is None:
            return no_update
        sort = [(item["colId"], item["sort"] == "desc") for item in request.get("sortModel") or []]
        try:
            found, total = rows(address.parse(query), sort, int(request["startRow"]), int(request["endRow"]))
        except InputError:
            found, total = [], 0
        return {"rowData": found, "rowCount": total}

    app.clientside_callback(
        ClientsideFunction("throttlescope", "refreshGrid"),
        Output(f"{page}-grid", "className"),
        Input(f"{page}-shown", "data"),
        State(f"{page}-grid", "id"),
        prevent_initial_call=True,
    )
