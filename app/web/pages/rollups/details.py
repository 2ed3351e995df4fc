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
from throttlescope.app.web.data.rollup import Counts, Rollup
from throttlescope.app.web.pages.rollups.backlogs import episodes, incidents
from throttlescope.app.web.pages.rollups.heat import heat
from throttlescope.app.web.pages.rollups.rollups_table import name_text, plural_words
from throttlescope.app.web.pages.rollups.view import LONGEST_MS, RollupView
from throttlescope.models.messages.catalogue import sentence


def never_seen(address: RollupsAddress) -> html.Div:
    """A cluster without verdicts."""
    plural = plural_words(address.by)
    return html.Div(
        [
            *_head(address, None),
            panel(
                sentence("rollups.no_cluster", cluster=fmt.name(address.cluster)),
                [sentence("rollups.no_cluster.so", plural=plural)],
                next_step=dcc.Link(
                    sentence("rollups.no_cluster.open", plural=plural), href=address.table().href()
                ),
                tone="orange",
            ),
        ]
    )


def rollup_page(view: RollupView) -> html.Div:
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
    now = _now(view.rollup, address, view.newest_ms) if view.rollup else [_not_judged(view)]
    return html.Div(
        [
            *_head(address, view.rollup),
            *now,
            bar,
            heat(view),
            *([_members(view)] if view.rollup else []),
            html.Div(
                [html.Div([episodes(view)]), html.Div(incidents(view))],
                className="place-columns",
            ),
            html.P(sentence("rollups.blind_spots"), className="facts"),
        ]
    )


def _head(address: RollupsAddress, found: Rollup | None) -> list:
    others: list = []
    if found is not None:
        others.append(html.Span(_size(found), className="quiet"))
        for by, names in (("namespace", found.namespaces), ("broker", found.brokers)):
            if by == address.by or not names:
                continue
            label = sentence(f"rollups.by.{by}") if len(names) == 1 else plural_words(by)
            others.append(html.Span(f" · {label} ", className="quiet"))
            links = [_link(by, address.cluster, name) for name in names]
            others += [part for link in links for part in (link, " ")]
    return [
        html.Div(
            [
                html.Div(
                    [
                        dcc.Link(
                            sentence("rollups.back", plural=plural_words(address.by)),
                            href=address.table().href(),
                        )
                    ],
                    className="crumbs",
                ),
                html.H1(
                    [
                        html.Span(f"{sentence(f'rollups.by_title.{address.by}')} ", className="quiet"),
                        hostile(name_text(address.by, address.name)),
                    ]
                ),
                html.P(
                    [
                        html.Span(f"{sentence('label.cluster_heading')} ", className="quiet"),
                        hostile(address.cluster),
                        *others,
                    ],
                    className="identity",
                ),
            ],
            className="page-identity",
        )
    ]


def _link(by: str, cluster: str, name: str) -> dcc.Link:
    return dcc.Link(html.Bdi(fmt.name(name, 60)), href=RollupsAddress(by).opened(cluster, name).href())


def _size(found: Rollup) -> str:
    """How many subscription partitions and topics it has."""
    if found.now.subscriptions == 1:
        return sentence("rollups.size.one")
    partitions = fmt.exact(found.now.subscriptions)
    if found.topics == 1:
        return sentence("rollups.size.one_topic", partitions=partitions)
    return sentence("rollups.size.topics", partitions=partitions, topics=fmt.exact(found.topics))


def _now(found: Rollup, address: RollupsAddress, newest_ms: int) -> list:
    """Counts by cause and the backlog, now and against a day before."""
    now, before = found.now, found.before
    words = [cause for cause in CAUSES if now.causes.get(cause) or (before and before.causes.get(cause))]
    if before is None:
        compared = sentence("rollups.compared.nothing")
    elif before.subscriptions == 1:
        compared = sentence("rollups.compared.one")
    else:
        compared = sentence("rollups.compared.many", partitions=fmt.exact(before.subscriptions))
    cards = [
        _card(word, now.causes.get(word, 0), None if before is None else before.causes.get(word, 0), address)
        for word in words
    ]
    return [
        html.Nav(
            [*cards, html.Span(compared, className="cards-note")],
            className="cards",
            **{"aria-label": sentence("rollups.cards")},
        ),
        html.P(_backlog(now, before, newest_ms), className="place-backlog"),
    ]


def _backlog(now: Counts, before: Counts | None, newest_ms: int) -> str:
    at = fmt.moment(newest_ms)
    if fmt.is_missing(now.backlog_entries):
        return sentence("rollups.backlog.not_measured", at=at)
    backlog = fmt.count(now.backlog_entries, "entries")
    if before is None or fmt.is_missing(before.backlog_entries):
        return sentence("rollups.backlog", backlog=backlog, at=at)
    change = fmt.signed(now.backlog_entries - before.backlog_entries)
    return sentence("rollups.backlog.compared", backlog=backlog, change=change, at=at)


def _card(word: str, now: int, before: int | None, address: RollupsAddress):
    cause = CAUSES[word]
    change = (
        "" if before is None else (sentence("label.no_change") if now == before else fmt.signed(now - before))
    )
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


def _not_judged(view: RollupView) -> html.Div:
    return html.Div(
        panel(
            sentence("rollups.not_judged", by=view.address.by),
            [
                sentence("rollups.not_judged.why", at=fmt.moment(view.newest_ms)),
                sentence("rollups.not_judged.below"),
            ],
            tone="orange",
        )
    )


def _members(view: RollupView) -> html.Section:
    total = view.rollup.now.subscriptions
    note = sentence("rollups.members.note")
    if total != len(view.members):
        note = sentence("rollups.members.note_first", shown=len(view.members), total=fmt.exact(total))
    return section(
        sentence("label.subscriptions_now"),
        [
            plain_table(
                (
                    sentence("label.subscription"),
                    sentence("label.cause"),
                    sentence("label.backlog_entries_title"),
                    sentence("label.change_entries"),
                    sentence("label.duration"),
                    sentence("label.most_used_limit"),
                ),
                [_member(row) for row in view.members],
            )
        ],
        note=note,
    )


def _member(row: dict) -> list:
    at_least, at = "", fmt.moment(row["since_ms"])
    started = sentence("rollups.member.started", at=at)
    if row["since_at_least"]:
        at_least, started = "≥ ", sentence("rollups.member.started_before", at=at)
    share = (
        NONE
        if row["share_now"] is None
        else sentence("label.part_of", part=fmt.percent(row["share_now"]), whole=row["limiter_now"])
    )
    return [
        subscription_link(row),
        cause_badge(row["cause"], row["limiter"]),
        or_none(row["backlog_entries"], lambda entries: fmt.short(round(entries))),
        or_none(row["backlog_growth_entries"], lambda entries: fmt.signed(round(entries))),
        html.Span(
            at_least + fmt.duration(row["window_end_ms"] - row["since_ms"]),
            title=started,
        ),
        share,
    ]
