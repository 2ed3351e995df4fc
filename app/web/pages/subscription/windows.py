"""The table of windows. In: a view, a reader. Out: components and rows; a row leads to that window."""

from __future__ import annotations

from dataclasses import replace

from dash import Dash, Input, Output, State, html, no_update

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.answer import cause_is_open
from throttlescope.app.presentation.causes import SIDES
from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.app.web.components.grid import NONE, badge_cells, or_none
from throttlescope.app.web.components.parts import section
from throttlescope.app.web.components.served_table import BLOCK_ROWS, served_grid
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages.subscription.content import ChartedWindow, read_windows
from throttlescope.app.web.pages.subscription.page_state import PageState
from throttlescope.models.messages.catalogue import sentence


def _window() -> dict:
    return {
        "field": "window",
        "headerName": sentence("label.window"),
        "width": 290,
        "cellRenderer": "SubscriptionLink",
    }


def _columns() -> list:
    return [
        {"field": "cause", "headerName": sentence("label.cause"), "cellRenderer": "CauseBadge", "width": 260},
        {
            "field": "confidence",
            "headerName": sentence("label.confidence"),
            "width": 110,
            "type": "rightAligned",
        },
        {
            "field": "backlog",
            "headerName": sentence("label.backlog_entries_title"),
            "width": 125,
            "type": "rightAligned",
        },
        {"field": "growth", "headerName": sentence("label.change"), "width": 100, "type": "rightAligned"},
        {"field": "naive", "headerName": sentence("label.naive_rule_says"), "width": 160},
        {
            "field": "reason",
            "headerName": sentence("label.strongest_evidence"),
            "flex": 1,
            "minWidth": 250,
            "tooltipField": "reason",
        },
    ]


def windows(view: ChartedWindow) -> html.Section:
    """The table; the server gives its rows as it is scrolled."""
    return section(
        sentence("label.windows"),
        [
            served_grid(
                "subscription-windows",
                columns=[_window(), *_columns()],
                sortable=False,
                height=f"{min(420, 42 + 32 * len(view.verdicts))}px",
                options={
                    "rowHeight": 32,
                    "headerHeight": 34,
                    # All columns exist before it is scrolled into view: screen readers report a header row without cells as an error.
                    "suppressColumnVirtualisation": True,
                    "infiniteInitialRowCount": min(len(view.verdicts), BLOCK_ROWS),
                },
            )
        ],
        note=sentence("subscription.windows.note", number=fmt.exact(len(view.verdicts))),
    )


def register(app: Dash, reader: LakeReader) -> None:
    """One callback: the rows that the table shows."""

    @app.callback(
        Output("subscription-windows", "getRowsResponse"),
        Input("subscription-windows", "getRowsRequest"),
        State("subscription-shown", "data"),
    )
    def rows(request, shown):
        if request is None or not shown:
            return no_update
        found, total = window_rows(reader, shown, int(request["startRow"]), int(request["endRow"]))
        return {"rowData": found, "rowCount": total}


def window_rows(reader: LakeReader, shown: dict, start: int, end: int) -> tuple[list[dict], int]:
    """Rows [start, end) of the table of windows, newest first, and how many there are.

    Parameters
    ----------
    shown : dict
        What the page shows, as the browser gives it back: see :class:`PageState`.
    """
    page = PageState.of(shown)
    read = read_windows(reader, page.address.subscription, page.start_ms, page.end_ms)
    newest_first = [row for row in reversed(read) if row["window_end_ms"] > page.start_ms]
    start = max(0, start)
    chosen = newest_first[start : start + min(max(0, end - start), 1_000)]
    return [window_row(row, page.address) for row in chosen], len(newest_first)


def window_row(row: dict, address: SubscriptionAddress) -> dict:
    """One verdict of the table of windows, in words."""
    naive = SIDES[row["naive_side"]]
    return {
        "href": replace(address, at_ms=row["window_end_ms"], zoom_ms=None).href(),
        "window": fmt.between(row["window_start_ms"], row["window_end_ms"]),
        **badge_cells("cause", row["cause"], row["limiter"]),
        "confidence": NONE
        if cause_is_open(row["cause"], row["confidence"])
        else fmt.percent(row["confidence"]),
        "backlog": or_none(row["backlog_entries"], lambda entries: fmt.short(round(entries))),
        "growth": or_none(row["backlog_growth_entries"], lambda entries: fmt.signed(round(entries))),
        "naive": f"{naive.mark} {naive.label}",
        "reason": fmt.name(row["reason"] or "", 300),
    }
