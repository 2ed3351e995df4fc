"""The first page: subscriptions by cause, upcoming message loss, shared incidents, largest backlogs, and how fresh the data is.

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
from throttlescope.app.web.data import overview as tables
from throttlescope.app.web.data.latest import RECENT_MS
from throttlescope.app.web.data.newest import CauseCount, ClusterFreshness
from throttlescope.app.web.data.overview import LastRun
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.page_declaration import WebPage
from throttlescope.models.messages.catalogue import sentence

TITLE = "Overview"

#: Main causes of the recent hours, the largest backlog first: they explain an alert that is no longer firing.
_RECENT = SubscriptionsAddress(view=newest.RECENT)
_MOST_RECENT = 8


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
            html.Div(run_line(tables.last_run(reader)), className="freshness"),
        ],
        className="page-head",
    )
    if not freshness.subscriptions:
        return html.Div([head, no_verdicts(reader.lake_path)])
    there = tables.judged(reader)
    counts = newest.cause_counts(reader, SubscriptionsAddress())
    episodes, open_ones = tables.open_episodes(reader)
    return html.Div(
        [
            head,
            cards(counts, tables.counts_a_day_before(reader), freshness),
            html.Div(
                [
                    losses(tables.next_losses(reader), freshness, is_forecast="forecasts" in there),
                    incidents(tables.open_incidents(reader), freshness, are_judged="episodes" in there),
                ],
                className="overview-columns",
            ),
            backlogs(episodes, open_ones, freshness, are_judged="episodes" in there),
            recent_backlogs(newest.subscriptions(reader, _RECENT, end=_MOST_RECENT)[0]),
        ]
    )


def run_line(run: LastRun | None) -> list:
    """How the newest run ended; after a failure, when a run last succeeded."""
    if run is None:
        return []
    situation = "done" if run.status == "done" else "failed" if run.done_ms else "never_done"
    text = sentence(
        f"overview.run.{situation}",
        command=run.command,
        status=run.status,
        at=fmt.moment(run.finished_ms),
        success=fmt.moment(run.done_ms),
    )
    if run.status == "done":
        return [html.Span(text, className="quiet")]
    return [html.Strong(text, className="run-failed")]


def cards(counts: list[CauseCount], before: dict[str, int] | None, freshness: ClusterFreshness) -> html.Nav:
    """One card per cause of the newest, recent or previous day's verdicts: the count now, and its change in a day."""
    now = {count.cause: count.now for count in counts}
    recent = {count.cause: count.recent for count in counts}
    shown = [cause for cause in CAUSES if now.get(cause) or recent.get(cause) or (before or {}).get(cause)]
    number = fmt.exact(freshness.subscriptions)
    if before is None:
        note = sentence("overview.cards.not_compared", number=number)
    else:
        note = sentence("overview.cards.compared", number=number)
    return html.Nav(
        [
            *(
                _card(
                    cause,
                    now.get(cause, 0),
                    recent.get(cause, 0),
                    None if before is None else before.get(cause, 0),
                )
                for cause in shown
            ),
            html.Span(note, className="cards-note"),
        ],
        className="cards",
        **{"aria-label": sentence("overview.cards.label")},
    )


def _card(name: str, now: int, recent: int, before: int | None) -> dcc.Link:
    cause = CAUSES[name]
    change = "" if before is None else ("no change" if now == before else fmt.signed(now - before))
    in_recent = f"{fmt.exact(recent)} in {fmt.duration(RECENT_MS)}"
    return dcc.Link(
        [
            html.Span(
                [html.Span(cause.mark, className="cause-mark", style={"color": cause.colour}), cause.label],
                className="card-label",
            ),
            html.Span(html.Strong(fmt.exact(now)), className="card-first" if now else "card-first none"),
            html.Span(f"{change} · {in_recent}" if change else in_recent, className="card-second"),
        ],
        href=SubscriptionsAddress(causes=(name,), view=newest.NOW if now else newest.RECENT).href(),
        className="card",
        title=cause.answer,
    )


def _table(head: tuple[str, ...], rows: list[list], none: str):
    """A table, or a sentence where it would be empty."""
    return plain_table(head, rows) if rows else html.P(none, className="quiet")


def losses(rows: list[dict], freshness: ClusterFreshness, *, is_forecast: bool) -> html.Section:
    """Messages that will be lost, or producers that will be blocked, if nothing changes."""
    if not is_forecast:
        body = panel(sentence("overview.losses.no_forecasts"), [sentence("overview.losses.no_forecasts_why")])
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
            sentence("overview.losses.none"),
        )
    return section(sentence("overview.losses.title"), [body], note=sentence("overview.losses.note"))


def _loss(row: dict) -> list:
    when = fmt.duration(max(0, row["predicted_ms"] - row["made_at_ms"]))
    low, high = row["low_ms"], row["high_ms"]
    between = f"{fmt.day_clock(low)} to {fmt.day_clock(high)}" if high else f"{fmt.day_clock(low)} or later"
    return [
        subscription_link(row),
        cause_badge(row["cause"], row["limiter"]),
        html.Span(sentence(f"overview.losses.kind.{row['kind']}"), title=row["consequence"]),
        html.Span(
            f"in {when}",
            title=sentence(
                "overview.losses.made", at=fmt.moment(row["predicted_ms"]), made=fmt.moment(row["made_at_ms"])
            ),
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
            sentence("overview.incidents.no_episodes"), [sentence("overview.incidents.no_episodes_why")]
        )
    else:
        body = _table(
            ("Shared", "Cause", "Subscriptions", "Duration", "Largest backlog, entries"),
            [
                [
                    shared_link(row),
                    cause_badge(row["cause"], row["limiter"]),
                    sentence(
                        f"overview.incidents.affected.{'one_topic' if row['topics'] == 1 else 'topics'}",
                        subscriptions=fmt.exact(row["subscriptions"]),
                        topics=fmt.exact(row["topics"]),
                    ),
                    _for(row["since_ms"], freshness),
                    fmt.short(row["peak_entries"]),
                ]
                for row in rows
            ],
            sentence("overview.incidents.none"),
        )
    return section("Shared incidents", [body], note=sentence("overview.incidents.note"))


def backlogs(
    rows: list[dict], total: int, freshness: ClusterFreshness, *, are_judged: bool
) -> html.Section | None:
    """The largest open backlogs, with their current cause."""
    if not are_judged:
        return None
    body = _table(
        ("Subscription", "Cause", "Backlog, entries", "Largest, entries", "Started", "Duration"),
        [
            [
                subscription_link(row),
                cause_badge(row["cause"], row["limiter"]) if row["cause"] else "no verdict yet",
                fmt.short(row["last_entries"]),
                fmt.short(row["peak_entries"]),
                fmt.moment(row["since_ms"]),
                _for(row["since_ms"], freshness)
                if row["state"] == "open"
                else sentence("overview.backlogs.not_seen", at=fmt.moment(row["known_until_ms"])),
            ]
            for row in rows
        ],
        sentence("overview.backlogs.none"),
    )
    if total > len(rows):
        note = sentence("overview.backlogs.largest", shown=len(rows), number=fmt.exact(total))
    else:
        note = sentence("overview.backlogs.all", number=fmt.exact(total))
    return section("Open backlogs", [body], note=note)


def recent_backlogs(rows: list[dict]) -> html.Section | None:
    """The main causes of the recent hours, healthy subscriptions left out."""
    rows = [row for row in rows if row["main_cause"] not in (None, "healthy")]
    if not rows:
        return None
    table = plain_table(
        ("Subscription", "Main cause", "Largest backlog, entries", "Total duration", "Between", "Cause now"),
        [
            [
                subscription_link(row),
                cause_badge(row["main_cause"], row["main_limiter"]),
                fmt.short(row["main_peak_entries"]),
                fmt.duration(row["main_held_ms"]),
                fmt.between(row["main_from_ms"], row["main_to_ms"], day=False),
                cause_badge(row["cause"], row["limiter"]),
            ]
            for row in rows
        ],
    )
    more = dcc.Link("Show all", href=_RECENT.href())
    length = fmt.duration(RECENT_MS)
    title, note = (
        sentence("overview.recent.title", length=length),
        sentence("overview.recent.note", length=length),
    )
    return section(title, [table], note=note, tools=more)
