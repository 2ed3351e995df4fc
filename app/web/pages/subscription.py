"""One subscription: the answer in words first, then what it rests on.

In: the address (subscription, range, window) and rows of signals, verdicts and truth. Out: components.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import dash_ag_grid as dag
import dash_mantine_components as dmc
import pandas as pd
from dash import ALL, ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from throttlescope.app.web import figures
from throttlescope.app.web import format as fmt
from throttlescope.app.web.address import SUBSCRIPTION_PATH, SUBSCRIPTIONS_PATH, SubscriptionAddress
from throttlescope.app.web.answer import Answer, answer, cause_is_open
from throttlescope.app.web.causes import CAUSES, SIDES
from throttlescope.app.web.data import history
from throttlescope.app.web.data.latest import LOOK_BACK_MS
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.figures.chart import CONFIG
from throttlescope.app.web.grid import GRID_THEME, NONE, or_none
from throttlescope.app.web.limits import Limit, is_relative, known_limits
from throttlescope.app.web.measured import is_measured
from throttlescope.app.web.parts import badge, copy_button, hostile, section
from throttlescope.app.web.runs import runs
from throttlescope.app.web.shell import back_link, explained, panel, skeleton
from throttlescope.ingest.times import BLOCK_MS, MINUTE_MS

PATH = SUBSCRIPTION_PATH
TITLE = "Subscription"

LONGEST_DEFAULT_MS = 6 * BLOCK_MS
#: The page stays quick up to here; a longer range is cut to its end and says so.
LONGEST_MS = 7 * 24 * BLOCK_MS

_MOST_EARLIER = 3
_LENGTHS_MS = (30 * MINUTE_MS, BLOCK_MS, 3 * BLOCK_MS, 6 * BLOCK_MS, 24 * BLOCK_MS)


@dataclass(frozen=True)
class View:
    """Everything that the page shows, read once.

    Attributes
    ----------
    span_ms : (int, int)
        First and last moment that the lake knows of this subscription.
    start_ms, end_ms : int
        The range shown.
    was_cut : bool
        The address asked for a longer range.
    minutes, verdicts, truth
        Rows in that range.
    history
        Verdicts of the day before its end, without evidence: for "since".
    """

    address: SubscriptionAddress
    span_ms: tuple[int, int]
    start_ms: int
    end_ms: int
    was_cut: bool
    minutes: pd.DataFrame
    verdicts: Sequence[dict]
    history: Sequence[dict]
    truth: Sequence[dict]


def layout(_query: str | None) -> html.Div:
    """The frame of the page; its content is filled by a callback."""
    content = html.Div(skeleton(), id="subscription-content", className="subscription")
    return html.Div([content, dcc.Store(id="subscription-told")])


def register(app: Dash, reader: LakeReader) -> None:
    """Callbacks: one that builds the page, one in the browser that links the charts' zoom."""

    @app.callback(
        Output("subscription-content", "children"), Input("address", "search"), State("address", "pathname")
    )
    def show(query, pathname):
        if pathname != PATH:
            return no_update
        return explained(lambda: _page(reader, query))()

    app.clientside_callback(
        ClientsideFunction("throttlescope", "tellWindow"),
        Output("subscription-told", "data"),
        Input({"type": "chart", "panel": ALL}, "clickData"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        ClientsideFunction("throttlescope", "linkZoom"),
        Output("subscription-content", "className"),
        Input({"type": "chart", "panel": ALL}, "relayoutData"),
        prevent_initial_call=True,
    )


def _page(reader: LakeReader, query: str | None):
    address = SubscriptionAddress.parse(query)
    view = read_view(reader, address)
    if view is None:
        return never_seen(address)
    return page(view)


def read_view(reader: LakeReader, address: SubscriptionAddress) -> View | None:
    """Read what the address asks for; None where the lake never saw the subscription."""
    span = history.span(reader, address.subscription)
    if span is None:
        return None
    start_ms, end_ms, was_cut = chosen_range(address, span)
    return View(
        address,
        span,
        start_ms,
        end_ms,
        was_cut,
        history.signals(reader, address.subscription, start_ms, end_ms),
        history.verdicts(reader, address.subscription, start_ms, end_ms),
        history.causes(reader, address.subscription, end_ms - LOOK_BACK_MS, end_ms),
        history.truth(reader, address.subscription, start_ms, end_ms),
    )


def chosen_range(address: SubscriptionAddress, span: tuple[int, int]) -> tuple[int, int, bool]:
    """The range to show: the address's, or the newest hours of what the lake knows."""
    end_ms = address.end_ms if address.end_ms is not None else span[1]
    if address.at_ms is not None and address.start_ms is None and address.end_ms is None:
        # A link to one window of long ago: the hours around it.
        newest = end_ms - LONGEST_DEFAULT_MS < address.at_ms <= end_ms
        end_ms = end_ms if newest else min(end_ms, address.at_ms + LONGEST_DEFAULT_MS // 2)
    if address.start_ms is not None:
        start_ms = address.start_ms
        # A start after the data's end and no end: there is no sensible guess but the default length.
        end_ms = max(end_ms, start_ms + MINUTE_MS)
    else:
        start_ms = (
            max(span[0], end_ms - LONGEST_DEFAULT_MS) if end_ms > span[0] else end_ms - LONGEST_DEFAULT_MS
        )
    was_cut = end_ms - start_ms > LONGEST_MS
    return (end_ms - LONGEST_MS if was_cut else start_ms), end_ms, was_cut


def never_seen(address: SubscriptionAddress) -> html.Div:
    key = address.subscription
    return html.Div(
        [
            _head(address),
            panel(
                "The lake has never seen this subscription.",
                [
                    f"Neither minutes nor verdicts are stored for it (cluster {fmt.name(key.cluster)}).",
                    "It may be newer than the last run, unloaded on its broker (then it has no series at all), "
                    "or filtered out when the data was read.",
                ],
                next_step=back_link(),
                tone="orange",
            ),
        ]
    )


def page(view: View) -> html.Div:
    """The whole page. Pure: the same view gives the same components."""
    told = told_verdict(view)
    # Limits as of the window that is told, not as of the range's end.
    limits = known_limits(
        _until(view.minutes, told["window_end_ms"] if told else view.end_ms),
        since_ms=told["window_start_ms"] if told else None,
    )
    children: list = [_head(view.address)]
    if told:
        history = [row for row in view.history if row["window_end_ms"] < told["window_end_ms"]]
        newest = None if told is view.verdicts[-1] else view.verdicts[-1]
        card = answer_card(
            answer(told, history, limits), told, newest, replace(view.address, at_ms=None).href()
        )
        children += [card, *earlier(view, told)]
    else:
        children.append(_nothing_told(view))
    children.append(range_bar(view))
    left = _charts(view, told["window_end_ms"] if told else None)
    right = []
    if told:
        right += [_evidence(told), *_missing(told)]
    right.append(_limits_table(limits))
    children.append(
        html.Div(
            [html.Div(left, className="column-wide"), html.Div(right, className="column-narrow")],
            className="columns",
        )
    )
    if view.verdicts:
        children.append(_windows(view))
    return html.Div(children)


def told_verdict(view: View) -> dict | None:
    """The verdict that the page tells: the newest, or the newest up to the address's ``at``."""
    at_ms = view.address.at_ms
    up_to = [row for row in view.verdicts if at_ms is None or row["window_end_ms"] <= at_ms]
    return up_to[-1] if up_to else None


def _until(minutes: pd.DataFrame, end_ms: int) -> pd.DataFrame:
    return minutes[minutes["minute_ms"] < end_ms]


def _head(address: SubscriptionAddress) -> html.Div:
    key = address.subscription
    return html.Div(
        [
            html.Div(
                [dcc.Link("← all subscriptions", href=SUBSCRIPTIONS_PATH)],
                className="crumbs",
            ),
            html.H1([html.Span("Subscription ", className="quiet"), hostile(key.subscription)]),
            html.P(
                [
                    html.Span("topic ", className="quiet"),
                    hostile(key.topic),
                    html.Span(
                        " · not partitioned · " if key.partition < 0 else f" · partition {key.partition} · ",
                        className="quiet",
                    ),
                    html.Span("cluster ", className="quiet"),
                    hostile(key.cluster),
                ],
                className="identity",
            ),
        ],
        className="page-identity",
    )


def answer_card(told: Answer, verdict: dict, newest: dict | None, newest_href: str) -> html.Section:
    """What, since when, why, how sure, what first and what not; with the newest verdict where that is another."""
    beside = []
    if newest is not None:
        link = dcc.Link([badge(CAUSES[newest["cause"]], newest["limiter"] or "")], href=newest_href)
        beside = [html.Span(["not the newest; newest: ", link], className="answer-newest")]
    window = (
        f"window {fmt.moment(verdict['window_start_ms'])} to {fmt.clock(verdict['window_end_ms'])}"
        f" · rules {fmt.name(verdict['rules_version'], 40)}"
    )
    return html.Section(
        [
            html.Div(
                [
                    badge(told.cause),
                    html.Span(told.sure, className="sure"),
                    *beside,
                    html.Span(window, className="answer-window"),
                ],
                className="answer-top",
            ),
            html.P(told.title, className="answer-title", id="answer"),
            html.P(f"{told.since} {told.backlog}", className="answer-since"),
            html.Div(
                [
                    html.Div(
                        [
                            html.H3("Why"),
                            html.Ul([html.Li(hostile_sentence(text)) for text in told.why])
                            if told.why
                            else html.P("No evidence for it is recorded in this window.", className="quiet"),
                            *(
                                [
                                    html.P(
                                        [html.Strong("Against it: "), hostile_sentence(told.against[0])],
                                        className="against",
                                    )
                                ]
                                if told.against
                                else []
                            ),
                        ],
                        className="answer-why",
                    ),
                    html.Div(
                        [
                            html.P([html.Strong("First: "), told.first]),
                            html.P([html.Strong("Not: "), told.never], className="never"),
                            html.P(
                                [
                                    html.Strong("The naive rule says: "),
                                    told.naive,
                                    html.Span(
                                        " (agrees)" if told.naive_agrees else " (differs)", className="quiet"
                                    ),
                                ],
                                title="backlog > 1000 entries: a limit if there was any throttle event, else the consumers",
                            ),
                        ],
                        className="answer-do",
                    ),
                ],
                className="answer-columns",
            ),
        ],
        className="answer",
        style={"borderLeftColor": told.cause.colour},
        **{"aria-label": "answer"},
    )


def hostile_sentence(text: str) -> html.Bdi:
    return html.Bdi(fmt.name(text, 600))


def earlier(view: View, told: dict) -> list:
    """Other troubles of the range, longest first: what an alert that has gone quiet was about."""
    others = [
        run
        for run in runs(view.verdicts)
        if run.cause not in ("healthy", "unknown") and not run.start_ms < told["window_end_ms"] <= run.end_ms
    ]
    others.sort(key=lambda run: run.start_ms - run.end_ms)
    if not others:
        return []
    links = [
        dcc.Link(
            [
                badge(CAUSES[run.cause], run.limiter or ""),
                f" {fmt.clock(run.start_ms).removesuffix(' UTC')} to {fmt.clock(run.end_ms)}, "
                f"{fmt.duration(run.end_ms - run.start_ms)}",
            ],
            href=replace(view.address, at_ms=run.end_ms).href(),
            className="earlier-link",
        )
        for run in others[:_MOST_EARLIER]
    ]
    more = len(others) - len(links)
    return [
        html.Div(
            [
                html.Span("Also in this range: ", className="quiet"),
                *links,
                *([html.Span(f"and {more} more below", className="quiet")] if more else []),
            ],
            className="earlier",
        )
    ]


def _nothing_told(view: View) -> dmc.Alert:
    first, last = view.span_ms
    return panel(
        "No verdict in this range.",
        [
            f"Shown is {fmt.moment(view.start_ms)} to {fmt.moment(view.end_ms)}.",
            f"The lake knows this subscription from {fmt.moment(first)} to {fmt.moment(last)}.",
        ],
        next_step=dcc.Link(
            "Show what is there", href=replace(view.address, start_ms=None, end_ms=None, at_ms=None).href()
        ),
    )


def range_bar(view: View) -> html.Div:
    """The range in words, and links to others; all of them absolute, so that they can be shared."""
    length = view.end_ms - view.start_ms

    def to(start_ms: int, end_ms: int) -> str:
        return replace(view.address, start_ms=start_ms, end_ms=end_ms, at_ms=None).href()

    lengths = [
        dcc.Link(
            fmt.duration(other),
            href=to(view.end_ms - other, view.end_ms),
            className="range-link chosen" if other == length else "range-link",
        )
        for other in _LENGTHS_MS
    ]
    whole = replace(view.address, start_ms=view.span_ms[0], end_ms=view.span_ms[1], at_ms=None).href()
    return html.Div(
        [
            dcc.Link("◀ earlier", href=to(view.start_ms - length, view.start_ms), className="range-link"),
            html.Span(
                f"{fmt.moment(view.start_ms)} to {fmt.moment(view.end_ms)} ({fmt.duration(length)})",
                className="range-words",
            ),
            dcc.Link("later ▶", href=to(view.end_ms, view.end_ms + length), className="range-link"),
            html.Span("last", className="quiet"),
            *lengths,
            dcc.Link("all", href=whole, className="range-link"),
            html.Span(className="shell-space"),
            html.Span(f"data up to {fmt.moment(view.span_ms[1])}", className="freshness"),
            *(
                [html.Span(f"longer than {fmt.duration(LONGEST_MS)}: cut to its end", className="quiet")]
                if view.was_cut
                else []
            ),
        ],
        className="range-bar",
        role="navigation",
        **{"aria-label": "time range"},
    )


def _charts(view: View, at_ms: int | None) -> list:
    bounds = {"start_ms": view.start_ms, "end_ms": view.end_ms}
    parts = [
        _chart(
            "verdict",
            "Verdict over time",
            figures.ribbon_figure(view.verdicts, view.minutes, truth=view.truth, at_ms=at_ms, **bounds),
            note="one stretch per cause; hover for confidence, click for its verdict",
        )
    ]
    if view.minutes.empty:
        parts.append(
            panel("No minutes in this range.", ["Backlog and rates were not scraped or not ingested for it."])
        )
        return parts
    minutes = view.minutes
    parts.append(
        _chart(
            "rates",
            "Messages in, out and acknowledged",
            figures.msg_rates_figure(minutes, **bounds),
            note=_rates_note(minutes),
        )
    )
    if _has_byte_story(minutes):
        parts.append(_chart("bytes", "Bytes in and out", figures.byte_rates_figure(minutes, **bounds)))
    parts.append(
        _chart(
            "backlog",
            "Backlog",
            figures.backlog_figure(minutes, **bounds),
            note="entries (batches), not messages",
        )
    )
    events = figures.events_figure(minutes, **bounds)
    if events is None:
        parts.append(section("Throttle events", [html.P(_no_events(minutes), className="quiet")]))
    else:
        parts.append(
            _chart(
                "events",
                "Throttle events by reason",
                events,
                note="an event is a trimmed read plan, not a withheld message",
            )
        )
    holding = figures.holding_figure(minutes, **bounds)
    if holding is not None:
        parts.append(_chart("holding", "What the consumers hold", holding))
    return parts


def _chart(name: str, title: str, figure, note: str | None = None) -> html.Section:
    graph = dcc.Graph(
        id={"type": "chart", "panel": name},
        figure=figure,
        config={**CONFIG, "toImageButtonOptions": {"filename": f"throttlescope-{name}"}},
        style={"height": figure.layout.height},
    )
    return section(title, [graph], note=note)


def _rates_note(minutes: pd.DataFrame) -> str:
    words = "limits per second, as rate / period"
    if (minutes["limit_counts"] == "entries").any():
        words += "; message limits count entries here, drawn x messages per entry"
    if minutes["ack_msg_rate"].notna().any() and not is_measured(minutes, "ack_msg_rate"):
        words += "; this Exclusive or Failover subscription has no ack rate (cumulative acks)"
    if is_relative(minutes):
        words += "; limits relative to the publish rate are drawn on top of it"
    if minutes["limit_observed_later"].fillna(False).astype(bool).any():
        words += "; limits were first read after some of these minutes"
    return words


def _has_byte_story(minutes: pd.DataFrame) -> bool:
    columns = [name for name in minutes.columns if name.startswith("limit_") and name.endswith("_bytes")]
    events = [name for name in minutes.columns if name.startswith("throttled_bytes_events_")]
    return bool(minutes[columns].notna().any().any() or (minutes[events].astype(float) > 0).any().any())


def _no_events(minutes: pd.DataFrame) -> str:
    columns = [name for name in minutes.columns if name.startswith("throttled_") and name.endswith("_delta")]
    if minutes[columns].isna().all().all():
        return "Not measured: this broker does not expose the throttle counters (they exist from 4.0.4 and 4.1.0 on)."
    return "None in this range."


def _evidence(verdict: dict) -> html.Section:
    rows = verdict["evidence"] or ()
    if not rows:
        return section("Evidence", [html.P("None was recorded for this window.", className="quiet")])
    return section("Evidence", [html.Ul([_evidence_row(row) for row in rows], className="evidence")])


_WEIGHTS = {
    "for": ("+", "speaks for it"),
    "against": ("\N{MINUS SIGN}", "speaks against it"),
    "neutral": ("·", "neither"),
}


def _evidence_row(row: dict) -> html.Li:
    mark, meaning = _WEIGHTS[row["weight"]]
    facts = []
    if not fmt.is_missing(row["value"]):
        facts.append(fmt.quantity(row["value"], row["unit"]))
        if not fmt.is_missing(row["threshold"]):
            facts.append(f"threshold {fmt.quantity(row['threshold'], row['unit'])}")
    if row["at_ms"] is not None:
        facts.append(f"at {fmt.clock(row['at_ms'])}")
    query = []
    if row["promql"]:
        shown = html.Details([html.Summary("PromQL"), html.Code(fmt.name(row["promql"], 4_000))])
        query.append(html.Div([shown, copy_button(row["promql"])], className="promql"))
    return html.Li(
        [
            html.Span(
                mark,
                className=f"weight weight-{row['weight']}",
                title=meaning,
                role="img",
                **{"aria-label": meaning},
            ),
            html.Div(
                [
                    html.P(hostile_sentence(row["text"])),
                    html.P(
                        [
                            html.Span(fmt.name(row["symptom"], 80), className="symptom"),
                            *(f" · {fact}" for fact in facts),
                        ],
                        className="facts",
                    ),
                    *query,
                ]
            ),
        ]
    )


def _missing(verdict: dict) -> list[html.Section]:
    rows = verdict["missing_evidence"] or ()
    if not rows:
        return []
    return [
        section(
            "Missing evidence",
            [
                html.Ul(
                    [
                        html.Li(
                            [
                                html.P(_sentence(fmt.name(row["what"], 600))),
                                html.P([html.Strong("Fix: "), fmt.name(row["fix"], 600)], className="facts"),
                            ]
                        )
                        for row in rows
                    ],
                    className="missing",
                )
            ],
        )
    ]


def _sentence(text: str) -> str:
    """With a capital, unless it begins with a name such as ``pulsar_...``."""
    return text if "_" in text.split(" ")[0] else text[:1].upper() + text[1:]


def _limits_table(limits: list[Limit]) -> html.Section:
    if not limits or all(limit.set_by is None for limit in limits):
        return section(
            "Limits",
            [
                html.P(
                    "Not observed: no limit of this subscription was read from the admin API.",
                    className="quiet",
                ),
                html.P("Fix: give --pulsar-admin URL to throttlescope run.", className="facts"),
            ],
        )
    known = [limit for limit in limits if limit.rate is not None]
    without = [limit.name for limit in limits if limit.rate is None and limit.set_by is not None]
    unseen = [limit.name for limit in limits if limit.rate is None and limit.set_by is None]
    rows = [
        html.Li(
            [
                html.P(
                    [
                        html.Strong(limit.name),
                        f": {limit.amount()}"
                        + (f" = {limit.speed()}" if limit.period_s not in (None, 1) else ""),
                    ]
                ),
                html.P(
                    f"set by {limit.who()}"
                    + (
                        ""
                        if limit.use_share_max is None
                        else f" · used up to {fmt.percent(limit.use_share_max)} here"
                    )
                    + (f" · lifted at {fmt.clock(limit.lifted_ms)}" if limit.lifted_ms is not None else "")
                    + (" · changed in this range" if limit.changed and limit.lifted_ms is None else ""),
                    className="facts",
                ),
                html.P(limit.proof(), className="facts" if limit.events_prove else "facts proves-nothing"),
            ]
        )
        for limit in known
    ]
    notes = []
    if without:
        notes.append(html.P(f"No limit set: {', '.join(without)}.", className="facts"))
    if unseen:
        notes.append(html.P(f"Not observed: {', '.join(unseen)}.", className="facts"))
    return section("Limits", [html.Ul(rows, className="limits"), *notes])


_WINDOW_COLUMNS = [
    {"field": "window", "headerName": "Window, UTC", "width": 250, "cellRenderer": "SubscriptionLink"},
    {"field": "cause", "headerName": "Cause", "cellRenderer": "CauseBadge", "width": 260},
    {"field": "confidence", "headerName": "Confidence", "width": 110, "type": "rightAligned"},
    {"field": "backlog", "headerName": "Backlog, entries", "width": 125, "type": "rightAligned"},
    {"field": "growth", "headerName": "Change", "width": 100, "type": "rightAligned"},
    {"field": "naive", "headerName": "Naive rule says", "width": 160},
    {
        "field": "reason",
        "headerName": "Strongest evidence",
        "flex": 1,
        "minWidth": 250,
        "tooltipField": "reason",
    },
]


def _windows(view: View) -> html.Section:
    return section(
        "Windows",
        [
            dag.AgGrid(
                id="subscription-windows",
                columnDefs=_WINDOW_COLUMNS,
                rowData=[window_row(row, view.address) for row in reversed(view.verdicts)],
                defaultColDef={"resizable": True, "sortable": False, "suppressHeaderMenuButton": True},
                eventListeners={
                    "cellKeyDown": ["openOnEnter(params)"],
                    "rowClicked": ["openOnClick(params)"],
                },
                dashGridOptions={
                    "theme": GRID_THEME,
                    "rowHeight": 32,
                    "headerHeight": 34,
                    "tooltipShowDelay": 300,
                },
                style={"height": f"{min(420, 42 + 32 * len(view.verdicts))}px"},
            )
        ],
        note=f"{fmt.exact(len(view.verdicts))}, newest first; a click tells that window's verdict above",
    )


def window_row(row: dict, address: SubscriptionAddress) -> dict:
    """One verdict of the table of windows, in words."""
    cause, naive = CAUSES[row["cause"]], SIDES[row["naive_side"]]
    evidence = row["evidence"] or ()
    reason = next((item["text"] for item in evidence if item["weight"] == "for"), "")
    return {
        "href": replace(address, at_ms=row["window_end_ms"]).href(),
        "window": f"{fmt.moment(row['window_start_ms'])} to {fmt.clock(row['window_end_ms'])}".replace(
            " UTC", ""
        ),
        "cause": cause.label,
        "cause_mark": cause.mark,
        "cause_colour": cause.colour,
        "cause_extra": row["limiter"] or "",
        "confidence": NONE
        if cause_is_open(row["cause"], row["confidence"])
        else fmt.percent(row["confidence"]),
        "backlog": or_none(row["backlog_entries"], lambda entries: fmt.short(round(entries))),
        "growth": or_none(row["backlog_growth_entries"], lambda entries: fmt.signed(round(entries))),
        "naive": f"{naive.mark} {naive.label}",
        "reason": fmt.name(reason, 300),
    }
