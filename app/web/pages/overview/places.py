"""Where the backlog is: namespaces or brokers as tiles. In: what was read. Out: components; a tile leads to the subscriptions of its place."""

from __future__ import annotations

from dataclasses import replace

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES, OPEN
from throttlescope.app.web.address.overview import PLACES
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.components.parts import section, view_link
from throttlescope.app.web.components.treemap import Tile, treemap
from throttlescope.app.web.data.limit_use import NOW_MS
from throttlescope.app.web.data.overview import Overview
from throttlescope.app.web.pages.overview.state import when
from throttlescope.models.messages.catalogue import sentence

#: A place with less than this share of the largest would be a line: it is counted with the rest.
_LEAST_SHARE = 0.004


def places(view: Overview) -> html.Section:
    """Tiles, or that there is no backlog."""
    by = view.address.by
    choices = html.Span(
        [
            view_link(
                sentence(f"rollups.by.{place}"), replace(view.address, by=place).href(), chosen=place == by
            )
            for place in PLACES
        ],
        className="views small",
    )
    if view.places:
        body = treemap(_tiles(view), label=sentence("overview.places.label", by=sentence(f"rollups.by.{by}")))
    else:
        body = html.P(sentence("overview.places.none", when=when(view)), className="quiet")
    return section(
        sentence("overview.places.title"),
        [body],
        note=sentence("overview.places.note", when=when(view)),
        tools=choices,
    )


def _tiles(view: Overview) -> list[Tile]:
    largest = view.places[0]["entries"]
    shown = [row for row in view.places if row["entries"] >= _LEAST_SHARE * largest]
    tiles = [_tile(view.address.by, row, view) for row in shown]
    left, entries = view.places_total - len(shown), view.places_entries - sum(row["entries"] for row in shown)
    if left and entries >= _LEAST_SHARE * largest:
        more = fmt.exact(left)
        tiles.append(
            Tile(
                "rest", entries, OPEN,
                [sentence("overview.places.rest", number=more), fmt.short(round(entries))],
                sentence("overview.places.rest_title", number=more, entries=fmt.short(round(entries))),
                RollupsAddress(view.address.by, clusters=view.address.clusters, view="now").href(),
            )
        )  # fmt: skip
    return tiles


def _tile(by: str, row: dict, view: Overview) -> Tile:
    name = sentence("overview.places.no_broker") if row["name"] is None else fmt.name(row["name"], 80)
    href = None
    if row["name"] is not None:
        href = RollupsAddress(by).opened(row["cluster"], row["name"]).href()
    cause = CAUSES[row["cause"]] if row["cause"] else None
    entries, change = fmt.short(round(row["entries"])), fmt.signed(round(row["growth_entries"] or 0))
    mark = (
        [
            html.Span(
                cause.mark, className="cause-mark", style={"color": cause.colour}, **{"aria-hidden": "true"}
            )
        ]
        if cause
        else []
    )
    of_cause = (
        [
            html.Span(
                [
                    *mark,
                    sentence(
                        "label.cause_part",
                        cause=cause.label,
                        part=fmt.exact(row["troubled"]),
                        whole=fmt.exact(row["subscriptions"]),
                    ),
                ]
            )
        ]
        if cause
        else []
    )
    return Tile(
        f"{row['cluster']} {row['name']}",
        row["entries"],
        OPEN if cause is None else cause.colour,
        [html.Bdi(name, className="tile-place"), html.Span([html.Strong(entries), sentence("overview.places.growth", change=change, length=fmt.duration(NOW_MS))]), *of_cause],
        sentence(
            "overview.places.tile",
            cluster=fmt.name(row["cluster"]), name=name, entries=entries, change=change,
            troubled=fmt.exact(row["troubled"]), subscriptions=fmt.exact(row["subscriptions"]),
        ),
        href,
    )  # fmt: skip
