"""What comes next: limits close to exhaustion, deadlines, open incidents. In: what was read. Out: components; every row is a link."""

from __future__ import annotations

from collections.abc import Callable

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import LIMIT
from throttlescope.app.presentation.figures.lanes import Lane, owner_words
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.components.parts import cause_badge, plain_table, section, subscription_link
from throttlescope.app.web.components.shared_incident import shared_link
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.limit_use import NEAR_SHARE
from throttlescope.app.web.data.overview import Overview
from throttlescope.app.web.pages.overview.state import when
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.stored import forecast_in_language


def limits(view: Overview) -> html.Section:
    """Limiters by use, the fullest first."""
    at = when(view)
    if view.limits:
        body = html.Ul([_limit(row) for row in view.limits], className="meters")
    else:
        text = sentence("overview.limits.none", share=fmt.percent(NEAR_SHARE), when=at)
        body = html.P(text, className="quiet")
    note = sentence("overview.limits.note", when=at)
    if view.limits_total > len(view.limits):
        more = sentence("overview.limits.more", number=fmt.exact(view.limits_total), shown=len(view.limits))
        note = f"{more}; {note}"
    link = dcc.Link(
        sentence("overview.limits.all"),
        href=LimitsAddress(clusters=view.address.clusters).href(),
        className="range-link",
    )
    return section(sentence("overview.limits.title"), [body], note=note, tools=link)


def _limit(row: dict) -> html.Li:
    lane = Lane(row["limiter"], row["broker"], row["topic"], row["partition"], row["subscription"], ())
    subject = SubscriptionPartition(row["cluster"], **row["member"])
    per_s = fmt.size_rate(row["per_s"]) if row["limiter"].endswith("bytes") else fmt.msg_rate(row["per_s"])
    return html.Li(
        dcc.Link(
            [
                html.Span(
                    [
                        html.Bdi(owner_words(lane), className="meter-name"),
                        html.Span(f"{row['limiter']} {per_s}", className="quiet"),
                    ],
                    className="meter-words",
                ),
                html.Strong(fmt.percent(row["share"]), className="meter-share"),
                html.Span(
                    html.Span(
                        className="meter-fill",
                        style={"width": f"{min(100.0, 100 * row['share']):.0f}%", "background": LIMIT},
                    ),
                    className="meter",
                    **{"aria-hidden": "true"},
                ),
            ],
            href=LimitsAddress(subject=subject).href(),
            className="meter-link",
        ),
        key=f"{row['cluster']} {row['limiter']} {owner_words(lane)}",
    )


def deadlines(view: Overview) -> html.Section:
    """Losses if nothing changes; what is expected of the largest backlogs without one."""
    title = sentence("overview.losses.title")
    if "forecasts" not in view.computed:
        nothing = panel(
            sentence("overview.losses.no_forecasts"), [sentence("overview.losses.no_forecasts_why")]
        )
        return section(title, [nothing])
    parts: list = []
    if not view.losses:
        parts.append(html.P(sentence("overview.losses.none"), className="quiet"))
    rows = [*view.losses, *view.drains]
    if rows:
        head = (
            sentence("label.subscription"),
            sentence("overview.losses.what"),
            sentence("label.when"),
            sentence("label.interval_zone", zone=fmt.zone_of(view.at_ms)),
        )
        # An interval is there only where something is expected.
        width = 4 if any(row["predicted_ms"] is not None for row in rows) else 3
        parts.append(plain_table(head[:width], [_deadline(row)[:width] for row in rows]))
    return section(title, parts, note=sentence("overview.losses.note", when=when(view)))


def _deadline(row: dict) -> list:
    row = forecast_in_language(row)
    name = subscription_link(row)
    if row["predicted_ms"] is None:
        rate = row["change_per_s"]
        grows = "" if fmt.is_missing(rate) else sentence("label.entries_per_second", rate=fmt.signed(rate))
        return [name, html.Span(sentence("overview.losses.never"), title=row["consequence"]), grows, ""]
    low, high = row["low_ms"], row["high_ms"]
    between = _interval(low, high, fmt.day_clock)
    made = sentence(
        "overview.losses.made", at=fmt.moment(row["predicted_ms"]), made=fmt.moment(row["made_at_ms"])
    )
    return [
        name,
        html.Span(
            sentence(f"overview.losses.kind.{row['kind']}"),
            title=row["consequence"],
            className="" if row["kind"] == "drain" else "loses",
        ),
        html.Span(
            sentence("label.in_future", length=fmt.duration(max(0, row["predicted_ms"] - row["made_at_ms"]))),
            title=made,
        ),
        html.Span(between, title=_interval(low, high, fmt.moment)),
    ]


def _interval(low_ms: int, high_ms: int | None, written: Callable[[int], str]) -> str:
    if not high_ms:
        return sentence("label.or_later", at=written(low_ms))
    return sentence("label.range_words", low=written(low_ms), high=written(high_ms))


def incidents(view: Overview) -> html.Section:
    """What several open backlogs have in common."""
    title = sentence("overview.incidents.title")
    if "episodes" not in view.computed:
        nothing = panel(
            sentence("overview.incidents.no_episodes"), [sentence("overview.incidents.no_episodes_why")]
        )
        return section(title, [nothing])
    if view.incidents:
        zone = fmt.zone_of(view.at_ms)
        body = plain_table(
            (
                sentence("label.shared"),
                sentence("label.cause"),
                sentence("label.subscriptions"),
                sentence("label.started_zone", zone=zone),
            ),
            [_incident(row, view) for row in view.incidents],
        )
    else:
        body = html.P(sentence("overview.incidents.none"), className="quiet")
    return section(title, [body], note=sentence("overview.incidents.note", when=when(view)))


def _incident(row: dict, view: Overview) -> list:
    return [
        shared_link(row),
        cause_badge(row["cause"], row["limiter"]),
        sentence(
            f"overview.incidents.affected.{'one_topic' if row['topics'] == 1 else 'topics'}",
            subscriptions=fmt.exact(row["subscriptions"]),
            topics=fmt.exact(row["topics"]),
        ),
        html.Span(
            sentence(
                "label.at_ago",
                at=fmt.day_clock(row["since_ms"]),
                length=fmt.duration(max(0, view.at_ms - row["since_ms"])),
            ),
            title=fmt.moment(row["since_ms"]),
        ),
    ]
