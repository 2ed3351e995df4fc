"""Deadlines: when messages are lost and when the backlog is drained, as forecast for the selected window. In: forecasts. Out: components."""

from __future__ import annotations

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.components.parts import hostile_sentence
from throttlescope.app.web.data.outlook import StoredOutlook
from throttlescope.ingest.core.times import MINUTE_MS

#: Forecasts are made every quarter of an hour. One that missed the last one is old.
STALE_MS = 30 * MINUTE_MS

_HAPPENS = {
    "drain": "Drained",
    "ttl": "Messages expire (TTL)",
    "quota_size": "Backlog quota by size reached",
    "quota_age": "Backlog quota by age reached",
}
_DOES_NOT = {
    "drain": "At the current rate the backlog will not drain",
    "ttl": "No message expires (TTL) at the current rate",
    "quota_size": "The backlog quota by size is not reached at the current rate",
    "quota_age": "The backlog quota by age is not reached at the current rate",
}
_NOT_YET = {
    "drain": "No forecast yet of when the backlog is drained",
    "ttl": "No forecast yet of when messages expire (TTL)",
    "quota_size": "No forecast yet of when the backlog quota by size is reached",
    "quota_age": "No forecast yet of when the backlog quota by age is reached",
}


def by_when(found: StoredOutlook, told: dict) -> html.Div:
    """The first loss first, then the drain; each with its 90 % interval, what happens then, and whether it is old."""
    head = html.H3("By when, if nothing changes")
    if not found.forecasts:
        return html.Div([head, *_none(found, told)], className="answer-when")
    rows = sorted(found.forecasts, key=lambda row: (row["state"] != "expected", row["kind"] == "drain"))
    return html.Div([head, html.Ul([_forecast(row, told) for row in rows])], className="answer-when")


def _none(found: StoredOutlook, told: dict) -> list:
    if not found.are_stored:
        words = "The lake has no forecasts. They come with the next run, or: throttlescope forecast --store."
    elif told["cause"] == "healthy":
        words = "No backlog to forecast."
    else:
        words = "No forecast was made for it in the day before this window."
    return [html.P(words, className="quiet")]


def _forecast(row: dict, told: dict) -> html.Li:
    kind, at_ms = row["kind"], told["window_end_ms"]
    replayed = " (by a replay of the limits)" if row["method"] == "replay" else ""
    words: list = []
    if row["state"] == "expected":
        words += [html.Strong(f"{_HAPPENS[kind]} {_when(row, at_ms)}"), f"{replayed}, {_interval(row)}."]
    else:
        says = _DOES_NOT if row["state"] == "never" else _NOT_YET
        words.append(html.Strong(f"{says[kind]}{replayed}."))
        if row["low_ms"] is not None:
            words.append(f" In 9 of 10 cases not before {fmt.moment(row['low_ms'])}.")
    if kind != "drain" and row["state"] == "expected" and row["probability"] is not None:
        words.append(f" {fmt.percent(row['probability'])} likely before it is drained.")
    if row["state"] == "expected" and kind != "drain":
        words += [" ", hostile_sentence(row["consequence"])]
    if at_ms - row["made_at_ms"] > STALE_MS:
        words.append(
            html.Span(f" Old: made {fmt.duration(at_ms - row['made_at_ms'])} earlier.", className="stale")
        )
    return html.Li(
        words,
        className="loss" if kind != "drain" and row["state"] == "expected" else None,
        title=fmt.name(
            f"{row['consequence']} {row['basis']} Made at {fmt.moment(row['made_at_ms'])}.", 1_000
        ),
    )


def _when(row: dict, at_ms: int) -> str:
    left_ms = row["predicted_ms"] - at_ms
    if left_ms <= 0:
        return f"at {fmt.clock(row['predicted_ms'])}, {fmt.duration(-left_ms)} before this window's end"
    return f"in {fmt.duration(left_ms)}, at {fmt.clock(row['predicted_ms'])}"


def _interval(row: dict) -> str:
    if row["low_ms"] is None:
        return "interval not known"
    high = "open" if row["high_ms"] is None else _clock(row["high_ms"], row["predicted_ms"])
    return f"90\N{NO-BREAK SPACE}%: {_clock(row['low_ms'], row['predicted_ms'])} to {high}"


def _clock(time_ms: int, beside_ms: int) -> str:
    """The time of day; with its day where that is another than the predicted moment's."""
    same = fmt.moment(time_ms)[:10] == fmt.moment(beside_ms)[:10]
    return fmt.clock(time_ms).rsplit(" ", 1)[0] if same else fmt.day_clock(time_ms)
