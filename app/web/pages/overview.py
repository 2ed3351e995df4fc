"""The first page: how many of what, what is lost next, what many share, what is largest, and how fresh all of it is.

In: the newest verdicts, forecasts, episodes and incidents of a lake. Out: components; every row leads to its subscription.
"""

from __future__ import annotations

from dash import Dash, Output, dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.presentation.links.paths import OVERVIEW_PATH
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.components.parts import cause_badge, plain_table, section, subscription_link
from throttlescope.app.web.components.shared_incident import shared_link
from throttlescope.app.web.components.shell import freshness_line, no_verdicts, panel, skeleton
from throttlescope.app.web.data import newest
from throttlescope.app.web.data import overview as asked
from throttlescope.app.web.data.latest import RECENT_MS
from throttlescope.app.web.data.newest import CauseCount, ClusterFreshness
from throttlescope.app.web.data.overview import LastRun
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.page_declaration import WebPage

TITLE = "Overview"

#: What held longest in the recent hours, the worst first: an alert that has gone quiet, or a recording.
_LATELY = SubscriptionsAddress(view=newest.RECENT)
_MOST_LATELY = 8

_LOSSES = {
    "ttl": "messages expire",
    "quota_size": "backlog quota by size",
    "quota_age": "backlog quota by age",
}


def layout(_address: None, _query: str | None) -> html.Div:
    """The frame of the page; its content is filled by a callback."""
    return html.Div(html.Div(skeleton(), id="overview-content"), className="overview")


def register(app: Dash, reader: LakeReader) -> None:
    """One callback: the page from one reading."""
    PAGE.fill(app, lambda _address: page(reader), Output("overview-content", "children"))


PAGE = WebPage(OVERVIEW_PATH, TITLE, None, layout, register)


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
            lately(newest.subscriptions(reader, _LATELY, end=_MOST_LATELY)[0]),
        ]
    )


def run_line(run: LastRun | None) -> list:
    """How the newest run ended; one that failed says since when nothing new came."""
    if run is None:
        return []
    words = f"{run.command} {run.status} at {fmt.moment(run.finished_ms)}"
    if run.status == "done":
        return [html.Span(words, className="quiet")]
    since = f"last done {fmt.moment(run.done_ms)}" if run.done_ms else "none was ever done"
    return [html.Strong(f"{words}; {since}", className="run-failed")]


def cards(counts: list[CauseCount], before: dict[str, int] | None, freshness: ClusterFreshness) -> html.Nav:
    """One card per cause that is or was there: how many now, and the change since a day before."""
    now = {count.cause: count.now for count in counts}
    recent = {count.cause: count.recent for count in counts}
    words = [cause for cause in CAUSES if now.get(cause) or recent.get(cause) or (before or {}).get(cause)]
    compared = (
        "against 24 h earlier" if before is not None else "nothing was judged 24 h earlier to compare with"
    )
    return html.Nav(
        [
            *(
                _card(
                    cause,
                    now.get(cause, 0),
                    recent.get(cause, 0),
                    None if before is None else before.get(cause, 0),
                )
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


def _card(word: str, now: int, recent: int, before: int | None) -> dcc.Link:
    cause = CAUSES[word]
    change = "" if before is None else ("no change" if now == before else fmt.signed(now - before))
    lately = f"{fmt.exact(recent)} in {fmt.duration(RECENT_MS)}"
    return dcc.Link(
        [
            html.Span(
                [html.Span(cause.mark, className="cause-mark", style={"color": cause.colour}), cause.label],
                className="card-label",
            ),
            html.Span(html.Strong(fmt.exact(now)), className="card-first" if now else "card-first none"),
            html.Span(f"{change} · {lately}" if change else lately, className="card-second"),
        ],
        href=SubscriptionsAddress(causes=(word,), view=newest.NOW if now else newest.RECENT).href(),
        className="card",
        title=cause.answer,
    )


def _table(head: tuple[str, ...], rows: list[list], none: str):
    """A table, or in words that there is nothing to tell."""
    return plain_table(head, rows) if rows else html.P(none, className="quiet")


def losses(rows: list[dict], freshness: ClusterFreshness, *, is_forecast: bool) -> html.Section:
    """What is lost or held next if nothing changes."""
    if not is_forecast:
        body = panel(
            "No forecasts yet.",
            ["Deadlines come from forecasts: throttlescope forecast --store --lake DIR, or the next run."],
        )
    else:
        body = _table(
            (
                "Subscription",
                "Cause",
                "What happens",
                "When",
                f"90 %, {fmt.zone_of(freshness.data_up_to_ms)}",
            ),
            [_loss(row) for row in rows],
            "No loss is expected: no TTL or backlog quota is reached at this rate.",
        )
    return section("What is lost next", [body], note="if nothing changes, earliest first")


def _loss(row: dict) -> list:
    when = fmt.duration(max(0, row["predicted_ms"] - row["made_at_ms"]))
    low, high = row["low_ms"], row["high_ms"]
    between = f"{fmt.day_clock(low)} to {fmt.day_clock(high)}" if high else f"{fmt.day_clock(low)} or later"
    return [
        subscription_link(row),
        cause_badge(row["cause"], row["limiter"]),
        html.Span(_LOSSES[row["kind"]], title=row["consequence"]),
        html.Span(
            f"in {when}",
            title=f"{fmt.moment(row['predicted_ms'])}; forecast made at {fmt.moment(row['made_at_ms'])}",
        ),
        html.Span(between, title=f"{fmt.moment(low)} to {fmt.moment(high) if high else 'open'}"),
    ]


def _for(since_ms: int, freshness: ClusterFreshness) -> html.Span:
    return html.Span(
        fmt.duration(max(0, freshness.data_up_to_ms - since_ms)), title=f"since {fmt.moment(since_ms)}"
    )


def incidents(rows: list[dict], freshness: ClusterFreshness, *, are_judged: bool) -> html.Section:
    """What several open backlogs have in common."""
    if not are_judged:
        body = panel(
            "No episodes yet.",
            ["They are made by the next run, or by throttlescope episodes --store --lake DIR."],
        )
    else:
        body = _table(
            ("Shared", "Cause", "Subscriptions", "For", "Largest, entries"),
            [
                [
                    shared_link(row),
                    cause_badge(row["cause"], row["limiter"]),
                    f"{fmt.exact(row['subscriptions'])} on {fmt.exact(row['topics'])} {'topic' if row['topics'] == 1 else 'topics'}",
                    _for(row["since_ms"], freshness),
                    fmt.short(row["peak_entries"]),
                ]
                for row in rows
            ],
            "No limiter or broker holds several subscriptions at once.",
        )
    return section(
        "Shared incidents", [body], note="several open backlogs with one limiter or broker in common"
    )


def backlogs(
    rows: list[dict], total: int, freshness: ClusterFreshness, *, are_judged: bool
) -> html.Section | None:
    """The largest backlogs that are not drained, with what holds them now."""
    if not are_judged:
        return None
    body = _table(
        ("Subscription", "Cause", "Backlog, entries", "Largest", "Grows since", "For"),
        [
            [
                subscription_link(row),
                cause_badge(row["cause"], row["limiter"]) if row["cause"] else "not judged yet",
                fmt.short(row["last_entries"]),
                fmt.short(row["peak_entries"]),
                fmt.moment(row["since_ms"]),
                _for(row["since_ms"], freshness)
                if row["state"] == "open"
                else f"not seen since {fmt.moment(row['known_until_ms'])}",
            ]
            for row in rows
        ],
        "Every backlog is drained.",
    )
    shown = (
        f"the largest {len(rows)} of {fmt.exact(total)}"
        if total > len(rows)
        else f"{fmt.exact(total)} in all"
    )
    return section("Open backlogs", [body], note=f"not drained, {shown}; ready entries (batches)")


def lately(rows: list[dict]) -> html.Section | None:
    """What held longest in the recent hours, where that is not over all healthy."""
    held = [row for row in rows if row["main_cause"] not in (None, "healthy")]
    if not held:
        return None
    table = plain_table(
        ("Subscription", "Held longest by", "Backlog, largest", "In all", "Between", "Now"),
        [
            [
                subscription_link(row),
                cause_badge(row["main_cause"], row["main_limiter"]),
                fmt.short(row["main_peak_entries"]),
                fmt.duration(row["main_held_ms"]),
                fmt.between(row["main_from_ms"], row["main_to_ms"], day=False),
                cause_badge(row["cause"], row["limiter"]),
            ]
            for row in held
        ],
    )
    more = dcc.Link("all of them", href=_LATELY.href())
    note = f"newest {fmt.duration(RECENT_MS)} of each cluster; ready entries (batches)"
    return section("Worst of late", [table], note=note, tools=more)
