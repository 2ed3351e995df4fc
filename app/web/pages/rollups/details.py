"""One topic, namespace or broker: its causes now, the use of its limits, its subscriptions. In: a view. Out: components."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.components.grid import NONE, or_none
from throttlescope.app.web.components.parts import (
    cause_badge,
    hostile,
    plain_table,
    section,
    subscription_link,
)
from throttlescope.app.web.components.range_bar import range_bar
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.newest import NOW
from throttlescope.app.web.data.rollup import Rollup
from throttlescope.app.web.pages.rollups.heat import heat
from throttlescope.app.web.pages.rollups.listing import LONGEST_MS, PlaceView
from throttlescope.app.web.pages.rollups.problems import episodes, incidents
from throttlescope.app.web.pages.rollups.table import PLURAL, place_name

BLIND_SPOTS = (
    "Not seen here: topics that no broker has loaded (they have no series), non-persistent topics and replicators "
    "(no throttle counters), and limits of brokers whose runtime configuration could not be read."
)


def never_seen(address: RollupsAddress) -> html.Div:
    """A cluster without verdicts."""
    return html.Div(
        [
            *_head(address, None),
            panel(
                f"The lake has no verdicts of the cluster {fmt.name(address.cluster)}.",
                [f"So nothing can be said of its {PLURAL[address.by]}."],
                next_step=dcc.Link(f"Open the table of {PLURAL[address.by]}", href=address.table().href()),
                tone="orange",
            ),
        ]
    )


def place_page(view: PlaceView) -> html.Div:
    """The whole page. Pure: the same view gives the same components."""
    address = view.address

    def to(start_ms: int, end_ms: int) -> str:
        return replace(address, start_ms=max(0, start_ms), end_ms=max(1, end_ms)).href()

    bar = range_bar(
        view.start_ms,
        view.end_ms,
        to,
        data_up_to_ms=view.newest_ms,
        cut_to_ms=LONGEST_MS if view.was_cut else None,
    )
    standing = _standing(view.place, address, view.newest_ms) if view.place else [_not_judged(view)]
    return html.Div(
        [
            *_head(address, view.place),
            *standing,
            bar,
            heat(view),
            *([_members(view)] if view.place else []),
            html.Div(
                [html.Div([episodes(view)]), html.Div(incidents(view))],
                className="place-columns",
            ),
            html.P(BLIND_SPOTS, className="facts"),
        ]
    )


def _head(address: RollupsAddress, found: Rollup | None) -> list:
    others: list = []
    if found is not None:
        words = f" · {_number(found.now.subscriptions, 'subscription partition')} on {_number(found.topics, 'topic')}"
        others.append(html.Span(words, className="quiet"))
        for by, names in (("namespace", found.namespaces), ("broker", found.brokers)):
            if by == address.by or not names:
                continue
            label = by if len(names) == 1 else f"{by}s"
            others.append(html.Span(f" · {label} ", className="quiet"))
            links = [_place_link(by, address.cluster, name) for name in names]
            others += [part for link in links for part in (link, " ")]
    return [
        html.Div(
            [
                html.Div(
                    [dcc.Link(f"← all {PLURAL[address.by]}", href=address.table().href())], className="crumbs"
                ),
                html.H1(
                    [
                        html.Span(f"{address.by.capitalize()} ", className="quiet"),
                        hostile(place_name(address.by, address.name)),
                    ]
                ),
                html.P(
                    [html.Span("cluster ", className="quiet"), hostile(address.cluster), *others],
                    className="identity",
                ),
            ],
            className="page-identity",
        )
    ]


def _place_link(by: str, cluster: str, name: str) -> dcc.Link:
    return dcc.Link(html.Bdi(fmt.name(name, 60)), href=RollupsAddress(by).opened(cluster, name).href())


def _number(number: int, noun: str) -> str:
    return f"{fmt.exact(number)} {noun}{'' if number == 1 else 's'}"


def _standing(found: Rollup, address: RollupsAddress, newest_ms: int) -> list:
    """Counts by cause and the backlog, now and against a day before."""
    now, before = found.now, found.before
    words = [cause for cause in CAUSES if now.causes.get(cause) or (before and before.causes.get(cause))]
    compared = (
        "no verdicts from 24 h earlier to compare with"
        if before is None
        else f"change compared with 24 h earlier ({_number(before.subscriptions, 'subscription partition')} then)"
    )
    cards = [
        _card(word, now.causes.get(word, 0), None if before is None else before.causes.get(word, 0), address)
        for word in words
    ]
    backlog = f"Backlog {fmt.count(now.backlog_entries, 'entries')}"
    if before is not None and not (
        fmt.is_missing(now.backlog_entries) or fmt.is_missing(before.backlog_entries)
    ):
        backlog += f", {fmt.signed(now.backlog_entries - before.backlog_entries)} compared with 24 h earlier"
    if fmt.is_missing(now.backlog_entries):
        backlog = "Backlog not measured"
    return [
        html.Nav(
            [*cards, html.Span(f"{compared}.", className="cards-note")],
            className="cards",
            **{"aria-label": "subscription partitions by cause"},
        ),
        html.P(
            f"{backlog}; ready entries (batches), summed over all of them. As of {fmt.moment(newest_ms)}.",
            className="place-backlog",
        ),
    ]


def _card(word: str, now: int, before: int | None, address: RollupsAddress):
    cause = CAUSES[word]
    change = "" if before is None else ("no change" if now == before else fmt.signed(now - before))
    parts = [
        html.Span(
            [
                html.Span(
                    cause.mark,
                    className="cause-mark",
                    style={"color": cause.colour},
                    **{"aria-hidden": "true"},
                ),
                cause.label,
            ],
            className="card-label",
        ),
        html.Span(html.Strong(fmt.exact(now)), className="card-first" if now else "card-first none"),
        html.Span(change, className="card-second"),
    ]
    if address.by == "broker":
        # The table of subscriptions knows no brokers.
        return html.Div(parts, className="card flat", title=cause.answer)
    search = address.name if address.by == "topic" else f"{address.name}/"
    href = SubscriptionsAddress(search=search, causes=(word,), clusters=(address.cluster,), view=NOW).href()
    return dcc.Link(parts, href=href, className="card", title=cause.answer)


def _not_judged(view: PlaceView) -> html.Div:
    return html.Div(
        panel(
            f"Nothing of this {view.address.by} was judged in the last day of its cluster.",
            [
                f"The cluster's newest verdicts end at {fmt.moment(view.newest_ms)}. It may have been deleted or unloaded "
                "(then it has no series), or its name may be another.",
                "What the lake knows of the range is below.",
            ],
            tone="orange",
        )
    )


def _members(view: PlaceView) -> html.Section:
    total = view.place.now.subscriptions
    shown = (
        "worst first"
        if total == len(view.members)
        else f"the worst {len(view.members)} of {fmt.exact(total)}"
    )
    return section(
        "Subscriptions now",
        [
            plain_table(
                ("Subscription", "Cause", "Backlog, entries", "Change", "For", "Fullest limit"),
                [_member(row) for row in view.members],
            )
        ],
        note=f"{shown}; backlog in ready entries (batches), its change over the newest window; fullest limit in the newest minutes",
    )


def _member(row: dict) -> list:
    at_least = "≥ " if row["since_at_least"] else ""
    share = NONE if row["share_now"] is None else f"{fmt.percent(row['share_now'])} of {row['limiter_now']}"
    return [
        subscription_link(row),
        cause_badge(row["cause"], row["limiter"]),
        or_none(row["backlog_entries"], lambda entries: fmt.short(round(entries))),
        or_none(row["backlog_growth_entries"], lambda entries: fmt.signed(round(entries))),
        html.Span(
            at_least + fmt.duration(row["window_end_ms"] - row["since_ms"]),
            title=f"since {at_least}{fmt.moment(row['since_ms'])}",
        ),
        share,
    ]
