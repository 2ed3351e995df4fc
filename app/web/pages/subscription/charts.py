"""The charts of one subscription, on one time axis. In: a view. Out: components."""

from __future__ import annotations

import pandas as pd
from dash import dcc, html

from throttlescope.app.presentation import figures
from throttlescope.app.presentation.figures.chart import CONFIG
from throttlescope.app.presentation.figures.events import is_thinned
from throttlescope.app.presentation.limits import is_relative
from throttlescope.app.presentation.unmeasured_zeros import is_measured
from throttlescope.app.web.components.parts import save_buttons, section
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.pages.subscription.content import SubscriptionView

_NO_AGE = "No minute of this range has pulsar_storage_backlog_age_seconds: it was not scraped, or the broker said -1 (unknown)."


def charts(view: SubscriptionView, at_ms: int | None) -> list:
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
    age = figures.age_figure(minutes, **bounds)
    if age is None:
        parts.append(html.P("Age of the oldest message: not measured.", className="quiet", title=_NO_AGE))
    else:
        parts.append(
            _chart(
                "age",
                "Age of the oldest message",
                age,
                note="of the topic partition, whichever subscription holds it",
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
                note=_events_note(minutes),
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
    return section(title, [graph], note=note, tools=save_buttons(name))


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


def _events_note(minutes: pd.DataFrame) -> str:
    words = "an event is a trimmed read plan, not a withheld message"
    if is_thinned(minutes):
        words += "; each bar is the fullest minute of those that share its place"
    return words


def _no_events(minutes: pd.DataFrame) -> str:
    columns = [name for name in minutes.columns if name.startswith("throttled_") and name.endswith("_delta")]
    if minutes[columns].isna().all().all():
        return "Not measured: this broker does not expose the throttle counters (they exist from 4.0.4 and 4.1.0 on)."
    return "None in this range."
