"""The headline of the overview: whether anything is wrong, which kind, since when, and the way to the worst. In: what was read. Out: components."""

from __future__ import annotations

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES, GROUPS, SIDES, STORAGE
from throttlescope.app.presentation.figures.sparkline import picture, trend_path
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.components.parts import cause_badge
from throttlescope.app.web.data.limit_use import NOW_MS
from throttlescope.app.web.data.overview import MomentCounts, Overview
from throttlescope.ingest.core.subscription_name import short_text
from throttlescope.models.messages.catalogue import sentence

#: Sign and colour of a group, those of its side.
_LOOKS = {
    "limiter": (SIDES["throttle"].mark, SIDES["throttle"].colour),
    "consumers": (SIDES["consumer_capacity"].mark, SIDES["consumer_capacity"].colour),
    "other": ("◇", STORAGE),
    "unknown": (SIDES["unknown"].mark, SIDES["unknown"].colour),
}


def state(view: Overview) -> html.Section:
    """One line that says it, the worst subscription, and a tile for each kind of cause."""
    return html.Section(
        [
            html.Div([_headline(view), *_worst(view), _judged(view)], className="state-words"),
            html.Nav(
                [*(_tile(view, group) for group in GROUPS), _backlog(view)],
                className="state-tiles",
                **{"aria-label": sentence("overview.state.label")},
            ),
        ],
        className="headline",
    )


def _headline(view: Overview) -> html.P:
    counts = view.counts
    if not counts.troubled:
        text, mark = sentence("overview.state.none"), CAUSES["healthy"]
    elif counts.troubled == 1:
        text, mark = sentence("overview.state.one", judged=fmt.exact(counts.judged)), None
    else:
        troubled, judged = fmt.exact(counts.troubled), fmt.exact(counts.judged)
        text, mark = sentence("overview.state.some", troubled=troubled, judged=judged), None
    sign = (
        html.Span(mark.mark, className="cause-mark", style={"color": mark.colour}, **{"aria-hidden": "true"})
        if mark
        else None
    )
    return html.P([sign, text] if sign else text, className="state-headline", role="status")


def _worst(view: Overview) -> list:
    """The largest backlog, one key or click away from its cause."""
    row = view.worst_of_all
    if row is None:
        return []
    key = SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])
    href = SubscriptionAddress(key, at_ms=None if view.is_now else view.at_ms).href()
    return [
        dcc.Link(
            [
                html.Span(sentence("overview.state.worst"), className="quiet"),
                html.Bdi(fmt.name(short_text(row["subscription"]), 40), className="worst-name"),
                cause_badge(row["cause"], row["limiter"]),
                html.Span(
                    [html.Strong(fmt.count(row["backlog_entries"], "entries")), *_growth(row)],
                    className="worst-backlog",
                ),
            ],
            href=href,
            className="worst-link",
            title=sentence("overview.state.worst_hint"),
        )
    ]


def _growth(row: dict) -> list:
    growth = row["backlog_growth_entries"]
    return (
        []
        if fmt.is_missing(growth)
        else [sentence("overview.growth", change=fmt.signed(round(growth)), length=fmt.duration(NOW_MS))]
    )


def _judged(view: Overview) -> html.P:
    parts = [sentence("overview.state.judged", judged=fmt.exact(view.counts.judged), when=when(view)) + " "]
    if view.ended:
        parts.append(sentence("overview.state.ended", number=fmt.exact(view.ended)) + " ")
    if not view.is_now:
        parts.append(
            dcc.Link(
                sentence("overview.state.back"),
                href=view.address.over(None, None, length=view.address.length).href(),
                className="back-link",
            )
        )
    return html.P(parts, className="facts")


def when(view: Overview) -> str:
    """``at 16:28:00 UTC``; with its day where that is not the day of the newest verdict."""
    is_today = fmt.day_clock(view.at_ms)[:5] == fmt.day_clock(view.newest_ms)[:5]
    at = fmt.clock(view.at_ms) if is_today else fmt.moment(view.at_ms)
    return sentence("overview.when", at=at)


def _tile(view: Overview, group: str) -> dcc.Link:
    causes, (mark, colour) = GROUPS[group], _LOOKS[group]
    number = view.counts.of(causes)
    chosen = set(causes) == set(view.address.causes)
    return dcc.Link(
        [
            html.Span(
                [
                    html.Span(
                        mark, className="cause-mark", style={"color": colour}, **{"aria-hidden": "true"}
                    ),
                    sentence(f"overview.group.{group}"),
                ],
                className="tile-name",
            ),
            html.Strong(fmt.exact(number), className="tile-number" if number else "tile-number none"),
            html.Span(
                [
                    html.Span(text, className="tile-change")
                    for text in _changes(view, lambda counts: counts.of(causes))
                ],
                className="tile-changes",
            ),
        ],
        href=view.address.toggled(*causes).href(),
        className="card state-tile chosen" if chosen else "card state-tile",
        style={"--cause": colour},
        title=sentence("overview.group.filter"),
    )


def _backlog(view: Overview) -> html.Div:
    """All backlog of those with a problem, and how it went."""
    entries = view.counts.backlog_entries
    totals = [one.backlog_entries for one in view.timeline.bins]
    path = trend_path(
        [total if one.was_judged else None for one, total in zip(view.timeline.bins, totals, strict=True)]
    )
    graph = []
    if path is not None:
        words = sentence(
            "overview.backlog.over_time",
            high=fmt.short(round(max(totals))),
            newest=fmt.short(round(totals[-1])),
        )
        graph = [html.Img(src=picture(path), alt=words, title=words, className="sparkline")]
    number = (
        html.Span(
            [html.Strong(fmt.short(round(entries))), " ", sentence("overview.backlog.unit")],
            className="tile-number",
        )
        if entries is not None
        else html.Span(
            fmt.exact(0) if not view.counts.troubled else fmt.missing(), className="tile-number none"
        )
    )
    return html.Div(
        [
            html.Span(sentence("overview.backlog"), className="tile-name"),
            number,
            html.Span(
                [
                    html.Span(text, className="tile-change")
                    for text in _changes(view, lambda counts: round(counts.backlog_entries or 0))
                ],
                className="tile-changes",
            ),
            *graph,
        ],
        className="card flat state-tile state-backlog",
    )


def _changes(view: Overview, of) -> list[str]:
    """Against an hour and a day before; a lake that is younger is compared with its first moment in the range."""
    now = of(view.counts)
    found = [
        _in_length(now - of(counts), fmt.duration(ago_ms))
        for ago_ms, counts in view.before
        if counts is not None
    ]
    if found:
        return found
    first = next((one for one in view.timeline.bins if one.was_judged and one.start_ms < view.at_ms), None)
    if first is None:
        return []
    at_ms = first.at_ms or first.start_ms + view.timeline.step_ms
    before = MomentCounts(at_ms, first.causes, first.backlog_entries)
    return [_since(now - of(before), fmt.short_clock(at_ms))]


def _in_length(by: float, length: str) -> str:
    return sentence("overview.change.ago", change=_signed(by), length=length)


def _since(by: float, at: str) -> str:
    return sentence("overview.change.since", change=_signed(by), at=at)


def _signed(by: float) -> str:
    return fmt.signed(by) if by else "±0"
