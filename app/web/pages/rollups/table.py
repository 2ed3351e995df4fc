"""The table of places: its columns, its rows in words, what it says when there is nothing. In: rows and an address. Out: plain values."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES, ORDER, limiter_words
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.address.rollups import BY, RollupsAddress
from throttlescope.app.web.components.grid import NONE, badge_cells, or_none
from throttlescope.app.web.components.parts import view_link
from throttlescope.app.web.components.shell import no_verdicts, panel
from throttlescope.app.web.data.latest import RECENT_MS
from throttlescope.app.web.data.limit_use import NOW_MS
from throttlescope.app.web.data.newest import NOW, RECENT, ClusterFreshness

_RECENT, _NOW = fmt.duration(RECENT_MS), fmt.duration(NOW_MS)
PLURAL = {"topic": "topics", "namespace": "namespaces", "broker": "brokers"}


def columns(address: RollupsAddress, share_over: str) -> list[dict]:
    """The table's columns; ``share_over`` says of which time the fullest limit is: now or recent."""
    is_now = address.view != RECENT
    over = f"newest {_NOW}" if share_over == NOW else f"newest {_RECENT}"
    return [
        {
            "field": "name",
            "headerName": address.by.capitalize(),
            "cellRenderer": "SubscriptionLink",
            "flex": 4,
            "minWidth": 170,
            "tooltipField": "name",
        },
        {
            "field": "worst",
            "headerName": "Worst now" if is_now else f"Worst, {_RECENT}",
            "headerTooltip": "cause of the subscription with the largest backlog that is not healthy; a click opens it",
            "cellRenderer": "CauseBadge",
            "width": 240,
            "tooltipField": "worst_tip",
        },
        {
            "field": "causes",
            "headerName": "By cause",
            "headerTooltip": "subscription partitions by the cause of the newest window"
            if is_now
            else f"subscription partitions by their main cause in {_RECENT}",
            "cellRenderer": "CauseCounts",
            "flex": 2,
            "minWidth": 170,
            "sortable": False,
            "tooltipField": "causes_tip",
        },
        {"field": "subscriptions", "headerName": "In all", "width": 80, "type": "rightAligned"},
        {
            "field": "backlog",
            "headerName": "Backlog, entries" if is_now else "Largest, entries",
            "headerTooltip": "ready entries (batches), not messages, summed over its subscription partitions"
            + ("" if is_now else f"; of each the largest of {_RECENT}"),
            "width": 122,
            "type": "rightAligned",
            "tooltipField": "backlog_tip",
        },
        {
            "field": "share",
            "headerName": "Fullest limit",
            "headerTooltip": f"largest use / limit of a minute in the {over}, and which limiter",
            "width": 205,
            "tooltipField": "share_tip",
        },
        {"field": "cluster", "headerName": "Cluster", "flex": 2, "minWidth": 100, "tooltipField": "cluster"},
    ]


def grid_row(row: dict, address: RollupsAddress) -> dict:
    """One row of the table, in words; the browser only draws it."""
    name, worst = row["name"], row["worst"]
    # What no scrape named cannot be opened: its row leads to the table it stands in.
    href = address.href() if name is None else address.opened(row["cluster"], name).href()
    causes = [(CAUSES[word], row["causes"][word]) for word in ORDER if row["causes"].get(word)]
    shown = {
        "id": f"{row['cluster']} {name}",
        "href": href,
        "name": place_name(address.by, name),
        "cluster": fmt.name(row["cluster"]),
        "subscriptions": fmt.exact(row["subscriptions"]),
        "causes": [
            {"mark": cause.mark, "colour": cause.colour, "label": cause.label, "count": fmt.exact(number)}
            for cause, number in causes
        ],
        "causes_tip": ", ".join(f"{cause.label} {fmt.exact(number)}" for cause, number in causes)
        + f"; on {fmt.exact(row['topics'])} {'topic' if row['topics'] == 1 else 'topics'}",
        "backlog": or_none(row["backlog_entries"], lambda entries: fmt.short(round(entries))),
        "backlog_tip": f"{fmt.exact(row['backlog_entries'])} entries, measured of "
        f"{fmt.exact(row['measured'])} of {fmt.exact(row['subscriptions'])}",
        "share": NONE if row["share"] is None else f"{fmt.percent(row['share'])} of {row['limiter']}",
        "share_tip": "no limit, or none that was observed"
        if row["share"] is None
        else f"{limiter_words(row['limiter'])}, used up to {fmt.percent(row['share'])}",
    }
    return shown | (_worst(worst) if worst else {"worst": "", "worst_tip": "all are healthy"})


def _worst(worst: dict) -> dict:
    key = SubscriptionPartition(worst["cluster"], worst["topic"], worst["partition"], worst["subscription"])
    cells = badge_cells("worst", worst["cause"], worst["limiter"])
    where = fmt.topic_name(worst["topic"], worst["partition"])
    return cells | {
        "worst_tip": f"{fmt.name(worst['subscription'], 80)} on {where}: {cells['worst_tip']}",
        "worst_href": SubscriptionAddress(key).href(),
    }


def place_name(by: str, name: str | None) -> str:
    """A place as a person reads it."""
    if name is None:
        return "not known (no scrape named it)"
    return fmt.topic_name(name, -1) if by == "topic" else fmt.name(name)


def choices(address: RollupsAddress) -> list[dcc.Link]:
    """What is counted by, as links; filters are kept."""
    return [
        view_link(PLURAL[by].capitalize(), replace(address, by=by).href(), chosen=by == address.by)
        for by in BY
    ]


def status(address: RollupsAddress, freshness: ClusterFreshness, total: int, lake_path: str):
    """How many there are, or which kind of nothing this is."""
    if not freshness.subscriptions:
        return no_verdicts(lake_path)
    plural = PLURAL[address.by]
    if not total:
        return panel(
            "No roll-up matches these filters.",
            [
                f"{fmt.exact(freshness.subscriptions)} subscription partitions are in the lake; "
                f"no {address.by} fits the search and the clusters chosen."
            ],
            next_step=dcc.Link(f"Show all {plural}", href=replace(address, search="", clusters=()).href()),
        )
    noun = address.by if total == 1 else plural
    return [f"{fmt.exact(total)} {noun}, the worst first. Enter or a click opens one."]
