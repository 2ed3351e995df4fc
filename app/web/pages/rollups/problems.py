"""Backlogs of a place and what they share. In: a view. Out: components."""

from __future__ import annotations

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.web.components.parts import cause_badge, plain_table, section, subscription_link
from throttlescope.app.web.components.shared_incident import shared_link
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.pages.rollups.listing import PlaceView
from throttlescope.models.episodes.rollups import rollups

_MOST_ROWS = 12


def episodes(view: PlaceView) -> html.Section:
    """Backlogs from start to drain, counted and the largest named."""
    if view.episodes is None:
        return section(
            "Backlogs in this range",
            [
                panel(
                    "No episodes yet.",
                    ["They are made by the next run, or by throttlescope episodes --store --lake DIR."],
                )
            ],
        )
    if not view.episodes:
        return section(
            "Backlogs in this range",
            [html.P("None: no subscription of it had a backlog in this range.", className="quiet")],
        )
    counted = rollups(view.episodes, view.address.by)[0]
    held = ", ".join(f"{CAUSES[cause].label} {fmt.duration(ms)}" for cause, ms in counted["held_ms"].items())
    of = (
        ""
        if view.episodes_total == len(view.episodes)
        else f", of the largest {fmt.exact(len(view.episodes))}"
    )
    shown = view.episodes[:_MOST_ROWS]
    zone = fmt.zone_of(view.end_ms)
    return section(
        "Backlogs in this range",
        [
            html.P(
                f"{fmt.exact(view.episodes_total)} from start to drain, {fmt.exact(counted['open'])} not drained, on "
                f"{fmt.exact(counted['subscription_partitions'])} subscription partitions. Limited by, times added up{of}: {held or 'nothing named'}.",
                className="facts",
            ),
            plain_table(
                ("Subscription", "Main cause", "Largest, entries", f"Grew since, {zone}", "Until"),
                [_episode(row) for row in shown],
            ),
        ],
        note=f"{'the first' if view.episodes_total > len(shown) else ''} {len(shown)}, open ones and the largest first".strip(),
    )


def _episode(row: dict) -> list:
    until = {"open": "open", "silent": f"not seen since {fmt.day_clock(row['known_until_ms'])}"}
    return [
        subscription_link(row),
        cause_badge(row["cause"], row["limiter"]),
        fmt.short(round(row["peak_entries"])),
        html.Span(fmt.day_clock(row["since_ms"]), title=fmt.moment(row["since_ms"])),
        html.Span(
            until.get(row["state"]) or fmt.day_clock(row["end_ms"]),
            title=fmt.moment(row["end_ms"] or row["known_until_ms"]),
        ),
    ]


def incidents(view: PlaceView) -> list[html.Section]:
    """What several of them have in common."""
    if not view.episodes:
        return []
    if not view.incidents:
        body = html.P("No limiter or broker affected several subscriptions at once.", className="quiet")
    else:
        body = plain_table(
            ("Shared", "Cause", "Subscriptions", f"From, {fmt.zone_of(view.end_ms)}", "Until"),
            [_incident(row, view) for row in view.incidents],
        )
    return [section("Shared incidents", [body], note="one limiter or broker that affected several at once")]


def _incident(row: dict, view: PlaceView) -> list:
    return [
        shared_link(row, view.start_ms, view.end_ms),
        cause_badge(row["cause"], row["limiter"]),
        f"{fmt.exact(row['subscriptions'])}, {fmt.exact(row['here'])} of them here",
        html.Span(fmt.day_clock(row["start_ms"]), title=fmt.moment(row["start_ms"])),
        "open" if row["end_ms"] is None else fmt.day_clock(row["end_ms"]),
    ]
