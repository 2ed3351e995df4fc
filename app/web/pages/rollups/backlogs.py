"""Backlogs of a topic, namespace or broker, and what they share. In: a view. Out: components."""

from __future__ import annotations

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.web.components.parts import cause_badge, plain_table, section, subscription_link
from throttlescope.app.web.components.shared_incident import shared_link
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.pages.rollups.view import RollupView
from throttlescope.models.episodes.rollups import rollups
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import words

_MOST_ROWS = 12


def episodes(view: RollupView) -> html.Section:
    """Backlogs from start to drain, counted and the largest named."""
    title = sentence("rollups.backlogs.title")
    if view.episodes is None:
        not_known = panel(
            sentence("rollups.backlogs.not_known"), [sentence("rollups.backlogs.not_known.compute")]
        )
        return section(title, [not_known])
    if not view.episodes:
        return section(title, [html.P(sentence("rollups.backlogs.none"), className="quiet")])
    shown = view.episodes[:_MOST_ROWS]
    zone = fmt.zone_of(view.end_ms)
    return section(
        title,
        [
            html.P(_counted(view), className="facts"),
            plain_table(
                (
                    sentence("label.subscription"),
                    sentence("label.main_cause"),
                    sentence("label.largest_entries"),
                    sentence("label.started_zone", zone=zone),
                    sentence("label.ended"),
                ),
                [_episode(row) for row in shown],
            ),
        ],
        note=sentence("rollups.backlogs.note_first", shown=len(shown))
        if view.episodes_total > len(shown)
        else sentence("rollups.backlogs.note", shown=len(shown)),
    )


def _counted(view: RollupView) -> str:
    """How many backlogs there were, and what limited their subscriptions how long."""
    counted = rollups(view.episodes, view.address.by)[0]
    causes = words().list_separator.join(
        f"{CAUSES[cause].label} {fmt.duration(length_ms)}" for cause, length_ms in counted["held_ms"].items()
    )
    total, still_open = fmt.exact(view.episodes_total), fmt.exact(counted["open"])
    partitions = fmt.exact(counted["subscription_partitions"])
    if view.episodes_total == len(view.episodes):
        return sentence(
            "rollups.backlogs.counted",
            total=total,
            open=still_open,
            partitions=partitions,
            causes=causes or sentence("rollups.backlogs.nothing_named"),
        )
    return sentence(
        "rollups.backlogs.counted_largest",
        total=total,
        open=still_open,
        partitions=partitions,
        largest=fmt.exact(len(view.episodes)),
        causes=causes or sentence("rollups.backlogs.nothing_named"),
    )


def _episode(row: dict) -> list:
    if row["state"] == "open":
        ended = sentence("label.open")
    elif row["state"] == "silent":
        ended = sentence("rollups.backlog.not_seen", at=fmt.day_clock(row["known_until_ms"]))
    else:
        ended = fmt.day_clock(row["end_ms"])
    return [
        subscription_link(row),
        cause_badge(row["cause"], row["limiter"]),
        fmt.short(round(row["peak_entries"])),
        html.Span(fmt.day_clock(row["since_ms"]), title=fmt.moment(row["since_ms"])),
        html.Span(ended, title=fmt.moment(row["end_ms"] or row["known_until_ms"])),
    ]


def incidents(view: RollupView) -> list[html.Section]:
    """What several of them have in common."""
    if not view.episodes:
        return []
    if not view.incidents:
        body = html.P(sentence("rollups.incidents.none"), className="quiet")
    else:
        body = plain_table(
            (
                sentence("label.shared"),
                sentence("label.cause"),
                sentence("label.subscriptions"),
                sentence("label.started_zone", zone=fmt.zone_of(view.end_ms)),
                sentence("label.ended"),
            ),
            [_incident(row, view) for row in view.incidents],
        )
    return [section(sentence("label.shared_incidents"), [body], note=sentence("rollups.incidents.note"))]


def _incident(row: dict, view: RollupView) -> list:
    return [
        shared_link(row, view.start_ms, view.end_ms),
        cause_badge(row["cause"], row["limiter"]),
        sentence(
            "rollups.incidents.here",
            subscriptions=fmt.exact(row["subscriptions"]),
            here=fmt.exact(row["here"]),
        ),
        html.Span(fmt.day_clock(row["start_ms"]), title=fmt.moment(row["start_ms"])),
        sentence("label.open") if row["end_ms"] is None else fmt.day_clock(row["end_ms"]),
    ]
