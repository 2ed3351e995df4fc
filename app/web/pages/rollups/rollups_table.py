"""The table of topics, namespaces or brokers: its columns, rows and status. In: rows and an address. Out: plain values."""

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
from throttlescope.models.messages.catalogue import sentence


def plural_words(by: str) -> str:
    """What a table by ``by`` lists: ``topics``."""
    return sentence(f"rollups.plural.{by}")


def columns(address: RollupsAddress, share_over: str) -> list[dict]:
    """The table's columns; ``share_over`` says of which time the most used limit is: now or recent."""
    is_now = address.view != RECENT
    recent = fmt.duration(RECENT_MS)
    share_length = fmt.duration(NOW_MS) if share_over == NOW else recent
    if is_now:
        causes_tip = sentence("rollups.column.causes.now")
        backlog_tip = sentence("rollups.column.backlog.now")
    else:
        causes_tip = sentence("rollups.column.causes.recent", recent=recent)
        backlog_tip = sentence("rollups.column.backlog.recent", recent=recent)
    return [
        {
            "field": "name",
            "headerName": sentence(f"rollups.by_title.{address.by}"),
            "cellRenderer": "SubscriptionLink",
            "flex": 4,
            "minWidth": 170,
            "tooltipField": "name",
        },
        {
            "field": "worst",
            "headerName": sentence("label.worst_now")
            if is_now
            else sentence("label.worst_of_length", length=recent),
            "headerTooltip": sentence("rollups.column.worst"),
            "cellRenderer": "CauseBadge",
            "width": 240,
            "tooltipField": "worst_tip",
        },
        {
            "field": "causes",
            "headerName": sentence("label.by_cause"),
            "headerTooltip": causes_tip,
            "cellRenderer": "CauseCounts",
            "flex": 2,
            "minWidth": 170,
            "sortable": False,
            "tooltipField": "causes_tip",
        },
        {
            "field": "subscriptions",
            "headerName": sentence("label.subscription_partitions"),
            "width": 170,
            "type": "rightAligned",
        },
        {
            "field": "backlog",
            "headerName": sentence("label.backlog_entries_title")
            if is_now
            else sentence("label.largest_summed_entries"),
            "headerTooltip": backlog_tip,
            "width": 122 if is_now else 180,
            "type": "rightAligned",
            "tooltipField": "backlog_tip",
        },
        {
            "field": "share",
            "headerName": sentence("label.most_used_limit"),
            "headerTooltip": sentence("rollups.column.share", length=share_length),
            "width": 205,
            "tooltipField": "share_tip",
        },
        {
            "field": "cluster",
            "headerName": sentence("label.cluster"),
            "flex": 2,
            "minWidth": 100,
            "tooltipField": "cluster",
        },
    ]


def grid_row(row: dict, address: RollupsAddress) -> dict:
    """One row of the table, in words; the browser only draws it."""
    name, worst = row["name"], row["worst"]
    # What no scrape named cannot be opened: its row leads to this table.
    href = address.href() if name is None else address.opened(row["cluster"], name).href()
    causes = [(CAUSES[word], row["causes"][word]) for word in ORDER if row["causes"].get(word)]
    shown = {
        "id": f"{row['cluster']} {name}",
        "href": href,
        "name": name_text(address.by, name),
        "cluster": fmt.name(row["cluster"]),
        "subscriptions": fmt.exact(row["subscriptions"]),
        "causes": [
            {"mark": cause.mark, "colour": cause.colour, "label": cause.label, "count": fmt.exact(number)}
            for cause, number in causes
        ],
        "causes_tip": _causes_tip([f"{cause.label} {fmt.exact(number)}" for cause, number in causes], row),
        "backlog": or_none(row["backlog_entries"], lambda entries: fmt.short(round(entries))),
        "backlog_tip": sentence(
            "rollups.row.backlog",
            entries=fmt.exact(row["backlog_entries"]),
            measured=fmt.exact(row["measured"]),
            subscriptions=fmt.exact(row["subscriptions"]),
        ),
        "share": NONE
        if row["share"] is None
        else sentence("label.part_of", part=fmt.percent(row["share"]), whole=row["limiter"]),
        "share_tip": sentence("rollups.row.no_share")
        if row["share"] is None
        else sentence(
            "rollups.row.share", limiter=limiter_words(row["limiter"]), share=fmt.percent(row["share"])
        ),
    }
    return shown | (_worst(worst) if worst else {"worst": "", "worst_tip": sentence("rollups.row.healthy")})


def _causes_tip(causes: list[str], row: dict) -> str:
    if row["topics"] == 1:
        return sentence("rollups.row.causes.one_topic", causes=causes)
    return sentence("rollups.row.causes.topics", causes=causes, topics=fmt.exact(row["topics"]))


def _worst(worst: dict) -> dict:
    key = SubscriptionPartition(worst["cluster"], worst["topic"], worst["partition"], worst["subscription"])
    cells = badge_cells("worst", worst["cause"], worst["limiter"])
    where = fmt.topic_name(worst["topic"], worst["partition"])
    return cells | {
        "worst_tip": sentence(
            "rollups.row.worst",
            subscription=fmt.name(worst["subscription"], 80),
            topic=where,
            verdict=cells["worst_tip"],
        ),
        "worst_href": SubscriptionAddress(key).href(),
    }


def name_text(by: str, name: str | None) -> str:
    """The name of a topic, namespace or broker as a person reads it."""
    if name is None:
        return sentence("rollups.unknown_name")
    return fmt.topic_name(name, -1) if by == "topic" else fmt.name(name)


def choices(address: RollupsAddress) -> list[dcc.Link]:
    """What is counted by, as links; filters are kept."""
    return [
        view_link(
            sentence(f"rollups.plural_title.{by}"), replace(address, by=by).href(), chosen=by == address.by
        )
        for by in BY
    ]


def status(address: RollupsAddress, freshness: ClusterFreshness, total: int, lake_path: str):
    """How many there are, or which kind of nothing this is."""
    if not freshness.subscriptions:
        return no_verdicts(lake_path)
    plural = plural_words(address.by)
    if not total:
        return panel(
            sentence("rollups.filtered"),
            [
                sentence(
                    "rollups.filtered.others",
                    partitions=fmt.exact(freshness.subscriptions),
                    by=sentence(f"rollups.by.{address.by}"),
                )
            ],
            next_step=dcc.Link(
                sentence("rollups.show_all", plural=plural),
                href=replace(address, search="", clusters=()).href(),
            ),
        )
    if total == 1:
        return [sentence("rollups.status.one", by=sentence(f"rollups.by.{address.by}"))]
    return [sentence("rollups.status.many", number=fmt.exact(total), plural=plural)]
