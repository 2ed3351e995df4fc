"""The overview: all subscriptions, what holds each, worst first.

In: the address (search, causes, clusters) and the newest verdicts. Out: components. Rows are sorted,
filtered and paged by the server; a click or Enter opens a subscription.
"""

from __future__ import annotations

import dash_ag_grid as dag
import dash_mantine_components as dmc
from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from throttlescope.app.web import format as fmt
from throttlescope.app.web.address import (
    OVERVIEW_PATH,
    OverviewAddress,
    Subscription,
    SubscriptionAddress,
)
from throttlescope.app.web.causes import CAUSES, SIDES, limiter_words
from throttlescope.app.web.data import RECENT_MS, CauseCount, Freshness, LakeReader
from throttlescope.app.web.shell import explained, panel
from throttlescope.ingest.errors import InputError

PATH = OVERVIEW_PATH
TITLE = "Subscriptions"

#: Stands in a table where there is nothing to say; "not measured" would not fit.
NONE = "\N{EN DASH}"
_RECENT = fmt.duration(RECENT_MS)
_ROW_HEIGHT_PX = 34

GRID_THEME = {
    "function": (
        "themeQuartz.withParams({"
        "backgroundColor: 'var(--mantine-color-body)', foregroundColor: 'var(--mantine-color-text)',"
        "borderColor: 'var(--mantine-color-default-border)', headerBackgroundColor: 'var(--mantine-color-default-hover)',"
        "rowHoverColor: 'var(--mantine-color-default-hover)', accentColor: '#0072B2', fontFamily: 'inherit',"
        "fontSize: 13, headerFontSize: 12, spacing: 5, wrapperBorderRadius: 4})"
    )
}

_COLUMNS = [
    {
        "field": "cause",
        "headerName": "Cause now",
        "cellRenderer": "CauseBadge",
        "width": 232,
        "tooltipField": "cause_tip",
    },
    {"field": "confidence", "headerName": "Confidence", "width": 96, "type": "rightAligned"},
    {
        "field": "subscription",
        "headerName": "Subscription",
        "cellRenderer": "SubscriptionLink",
        "flex": 2,
        "minWidth": 130,
        "tooltipField": "subscription",
    },
    {"field": "topic", "headerName": "Topic", "flex": 3, "minWidth": 150, "tooltipField": "topic"},
    {
        "field": "partition",
        "headerName": "Part.",
        "headerTooltip": f"partition; {NONE} : not partitioned",
        "width": 60,
        "type": "rightAligned",
    },
    {"field": "cluster", "headerName": "Cluster", "flex": 1, "minWidth": 105, "tooltipField": "cluster"},
    {
        "field": "backlog",
        "headerName": "Backlog, entries",
        "width": 120,
        "type": "rightAligned",
        "tooltipField": "backlog_exact",
    },
    {
        "field": "growth",
        "headerName": "Change",
        "headerTooltip": "change of the backlog over the verdict's window, entries",
        "width": 82,
        "type": "rightAligned",
        "tooltipField": "growth_exact",
    },
    {
        "field": "since",
        "headerName": "For",
        "headerTooltip": "how long this cause has held; ≥ : it may be longer",
        "width": 92,
        "tooltipField": "since_exact",
    },
    {
        "field": "main_cause",
        "headerName": f"Before, last {_RECENT}",
        "headerTooltip": f"what held it longest in the newest {_RECENT} of its cluster, where that is not the cause now; a click tells it",
        "cellRenderer": "CauseBadge",
        "width": 172,
        "tooltipField": "main_tip",
    },
    {
        "field": "naive",
        "headerName": "Naive rule says",
        "headerTooltip": "shown where it differs; backlog > 1000 entries: a limit if there was any throttle event, else the consumers",
        "width": 125,
    },
]


def layout(query: str | None) -> html.Div:
    """The frame of the page; its parts are filled by callbacks."""
    try:
        search = OverviewAddress.parse(query).search
    except InputError:
        search = ""
    return html.Div(
        [
            html.Div(
                [html.H1(TITLE), html.Div(id="overview-freshness", className="freshness")],
                className="page-head",
            ),
            html.Div(dmc.Skeleton(height=64), id="overview-cards"),
            html.Div(
                [
                    dmc.TextInput(
                        id="overview-search",
                        value=search,
                        placeholder="search subscription, topic, cluster",
                        debounce=200,
                        leftSection="⌕",
                        rightSection=dmc.Kbd("/", size="xs"),
                        className="overview-search",
                        **{"aria-label": "search subscription, topic, cluster"},
                    ),
                    dmc.MultiSelect(
                        id="overview-clusters",
                        data=[],
                        value=[],
                        placeholder="all clusters",
                        searchable=True,
                        clearable=True,
                        className="overview-clusters",
                        **{"aria-label": "clusters"},
                    ),
                ],
                className="toolbar",
            ),
            html.Div(id="overview-status", className="status", role="status"),
            dag.AgGrid(
                id="overview-grid",
                rowModelType="infinite",
                columnDefs=_COLUMNS,
                defaultColDef={"resizable": True, "sortable": True, "suppressHeaderMenuButton": True},
                getRowId="params.data.id",
                eventListeners={
                    "cellKeyDown": ["openOnEnter(params)"],
                    "rowClicked": ["openOnClick(params)"],
                },
                dashGridOptions={
                    "theme": GRID_THEME,
                    "rowHeight": _ROW_HEIGHT_PX,
                    "headerHeight": 36,
                    "cacheBlockSize": 100,
                    "maxConcurrentDatasourceRequests": 1,
                    "infiniteInitialRowCount": 1,
                    "tooltipShowDelay": 300,
                    "suppressNoRowsOverlay": True,
                },
                style={"height": None},
                className="overview-grid",
            ),
            # Filled when the address changed what the table shows: the grid then asks for its rows again.
            dcc.Store(id="overview-shown", data=query or ""),
            dcc.Store(id="overview-synced"),
        ],
        className="overview",
    )


def register(app: Dash, reader: LakeReader) -> None:
    """Callbacks: thin ways from the address to the reader and back to components."""

    @app.callback(
        Output("overview-cards", "children"),
        Output("overview-freshness", "children"),
        Output("overview-status", "children"),
        Output("overview-clusters", "data"),
        Output("overview-shown", "data"),
        Input("address", "search"),
        State("address", "pathname"),
        State("overview-shown", "data"),
    )
    def show(query, pathname, shown):
        if pathname != PATH:
            return (no_update,) * 5
        now = no_update if (query or "") == shown else query or ""
        parts = explained(lambda: _parts(query))()
        return (*parts, now) if isinstance(parts, tuple) else (parts, "", "", no_update, now)

    def _parts(query):
        address = OverviewAddress.parse(query)
        freshness = reader.freshness()
        counts = reader.cause_counts(address)
        _, total = reader.subscriptions(address, end=0)
        return (
            cards(counts, address),
            freshness_line(freshness),
            status(address, freshness, total, reader.lake_path),
            [{"value": cluster, "label": fmt.name(cluster, 60)} for cluster in freshness.clusters],
        )

    @app.callback(
        Output("overview-grid", "getRowsResponse"),
        Input("overview-grid", "getRowsRequest"),
        State("address", "search"),
    )
    def rows(request, query):
        if request is None:
            return no_update
        try:
            address = OverviewAddress.parse(query)
        except InputError:
            return {"rowData": [], "rowCount": 0}
        sort = [(item["colId"], item["sort"] == "desc") for item in request.get("sortModel") or []]
        found, total = reader.subscriptions(
            address, sort=sort, start=int(request["startRow"]), end=int(request["endRow"])
        )
        return {"rowData": [grid_row(row) for row in found], "rowCount": total}

    app.clientside_callback(
        ClientsideFunction("throttlescope", "syncFilters"),
        # It writes the address itself: with the address as an output, Dash would hold back every callback
        # that reads it.
        Output("overview-synced", "data"),
        Input("address", "search"),
        Input("overview-search", "value"),
        Input("overview-clusters", "value"),
        State("address", "pathname"),
    )
    app.clientside_callback(
        ClientsideFunction("throttlescope", "refreshGrid"),
        Output("overview-grid", "className"),
        Input("overview-shown", "data"),
        prevent_initial_call=True,
    )


def cards(counts: list[CauseCount], address: OverviewAddress) -> html.Nav:
    """One card per cause with its counts; a click lets it through or no longer."""
    return html.Nav(
        [
            dcc.Link(
                [
                    html.Span(
                        [
                            html.Span(
                                CAUSES[count.cause].mark,
                                className="cause-mark",
                                style={"color": CAUSES[count.cause].colour},
                            ),
                            CAUSES[count.cause].label,
                        ],
                        className="card-label",
                    ),
                    html.Span(
                        [html.Strong(fmt.exact(count.now)), " now"],
                        className="card-now" if count.now else "card-now none",
                    ),
                    html.Span(_recent_words(count), className="card-recent"),
                ],
                href=address.toggled(count.cause).href(),
                className="card chosen" if count.cause in address.causes else "card",
                title=CAUSES[count.cause].answer,
            )
            for count in counts
        ],
        className="cards",
        **{"aria-label": "subscriptions by cause"},
    )


def _recent_words(count: CauseCount) -> str:
    # Whoever was healthy all the time is no news; whoever was throttled within the hours is.
    return "" if count.cause == "healthy" else f"{fmt.exact(count.recent)} within {_RECENT}"


def freshness_line(freshness: Freshness) -> list:
    """How new the data is; recordings are named as such."""
    if freshness.data_up_to_ms is None:
        return ["no data yet"]
    words = [html.Span(f"data up to {fmt.moment(freshness.data_up_to_ms)}")]
    if freshness.is_recording:
        words.insert(
            0,
            html.Span(
                dmc.Badge("demo: recordings", color="grape", variant="light", radius="sm", tt="none"),
                title="times are those of the recordings",
            ),
        )
    return words


def status(address: OverviewAddress, freshness: Freshness, total: int, lake_path: str) -> object:
    """How many rows are shown, or which kind of nothing this is and what to do next."""
    everything = dcc.Link("Show all of them", href=OVERVIEW_PATH)
    if not freshness.subscriptions:
        return panel(
            "No verdicts yet.",
            [
                f"The lake {lake_path} holds none.",
                "Fill it: throttlescope run --prometheus URL --pulsar-admin URL --start -6h --end now --lake DIR, "
                "or see recordings: throttlescope demo.",
            ],
        )
    filtered = bool(address.search or address.causes or address.clusters)
    if not total:
        return panel(
            "Nothing is left by these filters.",
            [
                f"{fmt.exact(freshness.subscriptions)} subscriptions are in the lake; none fits the search, causes and clusters chosen."
            ],
            next_step=everything,
        )
    subscriptions = "subscription" if freshness.subscriptions == 1 else "subscriptions"
    if filtered:
        return [f"{fmt.exact(total)} of {fmt.exact(freshness.subscriptions)} {subscriptions}. ", everything]
    return f"{fmt.exact(total)} {subscriptions}, worst first. Enter or a click opens one."


def grid_row(row: dict) -> dict:
    """One row of the table, in words; the browser only draws it."""
    cause, naive = CAUSES[row["cause"]], SIDES[row["naive_side"]]
    main = CAUSES.get(row["main_cause"]) if row["main_cause"] != row["cause"] else None
    subscription = Subscription(row["cluster"], row["topic"], row["partition"], row["subscription"])
    held_ms = row["window_end_ms"] - row["since_ms"]
    at_least = "≥ " if row["since_at_least"] else ""
    ended = f"; last seen {fmt.moment(row['window_end_ms'])}" if row["stale"] else ""
    limiter = f": the {limiter_words(row['limiter'])}" if row["limiter"] else ""
    href = SubscriptionAddress(subscription).href()
    return {
        "id": href,
        "href": href,
        "cause": cause.label + (" (ended)" if row["stale"] else ""),
        "cause_mark": cause.mark,
        "cause_colour": cause.colour,
        "cause_tip": f"{cause.answer}{limiter}{ended}",
        "cause_extra": row["limiter"] or "",
        "confidence": fmt.percent(row["confidence"]),
        "subscription": fmt.name(row["subscription"]),
        "topic": fmt.topic_name(row["topic"], -1),
        "partition": NONE if row["partition"] < 0 else str(row["partition"]),
        "cluster": fmt.name(row["cluster"]),
        "backlog": or_dash(row["backlog_entries"], fmt.short),
        "backlog_exact": fmt.exact(row["backlog_entries"]),
        "growth": or_dash(row["backlog_growth_entries"], fmt.signed),
        "growth_exact": fmt.exact(row["backlog_growth_entries"]),
        "since": at_least + fmt.duration(held_ms),
        "since_exact": f"since {at_least}{fmt.moment(row['since_ms'])}{ended}",
        "main_cause": f"{main.label}, {fmt.duration(row['main_held_ms'])}" if main else "",
        "main_cause_href": SubscriptionAddress(subscription, at_ms=row["main_to_ms"]).href() if main else "",
        "main_cause_mark": main.mark if main else "",
        "main_cause_colour": main.colour if main else "",
        "main_tip": f"{main.answer}, until {fmt.moment(row['main_to_ms'])}" if main else "",
        "naive": f"{naive.mark} {naive.label}" if row["naive_side"] != row["side"] else "",
    }


def or_dash(value: float | None, words) -> str:
    return NONE if fmt.is_missing(value) else words(value)
