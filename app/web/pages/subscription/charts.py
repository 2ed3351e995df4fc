"""The charts of one subscription, on one time axis. In: a view. Out: components."""

from __future__ import annotations

from functools import reduce

import pandas as pd
from dash import dcc, html

from throttlescope.app.presentation import figures
from throttlescope.app.presentation.figures.chart import graph_config
from throttlescope.app.presentation.figures.events import is_thinned
from throttlescope.app.presentation.limits import is_relative
from throttlescope.app.presentation.unmeasured_zeros import is_measured
from throttlescope.app.web.components.chart_key import PageKey
from throttlescope.app.web.components.chart_place import ChartPlace
from throttlescope.app.web.components.parts import save_buttons, section
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.pages.subscription.content import ChartedWindow
from throttlescope.models.messages.catalogue import sentence


def charts(view: ChartedWindow, at_ms: int | None) -> list:
    """Charts from the verdicts down to the consumers; what a line means is said once, above the first chart that has it."""
    bounds = {"start_ms": view.start_ms, "end_ms": view.end_ms}
    key = PageKey()
    parts = [
        _chart(
            key,
            "verdict",
            sentence("label.verdict_over_time"),
            figures.ribbon_figure(view.verdicts, view.minutes, truth=view.truth, at_ms=at_ms, **bounds),
            note=sentence("subscription.charts.verdict.note"),
        )
    ]
    if view.minutes.empty:
        parts.append(
            panel(
                sentence("subscription.charts.no_minutes"),
                [sentence("subscription.charts.no_minutes_why")],
            )
        )
        return parts
    minutes = view.minutes
    parts.append(
        _chart(
            key,
            "rates",
            sentence("subscription.charts.rates"),
            figures.msg_rates_figure(minutes, **bounds),
            note=_rates_note(minutes),
        )
    )
    if _has_byte_limits(minutes):
        parts.append(
            _chart(
                key,
                "bytes",
                sentence("subscription.charts.bytes"),
                figures.byte_rates_figure(minutes, **bounds),
            )
        )
    parts.append(
        _chart(
            key,
            "backlog",
            sentence("label.backlog_title"),
            figures.backlog_figure(minutes, **bounds),
            note=sentence("subscription.charts.backlog.note"),
        )
    )
    age = figures.age_figure(minutes, **bounds)
    if age is None:
        parts.append(
            html.P(
                sentence("subscription.charts.no_age"),
                className="quiet",
                title=sentence("subscription.charts.no_age_hint"),
            )
        )
    else:
        parts.append(
            _chart(
                key,
                "age",
                sentence("subscription.charts.age"),
                age,
                note=sentence("subscription.charts.age.note"),
            )
        )
    events = figures.events_figure(minutes, **bounds)
    if events is None:
        parts.append(
            section(sentence("label.throttle_events_title"), [html.P(_no_events(minutes), className="quiet")])
        )
    else:
        parts.append(
            _chart(
                key,
                "events",
                sentence("subscription.charts.events"),
                events,
                note=_events_note(minutes),
            )
        )
    holding = figures.holding_figure(minutes, **bounds)
    if holding is not None:
        parts.append(_chart(key, "holding", sentence("subscription.charts.holding"), holding))
    return parts


def _chart(key: PageKey, name: str, title: str, figure, note: str | None = None) -> html.Section:
    words = key.take(figure)
    graph = dcc.Graph(
        id={"type": "chart", "panel": name},
        figure=figure,
        config=graph_config(toImageButtonOptions={"filename": f"throttlescope-{name}"}),
        style={"height": figure.layout.height},
    )
    return section(title, [*words, ChartPlace(graph)], note=note, tools=save_buttons(name))


def _rates_note(minutes: pd.DataFrame) -> str:
    notes = [sentence("subscription.charts.rates.note")]
    if (minutes["limit_counts"] == "entries").any():
        notes.append(sentence("subscription.charts.rates.entries"))
    if minutes["ack_msg_rate"].notna().any() and not is_measured(minutes, "ack_msg_rate"):
        notes.append(sentence("subscription.charts.rates.no_acks"))
    if is_relative(minutes):
        notes.append(sentence("subscription.charts.rates.relative"))
    if minutes["limit_observed_later"].fillna(False).astype(bool).any():
        notes.append(sentence("subscription.charts.rates.read_later"))
    return reduce(lambda first, more: sentence("label.then_also", first=first, more=more), notes)


def _has_byte_limits(minutes: pd.DataFrame) -> bool:
    columns = [name for name in minutes.columns if name.startswith("limit_") and name.endswith("_bytes")]
    events = [name for name in minutes.columns if name.startswith("throttled_bytes_events_")]
    return bool(minutes[columns].notna().any().any() or (minutes[events].astype(float) > 0).any().any())


def _events_note(minutes: pd.DataFrame) -> str:
    notes = [sentence("subscription.charts.events.note")]
    if is_thinned(minutes):
        notes.append(sentence("subscription.charts.events.thinned"))
    return reduce(lambda first, more: sentence("label.then_also", first=first, more=more), notes)


def _no_events(minutes: pd.DataFrame) -> str:
    columns = [name for name in minutes.columns if name.startswith("throttled_") and name.endswith("_delta")]
    if minutes[columns].isna().all().all():
        return sentence("subscription.charts.no_counters")
    return sentence("subscription.charts.no_events")
