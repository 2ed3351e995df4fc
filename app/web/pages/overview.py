"""The first page: how many of what, what is lost next, what many share, what is largest, and how fresh all of it is.

In: the newest verdicts, forecasts, episodes and incidents of a lake. Out: components; every row leads to its subscription.
"""

from __future__ import annotations

from dash import Dash, Input, Output, State, dcc, html, no_update

from throttlescope.app.web import format as fmt
from throttlescope.app.web.address import (
    OVERVIEW_PATH,
    Subscription,
    SubscriptionAddress,
    SubscriptionsAddress,
)
from throttlescope.app.web.causes import CAUSES, limiter_words
from throttlescope.app.web.data import newest
from throttlescope.app.web.data import overview as asked
from throttlescope.app.web.data.newest import CauseCount, Freshness
from throttlescope.app.web.data.overview import Run
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.grid import NONE
from throttlescope.app.web.parts import section
from throttlescope.app.web.shell import explained, freshness_line, no_verdicts, panel, skeleton

PATH = OVERVIEW_PATH
TITLE = "Overview"

_LOSSES = {
    "ttl": "messages expire",
    "quota_size": "backlog quota by size",
    "quota_age": "backlog quota by age",
}
_SHARED = {
    "broker": "the broker",
    "broker_limiter": "the broker's limit",
    "namespace_policy": "a limit of the namespace",
    "topic_limiter": "the topic's limit",
}


def layout(_query: str | None) -> html.Div:
    """The frame of the page; its content is filled by a callback."""
    return html.Div(html.Div(skeleton(), id="overview-content"), className="overview")


def register(app: Dash, reader: LakeReader) -> None:
    """One callback: the page from one reading."""

    @app.callback(
        Output("overview-content", "children"), Input("address", "search"), State("address", "pathname")
    )
    def show(_query, pathname):
        return explained(lambda: page(reader))() if pathname == PATH else no_update


def page(reader: LakeReader) -> html.Div:
    """The whole page."""
    freshness = newest.freshness(reader)
    head = html.Div(
        [
            html.H1(TITLE),
            html.Div(freshness_line(freshness), className="freshness"),
            html.Div(run_line(asked.last_run(reader)), className="freshness"),
        ],
        className="page-head",
    )
    if not freshness.subscriptions:
        return html.Div([head, no_verdicts(reader.lake_path)])
    there = asked.judged(reader)
    counts = newest.cause_counts(reader, SubscriptionsAddress())
    episodes, open_ones = asked.open_episodes(reader)
    return html.Div(
        [
            head,
            cards(counts, asked.counts_a_day_before(reader), freshness),
            html.Div(
                [
                    losses(asked.next_losses(reader), freshness, is_forecast="forecasts" in there),
                    incidents(asked.open_incidents(reader), freshness, are_judged="episodes" in there),
                ],
                className="overview-columns",
            ),
            backlogs(episodes, open_ones, freshness, are_judged="episodes" in there),
        ]
    )


def run_line(run: Run | None) -> list:
    """How the newest run ended; one that failed says since when nothing new came."""
    if run is None:
        return []
    words = f"{run.command} {run.status} at {fmt.moment(run.finished_ms)}"
    if run.status == "done":
        return [html.Span(words, className="quiet")]
    since = f"last done {fmt.moment(run.done_ms)}" if run.done_ms else "none was ever done"
    return [html.Strong(f"{words}; {since}", className="run-failed")]


def cards(counts: list[CauseCount], before: dict[str, int] | None, freshness: Freshness) -> html.Nav:
    """One card per cause that is or was there: how many now, and the change since a day before."""
    now = {count.cause: count.now for count in counts}
    words = [cause for cause in CAUSES if now.get(cause) or (before or {}).get(cause)]
    compared = (
        "against 24 h earlier" if before is not None else "nothing was judged 24 h earlier to compare with"
    )
    return html.Nav(
        [
            *(
                _card(cause, now.get(cause, 0), None if before is None else before.get(cause, 0))
                for cause in words
            ),
            html.Span(
                f"{fmt.exact(freshness.subscriptions)} subscription partitions; {compared}.",
                className="cards-note",
            ),
        ],
        className="cards",
        **{"aria-label": "subscriptions by cause"},
    )


def _card(word: str, now: int, before: int | None) -> dcc.Link:
    cause = CAUSES[word]
    change = "" if before is None else ("no change" if now == before else fmt.signed(now - before))
    return dcc.Link(
        [
            html.Span(
                [html.Span(cause.mark, className="cause-mark", style={"color": cause.colour}), cause.label],
                className="card-label",
            ),
            html.Span(html.Strong(fmt.exact(now)), className="card-first" if now else "card-first none"),
            html.Span(change, className="card-second"),
        ],
        href=SubscriptionsAddress(causes=(word,), view=newest.NOW).href(),
        className="card",
        title=cause.answer,
    )


def losses(rows: list[dict], freshness: Freshness, *, is_forecast: bool) -> html.Section:
    """What is lost or held next if nothing changes."""
    if not is_forecast:
        body = panel(
            "No forecasts yet.",
            ["Deadlines come from forecasts: throttlescope forecast --store --lake DIR, or the next run."],
        )
    elif not rows:
        body = html.P(
            "No loss is expected: no TTL or backlog quota is reached at this rate.", className="quiet"
        )
    else:
        body = _table(
            ("Subscription", "Cause", "What happens", "When", "90 %, UTC"),
            [_loss(row) for row in rows],
        )
    return section("What is lost next", [body], note="if nothing changes, earliest first; UTC")


def _loss(row: dict) -> list:
    when = fmt.duration(max(0, row["predicted_ms"] - row["made_at_ms"]))
    low, high = row["low_ms"], row["high_ms"]
    between = f"{_day_clock(low)} to {_day_clock(high)}" if high else f"{_day_clock(low)} or later"
    return [
        _link(row),
        badge(row["cause"], row["limiter"]),
        html.Span(_LOSSES[row["kind"]], title=row["consequence"]),
        html.Span(
            f"in {when}",
            title=f"{fmt.moment(row['predicted_ms'])}; forecast made at {fmt.moment(row['made_at_ms'])}",
        ),
        html.Span(between, title=f"{fmt.moment(low)} to {fmt.moment(high) if high else 'open'}"),
    ]


def _day_clock(time_ms: int | None) -> str:
    return NONE if time_ms is None else fmt.moment(time_ms)[5:16]


def _for(since_ms: int, freshness: Freshness) -> html.Span:
    return html.Span(
        fmt.duration(max(0, freshness.data_up_to_ms - since_ms)), title=f"since {fmt.moment(since_ms)}"
    )


def incidents(rows: list[dict], freshness: Freshness, *, are_judged: bool) -> html.Section:
    """What several open backlogs have in common."""
    if not are_judged:
        body = panel(
            "No episodes yet.",
            ["They are made by the next run, or by throttlescope episodes --store --lake DIR."],
        )
    elif not rows:
        body = html.P("No limiter or broker holds several subscriptions at once.", className="quiet")
    else:
        body = _table(
            ("Shared", "Cause", "Subscriptions", "For", "Largest, entries"),
            [
                [
                    _shared(row),
                    badge(row["cause"], row["limiter"]),
                    f"{fmt.exact(row['subscriptions'])} on {fmt.exact(row['topics'])} {'topic' if row['topics'] == 1 else 'topics'}",
                    _for(row["since_ms"], freshness),
                    fmt.short(row["peak_entries"]),
                ]
                for row in rows
            ],
        )
    return section(
        "Shared incidents", [body], note="several open backlogs with one limiter or broker in common"
    )


def _shared(row: dict) -> dcc.Link | html.Span:
    name = row["shared_with"]
    words = [
        html.Span(_SHARED[row["kind"]], className="row-name"),
        html.Bdi(fmt.topic_name(name, -1), className="row-place"),
    ]
    if row["kind"].startswith("broker"):
        return html.Span(words, className="row-link", title=fmt.name(name))
    href = SubscriptionsAddress(search=name, clusters=(row["cluster"],), view=newest.NOW).href()
    return dcc.Link(words, href=href, className="row-link", title=fmt.name(f"{row['cluster']}: {name}"))


def backlogs(rows: list[dict], total: int, freshness: Freshness, *, are_judged: bool) -> html.Section | None:
    """The largest backlogs that are not drained."""
    if not are_judged:
        return None
    if not rows:
        body = html.P("Every backlog is drained.", className="quiet")
    else:
        body = _table(
            ("Subscription", "Held longest by", "Backlog, entries", "Largest", "Grows since", "For"),
            [
                [
                    _link(row),
                    badge(row["cause"], row["limiter"]),
                    fmt.short(row["last_entries"]),
                    fmt.short(row["peak_entries"]),
                    fmt.moment(row["since_ms"]),
                    _for(row["since_ms"], freshness)
                    if row["state"] == "open"
                    else f"not seen since {fmt.moment(row['known_until_ms'])}",
                ]
                for row in rows
            ],
        )
    shown = (
        f"the largest {len(rows)} of {fmt.exact(total)}"
        if total > len(rows)
        else f"{fmt.exact(total)} in all"
    )
    return section("Open backlogs", [body], note=f"not drained, {shown}; ready entries (batches)")


def badge(word: str, limiter: str | None) -> html.Span:
    """A cause by shape and name, with the limiter that binds."""
    cause = CAUSES[word]
    binds = f": the {limiter_words(limiter)}" if limiter else ""
    return html.Span(
        [
            html.Span(
                cause.mark, className="cause-mark", style={"color": cause.colour}, **{"aria-hidden": "true"}
            ),
            cause.label,
            *([html.Span(limiter, className="cause-extra")] if limiter else []),
        ],
        className="cause-badge",
        title=f"{cause.answer}{binds}",
    )


def _link(row: dict) -> dcc.Link:
    key = Subscription(row["cluster"], row["topic"], row["partition"], row["subscription"])
    return dcc.Link(
        [
            html.Bdi(fmt.name(row["subscription"], 60), className="row-name"),
            html.Bdi(fmt.topic_name(row["topic"], row["partition"]), className="row-place"),
        ],
        href=SubscriptionAddress(key).href(),
        className="row-link",
        title=fmt.name(f"{row['cluster']}: {row['topic']}#{row['subscription']}"),
    )


def _table(head: tuple[str, ...], rows: list[list]) -> html.Div:
    # Wider than a small screen: the table scrolls in its own box, not the page.
    return html.Div(
        html.Table(
            [
                html.Thead(html.Tr([html.Th(text, scope="col") for text in head])),
                html.Tbody([html.Tr([html.Td(cell) for cell in row]) for row in rows]),
            ],
            className="plain-table",
        ),
        className="table-box",
        tabIndex=0,
        role="region",
        **{"aria-label": head[0]},
    )
