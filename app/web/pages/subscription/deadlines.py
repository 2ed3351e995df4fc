"""Deadlines: when messages are lost and when the backlog is drained, as forecast for the selected window. In: forecasts. Out: components."""

from __future__ import annotations

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.components.parts import hostile_sentence
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.data.outlook import StoredOutlook
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.messages.catalogue import message, sentence

#: Forecasts are made every quarter of an hour. One that missed the last one is old.
STALE_MS = 30 * MINUTE_MS


def deadlines(found: StoredOutlook, verdict: dict) -> html.Div:
    """The first loss first, then the drain; each with its 90 % interval, what happens then, and whether it is old."""
    head = html.H2(sentence("subscription.deadlines.title"))
    if not found.forecasts:
        return html.Div([head, *_none(found, verdict)], className="answer-when")
    rows = sorted(found.forecasts, key=lambda row: (row["state"] != "expected", row["kind"] == "drain"))
    return html.Div([head, html.Ul([_forecast(row, verdict) for row in rows])], className="answer-when")


def _none(found: StoredOutlook, verdict: dict) -> list:
    if not found.are_stored:
        text = sentence("subscription.deadlines.not_stored")
    elif verdict["cause"] == "healthy":
        text = sentence("subscription.deadlines.healthy")
    else:
        text = sentence("subscription.deadlines.none")
    return [html.P(text, className="quiet")]


def _forecast(row: dict, verdict: dict) -> html.Li:
    kind, at_ms = row["kind"], verdict["window_end_ms"]
    method = "replay" if row["method"] == "replay" else "trend"
    is_loss = kind != "drain" and row["state"] == "expected"
    parts: list = []
    if row["state"] == "expected":
        happens = html.Strong(sentence(f"subscription.deadlines.expected.{kind}", when=_when(row, at_ms)))
        forecast = message(
            f"subscription.deadlines.forecast.{method}", happens=happens, interval=_interval(row)
        )
        parts += sentence_parts(forecast)
    else:
        state = "never" if row["state"] == "never" else "unknown"
        parts.append(html.Strong(sentence(f"subscription.deadlines.not_expected.{state}.{method}.{kind}")))
        if row["low_ms"] is not None:
            parts += [" ", sentence("forecast.not_before", at=fmt.moment(row["low_ms"]))]
    if is_loss and row["probability"] is not None:
        probability = fmt.percent(row["probability"])
        parts += [" ", sentence("subscription.deadlines.probability", probability=probability)]
    if is_loss:
        parts += [" ", hostile_sentence(row["consequence"])]
    if at_ms - row["made_at_ms"] > STALE_MS:
        old = sentence("subscription.deadlines.old", age=fmt.duration(at_ms - row["made_at_ms"]))
        parts.append(html.Span(f" {old}", className="stale"))
    basis = sentence(
        "subscription.deadlines.basis",
        consequence=row["consequence"],
        basis=row["basis"],
        made=fmt.moment(row["made_at_ms"]),
    )
    return html.Li(parts, className="loss" if is_loss else None, title=fmt.name(basis, 1_000))


def _when(row: dict, at_ms: int) -> str:
    left_ms, at = row["predicted_ms"] - at_ms, fmt.clock(row["predicted_ms"])
    if left_ms <= 0:
        return sentence("subscription.deadlines.when_passed", at=at, before=fmt.duration(-left_ms))
    return sentence("subscription.deadlines.when", left=fmt.duration(left_ms), at=at)


def _interval(row: dict) -> str:
    if row["low_ms"] is None:
        return sentence("label.interval_not_known")
    high = sentence("label.open") if row["high_ms"] is None else _clock(row["high_ms"], row["predicted_ms"])
    return sentence("label.interval_90", low=_clock(row["low_ms"], row["predicted_ms"]), high=high)


def _clock(time_ms: int, predicted_ms: int) -> str:
    """The time of day; with its date where that differs from the predicted moment's."""
    same = fmt.moment(time_ms)[:10] == fmt.moment(predicted_ms)[:10]
    return fmt.clock(time_ms).rsplit(" ", 1)[0] if same else fmt.day_clock(time_ms)
