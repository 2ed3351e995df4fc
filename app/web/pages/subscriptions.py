"""All subscriptions, what holds each, worst first.

In: the address (search, causes, clusters) and the newest verdicts. Out: components. Rows are sorted,
filtered and paged by the server; a click or Enter opens a subscription.
"""

from __future__ import annotations

from dataclasses import replace

import dash_ag_grid as dag
import dash_mantine_components as dmc
from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from throttlescope.app.web import format as fmt
from throttlescope.app.web.address import (
    SUBSCRIPTIONS_PATH,
    Subscription,
    SubscriptionAddress,
    SubscriptionsAddress,
)
from throttlescope.app.web.answer import cause_is_open
from throttlescope.app.web.causes import CAUSES, SIDES, limiter_words
from throttlescope.app.web.data import newest
from throttlescope.app.web.data.latest import RECENT_MS
from throttlescope.app.web.data.newest import NOW, RECENT, CauseCount, Freshness
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.grid import GRID_THEME, NONE, or_none
from throttlescope.app.web.shell import explained, freshness_line, no_verdicts, panel
from throttlescope.ingest.errors import InputError

PATH = SUBSCRIPTIONS_PATH
TITLE = "Subscriptions"

_RECENT = fmt.duration(RECENT_MS)
_ROW_HEIGHT_PX = 34


def columns(view: str) -> list[dict]:
    """The table's columns; both views name the same things by the same fields."""
    names = [
        {
            "field": "subscription",
            "headerName": "Subscription",
            "cellRenderer": "SubscriptionLink",
            "flex": 2,
            "minWidth": 120,
            "tooltipField": "subscription",
        },
        {"field": "topic", "headerName": "Topic", "flex": 4, "minWidth": 170, "tooltipField": "topic"},
        {
            "field": "partition",
            "headerName": "Part.",
            "headerTooltip": f"partition; {NONE} : not partitioned",
            "width": 56,
            "type": "rightAligned",
        },
        {"field": "cluster", "headerName": "Cluster", "flex": 2, "minWidth": 105, "tooltipField": "cluster"},
    ]
    is_now = view == NOW
    cause = {
        "field": "cause",
        "headerName": "Cause now" if is_now else f"Longest in {_RECENT}",
        "headerTooltip": "cause of the newest window"
        if is_now
        else f"what held it longest in its cluster's newest {_RECENT}",
        "cellRenderer": "CauseBadge",
        "width": 218,
        "tooltipField": "cause_tip",
    }
    confidence = {
        "field": "confidence",
        "headerName": "Confidence",
        "headerTooltip": "probability that the cause is right"
        + ("" if is_now else ", mean over its windows"),
        "width": 92,
        "type": "rightAligned",
    }
    backlog = {
        "field": "backlog",
        "headerName": "Backlog, entries" if is_now else "Backlog, largest",
        "headerTooltip": "ready entries (batches), not messages",
        "width": 120,
        "type": "rightAligned",
        "tooltipField": "backlog_exact",
    }
    growth = {
        "field": "growth",
        "headerName": "Change",
        "headerTooltip": "change of the backlog over the verdict's window, entries",
        "width": 82,
        "type": "rightAligned",
        "tooltipField": "growth_exact",
    }
    held = {
        "field": "held",
        "headerName": "For",
        "headerTooltip": "how long this cause has held" + ("; ≥ : it may be longer" if is_now else " in all"),
        "width": 82,
        "tooltipField": "held_tip",
    }
    when = {"field": "when", "headerName": "Between, UTC", "width": 112, "tooltipField": "held_tip"}
    other = {
        "field": "other",
        "headerName": f"Before, last {_RECENT}" if is_now else "Now",
        "headerTooltip": (
            f"what held it longest in its cluster's newest {_RECENT}, where that is not the cause now; a click tells it"
            if is_now
            else "cause of the newest window; a click tells it"
        ),
        "cellRenderer": "CauseBadge",
        "width": 172 if is_now else 112,
        "tooltipField": "other_tip",
    }
    naive = {
        "field": "naive",
        "headerName": "Naive rule says",
        "headerTooltip": (
            "shown where it differs; backlog > 1000 entries: a limit if there was any throttle event, else the consumers"
        ),
        "width": 118,
    }
    numbers = [backlog, growth, held] if is_now else [backlog, held, when]
    return [cause, confidence, *names, *numbers, other, naive]


def layout(query: str | None) -> html.Div:
    """The frame of the page; its parts are filled by callbacks."""
    try:
        search = SubscriptionsAddress.parse(query).search
    except InputError:
        search = ""
    return html.Div(
        [
            html.Div(
                [html.H1(TITLE), html.Div(id="subscriptions-freshness", className="freshness")],
                className="page-head",
            ),
            html.Div(dmc.Skeleton(height=64), id="subscriptions-cards"),
            html.Div(
                [
                    html.Div(id="subscriptions-view", className="views"),
                    dmc.TextInput(
                        id="subscriptions-search",
                        value=search,
                        placeholder="search subscription, topic, cluster",
                        debounce=200,
                        leftSection="⌕",
                        rightSection=dmc.Kbd("/", size="xs"),
                        className="subscriptions-search",
                        **{"aria-label": "search subscription, topic, cluster"},
                    ),
                    dmc.MultiSelect(
                        id="subscriptions-clusters",
                        data=[],
                        value=[],
                        placeholder="all clusters",
                        searchable=True,
                        clearable=True,
                        className="subscriptions-clusters",
                        **{"aria-label": "clusters"},
                    ),
                ],
                className="toolbar",
            ),
            html.Div(id="subscriptions-status", className="status", role="status"),
            dag.AgGrid(
                id="subscriptions-grid",
                rowModelType="infinite",
                # Which columns depends on what the lake holds; a callback says.
                columnDefs=[],
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
                className="subscriptions-grid",
            ),
            # Filled when the address changed what the table shows: the grid then asks for its rows again.
            dcc.Store(id="subscriptions-shown", data=query or ""),
            dcc.Store(id="subscriptions-synced"),
        ],
        className="subscriptions",
    )


def register(app: Dash, reader: LakeReader) -> None:
    """Callbacks: thin ways from the address to the reader and back to components."""

    @app.callback(
        Output("subscriptions-cards", "children"),
        Output("subscriptions-freshness", "children"),
        Output("subscriptions-status", "children"),
        Output("subscriptions-clusters", "data"),
        Output("subscriptions-view", "children"),
        Output("subscriptions-grid", "columnDefs"),
        Output("subscriptions-shown", "data"),
        Input("address", "search"),
        State("address", "pathname"),
        State("subscriptions-shown", "data"),
    )
    def show(query, pathname, shown):
        if pathname != PATH:
            return (no_update,) * 7
        now = no_update if (query or "") == shown else query or ""
        parts = explained(lambda: _parts(query))()
        return (*parts, now) if isinstance(parts, tuple) else (parts, "", "", no_update, "", no_update, now)

    def _parts(query):
        freshness = newest.freshness(reader)
        address = with_view(SubscriptionsAddress.parse(query), freshness)
        counts = newest.cause_counts(reader, address)
        _, total = newest.subscriptions(reader, address, end=0)
        return (
            cards(counts, address),
            freshness_line(freshness),
            status(address, freshness, total, reader.lake_path),
            [{"value": cluster, "label": fmt.name(cluster, 60)} for cluster in freshness.clusters],
            views(address),
            columns(address.view),
        )

    @app.callback(
        Output("subscriptions-grid", "getRowsResponse"),
        Input("subscriptions-grid", "getRowsRequest"),
        State("address", "search"),
    )
    def rows(request, query):
        if request is None:
            return no_update
        try:
            address = with_view(SubscriptionsAddress.parse(query), newest.freshness(reader))
        except InputError:
            return {"rowData": [], "rowCount": 0}
        sort = [(item["colId"], item["sort"] == "desc") for item in request.get("sortModel") or []]
        found, total = newest.subscriptions(
            reader, address, sort=sort, start=int(request["startRow"]), end=int(request["endRow"])
        )
        return {"rowData": [grid_row(row, address.view) for row in found], "rowCount": total}

    app.clientside_callback(
        ClientsideFunction("throttlescope", "syncFilters"),
        # It writes the address itself: with the address as an output, Dash would hold back every callback
        # that reads it.
        Output("subscriptions-synced", "data"),
        Input("address", "search"),
        Input("subscriptions-search", "value"),
        Input("subscriptions-clusters", "value"),
        State("address", "pathname"),
    )
    app.clientside_callback(
        ClientsideFunction("throttlescope", "refreshGrid"),
        Output("subscriptions-grid", "className"),
        Input("subscriptions-shown", "data"),
        prevent_initial_call=True,
    )


def with_view(address: SubscriptionsAddress, freshness: Freshness) -> SubscriptionsAddress:
    """The view asked for, or the one that answers: recordings end when their trouble has been mended."""
    return replace(address, view=address.view or (RECENT if freshness.is_recording else NOW))


def views(address: SubscriptionsAddress) -> list[dcc.Link]:
    """The two views as links; filters are kept."""
    return [
        dcc.Link(
            label,
            href=replace(address, view=view).href(),
            className="view chosen" if view == address.view else "view",
            title=title,
        )
        for view, label, title in (
            (NOW, "now", "what holds each subscription in the newest window"),
            (
                RECENT,
                f"last {_RECENT}",
                f"what held each subscription longest in its cluster's newest {_RECENT}",
            ),
        )
    ]


def cards(counts: list[CauseCount], address: SubscriptionsAddress) -> html.Nav:
    """One card per cause with its counts, the view's first; a click lets the cause through or no longer."""
    return html.Nav(
        [_card(count, address) for count in counts],
        className="cards",
        **{"aria-label": "subscriptions by cause"},
    )


def _card(count: CauseCount, address: SubscriptionsAddress) -> dcc.Link:
    cause = CAUSES[count.cause]
    pairs = [(count.now, "now"), (count.recent, f"in {_RECENT}")]
    if address.view == RECENT:
        pairs.reverse()
    (first, first_words), (second, second_words) = pairs
    return dcc.Link(
        [
            html.Span(
                [html.Span(cause.mark, className="cause-mark", style={"color": cause.colour}), cause.label],
                className="card-label",
            ),
            html.Span(
                [html.Strong(fmt.exact(first)), f" {first_words}"],
                className="card-first" if first else "card-first none",
            ),
            html.Span(f"{fmt.exact(second)} {second_words}", className="card-second"),
        ],
        href=address.toggled(count.cause).href(),
        className="card chosen" if count.cause in address.causes else "card",
        title=cause.answer,
    )


def status(address: SubscriptionsAddress, freshness: Freshness, total: int, lake_path: str) -> object:
    """How many rows are shown, or which kind of nothing this is and what to do next."""
    if not freshness.subscriptions:
        return no_verdicts(lake_path)
    filtered = bool(address.search or address.causes or address.clusters)
    hidden = 0 if address.own_topics else freshness.own_topics
    everything = dcc.Link("Show all of them", href=SubscriptionsAddress(view=address.view).href())
    if not total:
        return panel(
            "Nothing is left by these filters.",
            [
                f"{fmt.exact(freshness.subscriptions)} subscriptions are in the lake; "
                "none fits the search, causes and clusters chosen."
            ],
            next_step=everything,
        )
    subscriptions = "subscription" if freshness.subscriptions == 1 else "subscriptions"
    if filtered:
        return [f"{fmt.exact(total)} of {fmt.exact(freshness.subscriptions)} {subscriptions}. ", everything]
    words = [f"{fmt.exact(total)} {subscriptions}, worst first. Enter or a click opens one."]
    if hidden:
        link = dcc.Link("Show them", href=replace(address, own_topics=True).href())
        words += [f" {fmt.exact(hidden)} healthy ones of Pulsar's own topics are left out. ", link]
    return words


def grid_row(row: dict, view: str) -> dict:
    """One row of the table, in words; the browser only draws it."""
    subscription = Subscription(row["cluster"], row["topic"], row["partition"], row["subscription"])
    ended = f"; last seen {fmt.moment(row['window_end_ms'])}" if row["stale"] else ""
    now = _badge("cause", row["cause"], row["limiter"], " (ended)" if row["stale"] else "", ended)
    shared = {
        "subscription": fmt.name(row["subscription"]),
        "topic": fmt.topic_name(row["topic"], -1),
        "partition": NONE if row["partition"] < 0 else str(row["partition"]),
        "cluster": fmt.name(row["cluster"]),
    }
    plain = SubscriptionAddress(subscription).href()
    lately = SubscriptionAddress(subscription, at_ms=row["main_to_ms"]).href()
    differs = row["main_cause"] is not None and row["main_cause"] != row["cause"]
    if view == RECENT and row["main_cause"] is not None:
        between = f"{fmt.clock(row['main_from_ms'])[:5]} to {fmt.clock(row['main_to_ms'])[:5]}"
        return {
            **shared,
            "id": plain,
            # What the row tells is what a click opens.
            "href": lately if differs else plain,
            **_badge("cause", row["main_cause"], row["main_limiter"]),
            "confidence": _sure(row["main_cause"], row["main_confidence"]),
            "backlog": or_none(row["main_peak_entries"], _whole),
            "backlog_exact": fmt.exact(row["main_peak_entries"]),
            "held": fmt.duration(row["main_held_ms"]),
            "held_tip": f"between {fmt.moment(row['main_from_ms'])} and {fmt.moment(row['main_to_ms'])}",
            "when": between,
            **{key.replace("cause", "other", 1): value for key, value in now.items()},
            "other_extra": "",
            "other_href": plain if differs else "",
            "naive": _naive(row["main_naive_side"], row["main_side"]),
        }
    at_least = "≥ " if row["since_at_least"] else ""
    other = (
        _badge("other", row["main_cause"], None)
        if differs and row["main_cause"] != "healthy"
        else {"other": ""}
    )
    if other["other"]:
        other |= {
            "other": f"{other['other']}, {fmt.duration(row['main_held_ms'])}",
            "other_tip": f"{other['other_tip']}, until {fmt.moment(row['main_to_ms'])}",
            "other_href": lately,
        }
    return {
        **shared,
        "id": plain,
        "href": plain,
        **now,
        "confidence": _sure(row["cause"], row["confidence"]),
        "backlog": or_none(row["backlog_entries"], _whole),
        "backlog_exact": fmt.exact(row["backlog_entries"]),
        "growth": or_none(row["backlog_growth_entries"], _whole_change),
        "growth_exact": fmt.exact(row["backlog_growth_entries"]),
        "held": at_least + fmt.duration(row["window_end_ms"] - row["since_ms"]),
        "held_tip": f"since {at_least}{fmt.moment(row['since_ms'])}{ended}",
        **other,
        "naive": _naive(row["naive_side"], row["side"]),
    }


def _badge(field: str, word: str, limiter: str | None, more: str = "", more_tip: str = "") -> dict:
    cause = CAUSES[word]
    binds = f": the {limiter_words(limiter)}" if limiter else ""
    return {
        field: cause.label + more,
        f"{field}_mark": cause.mark,
        f"{field}_colour": cause.colour,
        f"{field}_extra": limiter or "",
        f"{field}_tip": f"{cause.answer}{binds}{more_tip}",
    }


def _sure(cause: str, confidence: float) -> str:
    return NONE if cause_is_open(cause, confidence) else fmt.percent(confidence)


def _naive(naive_side: str, side: str) -> str:
    naive = SIDES[naive_side]
    return "" if naive_side == side else f"{naive.mark} {naive.label}"


def _whole(entries: float) -> str:
    return fmt.short(round(entries))


def _whole_change(entries: float) -> str:
    return fmt.signed(round(entries))
